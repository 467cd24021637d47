#include "learners/ranking_data.h"

#include <algorithm>
#include <cmath>

namespace tunemix {

Scaling fit_scaling(const TrainingData& data, const Context& context) {
  const std::span<const uint32_t> documents = data.documents();
  if (documents.empty()) throw InputError("there are no documents to train on; expected at least one query");
  const size_t d = data.all().features();
  double n = 0;
  for (const uint32_t i : documents) n += data.weight(i);
  const size_t block = block_size(documents.size(), 1024, 64);
  const float* first = data.all().row(documents[0]).data();
  // The weighted sum over documents of value(x, j), in blocks of documents that are added up in order.
  const auto sums = [&](auto value) {
    std::vector<std::vector<double>> parts((documents.size() + block - 1) / block);
    parallel_blocks(context.pool(), documents.size(), block, [&](size_t begin, size_t end) {
      std::vector<double>& part = parts[begin / block];
      part.assign(d, 0.0);
      for (size_t i = begin; i < end; ++i) {
        const float* x = data.all().row(documents[i]).data();
        const double weight = data.weight(documents[i]);
        for (size_t j = 0; j < d; ++j) part[j] += weight * value(x, j);
      }
    });
    std::vector<double> total(d, 0.0);
    for (const std::vector<double>& part : parts)
      for (size_t j = 0; j < d; ++j) total[j] += part[j];
    return total;
  };
  Scaling result;
  result.shift = sums([](const float* x, size_t j) { return static_cast<double>(x[j]); });
  for (double& shift : result.shift) shift /= n;
  const std::vector<double> squares = sums([&](const float* x, size_t j) {
    const double off = static_cast<double>(x[j]) - result.shift[j];
    return off * off;
  });
  const std::vector<double> others =
      sums([&](const float* x, size_t j) { return x[j] != first[j] ? 1.0 : 0.0; });
  for (size_t j = 0; j < d; ++j) {
    const double deviation = std::sqrt(squares[j] / n);
    result.factor.push_back(others[j] > 0 && deviation > 0 ? 1 / deviation : 0);
  }
  return result;
}

std::vector<uint32_t> group_ends(std::span<const int32_t> descending_labels) {
  std::vector<uint32_t> ends;
  for (size_t i = 1; i <= descending_labels.size(); ++i)
    if (i == descending_labels.size() || descending_labels[i] != descending_labels[i - 1])
      ends.push_back(static_cast<uint32_t>(i));
  return ends;
}

RankedQueries::RankedQueries(const TrainingData& data) {
  std::vector<uint32_t> order;
  const std::vector<double> of_queries = data.query_weights();
  const std::span<const int32_t> all_labels = data.all().labels();
  for (size_t q = 0; q < data.queries().size(); ++q) {
    const auto first = data.documents().begin() + static_cast<std::ptrdiff_t>(data.queries().begin(q));
    order.assign(first, first + static_cast<std::ptrdiff_t>(data.queries().length(q)));
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return all_labels[a] > all_labels[b]; });
    if (order.empty() || all_labels[order.front()] == all_labels[order.back()]) continue;
    if (of_queries[q] == 0) continue;
    weights.push_back(of_queries[q]);
    for (const uint32_t row : order) {
      rows.push_back(row);
      labels.push_back(all_labels[row]);
    }
    const auto n = static_cast<double>(order.size());
    double same = 0;
    double begin = 0;
    for (const uint32_t end : group_ends(std::span(labels).subspan(offsets.back()))) {
      same += (end - begin) * (end - begin);
      begin = end;
    }
    pairs.push_back((n * n - same) / 2);
    offsets.push_back(rows.size());
  }
}

}  // namespace tunemix
