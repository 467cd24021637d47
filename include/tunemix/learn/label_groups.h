// Labels merged into fewer: what a learner is taught where its entry says `labels: [[0], [1, 2]]` (T&M 7.8).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tunemix {

class LabelGroups {
 public:
  // Neighbouring labels from 0 up, each in one group, two groups or more. Throws InputError.
  explicit LabelGroups(const std::vector<std::vector<int>>& groups);
  static LabelGroups parse(std::string_view text);  // of text()

  size_t size() const { return sizes_.size(); }       // groups
  size_t labels() const { return group_of_.size(); }  // K
  size_t group(size_t label) const { return group_of_[label]; }
  std::string text() const;  // "[[0], [1, 2]]"

  std::vector<int32_t> map(std::span<const int32_t> labels) const;
  // Of each group the mean grade of its labels.
  std::vector<double> grades(std::span<const double> grades) const;

  bool operator==(const LabelGroups&) const = default;

 private:
  std::vector<size_t> sizes_;
  std::vector<size_t> group_of_;  // by label
};

}  // namespace tunemix
