#include "pipeline/engine/slurm_record.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "pipeline/store/json_text.h"
#include "pipeline/store/run_folder.h"
#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c == '_' ? ' ' : std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

SlurmRecord::SlurmRecord(const fs::path& directory) : file_(task_record(directory)) {
  const Json list = json_if_there<Json>(file_);
  if (!list.is_array()) return;
  try {
    for (const Json& entry : list)
      arrays_.push_back({entry.at("name").get<std::string>(), entry.at("id").get<std::string>(),
                         entry.at("manifest").get<std::string>(), entry.at("tasks").get<size_t>()});
  } catch (const Json::exception&) {
    throw_run("{}: damaged; look for tasks of this run with squeue, cancel them, and remove the file",
              file_.string());
  }
}

std::set<std::string> SlurmRecord::names() const {
  std::set<std::string> names;
  for (const SlurmArray& array : arrays_) names.insert(array.name);
  return names;
}

void SlurmRecord::add(const SlurmArray& array) {
  arrays_.push_back(array);
  write();
}

void SlurmRecord::set_id(const std::string& name, const std::string& id) {
  for (SlurmArray& array : arrays_)
    if (array.name == name) array.id = id;
  write();
}

void SlurmRecord::remove(const std::string& name) {
  std::erase_if(arrays_, [&](const SlurmArray& array) { return array.name == name; });
  write();
}

void SlurmRecord::write() const {
  std::error_code ignored;
  if (arrays_.empty()) {
    fs::remove(file_, ignored);
    return;
  }
  Json list = Json::array();
  for (const SlurmArray& array : arrays_)
    list.push_back({{"name", array.name},
                    {"id", array.id},
                    {"manifest", array.manifest.string()},
                    {"tasks", array.tasks}});
  fs::create_directories(file_.parent_path(), ignored);
  write_file_atomically(file_, list.dump(1) + "\n");
}

std::string count_states(const SlurmStates& states) {
  std::map<std::string, size_t> counts;
  std::map<std::string, size_t> reasons;
  for (const auto& [task, state] : states) {
    if (!state.alive()) continue;
    ++counts[state.state];
    if (state.state == "PENDING" && state.reason != "None") ++reasons[state.reason];
  }
  std::vector<std::string> words;
  for (const auto& [state, count] : counts) {
    std::string word = fmt::format("{} {}", count, lower(state));
    if (state == "PENDING" && !reasons.empty()) {
      std::vector<std::pair<size_t, std::string>> order;
      for (const auto& [reason, n] : reasons) order.emplace_back(n, reason);
      std::sort(order.rbegin(), order.rend());
      std::vector<std::string> shown;
      for (size_t i = 0; i < std::min<size_t>(order.size(), 2); ++i) shown.push_back(order[i].second);
      word += fmt::format(" ({})", join(shown, ", "));
    }
    words.push_back(word);
  }
  return join(words, ", ");
}

std::string describe_slurm_tasks(const fs::path& directory) {
  const SlurmRecord record(directory);
  if (record.arrays().empty()) return "";
  std::string trouble;
  const std::optional<SlurmStates> states = ask_squeue(record.names(), trouble);
  if (!states) return fmt::format("tasks were submitted, and squeue does not answer: {}", trouble);
  std::set<std::string> arrays;
  size_t alive = 0;
  for (const auto& [task, state] : *states)
    if (state.alive()) {
      arrays.insert(task.array);
      ++alive;
    }
  if (alive == 0) return "the tasks that were submitted have ended; the next run takes up their results";
  return fmt::format("{} tasks in Slurm's arrays {}: {}", alive,
                     join(std::vector<std::string>(arrays.begin(), arrays.end()), ", "),
                     count_states(*states));
}

}  // namespace tunemix
