// Facts of models and trainings as JSON, for people and programs.
#pragma once

#include <nlohmann/json.hpp>

#include "tunemix/export/bundle.h"
#include "tunemix/learn/learner.h"

namespace tunemix {

// {"a.b": 1} becomes {"a": {"b": 1}}.
void add_facts(nlohmann::ordered_json& json, const Facts& facts);

// What a bundle says of itself, but for its members.
nlohmann::ordered_json describe_bundle_info(const BundleInfo& info);

}  // namespace tunemix
