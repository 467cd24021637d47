// Scores of documents: K columns from a classifier, or one from a plain ranker.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tunemix/core/hash.h"

namespace tunemix {

class ScoreMatrix {
 public:
  ScoreMatrix() = default;
  ScoreMatrix(size_t documents, size_t columns, std::string model)
      : columns_(columns), values_(documents * columns), model_(std::move(model)) {}

  size_t documents() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  size_t columns() const { return columns_; }
  std::span<const float> row(size_t document) const {
    return {values_.data() + document * columns_, columns_};
  }
  std::span<float> row(size_t document) { return {values_.data() + document * columns_, columns_}; }
  std::span<const float> values() const { return values_; }
  std::span<float> values() { return values_; }
  const std::string& model() const { return model_; }  // id of the model that scored it
  // Fingerprint of the scored data; zero until somebody says it.
  const Hash128& data() const { return data_; }
  void set_data(const Hash128& fingerprint) { data_ = fingerprint; }

  // Throws InputError unless these scores are of the data with this fingerprint.
  void expect_data(const Hash128& fingerprint) const;

 private:
  size_t columns_ = 0;
  std::vector<float> values_;
  Hash128 data_;
  std::string model_;
};

}  // namespace tunemix
