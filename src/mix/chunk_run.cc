#include "mix/chunk_run.h"

#include <algorithm>
#include <numeric>

#include "calibrate/lane_width.h"
#include "mix/sums.h"

namespace tunemix::mixing {
namespace {

constexpr size_t kBatch = 32;  // members held at a time

QueryIndex sub_index(const QueryIndex& queries, const Chunk& chunk) {
  std::vector<size_t> offsets{0};
  std::vector<std::string> ids;
  for (size_t q = chunk.first_query; q < chunk.last_query; ++q) {
    offsets.push_back(queries.end(q) - chunk.begin);
    ids.push_back(queries.id(q));
  }
  return {std::move(offsets), std::move(ids)};
}

}  // namespace

ChunkMetric::ChunkMetric(const ValidationData& validation, const Chunk& chunk, Normalize normalize,
                         const SelectionName& metric, std::span<const double> query_weights)
    : normalize_(normalize),
      metric_(sub_index(validation.queries, chunk), validation.labels.subspan(chunk.begin, chunk.documents()),
              validation.grades, metric),
      scores_(chunk.documents()),
      per_query_(metric_.queries()),
      weights_(query_weights.empty() ? query_weights
                                     : query_weights.subspan(chunk.first_query, metric_.queries())) {}

ChunkRun::ChunkRun(const Layout& layout, const Weights& weights, const MemberSource& source,
                   const ValidationData& validation, const Chunk& chunk, size_t cs, Normalize normalize,
                   const SelectionName& metric, std::span<const double> query_weights)
    : stride_(lanes::padded(chunk.documents())),
      sums_(layout.cells.size()),
      metric_(validation, chunk, normalize, metric, query_weights) {
  std::vector<double> batch(kBatch * stride_);
  for (size_t cell = 0; cell < layout.cells.size(); ++cell) {
    sums_[cell].assign(cs * stride_, 0.0);
    const std::vector<size_t>& members = layout.cells[cell].members;
    for (size_t at = 0; at < members.size(); at += kBatch) {
      const size_t count = std::min(kBatch, members.size() - at);
      for (size_t m = 0; m < count; ++m)
        prepare_scores(source(members[at + m]), validation.queries, chunk, normalize, &batch[m * stride_]);
      sum_kernels().add_members(batch.data(), stride_, &weights.cells[cell].members[at * cs], cs, count,
                                sums_[cell].data());
    }
  }
}

size_t ChunkRun::bytes(const Layout& layout, const Chunk& chunk, size_t cs) {
  return layout.cells.size() * cs * lanes::padded(chunk.documents()) * sizeof(double);
}

void ChunkRun::sum_cells(std::span<const size_t> cells, const double* factors, size_t j, double* out) const {
  std::fill_n(out, stride_, 0.0);
  for (size_t k = 0; k < cells.size(); ++k)
    sum_kernels().add(factors[k], sums_[cells[k]].data() + j * stride_, stride_, out);
}

std::span<const double> ChunkMetric::per_query(const double* mixed) {
  for (size_t i = 0; i < scores_.size(); ++i) scores_[i] = finish_score(mixed[i], normalize_);
  metric_.per_query(scores_, per_query_);
  for (size_t q = 0; q < weights_.size(); ++q) per_query_[q] *= weights_[q];
  return per_query_;
}

double ChunkMetric::evaluate(const double* mixed) {
  const std::span<const double> values = per_query(mixed);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace tunemix::mixing
