#include <algorithm>

#include "mix/finished.h"

namespace tunemix {

std::vector<std::vector<float>> apply_all(std::span<const MixResult> results, const MemberSource& source,
                                          const QueryIndex& queries, const Context& context) {
  std::vector<std::vector<float>> out(results.size(), std::vector<float>(queries.documents()));
  mixing::for_each_mixed(results, source, queries, context,
                         [&](size_t, const mixing::Chunk& chunk, mixing::PreparedChunk&, size_t v,
                             std::span<const float> scores) {
                           std::copy(scores.begin(), scores.end(), out[v].data() + chunk.begin);
                         });
  return out;
}

}  // namespace tunemix
