#include "pipeline/config/yaml_reader.h"

#include <algorithm>
#include <cctype>

namespace tunemix {
namespace {

// What other programs call the options that we have, with ours; the first that a section knows is meant.
struct ForeignName {
  const char* theirs;
  std::vector<std::string> ours;
};

// Of LightGBM, XGBoost, CatBoost, scikit-learn and RankLib.
const std::vector<ForeignName>& foreign_names() {
  static const std::vector<ForeignName> names = {
      {"learning_rate", {"shrinkage"}},
      {"eta", {"shrinkage"}},
      {"lr", {"shrinkage"}},
      {"nu", {"shrinkage"}},
      {"num_leaves", {"leaves"}},
      {"max_leaves", {"leaves"}},
      {"max_leaf_nodes", {"leaves"}},
      {"leaf", {"leaves"}},
      {"max_depth", {"depth", "leaves"}},
      {"n_estimators", {"iterations", "epoch"}},
      {"num_iterations", {"iterations", "epoch"}},
      {"n_iter", {"iterations", "epoch"}},
      {"num_trees", {"iterations"}},
      {"num_tree", {"iterations"}},
      {"n_trees", {"iterations"}},
      {"tree", {"iterations"}},
      {"num_round", {"iterations", "epoch"}},
      {"num_rounds", {"iterations", "epoch"}},
      {"num_boost_round", {"iterations"}},
      {"rounds", {"iterations", "epoch"}},
      {"round", {"iterations", "epoch"}},
      {"epochs", {"epoch", "iterations", "max_epochs"}},
      {"subsample", {"row_fraction"}},
      {"bagging_fraction", {"row_fraction"}},
      {"srate", {"row_fraction"}},
      {"colsample_bytree", {"feature_fraction"}},
      {"colsample_bynode", {"feature_fraction"}},
      {"colsample_bylevel", {"feature_fraction"}},
      {"max_features", {"feature_fraction"}},
      {"frate", {"feature_fraction"}},
      {"lambda", {"l2", "L2"}},
      {"lambda_l2", {"l2", "L2"}},
      {"reg_lambda", {"l2", "L2"}},
      {"l2_leaf_reg", {"l2", "L2"}},
      {"min_data_in_leaf", {"min_documents"}},
      {"min_child_samples", {"min_documents"}},
      {"min_samples_leaf", {"min_documents"}},
      {"mls", {"min_documents"}},
      {"min_child_weight", {"min_hessian"}},
      {"min_sum_hessian_in_leaf", {"min_hessian"}},
      {"early_stopping_rounds", {"patience"}},
      {"early_stopping_round", {"patience"}},
      {"early_stop", {"patience"}},
      {"estop", {"patience"}},
      {"max_bin", {"max_bins"}},
      {"border_count", {"max_bins"}},
      {"tc", {"max_bins"}},
      {"lambdarank_truncation_level", {"truncation"}},
      {"random_state", {"seed"}},
      {"random_seed", {"seed"}},
      {"boosting", {"type"}},
      {"boosting_type", {"type"}},
      {"objective", {"type"}},
      {"ranker", {"type"}},
      {"bag", {"bags"}},
      {"metric", {"metric", "tools"}},
      {"metric2t", {"metric", "tools"}},
      {"eval_metric", {"metric", "tools"}},
  };
  return names;
}

// "; it is called 'shrinkage' here", or nothing.
std::string name_here(const std::string& key, const std::vector<std::string>& known) {
  for (const ForeignName& name : foreign_names())
    if (name.theirs == key)
      for (const std::string& ours : name.ours)
        if (std::find(known.begin(), known.end(), ours) != known.end())
          return fmt::format("; it is called '{}' here", ours);
  return "";
}

// The first line that a tab indents, from 1; 0: none.
size_t line_with_tab(const std::string& text) {
  size_t line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t first = text.find_first_not_of(' ', at);
    if (first != std::string::npos && text[first] == '\t') return line;
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return 0;
}

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
std::string quoted_scalar(const std::string& value) {
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
    throw_input("command line: '{}': the key before '{}' has a value, not keys of its own", override_text,
                part);
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
    throw_input("command line: '{}': the key before '{}' has a value, not keys of its own", override_text,
                parts[at]);
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
           quoted_scalar(entry.value);
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
    if (text.starts_with("\x1f\x8b"))
      throw_input("{}: the file is compressed; expected a config as plain text, so unpack it first", name_);
    if (const size_t line = line_with_tab(text); line > 0)
      throw_input("{}:{}:1: a tab indents this line; expected blanks, since YAML takes no tabs", name_, line);
    throw_input(
        "{}:{}:{}: not YAML from here on; expected 'key: value' lines, lists as [a, b], and the same "
        "indentation "
        "within a section",
        name_, error.mark.line + 1, error.mark.column + 1);
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
    } catch (const YAML::Exception&) {
      throw_input("command line: '{}': the value is not YAML; expected a word, a number or a list as [a, b]",
                  text_of);
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
  if (name_.empty()) return "config";
  if (mark.is_null()) return name_;
  return fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1);
}

void YamlDocument::fail(const YAML::Node& node, const std::string& path, const std::string& what) const {
  throw_input("{}: {}{}{}", place(node, path), path, path.empty() ? "" : ": ", what);
}

YamlSection::YamlSection(const YamlDocument& document, const YAML::Node& node, std::string path)
    : document_(document), node_(node), path_(std::move(path)) {
  if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap())
    document_.fail(node_, path_, "expected 'key: value' lines below it");
}

std::string suggestion(const std::string& key, const std::vector<std::string>& known) {
  const std::string here = name_here(key, known);
  return here.empty() ? did_you_mean(key, known) : here;
}

void YamlSection::expect_keys(const std::vector<std::string>& known) const {
  if (!node_.IsDefined() || !node_.IsMap()) return;
  std::vector<std::string> seen;
  for (const auto& item : node_) {
    if (!item.first.IsScalar()) document_.fail(item.first, path_, "a key that is not a word");
    const std::string& key = item.first.Scalar();
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      document_.fail(item.first, path_of(key), "occurs twice; give each key once");
    seen.push_back(key);
    if (std::find(known.begin(), known.end(), key) == known.end())
      document_.fail(
          item.first, path_of(key),
          fmt::format("unknown key{}; expected one of: {}", suggestion(key, known), join(known, ", ")));
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

std::string YamlSection::map_text(const std::string& key) const {
  const YAML::Node value = child(key);
  if (value.IsScalar()) return value.Scalar();
  if (!value.IsMap()) fail(key, "expected a map");
  std::vector<std::string> parts;
  for (const auto& part : value) {
    if (!part.first.IsScalar() || !part.second.IsScalar()) fail(key, "expected a map of plain values");
    parts.push_back(part.first.Scalar() + ": " + part.second.Scalar());
  }
  return fmt::format("{{{}}}", join(parts, ", "));
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
