#include "pipeline/config/yaml_reader.h"

#include <algorithm>
#include <cctype>

namespace tunemix {
namespace {

// The depth of `a.b.0.c`'s part: list items are written with a dash.
bool is_index(const std::string& part) {
  return !part.empty() &&
         std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// A plain word of YAML, or quoted.
std::string scalar(const std::string& value) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(value.begin(), value.end(), is_control)) {
    std::string result = "\"";
    for (const char c : value) {
      if (is_control(static_cast<unsigned char>(c)))
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      else
        result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return result + "\"";
  }
  const bool plain = !value.empty() && value.find_first_of(":#[]{}&*!|>'\"%@`,$?~ ") == std::string::npos &&
                     value.front() != '-' && value.front() != '=' && value != "null";
  if (plain) return value;
  std::string result = "'";
  for (const char c : value) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

// A value as an OptionTable writes it: lists are in brackets and hold plain words only.
std::string quoted(const std::string& value) {
  return value.starts_with('[') && value.ends_with(']') ? value : scalar(value);
}

YAML::Node step_into(YAML::Node node, const std::string& part, const std::string& override_text) {
  if (node.IsSequence()) {
    if (!is_index(part) || part.size() > 6 || std::stoul(part) >= node.size())
      throw_input("command line: '{}': '{}' is a list; expected an index from 0 to {}", override_text, part,
                  node.size() - 1);
    return node[std::stoul(part)];
  }
  if (node.IsDefined() && !node.IsNull() && !node.IsMap())
    throw_input("command line: '{}': nothing stands below '{}'", override_text, part);
  return node[part];
}

void assign(YAML::Node node, const std::vector<std::string>& parts, size_t at, const YAML::Node& value,
            const std::string& override_text) {
  if (at + 1 < parts.size()) {
    assign(step_into(node, parts[at], override_text), parts, at + 1, value, override_text);
    return;
  }
  if (node.IsSequence())
    step_into(node, parts[at], override_text) = value;
  else if (!node.IsDefined() || node.IsNull() || node.IsMap())
    node[parts[at]] = value;
  else
    throw_input("command line: '{}': nothing stands below '{}'", override_text, parts[at]);
}

}  // namespace

void ResolvedLog::add_texts(std::string path, const std::vector<std::string>& texts, std::string origin) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(scalar(text));
  add(std::move(path), "[" + join(items, ", ") + "]", std::move(origin));
}

std::string ResolvedLog::yaml() const {
  std::string out;
  std::vector<std::string> open;
  for (const Entry& entry : entries_) {
    const std::vector<std::string> parts = split(entry.path, '.');
    size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() && open[same] == parts[same]) ++same;
    std::string line;
    // `- ` takes the place of the indentation of the first key in a list item.
    bool dash = false;
    size_t indent = 0;
    for (size_t i = 0; i < same; ++i) indent += 2;
    for (size_t i = same; i + 1 < parts.size(); ++i) {
      if (is_index(parts[i])) {
        dash = true;
      } else {
        out += std::string(dash ? indent - 2 : indent, ' ') + (dash ? "- " : "") + parts[i] + ":\n";
        dash = false;
      }
      indent += 2;
    }
    line = std::string(dash ? indent - 2 : indent, ' ') + (dash ? "- " : "") + parts.back() + ": " +
           quoted(entry.value);
    if (!entry.origin.empty()) line += "  # " + entry.origin;
    out += line + "\n";
    open.assign(parts.begin(), parts.end() - 1);
  }
  return out;
}

std::map<std::string, std::string> ResolvedLog::values() const {
  std::map<std::string, std::string> result;
  for (const Entry& entry : entries_) result[entry.path] = entry.value;
  return result;
}

YamlDocument::YamlDocument(const std::string& text, std::string name,
                           const std::vector<std::string>& overrides)
    : name_(std::move(name)) {
  try {
    root_ = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw_input("{}:{}:{}: not YAML: {}", name_, error.mark.line + 1, error.mark.column + 1, error.msg);
  }
  if (root_.IsNull()) root_ = YAML::Node(YAML::NodeType::Map);
  if (!root_.IsMap()) throw_input("{}:1:1: not a config; expected 'key: value' lines", name_);
  for (const std::string& text_of : overrides) {
    const size_t equals = text_of.find('=');
    if (equals == std::string::npos || equals == 0)
      throw_input("command line: '{}' is no override; expected key.path=value", text_of);
    const std::string path = text_of.substr(0, equals);
    YAML::Node value;
    try {
      value = YAML::Load(text_of.substr(equals + 1));
    } catch (const YAML::Exception& error) {
      throw_input("command line: '{}': the value is not YAML: {}", text_of, error.msg);
    }
    const std::vector<std::string> parts = split(path, '.');
    for (const std::string& part : parts)
      if (part.empty()) throw_input("command line: '{}' is no override; expected key.path=value", text_of);
    assign(root_, parts, 0, value, text_of);
    overridden_.push_back(path);
  }
}

bool YamlDocument::overridden(const std::string& path) const {
  return std::any_of(overridden_.begin(), overridden_.end(), [&](const std::string& prefix) {
    return path == prefix || (path.starts_with(prefix) && path[prefix.size()] == '.');
  });
}

std::string YamlDocument::place(const YAML::Node& node, const std::string& path) const {
  if (overridden(path)) return "command line";
  const YAML::Mark mark = node.IsDefined() ? node.Mark() : YAML::Mark::null_mark();
  if (mark.is_null()) return name_;
  return fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1);
}

void YamlDocument::fail(const YAML::Node& node, const std::string& path, const std::string& what) const {
  throw_input("{}: {}{}{}", place(node, path), path, path.empty() ? "" : ": ", what);
}

YamlSection::YamlSection(const YamlDocument& document, YAML::Node node, std::string path)
    : document_(document), node_(std::move(node)), path_(std::move(path)) {
  if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap())
    document_.fail(node_, path_, "expected 'key: value' lines below it");
}

void YamlSection::expect_keys(const std::vector<std::string>& known) const {
  if (!node_.IsDefined() || !node_.IsMap()) return;
  std::vector<std::string> seen;
  for (const auto& item : node_) {
    if (!item.first.IsScalar()) document_.fail(item.first, path_, "a key that is not a word");
    const std::string& key = item.first.Scalar();
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      document_.fail(item.first, path_of(key), "stands twice");
    seen.push_back(key);
    if (std::find(known.begin(), known.end(), key) == known.end())
      document_.fail(
          item.first, path_of(key),
          fmt::format("unknown key{}; expected one of: {}", did_you_mean(key, known), join(known, ", ")));
  }
}

bool YamlSection::has(const std::string& key) const {
  return node_.IsDefined() && node_.IsMap() && child(key).IsDefined();
}

YAML::Node YamlSection::child(const std::string& key) const {
  const YAML::Node& constant = node_;  // a non-const look-up would insert the key
  return constant[key];
}

YamlSection YamlSection::section(const std::string& key) const {
  return {document_, has(key) ? child(key) : YAML::Node(YAML::NodeType::Map), path_of(key)};
}

std::string YamlSection::text(const std::string& key) const {
  const YAML::Node value = child(key);
  if (value.IsScalar()) return value.Scalar();
  if (value.IsSequence()) return "[" + join(items(key), ", ") + "]";
  fail(key, "expected a value");
}

std::vector<std::string> YamlSection::items(const std::string& key) const {
  const YAML::Node value = child(key);
  if (value.IsScalar()) return {value.Scalar()};
  if (!value.IsSequence()) fail(key, "expected a value or a list of values");
  std::vector<std::string> result;
  for (const auto& item : value) {
    if (!item.IsScalar()) document_.fail(item, path_of(key), "expected a list of plain values");
    result.push_back(item.Scalar());
  }
  return result;
}

void YamlSection::fail(const std::string& key, const std::string& what) const {
  document_.fail(has(key) ? child(key) : node_, path_of(key), what);
}

std::string YamlSection::origin(const std::string& key) const {
  if (!has(key)) return "default";
  return document_.place(child(key), path_of(key));
}

}  // namespace tunemix
