#include "mix/chunks.h"

#include <algorithm>
#include <cmath>

namespace tunemix::mixing {
namespace {

// The sum of value(0..n), in eight interleaved parts that do not wait for each other.
template <typename Value>
double sum_of(size_t n, Value value) {
  constexpr size_t kParts = 8;
  double parts[kParts] = {};
  size_t i = 0;
  for (; i + kParts <= n; i += kParts)
    for (size_t k = 0; k < kParts; ++k) parts[k] += value(i + k);
  for (size_t k = 0; i + k < n; ++k) parts[k] += value(i + k);
  return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

}  // namespace

std::vector<Chunk> make_chunks(const QueryIndex& queries, size_t documents, std::span<const size_t> bounds) {
  std::vector<Chunk> chunks;
  size_t first = 0;
  for (size_t q = 0; q < queries.size(); ++q) {
    const bool full = queries.end(q) - queries.begin(first) >= documents;
    const bool ends = q + 1 == queries.size() || std::binary_search(bounds.begin(), bounds.end(), q + 1);
    if (!full && !ends) continue;
    chunks.push_back({first, q + 1, queries.begin(first), queries.end(q)});
    first = q + 1;
  }
  return chunks;
}

void prepare_scores(std::span<const float> scores, const QueryIndex& queries, const Chunk& chunk,
                    Normalize normalize, double* out) {
  if (normalize == Normalize::kNone) {
    std::copy_n(scores.begin() + chunk.begin, chunk.documents(), out);
    return;
  }
  for (size_t q = chunk.first_query; q < chunk.last_query; ++q) {
    const size_t n = queries.length(q);
    const float* s = scores.data() + queries.begin(q);
    double* to = out + (queries.begin(q) - chunk.begin);
    uint32_t differs = 0;
    for (size_t i = 0; i < n; ++i) differs |= s[i] != s[0] ? 1U : 0U;
    if (differs == 0) {
      std::fill(to, to + n, 0.0);
      continue;
    }
    const double mean = sum_of(n, [&](size_t i) { return double{s[i]}; }) / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) to[i] = s[i] - mean;
    const double squares = sum_of(n, [&](size_t i) { return to[i] * to[i]; });
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n));
    for (size_t i = 0; i < n; ++i) to[i] *= scale;
  }
}

}  // namespace tunemix::mixing
