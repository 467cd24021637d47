#include "pipeline/engine/grouping.h"

#include <algorithm>

namespace tunemix {
namespace {

// So few that it is not worth waiting for the first ones.
constexpr size_t kFewJobs = 100;

}  // namespace

void JobTimes::add(size_t learner, double seconds) {
  Sum& sum = sums_[learner];
  sum.seconds += seconds;
  ++sum.jobs;
}

std::optional<double> JobTimes::seconds(size_t learner) const {
  const auto it = sums_.find(learner);
  if (it == sums_.end()) return std::nullopt;
  return it->second.seconds / static_cast<double>(it->second.jobs);
}

std::vector<Task> group_by_size(const std::vector<EngineJob>& jobs, size_t size) {
  std::vector<Task> tasks;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (tasks.empty() || tasks.back().size() >= size || jobs[i].fold != jobs[i - 1].fold)
      tasks.emplace_back();
    tasks.back().push_back(jobs[i].number);
  }
  return tasks;
}

std::vector<Task> take_tasks(std::vector<EngineJob>& jobs, const JobTimes& times,
                             const std::map<size_t, size_t>& under_way, double target) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const EngineJob& a, const EngineJob& b) { return a.fold < b.fold; });
  std::vector<Task> tasks;
  if (target <= 0 || jobs.size() <= kFewJobs) {
    tasks = group_by_size(jobs, 1);
    jobs.clear();
    return tasks;
  }
  std::vector<EngineJob> later;
  std::map<size_t, size_t> ahead = under_way;
  double filled = 0;
  bool open = false;  // whether the last task can take more
  size_t fold = 0;
  for (const EngineJob& job : jobs) {
    const std::optional<double> seconds = times.seconds(job.learner);
    if (!seconds) {
      if (ahead[job.learner]++ > 0) {
        later.push_back(job);
        continue;
      }
      tasks.push_back({job.number});
      open = false;
      continue;
    }
    if (!open || job.fold != fold || filled + *seconds > target) {
      tasks.emplace_back();
      filled = 0;
      fold = job.fold;
      open = true;
    }
    tasks.back().push_back(job.number);
    filled += *seconds;
  }
  jobs = std::move(later);
  return tasks;
}

}  // namespace tunemix
