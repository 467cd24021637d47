// The rows of the results (T&M tables 2 and 3) as the report's sections look at them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/report/html.h"

namespace tunemix::report {

struct FoldResult {
  int fold = 0;
  std::optional<double> ndcg, standard_error, err;
};

struct ResultRow {
  std::string name, split, tool;
  std::optional<double> ndcg, standard_error, err, err_max, map;
  bool chosen = false;
  std::vector<FoldResult> folds;
};

class Results {
 public:
  explicit Results(const Json& data);

  bool empty() const { return rows_.empty(); }
  // All three in order of first appearance, except that the main one comes first.
  const std::vector<std::string>& splits() const { return splits_; }
  const std::vector<std::string>& tools() const { return tools_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& main_split() const { return splits_.front(); }  // test where there is one
  const std::string& main_tool() const { return tools_.front(); }    // yahoo where there is one

  std::vector<const ResultRow*> rows(const std::string& split, const std::string& tool) const;
  const ResultRow* find(const std::string& name, const std::string& split, const std::string& tool) const;
  // The row the page speaks of and marks: the one flagged as chosen, else the best on validation; never
  // picked by test.
  const ResultRow* headline() const;
  bool is_headline(const ResultRow& row) const;
  // Families in the order of their rows: the part of a row's name before '+'.
  const std::vector<std::string>& families() const { return families_; }
  // The colour of a row's family as a CSS class: family-1, family-2, ...
  std::string family_class(const std::string& row_name) const;

 private:
  std::vector<ResultRow> rows_;
  std::vector<std::string> splits_, tools_, names_, families_;
};

// So many families have a colour of their own; later ones begin again.
inline constexpr size_t kFamilyColours = 12;
std::string family_class(size_t position);

// "ERR", or "ERR (max 4)" where D is not 16.
std::string err_name(const ResultRow& row);

}  // namespace tunemix::report
