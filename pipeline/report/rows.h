// The rows of the results (T&M tables 2 and 3) as the report's sections look at them.
#pragma once

#include <string>
#include <vector>

#include "pipeline/stages/results.h"

namespace tunemix::report {

class Rows {
 public:
  explicit Rows(const std::vector<ResultRow>& rows);  // which must outlive it

  bool empty() const { return rows_.empty(); }
  // All three in order of first appearance.
  const std::vector<std::string>& splits() const { return splits_; }
  const std::vector<std::string>& tools() const { return tools_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& main_split() const { return splits_.front(); }  // test where there is one
  const std::string& main_tool() const { return tools_.front(); }

  std::vector<const ResultRow*> of(const std::string& split, const std::string& tool) const;
  const ResultRow* find(const std::string& name, const std::string& split, const std::string& tool) const;
  // The row that stands for the experiment, on the main split under the main tool; null without rows.
  const ResultRow* main() const { return main_; }
  // Families in the order of their rows: the part of a row's name before '+'.
  const std::vector<std::string>& families() const { return families_; }
  // The colour of a row's family as a CSS class: family-1, family-2, ...
  std::string family_class(const std::string& row_name) const;

 private:
  const std::vector<ResultRow>& rows_;
  const ResultRow* main_ = nullptr;
  std::vector<std::string> splits_, tools_, names_, families_;
};

// So many families have a colour of their own; later ones begin again.
inline constexpr size_t kFamilyColours = 12;

}  // namespace tunemix::report
