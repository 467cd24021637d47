#include "tunemix/data/query_index.h"

#include "tunemix/core/error.h"

namespace tunemix {

QueryIndex::QueryIndex(std::vector<size_t> offsets, std::vector<std::string> ids)
    : offsets_(std::move(offsets)), ids_(std::move(ids)) {
  require(offsets_.size() == ids_.size() + 1 && offsets_.front() == 0,
          "query offsets do not fit the query ids");
  for (size_t q = 0; q + 1 < offsets_.size(); ++q)
    require(offsets_[q] < offsets_[q + 1], "a query without documents");
}

void QueryIndex::add(std::string id, size_t documents) {
  require(documents > 0, "a query without documents");
  offsets_.push_back(offsets_.back() + documents);
  ids_.push_back(std::move(id));
}

QueryIndex QueryIndex::select(std::span<const size_t> queries) const {
  QueryIndex chosen;
  for (const size_t q : queries) chosen.add(id(q), length(q));
  return chosen;
}

std::vector<double> query_weights(const QueryIndex& queries, std::span<const float> weights) {
  std::vector<double> result;
  for (size_t q = 0; q < queries.size() && !weights.empty(); ++q) {
    double sum = 0;
    for (size_t i = queries.begin(q); i < queries.end(q); ++i) sum += static_cast<double>(weights[i]);
    result.push_back(sum / static_cast<double>(queries.length(q)));
  }
  return result;
}

}  // namespace tunemix
