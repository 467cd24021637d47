// Applies finished mixtures to documents chunk by chunk, each member standardised once for all of them.
#pragma once

#include <span>
#include <vector>

#include "mix/chunks.h"
#include "mix/sums.h"
#include "tunemix/mix/mixer.h"

namespace tunemix::mixing {

constexpr size_t kFinishedChunk = 512;  // documents

// The members of one chunk as they enter the sums. Standardised ones are kept: many mixtures have them.
class PreparedChunk {
 public:
  PreparedChunk(const MemberSource& source, const QueryIndex& queries, const Chunk& chunk)
      : source_(source), queries_(queries), chunk_(chunk), plain_(chunk.documents()) {}

  // Valid until the next call.
  const std::vector<double>& member(size_t number, Normalize normalize) {
    if (normalize == Normalize::kNone) {
      prepare_scores(source_(number), queries_, chunk_, normalize, plain_.data());
      return plain_;
    }
    if (standardised_.size() <= number) standardised_.resize(number + 1);
    std::vector<double>& prepared = standardised_[number];
    if (prepared.empty()) {
      prepared.resize(chunk_.documents());
      prepare_scores(source_(number), queries_, chunk_, normalize, prepared.data());
    }
    return prepared;
  }

 private:
  const MemberSource& source_;
  const QueryIndex& queries_;
  const Chunk& chunk_;
  std::vector<double> plain_;
  std::vector<std::vector<double>> standardised_;  // by number; empty where it was not asked for
};

// Calls seen(number of the chunk, chunk, its members, result, scores) with the scores of each result in turn.
template <typename Seen>
void for_each_mixed(std::span<const MixResult> results, const MemberSource& source, const QueryIndex& queries,
                    const Context& context, Seen seen) {
  const std::vector<Chunk> chunks = make_chunks(queries, kFinishedChunk);
  context.pool().run(chunks.size(), [&](size_t index) {
    context.check_stop();
    const Chunk& chunk = chunks[index];
    PreparedChunk members(source, queries, chunk);
    std::vector<double> sums(chunk.documents());
    std::vector<float> scores(chunk.documents());
    for (size_t v = 0; v < results.size(); ++v) {
      const Mixture& mixture = results[v].mixture;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (size_t m = 0; m < mixture.weights().size(); ++m) {
        const std::vector<double>& own = members.member(results[v].sources[m], mixture.normalize());
        sum_kernels().add(mixture.weights()[m], own.data(), sums.size(), sums.data());
      }
      for (size_t i = 0; i < sums.size(); ++i) scores[i] = finish_score(sums[i], mixture.normalize());
      seen(index, chunk, members, v, std::span<const float>(scores));
    }
  });
}

}  // namespace tunemix::mixing
