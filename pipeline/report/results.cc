#include "pipeline/report/results.h"

#include <fmt/format.h>

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

std::string family_of(const std::string& row_name) { return row_name.substr(0, row_name.find('+')); }

ResultRow parse_row(const Json& item) {
  ResultRow row;
  row.name = text(item, "name");
  row.split = text(item, "split");
  row.tool = text(item, "tool");
  row.ndcg = number(item, "ndcg@10");
  row.standard_error = number(item, "stderr");
  row.err = number(item, "err");
  row.err_max = number(item, "err_max");
  row.map = number(item, "map");
  row.chosen = item.value("chosen", Json(false)) == Json(true);
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
    add_once(families_, family_of(rows_.back().name));
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
  for (const ResultRow* row : rows(main_split(), main_tool()))
    if (row->chosen) return row;
  const ResultRow* best = nullptr;
  for (const ResultRow* row : rows("valid", main_tool()))
    if (row->ndcg && (best == nullptr || *row->ndcg > *best->ndcg)) best = row;
  if (best == nullptr)
    return rows(main_split(), main_tool()).empty() ? &rows_.front() : rows(main_split(), main_tool()).front();
  const ResultRow* same = find(best->name, main_split(), main_tool());
  return same != nullptr ? same : best;
}

bool Results::is_headline(const ResultRow& row) const {
  const ResultRow* chosen = headline();
  return chosen != nullptr && chosen->name == row.name;
}

std::string Results::family_class(const std::string& row_name) const {
  const auto found = std::find(families_.begin(), families_.end(), family_of(row_name));
  return report::family_class(static_cast<size_t>(found - families_.begin()));
}

std::string family_class(size_t position) { return fmt::format("family-{}", position % kFamilyColours + 1); }

std::string err_name(const ResultRow& row) {
  return !row.err_max || *row.err_max == 16 ? "ERR" : fmt::format("ERR (max {})", compact(row.err_max));
}

}  // namespace tunemix::report
