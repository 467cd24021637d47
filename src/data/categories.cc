#include "tunemix/data/categories.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "core/portable_math.h"
#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/data/missing.h"

namespace tunemix {
namespace {

constexpr float kMostNumber = 16777216;  // larger whole numbers are not all floats

// The values of a categorical feature: their names, and for each document the number of its own.
struct CategoryColumn {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<std::string> names;
  std::vector<uint32_t> of;
};

CategoryColumn category_column(const Dataset& data, uint32_t feature) {
  if (feature >= data.features())
    throw_input("feature {} is categorical, and the data has features 1 to {}", feature + 1, data.features());
  CategoryColumn column;
  std::unordered_map<float, uint32_t> numbers;
  const std::vector<std::string>* words = data.about().words.of(feature);
  for (size_t i = 0; i < data.documents(); ++i) {
    const float value = data.row(i)[feature];
    if (is_missing(value)) {
      column.of.push_back(CategoryColumn::kNone);
      continue;
    }
    const bool known = words == nullptr ? std::abs(value) <= kMostNumber
                                        : value >= 0 && value < static_cast<float>(words->size());
    if (!known || value != std::floor(value))
      throw_input(
          "document {} has {} for feature {}, which is categorical; expected a whole number from -{} to {}",
          i + 1, value, feature + 1, kMostNumber, kMostNumber);
    const auto [at, is_new] = numbers.emplace(value, static_cast<uint32_t>(column.names.size()));
    if (is_new)
      column.names.push_back(words != nullptr ? (*words)[static_cast<size_t>(value)]
                                              : fmt::format("{}", static_cast<int64_t>(value)));
    column.of.push_back(at->second);
  }
  return column;
}

struct GradeSum {
  double grades = 0;
  double weight = 0;
  size_t documents = 0;

  void add(double grade, double w) {
    grades += w * grade;
    weight += w;
    ++documents;
  }
  GradeSum operator-(const GradeSum& part) const {
    return {grades - part.grades, weight - part.weight, documents - part.documents};
  }
  double mean() const { return weight > 0 ? grades / weight : 0; }
  double drawn_to(double prior) const {
    return (grades + Categories::kPrior * prior) / (weight + Categories::kPrior);
  }
};

double weight_of(const Dataset& data, size_t document) {
  return data.weights().empty() ? 1.0 : static_cast<double>(data.weights()[document]);
}

// The data with room for the logarithms.
FloatBuffer widened(const Dataset& data, size_t more) {
  const size_t width = data.features() + more;
  FloatBuffer values(data.documents() * width);
  for (size_t i = 0; i < data.documents(); ++i)
    std::copy_n(data.row(i).data(), data.features(), values.data() + i * width);
  return values;
}

}  // namespace

float Categories::log_count(double count) { return static_cast<float>(portable_log(1 + count)); }

Categories Categories::fit(const Dataset& train, std::span<const uint32_t> features,
                           std::span<const double> grades) {
  Categories result;
  for (const uint32_t feature : features) {
    const CategoryColumn column = category_column(train, feature);
    std::vector<GradeSum> sums(column.names.size());
    GradeSum all;
    for (size_t i = 0; i < train.documents(); ++i) {
      if (column.of[i] == CategoryColumn::kNone) continue;
      const double grade = grades[static_cast<size_t>(train.labels()[i])];
      sums[column.of[i]].add(grade, weight_of(train, i));
      all.add(grade, weight_of(train, i));
    }
    Feature& made = result.features_.emplace_back(Feature{feature, {}});
    for (size_t v = 0; v < sums.size(); ++v)
      made.values.push_back({column.names[v], sums[v].drawn_to(all.mean()), sums[v].weight});
    std::sort(made.values.begin(), made.values.end(),
              [](const Value& a, const Value& b) { return a.name < b.name; });
  }
  return result;
}

void Categories::expect_words(const Dataset& data) const {
  for (const auto& [number, words] : data.about().words.all())
    if (std::none_of(features_.begin(), features_.end(),
                     [n = number](const Feature& f) { return f.number == n; }))
      throw_input("feature {} has words for values, as '{}', and is not categorical; expected numbers",
                  number + 1, words->empty() ? "" : words->front());
}

Dataset Categories::apply(const Dataset& data) const {
  if (empty()) return data;
  FloatBuffer values = widened(data, size());
  const size_t width = data.features() + size();
  for (size_t f = 0; f < size(); ++f) {
    const Feature& feature = features_[f];
    const CategoryColumn column = category_column(data, feature.number);
    std::vector<std::pair<float, float>> numbers;  // of each of the column's values
    for (const std::string& name : column.names) {
      const auto at =
          std::lower_bound(feature.values.begin(), feature.values.end(), name,
                           [](const Value& value, const std::string& wanted) { return value.name < wanted; });
      const bool known = at != feature.values.end() && at->name == name;
      numbers.emplace_back(known ? static_cast<float>(at->mean) : kMissing, known ? log_count(at->count) : 0);
    }
    for (size_t i = 0; i < data.documents(); ++i) {
      const bool none = column.of[i] == CategoryColumn::kNone;
      float* row = values.data() + i * width;
      row[feature.number] = none ? kMissing : numbers[column.of[i]].first;
      row[data.features() + f] = none ? 0 : numbers[column.of[i]].second;
    }
  }
  return data.with_features(std::move(values), width);
}

Dataset Categories::apply_apart(const Dataset& train, std::span<const double> grades) const {
  if (empty()) return train;
  const QueryIndex& queries = train.queries();
  std::vector<size_t> order(queries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Random(1, "categories").shuffle(std::span<size_t>(order));
  std::vector<size_t> fold_of(train.documents());
  for (size_t k = 0; k < order.size(); ++k)
    for (size_t i = queries.begin(order[k]); i < queries.end(order[k]); ++i) fold_of[i] = k % kFolds;

  FloatBuffer values = widened(train, size());
  const size_t width = train.features() + size();
  for (size_t f = 0; f < size(); ++f) {
    const uint32_t feature = features_[f].number;
    const CategoryColumn column = category_column(train, feature);
    std::vector<GradeSum> sums(column.names.size());
    std::vector<GradeSum> in_fold(column.names.size() * kFolds);
    GradeSum all;
    std::vector<GradeSum> all_in_fold(kFolds);
    for (size_t i = 0; i < train.documents(); ++i) {
      if (column.of[i] == CategoryColumn::kNone) continue;
      const double grade = grades[static_cast<size_t>(train.labels()[i])];
      for (GradeSum* sum : {&sums[column.of[i]], &in_fold[column.of[i] * kFolds + fold_of[i]], &all,
                            &all_in_fold[fold_of[i]]})
        sum->add(grade, weight_of(train, i));
    }
    for (size_t i = 0; i < train.documents(); ++i) {
      float* row = values.data() + i * width;
      row[feature] = kMissing;
      row[train.features() + f] = 0;
      if (column.of[i] == CategoryColumn::kNone) continue;
      const GradeSum others = sums[column.of[i]] - in_fold[column.of[i] * kFolds + fold_of[i]];
      if (others.documents == 0) continue;
      row[feature] = static_cast<float>(others.drawn_to((all - all_in_fold[fold_of[i]]).mean()));
      row[train.features() + f] = log_count(others.weight);
    }
  }
  return train.with_features(std::move(values), width);
}

FeatureNames Categories::names(const FeatureNames& names, size_t features) const {
  FeatureNames result = names;
  for (size_t f = 0; f < size(); ++f) result.set(features + f, names.label(features_[f].number) + " (count)");
  return result;
}

void Categories::save(BinaryWriter& out) const {
  out.put<uint64_t>(features_.size());
  for (const Feature& feature : features_) {
    out.put(feature.number);
    out.put<uint64_t>(feature.values.size());
    for (const Value& value : feature.values) {
      out.put(value.name);
      out.put(value.mean);
      out.put(value.count);
    }
  }
}

Categories Categories::load(BinaryReader& in) {
  Categories result;
  const size_t count = in.get_count(sizeof(uint32_t) + sizeof(uint64_t));
  for (size_t f = 0; f < count; ++f) {
    Feature& feature = result.features_.emplace_back();
    feature.number = in.get<uint32_t>();
    if (f > 0 && feature.number <= result.features_[f - 1].number)
      in.fail("the categorical features do not ascend");
    const size_t values = in.get_count(3 * sizeof(uint64_t));
    for (size_t v = 0; v < values; ++v) {
      Value& value = feature.values.emplace_back();
      value.name = in.get_string();
      value.mean = in.get<double>();
      value.count = in.get<double>();
      if (v > 0 && value.name <= feature.values[v - 1].name)
        in.fail("the values of a category do not ascend");
      if (!std::isfinite(value.mean) || !std::isfinite(value.count) || value.count < 0)
        in.fail("the mean grade of a category is no number");
    }
  }
  return result;
}

}  // namespace tunemix
