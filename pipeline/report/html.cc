#include "pipeline/report/html.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "pipeline/store/json_text.h"
#include "tunemix/core/error.h"

namespace tunemix::report {

std::string escape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string script_json(const Json& value) {
  const std::string plain = json_text(value, -1);
  std::string result;
  result.reserve(plain.size());
  for (const char c : plain) {
    // Inside JSON these occur in strings only; "</script" and "<!--" would end or change the element.
    if (c == '<')
      result += "\\u003c";
    else if (c == '>')
      result += "\\u003e";
    else if (c == '&')
      result += "\\u0026";
    else
      result += c;
  }
  return result;
}

std::string fixed(double value, int decimals) {
  return std::isnan(value) ? "–" : fmt::format("{:.{}f}", value, decimals);
}

std::string signed_fixed(double value, int decimals) {
  return fmt::format("{}{:.{}f}", value < 0 ? "−" : "+", std::abs(value), decimals);
}

std::string compact(double value) { return std::isnan(value) ? "–" : fmt::format("{:.4g}", value); }

std::string percent(double value, int decimals) {
  return std::isnan(value) ? "–" : fmt::format("{:.{}f} %", 100 * value, decimals);
}

std::string grouped(int64_t count) {
  const std::string digits = std::to_string(std::abs(count));
  std::string result = count < 0 ? "−" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

std::string plural(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(static_cast<int64_t>(count)), noun, count == 1 ? "" : "s");
}

double rounded(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Table& Table::column(std::string name, Align align) {
  columns_.push_back({std::move(name), align});
  return *this;
}

Table& Table::row(std::string css_class) {
  rows_.push_back({std::move(css_class), {}});
  return *this;
}

Table& Table::cell(std::string_view text, std::string_view css_class) {
  return cell_html(escape(text), css_class);
}

Table& Table::cell_html(std::string html, std::string_view css_class) {
  Row& row = rows_.back();
  require(row.cells.size() < columns_.size(), "a table row has more cells than columns");
  std::string classes(css_class);
  if (columns_[row.cells.size()].align == Align::kNumber) classes = classes.empty() ? "n" : classes + " n";
  const std::string attribute = classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
  const bool heading = row.cells.empty();
  row.cells.push_back(heading ? fmt::format("<th scope=\"row\"{}>{}</th>", attribute, html)
                              : fmt::format("<td{}>{}</td>", attribute, html));
  return *this;
}

std::string Table::html() const {
  std::string result = "<div class=\"scroll\" tabindex=\"0\"><table>";
  if (!caption_.empty()) result += fmt::format("<caption><span>{}</span></caption>", escape(caption_));
  result += "<thead><tr>";
  for (const Column& column : columns_)
    result += fmt::format("<th scope=\"col\"{}>{}</th>", column.align == Align::kNumber ? " class=\"n\"" : "",
                          escape(column.name));
  result += "</tr></thead><tbody>\n";
  for (const Row& row : rows_) {
    result += row.css_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", row.css_class);
    for (const std::string& cell : row.cells) result += cell;
    result += "</tr>\n";
  }
  return result + "</tbody></table></div>\n";
}

std::string numbers_block(std::string_view summary, std::string_view html) {
  return fmt::format("<details class=\"numbers\" open><summary>{}</summary>{}</details>\n", escape(summary),
                     html);
}

std::string chart(std::string_view kind, std::string_view argument) {
  return fmt::format("<div class=\"chart\" data-chart=\"{}\" data-argument=\"{}\"></div>\n", escape(kind),
                     escape(argument));
}

}  // namespace tunemix::report
