// What the features are called, for people and for other programs: from a file of names or from the head of a
// data file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tunemix/core/binary.h"

namespace tunemix {

// Names of some of the features, no two the same. Features count from 0 here and from 1 for people.
class FeatureNames {
 public:
  // Throws InputError for an empty name, a control character, text that is no UTF-8, or a name that another
  // feature has.
  void set(size_t feature, std::string name);

  bool empty() const { return names_.empty(); }
  // One more than the last feature with a name.
  size_t size() const { return names_.empty() ? 0 : names_.rbegin()->first + 1; }
  // Empty where the feature has no name.
  std::string_view operator[](size_t feature) const {
    const auto at = names_.find(feature);
    return at == names_.end() ? std::string_view() : std::string_view(at->second);
  }
  // The name, or the number from 1 where there is none.
  std::string label(size_t feature) const;
  // The feature of that name.
  std::optional<size_t> find(std::string_view name) const;
  // Those of the first `count` features.
  FeatureNames first(size_t count) const;

  void save(BinaryWriter& out) const;
  static FeatureNames load(BinaryReader& in);
  bool operator==(const FeatureNames&) const = default;

 private:
  std::map<size_t, std::string> names_;
  std::map<std::string, size_t, std::less<>> features_;
};

// One name a line, for the features 1, 2, ...; or lines `NUMBER name` or `NUMBER: name` in any order. For
// data of so many features: a list without numbers must name every one. Without their number: all that are
// there. Throws InputError "file:line: what".
FeatureNames read_feature_names(const std::filesystem::path& file,
                                std::optional<size_t> features = std::nullopt);
FeatureNames parse_feature_names(std::string_view text, const std::string& source,
                                 std::optional<size_t> features = std::nullopt);

// The names that the comments before the first document give: lines `#NUMBER: name`.
FeatureNames names_in_header(std::string_view text, const std::string& source);

}  // namespace tunemix
