#include "pipeline/report/results.h"

#include <algorithm>

namespace tunemix::report {
namespace {

void add_once(std::vector<std::string>& list, const std::string& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

void move_to_front(std::vector<std::string>& list, const std::string& value) {
  const auto found = std::find(list.begin(), list.end(), value);
  if (found != list.end()) std::rotate(list.begin(), found, found + 1);
}

ResultRow parse_row(const Json& item) {
  ResultRow row;
  row.name = text(item, "name");
  row.split = text(item, "split");
  row.tool = text(item, "tool");
  row.ndcg = number(item, "ndcg@10");
  row.standard_error = number(item, "stderr");
  row.err = number(item, "err");
  row.map = number(item, "map");
  row.best = item.value("best", Json(false)) == Json(true);
  for (const Json* fold : items(item, "folds"))
    row.folds.push_back(
        {integer(*fold, "fold"), number(*fold, "ndcg@10"), number(*fold, "stderr"), number(*fold, "err")});
  return row;
}

}  // namespace

Results::Results(const Json& data) {
  for (const Json* item : items(data, "rows")) {
    rows_.push_back(parse_row(*item));
    add_once(splits_, rows_.back().split);
    add_once(tools_, rows_.back().tool);
    add_once(names_, rows_.back().name);
  }
  move_to_front(splits_, "test");
  move_to_front(tools_, "yahoo");
}

std::vector<const ResultRow*> Results::rows(const std::string& split, const std::string& tool) const {
  std::vector<const ResultRow*> result;
  for (const ResultRow& row : rows_)
    if (row.split == split && row.tool == tool) result.push_back(&row);
  return result;
}

const ResultRow* Results::find(const std::string& name, const std::string& split,
                               const std::string& tool) const {
  for (const ResultRow* row : rows(split, tool))
    if (row->name == name) return row;
  return nullptr;
}

const ResultRow* Results::headline() const {
  if (rows_.empty()) return nullptr;
  if (const ResultRow* mixture = find("ALL+EXP", main_split(), main_tool())) return mixture;
  const ResultRow* best = nullptr;
  for (const ResultRow* row : rows("valid", main_tool()))
    if (row->ndcg && (best == nullptr || *row->ndcg > *best->ndcg)) best = row;
  if (best == nullptr)
    return rows(main_split(), main_tool()).empty() ? &rows_.front() : rows(main_split(), main_tool()).front();
  const ResultRow* same = find(best->name, main_split(), main_tool());
  return same != nullptr ? same : best;
}

bool Results::is_best(const ResultRow& row) const {
  const std::vector<const ResultRow*> panel = rows(row.split, row.tool);
  if (std::any_of(panel.begin(), panel.end(), [](const ResultRow* other) { return other->best; }))
    return row.best;
  return row.ndcg && std::all_of(panel.begin(), panel.end(), [&row](const ResultRow* other) {
           return !other->ndcg || *other->ndcg <= *row.ndcg;
         });
}

std::string family_class(const std::string& row_name) {
  const std::string family = row_name.substr(0, row_name.find('+'));
  if (family == "AB") return "family-ab";
  if (family == "SVM") return "family-svm";
  if (family == "ALL") return "family-all";
  return "family-other";
}

}  // namespace tunemix::report
