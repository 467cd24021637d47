// Facts of models and trainings as JSON, for people and programs.
#pragma once

#include <nlohmann/json.hpp>

#include "tunemix/learn/learner.h"

namespace tunemix {

// {"a.b": 1} becomes {"a": {"b": 1}}.
void add_facts(nlohmann::ordered_json& json, const Facts& facts);

}  // namespace tunemix
