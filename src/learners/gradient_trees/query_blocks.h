// Runs over the training queries in fixed blocks of similar size.
#pragma once

#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/learn/training_data.h"

namespace tunemix::trees {

class QueryBlocks {
 public:
  explicit QueryBlocks(const TrainingData& data) : data_(data), first_{0} {
    constexpr size_t kDocuments = 2048;
    size_t documents = 0;
    for (size_t q = 0; q < data.queries().size(); ++q) {
      documents += data.queries().length(q);
      if (documents < kDocuments) continue;
      first_.push_back(q + 1);
      documents = 0;
    }
    if (first_.back() < data.queries().size()) first_.push_back(data.queries().size());
  }

  // Calls body(query, its first document in all(), its documents, thread).
  template <typename Body>
  void run(const Context& context, Body body) const {
    context.pool().run_with_thread(first_.size() - 1, [&](size_t block, int thread) {
      for (size_t q = first_[block]; q < first_[block + 1]; ++q) {
        const size_t count = data_.queries().length(q);
        if (count > 0) body(q, data_.documents()[data_.queries().begin(q)], count, thread);
      }
    });
  }

 private:
  const TrainingData& data_;
  std::vector<size_t> first_;  // query of each block
};

}  // namespace tunemix::trees
