// The loop that AdaRank, RankBoost and FRank share: ask for the next weak ranker, add it, go on.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "learners/weak_rankers/model.h"

namespace tunemix::weak {

// What tells the three apart: where the weight of the training data is, and which weak ranker suits it.
class Method {
 public:
  virtual ~Method() = default;
  // The next weak ranker, with its weight; none where nothing can be gained any more.
  virtual std::optional<WeakRanker> next() = 0;
  // Puts a ranker into the sum; on resuming, those of the run so far.
  virtual void add(const WeakRanker& ranker) = 0;
};

// The rest of an entry whose length option is `round`.
void complete_entry(
    LearnerEntry& entry,
    const std::function<std::unique_ptr<Method>(const TrainingRequest&, const Context&)>& method);

}  // namespace tunemix::weak
