// A scratch folder in which the built program is run as a user runs it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tunemix::test {

namespace fs = std::filesystem;

// Two folds, two boosted models and an SVM path: about a tenth of a second.
inline const std::string kTiny =
    "name: tiny\n"
    "data:\n"
    "  synthetic: {preset: quickstart, queries: 30, folds: 2}\n"
    "learners:\n"
    "  - {type: adaboost_mh, base: tree, leaves: [3, 4], iterations: 15, shrinkage: 0.1, bandit: exp3g}\n"
    "  - {type: svm, C: [1e-3, 0.1]}\n"
    "calibrate: {cpc: [shift, ls], rbc: {regressors: [linear], targets: [raw]}}\n"
    "mix: {c: {from: 0, to: 100, step: 10}}\n"
    "evaluate: {tools: [yahoo, trec]}\n";

struct Result {
  int code = 0;  // 128 + signal where one ended it
  std::string out;
  std::string err;
  int64_t peak_bytes = 0;  // of resident memory
};

inline std::string slurp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A program that was started; killed if it still runs at the end.
class Process {
 public:
  Process(pid_t pid, fs::path folder, std::string tag)
      : pid_(pid), folder_(std::move(folder)), tag_(std::move(tag)) {}
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), folder_(other.folder_), tag_(other.tag_) {}
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }
  Result wait() {
    int status = 0;
    struct rusage usage {};
    ::wait4(pid_, &status, 0, &usage);
    pid_ = -1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, slurp(folder_ / ("out." + tag_)), slurp(folder_ / ("err." + tag_)),
            int64_t{1024} * usage.ru_maxrss};
  }

 private:
  pid_t pid_;
  fs::path folder_;
  std::string tag_;
};

class Workspace {
 public:
  // In memory where that is possible: the program syncs every file that it writes.
  Workspace() {
    std::string name = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path().string()) +
                       "/tunemix-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
    write("tiny.yaml", kTiny);
  }
  ~Workspace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

  // Through a shell, in the folder; `before` is put in front of the program.
  Process start(const std::string& arguments, const std::string& before = "") const {
    const std::string tag = std::to_string(++started_);
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::chdir(path_.c_str()) != 0) ::_exit(99);
      const int out = ::open(("out." + tag).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      const int err = ::open(("err." + tag).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      ::dup2(out, 1);
      ::dup2(err, 2);
      const std::string command = before + " exec '" + TUNEMIX_PROGRAM + "' " + arguments;
      ::execl("/bin/bash", "bash", "-c", command.c_str(), static_cast<char*>(nullptr));
      ::_exit(99);
    }
    return {pid, path_, tag};
  }
  Result run(const std::string& arguments, const std::string& before = "") const {
    return start(arguments, before).wait();
  }
  // The port of the last server, from the line that it prints; empty where it prints none.
  std::string served_port() const {
    const fs::path out = path_ / ("out." + std::to_string(started_));
    for (int wait = 0; wait < 600; ++wait) {
      const std::string text = slurp(out);
      if (text.starts_with("serving ") && text.ends_with('\n'))
        return text.substr(text.rfind(':') + 1, text.size() - text.rfind(':') - 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return "";
  }
  // As run, and it must work.
  Result good(const std::string& arguments) const {
    Result result = run(arguments);
    EXPECT_EQ(result.code, 0) << arguments << "\n" << result.err;
    return result;
  }

 private:
  fs::path path_;
  mutable int started_ = 0;
};

// The stages of which a run computed something, by its stderr; the report is always written.
inline std::vector<std::string> computed_stages(const std::string& err) {
  std::vector<std::string> stages;
  std::istringstream lines(err);
  std::string line;
  while (std::getline(lines, line))
    if (line.find(" computed in ") != std::string::npos && !line.starts_with("report"))
      stages.push_back(line.substr(0, line.find(' ')));
  return stages;
}

// How often a training went on from a saved state in the runs of a folder, by their log.
inline size_t taken_up(const fs::path& run) {
  const std::string log = slurp(run / "logs/run.log");
  size_t count = 0;
  for (size_t at = 0; (at = log.find(": goes on from a saved training\n", at)) != std::string::npos; ++at)
    ++count;
  return count;
}

inline nlohmann::json results_of(const fs::path& run) {
  nlohmann::json results = nlohmann::json::parse(slurp(run / "results.json"), nullptr, false);
  if (results.is_object()) results.erase("timing");
  return results;
}

// What must be the same bytes in equal runs: results but for the timing, tables, and bundles.
inline std::map<std::string, std::string> outcome(const fs::path& run) {
  std::map<std::string, std::string> files = {{"results.json", results_of(run).dump(1)}};
  for (const auto& entry : fs::directory_iterator(run))
    if (entry.path().extension() == ".tmx" || entry.path().filename() == "results.md")
      files[entry.path().filename().string()] = slurp(entry.path());
  return files;
}

inline std::map<std::string, std::string> artifacts(const fs::path& runs) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(runs / ".store"))
    if (entry.path().extension() == ".tmx")
      files[fs::relative(entry.path(), runs / ".store").string()] = slurp(entry.path());
  return files;
}

// Names alone in messages: the contents are long.
inline void expect_same(const std::map<std::string, std::string>& a,
                        const std::map<std::string, std::string>& b) {
  for (const auto& [name, bytes] : a) {
    const auto it = b.find(name);
    EXPECT_TRUE(it != b.end()) << name << " is missing";
    if (it != b.end()) {
      EXPECT_TRUE(it->second == bytes) << name << " has other bytes";
    }
  }
  for (const auto& [name, bytes] : b) EXPECT_TRUE(a.contains(name)) << name << " is new";
}

}  // namespace tunemix::test
