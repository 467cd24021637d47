// Small pieces of HTML: escaping, numbers for people, tables. Everything that comes from data is escaped
// here.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tunemix::report {

using Json = nlohmann::ordered_json;

// For text and for attributes in double quotes.
std::string escape(std::string_view text);
// JSON that can stand inside a script element, whatever its strings hold.
std::string script_json(const Json& value);

// A number that is NaN is a dash.
std::string fixed(double value, int decimals);            // 0.7912
std::string signed_fixed(double value, int decimals);     // +0.0042 with a true minus sign
std::string compact(double value);                        // four significant digits
std::string percent(double value, int decimals = 1);      // 0.071 is 7.1 %
std::string grouped(int64_t count);                       // 15,211
std::string plural(size_t count, std::string_view noun);  // "1 fold", "5 folds"
double rounded(double value);                             // to six digits, to keep chart data small

// Puts a value at the end of a list unless it is there.
template <typename Value>
void add_once(std::vector<Value>& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

enum class Align { kText, kNumber };

// A table in a box of its own that scrolls sideways where the screen is narrow.
class Table {
 public:
  explicit Table(std::string caption) : caption_(std::move(caption)) {}
  Table& column(std::string name, Align align = Align::kNumber);
  Table& row(std::string css_class = "");
  Table& cell(std::string_view text, std::string_view css_class = "");
  Table& cell_html(std::string html, std::string_view css_class = "");
  std::string html() const;

 private:
  struct Column {
    std::string name;
    Align align;
  };
  struct Row {
    std::string css_class;
    std::vector<std::string> cells;
  };
  std::string caption_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// A block that folds away; open until the script has drawn the charts that show the same.
std::string numbers_block(std::string_view summary, std::string_view html);
// Where the script draws the chart of this kind.
std::string chart(std::string_view kind, std::string_view argument = "");

}  // namespace tunemix::report
