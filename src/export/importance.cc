#include "tunemix/export/importance.h"

#include <algorithm>
#include <cmath>

#include "tunemix/core/error.h"
#include "tunemix/data/missing.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

struct MeanAndError {
  double mean = 0;
  std::optional<double> error;
};

MeanAndError mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  if (values.size() < 2) return {mean, std::nullopt};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

// The queries whose NDCG can change when the feature is shuffled: others need not be scored again.
std::vector<size_t> affected_queries(const Dataset& data, size_t feature) {
  std::vector<size_t> queries;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    const size_t begin = data.queries().begin(q);
    bool labels = false;
    bool values = false;
    for (size_t i = begin + 1; i < data.queries().end(q); ++i) {
      labels = labels || data.labels()[i] != data.labels()[begin];
      const float value = data.row(i)[feature];
      values = values || (value != data.row(begin)[feature] &&
                          !(is_missing(value) && is_missing(data.row(begin)[feature])));
    }
    if (labels && values) queries.push_back(q);
  }
  return queries;
}

// The data with the feature's values in another order within each query. The order of a query depends on
// nothing but its number and the name of the stream. `numbers`: of its queries.
Dataset shuffled(const Dataset& data, std::span<const size_t> numbers, size_t feature, uint64_t seed,
                 const std::string& stream) {
  const size_t width = data.features();
  FloatBuffer features{data.values()};
  std::vector<float> values;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    values.clear();
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
      values.push_back(data.row(i)[feature]);
    Random(seed, fmt::format("{}/{}", stream, numbers[q])).shuffle(std::span<float>(values));
    for (size_t k = 0; k < values.size(); ++k)
      features.data()[(data.queries().begin(q) + k) * width + feature] = values[k];
  }
  return data.with_features(std::move(features), width);
}

GivenScores select_given(const GivenScores& given, const QueryIndex& queries,
                         std::span<const size_t> chosen) {
  GivenScores result;
  for (const auto& [name, scores] : given) {
    size_t documents = 0;
    for (const size_t q : chosen) documents += queries.length(q);
    ScoreMatrix some(documents, scores.columns(), scores.model());
    auto to = some.values().begin();
    for (const size_t q : chosen)
      for (size_t i = queries.begin(q); i < queries.end(q); ++i)
        to = std::copy(scores.row(i).begin(), scores.row(i).end(), to);
    result.emplace(name, std::move(some));
  }
  return result;
}

}  // namespace

Importance permutation_importance(const Bundle& bundle, const Dataset& data, const ImportanceOptions& options,
                                  const Context& context, const GivenScores& given) {
  if (options.repeats < 1) throw InputError("repeats is 0; expected at least 1");
  if (data.max_label() == 0)
    throw InputError(
        "no document of the data is relevant: every label is 0, and no ranking is better than another");
  const std::vector<double> grades = exponential_grades(data.max_label() + 1);
  const auto ndcg_of = [&](const Dataset& some, const std::vector<float>& scores) {
    std::vector<double> values(some.queries().size());
    SelectionMetric(some.queries(), some.labels(), grades).per_query(scores, values);
    return values;
  };
  const std::vector<double> base = ndcg_of(data, bundle.predict(data, context, given));
  const MeanAndError whole = mean_of(base);
  Importance result{whole.mean, whole.error, data.queries().size(), {}};
  for (size_t j = 0; j < data.features(); ++j) {
    context.check_stop();
    context.progress(j, data.features(), 0);
    std::vector<double> losses(base.size(), 0.0);  // of each query, the mean over repeats
    const std::vector<size_t> affected = affected_queries(data, j);
    if (!affected.empty()) {
      const Dataset some = data.select_queries(affected);
      const GivenScores some_given = select_given(given, data.queries(), affected);
      for (size_t r = 0; r < options.repeats; ++r) {
        const Dataset mixed_up =
            shuffled(some, affected, j, options.seed, fmt::format("importance/{}/{}", j, r));
        const std::vector<double> ndcg = ndcg_of(mixed_up, bundle.predict(mixed_up, context, some_given));
        for (size_t q = 0; q < affected.size(); ++q)
          losses[affected[q]] += (base[affected[q]] - ndcg[q]) / static_cast<double>(options.repeats);
      }
    }
    const MeanAndError loss = mean_of(losses);
    result.features.push_back({j, loss.mean, loss.error});
  }
  return result;
}

}  // namespace tunemix
