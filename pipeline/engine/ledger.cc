#include "pipeline/engine/ledger.h"

#include <algorithm>

namespace tunemix {

JobLedger::JobLedger(const WorkOrder& order, int retries)
    : todo(order.jobs), order_(order), retries_(retries) {
  for (const EngineJob& job : order.jobs) jobs_[job.number] = job;
}

const EngineJob* JobLedger::find(size_t job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : &it->second;
}

bool JobLedger::all_done(const Task& task) const {
  return std::all_of(task.begin(), task.end(), [&](size_t job) { return order_.is_done(job); });
}

void JobLedger::succeed(const Task& task) {
  for (const size_t job : task)
    if (find(job) != nullptr) order_.on_done(job);
  ++succeeded_;
}

bool JobLedger::fail(const Task& task, FailedJob how) {
  bool blamed = false;
  bool tried_again = false;
  for (const size_t job : task) {
    const EngineJob* known = find(job);
    if (known == nullptr) continue;
    if (order_.is_done(job)) {
      order_.on_done(job);
    } else if (blamed) {
      todo.push_back(*known);
    } else {
      blamed = true;
      how.name = known->name;
      tried_again = ++tries_[job] <= retries_;
      if (tried_again)
        again.push_back({job});
      else
        failed_.push_back(how);
    }
  }
  return tried_again;
}

void JobLedger::expect_no_failures() const {
  if (!failed_.empty()) throw RunError(describe_failures(failed_, retries_ + 1));
}

}  // namespace tunemix
