// Keeps account of an order's jobs for an engine: which are to be put into tasks, which failed how often.
#pragma once

#include <map>
#include <vector>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/failures.h"

namespace tunemix {

class JobLedger {
 public:
  JobLedger(const WorkOrder& order, int retries);

  // Jobs that are in no task yet.
  std::vector<EngineJob> todo;
  // Tasks of one job each that failed before.
  std::vector<Task> again;

  const EngineJob* find(size_t job) const;  // nothing for a job that was done before this run
  bool all_done(const Task& task) const;
  // All jobs of a task have their results.
  void succeed(const Task& task);
  // A task ended without some of its results. The first such job was under way: it gets the blame, and a task
  // of its own while it has tries left; the others go back to `todo`. Returns whether it is tried again.
  bool fail(const Task& task, FailedJob how);

  const std::vector<FailedJob>& failed() const { return failed_; }  // for good
  size_t succeeded() const { return succeeded_; }                   // tasks
  bool nothing_to_submit() const { return todo.empty() && again.empty(); }
  // Throws RunError where jobs failed for good.
  void expect_no_failures() const;

 private:
  const WorkOrder& order_;
  int retries_;
  std::map<size_t, EngineJob> jobs_;
  std::map<size_t, int> tries_;
  std::vector<FailedJob> failed_;
  size_t succeeded_ = 0;
};

}  // namespace tunemix
