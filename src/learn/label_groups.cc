#include "tunemix/learn/label_groups.h"

#include <fmt/format.h>

#include <cctype>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

constexpr size_t kMostLabels = 32;

[[noreturn]] void refuse(std::string_view text) {
  throw_input(
      "'{}' is no grouping of labels; expected two or more groups of neighbouring labels from 0 up, each "
      "label "
      "once, as in [[0], [1, 2]]",
      text);
}

std::string text_of(const std::vector<std::vector<int>>& groups) {
  std::string result = "[";
  for (const std::vector<int>& group : groups) {
    result += result.size() > 1 ? ", [" : "[";
    for (size_t i = 0; i < group.size(); ++i) result += fmt::format("{}{}", i > 0 ? ", " : "", group[i]);
    result += "]";
  }
  return result + "]";
}

}  // namespace

LabelGroups::LabelGroups(const std::vector<std::vector<int>>& groups) {
  for (const std::vector<int>& group : groups) {
    if (group.empty()) refuse(text_of(groups));
    for (const int label : group) {
      if (label != static_cast<int>(group_of_.size()) || group_of_.size() == kMostLabels)
        refuse(text_of(groups));
      group_of_.push_back(sizes_.size());
    }
    sizes_.push_back(group.size());
  }
  if (sizes_.size() < 2) refuse(text_of(groups));
}

LabelGroups LabelGroups::parse(std::string_view text) {
  std::vector<std::vector<int>> groups;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') {
      if (++depth > 2) refuse(text);
      if (depth == 2) groups.emplace_back();
    } else if (c == ']') {
      if (--depth < 0) refuse(text);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 && depth == 2) {
      int number = 0;
      for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0 && number < 1000; ++i)
        number = 10 * number + (text[i] - '0');
      --i;
      groups.back().push_back(number);
    } else if (c != ' ' && c != ',') {
      refuse(text);
    }
  }
  if (depth != 0) refuse(text);
  return LabelGroups(groups);
}

std::string LabelGroups::text() const {
  std::vector<std::vector<int>> groups(sizes_.size());
  for (size_t label = 0; label < group_of_.size(); ++label)
    groups[group_of_[label]].push_back(static_cast<int>(label));
  return text_of(groups);
}

std::vector<int32_t> LabelGroups::map(std::span<const int32_t> labels) const {
  std::vector<int32_t> result;
  result.reserve(labels.size());
  for (const int32_t label : labels)
    result.push_back(static_cast<int32_t>(group_of_.at(static_cast<size_t>(label))));
  return result;
}

std::vector<double> LabelGroups::grades(std::span<const double> grades) const {
  require(grades.size() >= labels(), "fewer grades than labels");
  std::vector<double> result(size(), 0.0);
  for (size_t label = 0; label < labels(); ++label)
    result[group_of_[label]] += grades[label] / static_cast<double>(sizes_[group_of_[label]]);
  return result;
}

}  // namespace tunemix
