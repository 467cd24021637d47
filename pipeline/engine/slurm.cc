#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/ledger.h"
#include "pipeline/engine/shell.h"
#include "pipeline/engine/slurm_commands.h"
#include "pipeline/engine/slurm_record.h"
#include "tunemix/core/file.h"
#include "tunemix/core/text.h"
#include "tunemix/core/timer.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

// The controller may be away for so long, as when it is restarted or moved.
constexpr double kMostSecondsWithoutAnswer = 3600;
constexpr double kSecondsBetweenLines = 30;
// Left to others of what the controller can hold.
constexpr double kShareOfController = 0.9;
// Tasks of a run that nobody watches: their jobs cannot be timed first.
constexpr size_t kDetachedTasks = 1000;

// Task i of the array runs task i of the manifest.
std::string batch_script(const StoredManifest& stored, const SlurmConfig& slurm) {
  std::string out = "#!/bin/bash\n";
  out += fmt::format("#SBATCH --ntasks=1\n#SBATCH --no-requeue\n#SBATCH --cpus-per-task={}\n", slurm.cpus);
  out += fmt::format("#SBATCH --mem={}M\n#SBATCH --time={}\n", slurm.memory_mb, slurm.time);
  if (!slurm.partition.empty()) out += fmt::format("#SBATCH --partition={}\n", slurm.partition);
  if (!slurm.account.empty()) out += fmt::format("#SBATCH --account={}\n", slurm.account);
  if (!slurm.qos.empty()) out += fmt::format("#SBATCH --qos={}\n", slurm.qos);
  if (!slurm.constraint.empty()) out += fmt::format("#SBATCH --constraint=\"{}\"\n", slurm.constraint);
  if (!slurm.options.empty()) out += fmt::format("#SBATCH {}\n", slurm.options);
  if (!slurm.setup.empty()) out += slurm.setup + "\n";
  out += fmt::format("exec {} task {} --number \"$SLURM_ARRAY_TASK_ID\"\n",
                     quoted(stored.manifest.program.path.string()), quoted(stored.file().string()));
  return out;
}

// Of the scheduler's limits or the account's, not of what we asked for.
bool is_full(const std::string& refusal) {
  for (const char* word : {"limit", "queue full", "temporarily", "MaxJobCount"})
    if (refusal.find(word) != std::string::npos) return true;
  return false;
}

class SlurmRun {
 public:
  SlurmRun(const WorkOrder& order, const SlurmConfig& slurm, const Context& context)
      : order_(order),
        slurm_(slurm),
        context_(context),
        ledger_(order, slurm.retries),
        record_(order.directory),
        limits_(slurm_limits()),
        logs_(fs::absolute(order.directory) / "logs") {}
  // Whatever ended the run: nobody waits for its tasks any more.
  ~SlurmRun() {
    if (!left_) cancel_all();
  }
  SlurmRun(const SlurmRun&) = delete;
  SlurmRun& operator=(const SlurmRun&) = delete;

  void adopt();
  void wait();
  bool leave();

 private:
  struct Array {
    std::string name;
    std::shared_ptr<const StoredManifest> stored;
    size_t unsettled = 0;
    Timer since;
  };
  struct Flight {
    Task jobs;
    std::optional<Timer> missing;  // since it has ended, as it seems, without its results
    std::optional<SlurmOutcome> outcome;
  };

  SlurmStates ask();
  void submit_ready();
  void submit(const std::vector<Task>& tasks);
  void group(double target);
  bool settle(const SlurmStates& states);
  void succeed(const SlurmTaskId& id, const Flight& flight);
  void fail(const SlurmTaskId& id, const Flight& flight);
  void settled(const SlurmTaskId& id);
  void tell(const SlurmStates& states);
  void sleep();
  void cancel_all();
  bool over() const { return flights_.empty() && ready_.empty() && ledger_.nothing_to_submit(); }

  const WorkOrder& order_;
  const SlurmConfig& slurm_;
  const Context& context_;
  JobLedger ledger_;
  SlurmRecord record_;
  SlurmLimits limits_;
  fs::path logs_;
  std::deque<Task> ready_;  // to be submitted
  std::map<SlurmTaskId, Flight> flights_;
  std::map<std::string, Array> arrays_;  // by id, those with flights
  JobTimes times_;
  std::map<std::string, size_t> failed_now_;  // tasks by state, since the last poll
  Timer since_change_;
  Timer since_told_;
  std::string told_;
  bool left_ = false;
};

SlurmStates SlurmRun::ask() {
  const std::set<std::string> names = record_.names();
  if (names.empty()) return {};
  Timer away;
  for (bool warned = false;; warned = true) {
    std::string trouble;
    if (auto states = ask_squeue(names, trouble)) {
      if (warned) context_.log(LogLevel::kInfo, "Slurm answers again");
      return std::move(*states);
    }
    if (!warned) context_.warn(fmt::format("squeue does not answer, and is asked again: {}", trouble));
    if (away.seconds() > kMostSecondsWithoutAnswer)
      throw_run("squeue has not answered for an hour: {}", trouble);
    sleep();
  }
}

void SlurmRun::sleep() {
  // Often while things move, seldom while they do not.
  const double seconds =
      std::clamp(since_change_.seconds() / 10, 1.0, static_cast<double>(std::max(1, slurm_.poll_seconds)));
  for (int tenth = 0; tenth < static_cast<int>(10 * seconds); ++tenth) {
    context_.check_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// Tasks of the same plan that an earlier run has left, detached or killed.
void SlurmRun::adopt() {
  if (record_.arrays().empty()) return;
  const SlurmStates states = ask();
  const std::vector<SlurmArray> known = record_.arrays();
  size_t adopted = 0;
  std::set<size_t> taken;
  for (const SlurmArray& array : known) {
    std::map<size_t, SlurmTaskId> alive;  // by index
    for (const auto& [task, state] : states)
      if (state.name == array.name && state.alive()) alive[task.index] = task;
    if (alive.empty()) {
      record_.remove(array.name);
      continue;
    }
    const std::string id = alive.begin()->second.array;
    std::shared_ptr<const StoredManifest> stored;
    std::error_code ignored;
    if (fs::exists(array.manifest, ignored))
      stored = std::make_shared<const StoredManifest>(read_manifest(array.manifest));
    if (stored == nullptr || stored->manifest.plan != order_.manifest.plan ||
        stored->manifest.tasks.size() != array.tasks) {
      context_.warn(fmt::format(
          "array {} of another config of this name is still with Slurm; cancel it by: scancel {}", id, id));
      continue;
    }
    if (array.id != id) record_.set_id(array.name, id);
    arrays_[id] = {array.name, stored, 0, Timer()};
    for (const auto& [index, task] : alive) {
      if (index >= stored->manifest.tasks.size()) continue;
      flights_[task] = {stored->manifest.tasks[index], std::nullopt, std::nullopt};
      taken.insert(flights_[task].jobs.begin(), flights_[task].jobs.end());
      ++arrays_[id].unsettled;
      ++adopted;
    }
  }
  std::erase_if(ledger_.todo, [&](const EngineJob& job) { return taken.contains(job.number); });
  if (adopted > 0)
    context_.log(LogLevel::kInfo,
                 fmt::format("{:<10} {} tasks of an earlier run are still with Slurm and are waited for",
                             order_.stage, adopted));
}

void SlurmRun::group(double target) {
  for (Task& task : ledger_.again) ready_.push_back(std::move(task));
  ledger_.again.clear();
  if (ledger_.todo.empty()) return;
  std::vector<Task> tasks;
  if (slurm_.jobs_per_task > 0) {
    tasks = group_by_size(ledger_.todo, static_cast<size_t>(slurm_.jobs_per_task));
    ledger_.todo.clear();
  } else {
    std::map<size_t, size_t> under_way;  // by learner
    const auto count = [&](const Task& jobs) {
      for (const size_t job : jobs)
        if (const EngineJob* known = ledger_.find(job)) ++under_way[known->learner];
    };
    for (const auto& [id, flight] : flights_) count(flight.jobs);
    for (const Task& task : ready_) count(task);
    tasks = take_tasks(ledger_.todo, times_, under_way, target);
  }
  for (Task& task : tasks) ready_.push_back(std::move(task));
}

void SlurmRun::submit(const std::vector<Task>& tasks) {
  TaskManifest manifest = order_.manifest;
  manifest.tasks = tasks;
  const auto stored =
      std::make_shared<const StoredManifest>(write_manifest(order_.directory, std::move(manifest)));
  const fs::path script = stored->folder / "slurm.sh";
  write_file_atomically(script, batch_script(*stored, slurm_));
  const std::string name = "tunemix-" + stored->id();
  record_.add({name, "", stored->file(), tasks.size()});
  std::string id;
  try {
    id = sbatch({script, name, tasks.size(), slurm_.throttle, logs_});
  } catch (const RunError&) {
    // It may have been taken although the answer was not understood.
    const std::string trouble = scancel({}, {name});
    if (trouble.empty())
      record_.remove(name);
    else
      context_.warn(trouble);
    throw;
  }
  record_.set_id(name, id);
  arrays_[id] = {name, stored, tasks.size(), Timer()};
  for (size_t i = 0; i < tasks.size(); ++i) flights_[{id, i}] = {tasks[i], std::nullopt, std::nullopt};
}

// As many as Slurm takes: the rest follows when tasks have ended.
void SlurmRun::submit_ready() {
  if (ready_.empty()) return;
  const auto most = static_cast<size_t>(kShareOfController * static_cast<double>(limits_.jobs));
  const size_t held = jobs_in_controller();
  size_t room = std::max<size_t>(1, most > held ? most - held : 0);
  if (most <= held && !flights_.empty()) return;
  const size_t before = flights_.size();
  std::vector<std::string> ids;
  while (!ready_.empty() && room > 0) {
    context_.check_stop();
    const size_t count = std::min({ready_.size(), limits_.array_tasks, room});
    const std::vector<Task> tasks(ready_.begin(), ready_.begin() + static_cast<ptrdiff_t>(count));
    try {
      submit(tasks);
    } catch (const RunError& error) {
      if (flights_.empty() || !is_full(error.what())) throw;
      context_.log(LogLevel::kInfo,
                   fmt::format("{:<10} Slurm takes no more tasks for now ({})", order_.stage, error.what()));
      break;
    }
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<ptrdiff_t>(count));
    room -= count;
  }
  if (flights_.size() == before) return;
  for (const auto& [id, array] : arrays_) ids.push_back(id);
  size_t waiting = ledger_.todo.size();
  for (const Task& task : ready_) waiting += task.size();
  context_.log(
      LogLevel::kInfo,
      fmt::format("{:<10} {} tasks submitted to Slurm as {}{}", order_.stage, flights_.size() - before,
                  join(ids, ", "),
                  waiting == 0 ? "" : fmt::format("; {} jobs follow when these have ended", waiting)));
  since_change_.restart();
}

void SlurmRun::settled(const SlurmTaskId& id) {
  flights_.erase(id);
  since_change_.restart();
  const auto array = arrays_.find(id.array);
  if (--array->second.unsettled > 0) return;
  record_.remove(array->second.name);
  arrays_.erase(array);
}

void SlurmRun::succeed(const SlurmTaskId& id, const Flight& flight) {
  const Array& array = arrays_.at(id.array);
  const std::map<size_t, double> seconds = array.stored->seconds(id.index);
  for (const size_t job : flight.jobs)
    if (const EngineJob* known = ledger_.find(job)) {
      const auto took = seconds.find(job);
      times_.add(known->learner, took != seconds.end()
                                     ? took->second
                                     : array.since.seconds() / static_cast<double>(flight.jobs.size()));
    }
  ledger_.succeed(flight.jobs);
}

void SlurmRun::fail(const SlurmTaskId& id, const Flight& flight) {
  const SlurmOutcome outcome = flight.outcome.value_or(SlurmOutcome{"unknown to Slurm", 0, 0});
  // No two tasks on one job.
  if (!flight.outcome)
    if (const std::string trouble = scancel({id.text()}, {}); !trouble.empty()) context_.warn(trouble);
  if (ledger_.fail(flight.jobs, {"", outcome.state, outcome.exit_code, outcome.signal, slurm_log(logs_, id)}))
    ++failed_now_[outcome.state];
}

// Takes out the tasks that have ended; whether there was one.
bool SlurmRun::settle(const SlurmStates& states) {
  std::vector<SlurmTaskId> good;
  std::vector<SlurmTaskId> doubtful;  // ended as it seems, and not all results are there
  for (auto& [id, flight] : flights_) {
    const auto state = states.find(id);
    if (state != states.end() && state->second.alive()) {
      flight.missing.reset();
      continue;
    }
    (ledger_.all_done(flight.jobs) ? good : doubtful).push_back(id);
  }
  std::vector<SlurmTaskId> to_ask;
  for (const SlurmTaskId& id : doubtful)
    if (!flights_[id].outcome) to_ask.push_back(id);
  const auto outcomes = to_ask.empty() ? std::map<SlurmTaskId, SlurmOutcome>() : ask_outcomes(to_ask);
  std::vector<SlurmTaskId> bad;
  for (const SlurmTaskId& id : doubtful) {
    Flight& flight = flights_[id];
    if (const auto outcome = outcomes.find(id); outcome != outcomes.end()) {
      if (SlurmTaskState{outcome->second.state, "", ""}.alive()) {  // squeue did not tell all
        flight.missing.reset();
        continue;
      }
      flight.outcome = outcome->second;
    } else if (const auto state = states.find(id); state != states.end() && !flight.outcome) {
      flight.outcome = SlurmOutcome{state->second.state, 0, 0};
    }
    if (flight.outcome && flight.outcome->state != "COMPLETED") {
      bad.push_back(id);
      continue;
    }
    // A shared file system may show a file late.
    if (!flight.missing) flight.missing.emplace();
    if (flight.missing->seconds() >= slurm_.wait_seconds) bad.push_back(id);
  }
  for (const SlurmTaskId& id : good) {
    succeed(id, flights_[id]);
    settled(id);
  }
  for (const SlurmTaskId& id : bad) {
    fail(id, flights_[id]);
    settled(id);
  }
  return !good.empty() || !bad.empty();
}

void SlurmRun::tell(const SlurmStates& states) {
  if (!failed_now_.empty()) {
    size_t count = 0;
    std::vector<std::string> words;
    for (const auto& [state, n] : failed_now_) {
      count += n;
      words.push_back(fmt::format("{} {}", n, state));
    }
    context_.warn(fmt::format("{} Slurm tasks failed ({}); submitted again", count, join(words, ", ")));
    failed_now_.clear();
  }
  SlurmStates ours;
  for (const auto& [id, state] : states)
    if (flights_.contains(id)) ours[id] = state;
  const std::string text = count_states(ours);
  if (text.empty() || text == told_ || (!told_.empty() && since_told_.seconds() < kSecondsBetweenLines))
    return;
  told_ = text;
  since_told_.restart();
  context_.log(LogLevel::kInfo, fmt::format("{:<10} Slurm: {}", order_.stage, text));
}

void SlurmRun::wait() {
  while (!over()) {
    context_.check_stop();
    // What is left after a failure for good is of use to the next run, if anything works at all.
    if (!ledger_.failed().empty()) {
      ledger_.todo.clear();
      ledger_.again.clear();
      ready_.clear();
      if (ledger_.succeeded() == 0) break;
    }
    group(60.0 * slurm_.task_minutes);
    submit_ready();
    const SlurmStates states = ask();
    settle(states);
    tell(states);
    if (over()) break;
    if (!flights_.empty() || ready_.empty()) sleep();
  }
  ledger_.expect_no_failures();
  left_ = true;
}

bool SlurmRun::leave() {
  if (over()) {
    left_ = true;
    return true;
  }
  if (slurm_.jobs_per_task == 0) {
    for (Task& task :
         group_by_size(ledger_.todo, (ledger_.todo.size() + kDetachedTasks - 1) / kDetachedTasks))
      ready_.push_back(std::move(task));
    ledger_.todo.clear();
  }
  group(0);
  submit_ready();
  left_ = true;
  size_t waiting = 0;
  for (const Task& task : ready_) waiting += task.size();
  if (waiting > 0)
    context_.warn(fmt::format(
        "{} jobs did not fit under Slurm's limits; run again for them when tasks have ended", waiting));
  return false;
}

void SlurmRun::cancel_all() {
  std::vector<std::string> ids;
  for (const auto& [id, array] : arrays_) ids.push_back(id);
  if (ids.empty()) return;
  try {
    const std::string trouble = scancel(ids, {});
    if (!trouble.empty()) {
      context_.warn(trouble);
      return;
    }
    for (const auto& [id, array] : arrays_) record_.remove(array.name);
  } catch (const std::exception& error) {
    context_.warn(fmt::format("{}; cancel the tasks by: scancel {}", error.what(), join(ids, " ")));
  }
}

}  // namespace

bool run_on_slurm(const WorkOrder& order, const SlurmConfig& slurm, AfterSubmit after,
                  const Context& context) {
  SlurmRun run(order, slurm, context);
  run.adopt();
  if (after == AfterSubmit::kLeave) return run.leave();
  run.wait();
  return true;
}

}  // namespace tunemix
