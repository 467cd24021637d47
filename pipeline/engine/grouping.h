// How jobs become tasks: several small jobs of a fold, as many as take the wanted minutes by what jobs of
// their learner took.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tunemix {

// A job as engines see it.
struct EngineJob {
  size_t number = 0;  // in the plan
  size_t fold = 0;
  size_t learner = 0;
  std::string name;
};

using Task = std::vector<size_t>;  // numbers of jobs, run one after the other

// What jobs of each learner took on the machines where they run.
class JobTimes {
 public:
  void add(size_t learner, double seconds);
  std::optional<double> seconds(size_t learner) const;  // mean; nothing before the first

 private:
  struct Sum {
    double seconds = 0;
    size_t jobs = 0;
  };
  std::map<size_t, Sum> sums_;
};

// Tasks of at most `size` jobs of one fold each, in order.
std::vector<Task> group_by_size(const std::vector<EngineJob>& jobs, size_t size);

// Takes from `jobs` those that are to be submitted now. Jobs of a learner whose time is known are grouped,
// fold by fold, to tasks of `target` seconds or one job; of every other learner one job goes ahead to be
// timed (unless `timed` says that one is under way), and the rest stays in `jobs`. Without a target, and
// where there are few jobs, each is a task.
std::vector<Task> take_tasks(std::vector<EngineJob>& jobs, const JobTimes& times,
                             const std::map<size_t, size_t>& under_way, double target);

}  // namespace tunemix
