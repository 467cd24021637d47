#include "pipeline/engine/manifest.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/core/host.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kTasks = "tasks";
constexpr size_t kIdDigits = 12;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_run("{}: cannot create the folder: {}", folder.string(), error.message());
}

std::string config_name(const std::string& text) {
  return "config-" + hash_bytes(text.data(), text.size()).hex() + ".yaml";
}

Json to_json(const TaskManifest& m) {
  Json files = Json::object();
  for (const auto& [file, hash] : m.files) files[file] = hash.hex();
  return {{"program", m.program.path.string()},
          {"program_hash", m.program.hash.hex()},
          {"version", m.program.version},
          {"folder", m.folder.string()},
          {"runs", m.runs.string()},
          {"config", m.config.string()},
          {"files", files},
          {"plan", m.plan.hex()},
          {"final_model", m.final_model},
          {"threads", m.threads},
          {"tasks", m.tasks}};
}

TaskManifest from_json(const Json& json) {
  TaskManifest m;
  m.program = {json.at("program").get<std::string>(),
               Hash128::from_hex(json.at("program_hash").get<std::string>()),
               json.at("version").get<std::string>()};
  m.folder = json.at("folder").get<std::string>();
  m.runs = json.at("runs").get<std::string>();
  m.config = json.at("config").get<std::string>();
  for (const auto& [file, hash] : json.at("files").items())
    m.files[file] = Hash128::from_hex(hash.get<std::string>());
  m.plan = Hash128::from_hex(json.at("plan").get<std::string>());
  m.final_model = json.at("final_model").get<bool>();
  m.threads = json.at("threads").get<int>();
  m.tasks = json.at("tasks").get<std::vector<Task>>();
  return m;
}

}  // namespace

ProgramFile this_program() {
  // The bytes that run, even where the file under the name has been replaced since.
  const std::vector<uint8_t> bytes = read_file("/proc/self/exe");
  std::string path = fs::read_symlink("/proc/self/exe").string();
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return {path, hash_bytes(bytes.data(), bytes.size()), TUNEMIX_VERSION};
}

fs::path keep_config(const fs::path& directory, const std::string& text) {
  fs::path file = fs::absolute(directory) / kTasks / config_name(text);
  make_folder(file.parent_path());
  if (!fs::exists(file)) write_file_atomically(file, text);
  return file;
}

StoredManifest write_manifest(const fs::path& directory, TaskManifest manifest) {
  const std::string text = to_json(manifest).dump() + "\n";
  // The same jobs may be submitted again: the time makes it a name of its own.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string id = Hasher()
                             .text(text)
                             .text(host_name())
                             .number(static_cast<uint64_t>(::getpid()))
                             .number(static_cast<uint64_t>(now))
                             .digest()
                             .hex()
                             .substr(0, kIdDigits);
  StoredManifest stored{fs::absolute(directory) / kTasks / id, std::move(manifest)};
  make_folder(stored.folder / "seconds");
  write_file_atomically(stored.file(), text);
  return stored;
}

StoredManifest read_manifest(const fs::path& file) {
  const std::string text = read_text_file(file);
  try {
    return {file.parent_path(), from_json(Json::parse(text))};
  } catch (const Json::exception&) {
    throw_input("{}: not a manifest of tasks; expected the manifest.json that a run has written",
                file.string());
  }
}

void expect_unchanged(const TaskManifest& manifest) {
  const ProgramFile program = this_program();
  if (program.hash != manifest.program.hash)
    throw_run(
        "{}: another build of the program (version {}) than the one that planned this run (version {}); "
        "stop the run and start it again with one build",
        program.path.string(), program.version, manifest.program.version);
  if (config_name(read_text_file(manifest.config)) != manifest.config.filename())
    throw_run("{}: changed since the run was planned; stop the run and start it again",
              manifest.config.string());
}

void note_seconds(const StoredManifest& stored, size_t task, size_t job, double seconds) {
  // Only to size later tasks.
  append_to_log(open_log(stored.folder / "seconds" / std::to_string(task)),
                fmt::format("{} {:.6g}\n", job, seconds));
}

std::map<size_t, double> StoredManifest::seconds(size_t task) const {
  std::ifstream in(folder / "seconds" / std::to_string(task));
  std::map<size_t, double> result;
  size_t job = 0;
  double value = 0;
  while (in >> job >> value) result[job] = value;
  return result;
}

}  // namespace tunemix
