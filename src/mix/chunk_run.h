// The mixtures of one chunk of validation documents: cells summed for every c, and the quality of their sums.
#pragma once

#include <span>
#include <vector>

#include "mix/chunks.h"
#include "mix/weights.h"
#include "tunemix/metric/selection.h"

namespace tunemix::mixing {

// What mixtures of standardised members are worth on the queries of one chunk.
class ChunkMetric {
 public:
  ChunkMetric(const ValidationData& validation, const Chunk& chunk, Normalize normalize,
              const SelectionName& metric, std::span<const double> query_weights);

  // What each query's quality by these sums of members counts; valid until the next call.
  std::span<const double> per_query(const double* mixed);
  // The sum of that.
  double evaluate(const double* mixed);

 private:
  Normalize normalize_;
  SelectionMetric metric_;
  std::vector<float> scores_;
  std::vector<double> per_query_;
  std::span<const double> weights_;  // of the chunk's queries; empty: 1
};

class ChunkRun {
 public:
  ChunkRun(const Layout& layout, const Weights& weights, const MemberSource& source,
           const ValidationData& validation, const Chunk& chunk, size_t cs, Normalize normalize,
           const SelectionName& metric, std::span<const double> query_weights);

  static size_t bytes(const Layout& layout, const Chunk& chunk, size_t cs);

  // The documents and room for the widest vectors.
  size_t stride() const { return stride_; }
  // out = sum over the cells of factor * the cell's sum for c number j.
  void sum_cells(std::span<const size_t> cells, const double* factors, size_t j, double* out) const;
  double evaluate(const double* mixed) { return metric_.evaluate(mixed); }

 private:
  size_t stride_;
  std::vector<std::vector<double>> sums_;  // cell: c x stride
  ChunkMetric metric_;
};

}  // namespace tunemix::mixing
