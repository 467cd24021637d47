// Categorical features, such as a brand: numbers or words that say which, not how much. Learners are given
// two numbers in their place: the mean grade of the documents with the same value, and how many these are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// A mean is drawn to that of all documents as if there were kPrior more documents with that one. The mean
// stands where the feature stood; the logarithms of 1 + count come after all features, in order. What
// training has not seen, or has no value, has a missing mean and a count of 0.
class Categories {
 public:
  static constexpr double kPrior = 10;
  static constexpr size_t kFolds = 10;

  struct Value {
    std::string name;
    double mean = 0;   // of the grades, drawn to that of all
    double count = 0;  // of the documents, by their weights
    bool operator==(const Value&) const = default;
  };
  struct Feature {
    uint32_t number = 0;        // from 0
    std::vector<Value> values;  // by name
    bool operator==(const Feature&) const = default;
  };

  Categories() = default;  // no categorical features
  // `features`: their numbers from 0, ascending; `grades`: of each label. Throws InputError for values that
  // are neither whole numbers nor words.
  static Categories fit(const Dataset& train, std::span<const uint32_t> features,
                        std::span<const double> grades);

  bool empty() const { return features_.empty(); }
  const std::vector<Feature>& features() const { return features_; }
  size_t size() const { return features_.size(); }  // how many more features go out than come in

  // Throws InputError where a feature has words and is not categorical.
  void expect_words(const Dataset& data) const;
  // For new documents.
  Dataset apply(const Dataset& data) const;
  // For the documents that are trained on: none sees labels of its own query. The queries are in kFolds
  // folds, and each fold sees the documents of the others.
  Dataset apply_apart(const Dataset& train, std::span<const double> grades) const;
  // What goes out for a count.
  static float log_count(double count);
  // Names of the features that go out, of data with so many.
  FeatureNames names(const FeatureNames& names, size_t features) const;

  void save(BinaryWriter& out) const;
  static Categories load(BinaryReader& in);
  bool operator==(const Categories&) const = default;

 private:
  std::vector<Feature> features_;
};

}  // namespace tunemix
