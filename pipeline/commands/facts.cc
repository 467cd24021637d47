#include "pipeline/commands/facts.h"

namespace tunemix {

void add_facts(nlohmann::ordered_json& json, const Facts& facts) {
  for (const Fact& fact : facts) {
    nlohmann::ordered_json* at = &json;
    for (const std::string& part : split(fact.name, '.')) at = &(*at)[part];
    std::visit([&](const auto& value) { *at = value; }, fact.value);
  }
}

}  // namespace tunemix
