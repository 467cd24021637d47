#include "pipeline/run/changes.h"

#include <algorithm>

#include "pipeline/store/json_text.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> items_of(const std::string& value) {
  if (!value.starts_with('[') || !value.ends_with(']')) return {};
  std::vector<std::string> items;
  for (const std::string& part : split(value.substr(1, value.size() - 2), ',')) {
    const size_t begin = part.find_first_not_of(' ');
    if (begin != std::string::npos) items.push_back(part.substr(begin));
  }
  return items;
}

// "calibrate.cpc changed: ls removed", "mix.c.to changed: 200 -> 100".
std::string describe_change(const std::string& key, const std::string& before, const std::string& after) {
  const std::vector<std::string> old_items = items_of(before);
  const std::vector<std::string> new_items = items_of(after);
  if (old_items.empty() || new_items.empty()) return fmt::format("{} changed: {} -> {}", key, before, after);
  std::vector<std::string> words;
  for (const std::string& item : old_items)
    if (std::find(new_items.begin(), new_items.end(), item) == new_items.end())
      words.push_back(item + " removed");
  for (const std::string& item : new_items)
    if (std::find(old_items.begin(), old_items.end(), item) == old_items.end())
      words.push_back(item + " added");
  if (words.empty()) words.push_back("another order");
  return fmt::format("{} changed: {}", key, join(words, ", "));
}

// Whether a manifest holds what is compared below: a damaged one is as none.
bool is_manifest(const Json& manifest) {
  if (!manifest.is_object() || !manifest.contains("config") || !manifest.contains("data")) return false;
  const Json& config = manifest["config"];
  return config.is_object() && manifest["data"].is_array() &&
         std::all_of(config.begin(), config.end(), [](const Json& value) { return value.is_string(); });
}

// What changed of the config and the data that the stage reads.
std::vector<std::string> changes_of(Stage stage, const Plan& plan, const Json& last) {
  std::vector<std::string> changes;
  if (stage == Stage::kData)
    for (size_t fold = 0; fold < plan.fold_keys.size(); ++fold)
      if (fold >= last["data"].size() || last["data"][fold] != plan.fold_keys[fold].hex())
        changes.push_back(fmt::format("the data of fold {} changed", fold + 1));
  const auto before = last["config"].get<std::map<std::string, std::string>>();
  for (const auto& [key, value] : plan.config.values) {
    if (stage_that_reads(key) != stage) continue;
    const auto it = before.find(key);
    if (it == before.end())
      changes.push_back(fmt::format("{} is new: {}", key, value));
    else if (it->second != value)
      changes.push_back(describe_change(key, it->second, value));
  }
  for (const auto& [key, value] : before)
    if (stage_that_reads(key) == stage && !plan.config.values.contains(key))
      changes.push_back(fmt::format("{} is gone", key));
  return changes;
}

}  // namespace

void explain_missing(std::vector<StageStatus>& stages, const Plan& plan,
                     const std::filesystem::path& manifest) {
  const Json last = json_if_there<Json>(manifest);
  const bool known = is_manifest(last);
  std::vector<std::string> earlier;  // changes of the stages before
  bool upstream = false;
  for (StageStatus& status : stages) {
    const std::vector<std::string> changes =
        known ? changes_of(status.stage, plan, last) : std::vector<std::string>();
    if (status.missing > 0) {
      if (!known)
        status.reasons.emplace_back("no earlier run of this name");
      else if (!changes.empty())
        status.reasons = changes;
      else if (upstream)
        status.reasons.emplace_back("an earlier stage has to run");
      else if (!earlier.empty())
        status.reasons = earlier;
      else
        status.reasons.emplace_back("not computed yet, or removed from the store");
      upstream = true;
    }
    earlier.insert(earlier.end(), changes.begin(), changes.end());
  }
}

}  // namespace tunemix
