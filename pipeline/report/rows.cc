#include "pipeline/report/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/report/html.h"

namespace tunemix::report {
namespace {

std::string family_of(const std::string& row_name) { return row_name.substr(0, row_name.find('+')); }

}  // namespace

Rows::Rows(const std::vector<ResultRow>& rows) : rows_(rows) {
  for (const ResultRow& row : rows) {
    if (row.main && main_ == nullptr) main_ = &row;
    add_once(splits_, row.split);
    add_once(tools_, row.tool);
    add_once(names_, row.name);
    add_once(families_, family_of(row.name));
  }
}

std::vector<const ResultRow*> Rows::of(const std::string& split, const std::string& tool) const {
  std::vector<const ResultRow*> result;
  for (const ResultRow& row : rows_)
    if (row.split == split && row.tool == tool) result.push_back(&row);
  return result;
}

const ResultRow* Rows::find(const std::string& name, const std::string& split,
                            const std::string& tool) const {
  for (const ResultRow* row : of(split, tool))
    if (row->name == name) return row;
  return nullptr;
}

std::string Rows::family_class(const std::string& row_name) const {
  const auto found = std::find(families_.begin(), families_.end(), family_of(row_name));
  return fmt::format("family-{}", static_cast<size_t>(found - families_.begin()) % kFamilyColours + 1);
}

}  // namespace tunemix::report
