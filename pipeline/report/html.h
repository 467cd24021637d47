// Small pieces of HTML: escaping, numbers for people, tables. Everything that comes from data is escaped
// here.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunemix::report {

using Json = nlohmann::ordered_json;

// For text and for attributes in double quotes.
std::string escape(std::string_view text);
// JSON that can stand inside a script element, whatever its strings hold.
std::string script_json(const Json& value);

// The elements of the array data[key]; none where it is absent. Throws InputError for anything else.
std::vector<const Json*> items(const Json& data, const char* key);
std::optional<double> number(const Json& object, const char* key);
int integer(const Json& object, const char* key);
// A string as it is; a number or boolean as JSON writes it; else empty.
std::string text(const Json& object, const char* key);

std::string fixed(std::optional<double> value, int decimals);        // 0.7912; a dash where there is none
std::string signed_fixed(double value, int decimals);                // +0.0042 with a true minus sign
std::string compact(std::optional<double> value);                    // four significant digits
std::string percent(std::optional<double> value, int decimals = 1);  // 0.071 is 7.1 %
std::string grouped(double count);                                   // 15,211
std::string plural(size_t count, std::string_view noun);             // "1 fold", "5 folds"
double rounded(double value);  // to six digits, to keep chart data small

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
