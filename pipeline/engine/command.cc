#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/ledger.h"
#include "pipeline/engine/shell.h"
#include "tunemix/core/file.h"
#include "tunemix/core/text.h"
#include "tunemix/core/timer.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

constexpr int kTenthsBetweenLooks = 10;

// Runs one task by its number from 0: the first argument, or one less than what an array's task is told by
// its scheduler. Says in begun/N and ended/N how far it came.
std::string task_script(const StoredManifest& stored, const fs::path& logs, const CommandConfig& command) {
  const std::string folder = quoted(stored.folder.string());
  const std::string log = quoted((logs / ("task-" + stored.id() + "-")).string());
  std::string out = "#!/bin/bash\nnumber=$1\n";
  out += "from_one=${PBS_ARRAY_INDEX:-${PBS_ARRAYID:-${SGE_TASK_ID:-$LSB_JOBINDEX}}}\n";
  out += "if [ -z \"$number\" ] && [ -n \"$from_one\" ]; then number=$((from_one - 1)); fi\n";
  out += fmt::format("echo \"$(hostname)\" > {}/begun/\"$number\"\n", folder);
  if (!command.setup.empty()) out += command.setup + "\n";
  out += fmt::format("{} task {} --number \"$number\" > {}\"$number\".log 2>&1\n",
                     quoted(stored.manifest.program.path.string()), quoted(stored.file().string()), log);
  out += fmt::format("code=$?\necho $code > {}/ended/\"$number\"\nexit $code\n", folder);
  return out;
}

struct Placeholder {
  std::string name;
  std::string value;
};

std::string filled(std::string text, const std::vector<Placeholder>& values) {
  for (const auto& [name, value] : values)
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
      text.replace(at, name.size(), value);
  return text;
}

std::set<size_t> numbers_in(const fs::path& folder) {
  std::set<size_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos)
      numbers.insert(std::stoul(name));
  }
  return numbers;
}

// One run of the user's command over a manifest.
class Launch {
 public:
  Launch(const WorkOrder& order, const CommandConfig& command, std::vector<Task> tasks, JobLedger& ledger,
         const Context& context)
      : stage_(order.stage),
        command_(command),
        ledger_(ledger),
        context_(context),
        logs_(fs::absolute(order.directory) / "logs") {
    TaskManifest manifest = order.manifest;
    manifest.tasks = std::move(tasks);
    stored_ = write_manifest(order.directory, std::move(manifest));
    for (const char* name : {"begun", "ended"}) fs::create_directories(stored_.folder / name);
    for (size_t i = 0; i < stored_.manifest.tasks.size(); ++i) open_.insert(i);
  }

  void run() {
    const fs::path script = stored_.folder / "task.sh";
    const fs::path commands = stored_.folder / "commands";
    write_file_atomically(script, task_script(stored_, logs_, command_));
    std::string lines;
    for (const size_t task : open_) lines += fmt::format("bash {} {}\n", quoted(script.string()), task);
    write_file_atomically(commands, lines);
    const std::string line = filled(command_.run, {{"{commands}", quoted(commands.string())},
                                                   {"{script}", quoted(script.string())},
                                                   {"{count}", std::to_string(open_.size())},
                                                   {"{cpus}", std::to_string(command_.cpus)},
                                                   {"{logs}", quoted(logs_.string())}});
    context_.log(LogLevel::kInfo, fmt::format("{:<10} {} tasks given to: {}", stage_, open_.size(), line));
    output_ = logs_ / ("command-" + stored_.id() + ".log");
    BackgroundCommand running(line, output_.string());
    while (running.running()) {
      pause();
      look();
    }
    code_ = running.code();
    wait_for_late_results();
    for (const size_t task : open_) ledger_.fail(stored_.manifest.tasks[task], how_it_ended(task));
  }

 private:
  void pause() {
    for (int tenth = 0; tenth < kTenthsBetweenLooks; ++tenth) {
      context_.check_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  // Takes out the tasks that have ended with all their results.
  void look() {
    for (const size_t task : numbers_in(stored_.folder / "ended"))
      if (open_.contains(task) && ledger_.all_done(stored_.manifest.tasks[task])) {
        ledger_.succeed(stored_.manifest.tasks[task]);
        open_.erase(task);
      }
  }

  std::optional<int> code_of(size_t task) const {
    std::ifstream in(stored_.folder / "ended" / std::to_string(task));
    int code = 0;
    if (in >> code) return code;
    return std::nullopt;
  }

  // A shared file system may show files late, those of tasks that went well among them.
  void wait_for_late_results() {
    look();
    Timer since;
    const auto hopeful = [&] {
      return std::any_of(open_.begin(), open_.end(),
                         [&](size_t task) { return code_of(task).value_or(code_ == 0 ? 0 : 1) == 0; });
    };
    while (hopeful() && since.seconds() < command_.wait_seconds) {
      pause();
      look();
    }
    if (open_.size() < stored_.manifest.tasks.size() || !numbers_in(stored_.folder / "begun").empty()) return;
    throw_run(
        "engine.command.run ended with exit code {} and has run no task; it must run all of {} and end when "
        "they have ended; its output is in {}",
        code_, (stored_.folder / "commands").string(), output_.string());
  }

  FailedJob how_it_ended(size_t task) const {
    const fs::path log = logs_ / fmt::format("task-{}-{}.log", stored_.id(), task);
    const std::optional<int> code = code_of(task);
    if (!code)
      return {"", fmt::format("did not end, or was not run; {} has what the command said", output_.string()),
              code_, 0, log};
    return {"", "failed", *code, *code > 128 ? *code - 128 : 0, log};
  }

  std::string stage_;
  const CommandConfig& command_;
  JobLedger& ledger_;
  const Context& context_;
  fs::path logs_;
  fs::path output_;
  StoredManifest stored_;
  std::set<size_t> open_;
  int code_ = 0;
};

}  // namespace

void run_by_command(const WorkOrder& order, const CommandConfig& command, const Context& context) {
  JobLedger ledger(order, command.retries);
  while (!ledger.nothing_to_submit() && ledger.failed().empty()) {
    std::vector<Task> tasks = group_by_size(ledger.todo, static_cast<size_t>(command.jobs_per_task));
    tasks.insert(tasks.end(), ledger.again.begin(), ledger.again.end());
    if (!ledger.again.empty()) context.warn(fmt::format("{} tasks failed; run again", ledger.again.size()));
    ledger.todo.clear();
    ledger.again.clear();
    Launch(order, command, std::move(tasks), ledger, context).run();
  }
  ledger.expect_no_failures();
}

}  // namespace tunemix
