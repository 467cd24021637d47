#include "pipeline/commands/facts.h"

namespace tunemix {

void add_facts(nlohmann::ordered_json& json, const Facts& facts) {
  for (const Fact& fact : facts) {
    nlohmann::ordered_json* at = &json;
    for (const std::string& part : split(fact.name, '.')) at = &(*at)[part];
    std::visit([&](const auto& value) { *at = value; }, fact.value);
  }
}

nlohmann::ordered_json describe_bundle_info(const BundleInfo& info) {
  nlohmann::ordered_json json;
  json["experiment"] = info.name;
  if (info.fold > 0) json["fold"] = info.fold;
  json["row"] = info.row;
  if (!info.trained_on.empty())
    json["trained_on"] = {
        {"files", info.trained_on}, {"queries", info.queries}, {"documents", info.documents}};
  if (!info.expected.measure.empty()) {
    json["expected"] = {{"measure", info.expected.measure}, {"value", info.expected.value}};
    json["expected"]["stderr"] =
        info.expected.error ? nlohmann::ordered_json(*info.expected.error) : nlohmann::ordered_json(nullptr);
    json["expected"]["on"] = info.expected.data;
  }
  json["features"] = info.features;
  if (!info.feature_names.empty()) {
    json["feature_names"] = nlohmann::ordered_json::array();
    for (size_t j = 0; j < info.features; ++j) json["feature_names"].push_back(info.feature_names.label(j));
  }
  json["labels"] = info.labels;
  return json;
}

}  // namespace tunemix
