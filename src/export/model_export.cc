#include "tunemix/export/model_export.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "export/buffer.h"
#include "tunemix/core/error.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

void quote(Buffer& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      print(out, "\\u{:04x}", byte);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

std::string json_text(std::string_view text) {
  Buffer out;
  quote(out, text);
  return fmt::to_string(out);
}

// As these programs hold it.
float single(double value) {
  const auto result = static_cast<float>(value);
  if (!std::isfinite(result)) throw_input("a value of the model, {}, is no finite 32-bit number", value);
  return result;
}

// Digits that read back to the same float. Always with a point or an exponent: Solr takes a number without
// one for a whole number, and then refuses it.
std::string number(double value) {
  std::string text = fmt::format("{}", single(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string name_of(const ModelExport& options, size_t feature) {
  return options.feature_names.empty() ? fmt::format("f{}", feature + 1) : options.feature_names[feature];
}

bool is_linear(const PlainModel& model) {
  return std::any_of(model.weights.begin(), model.weights.end(), [](double w) { return w != 0; });
}

std::vector<uint32_t> used_features(const PlainModel& model) {
  std::set<uint32_t> used;
  for (const PlainTree& tree : model.trees)
    for (const PlainTree::Node& node : tree.nodes)
      if (!node.is_leaf()) used.insert(node.feature);
  for (size_t j = 0; j < model.weights.size(); ++j)
    if (model.weights[j] != 0) used.insert(static_cast<uint32_t>(j));
  return {used.begin(), used.end()};
}

// The trees with the start in the leaves of the first: most formats have no other place for it.
std::vector<PlainTree> trees_with_start(const PlainModel& model) {
  std::vector<PlainTree> trees = model.trees;
  if (trees.empty()) {
    trees.emplace_back().nodes.emplace_back();
    trees[0].values = {0.0};
  }
  for (double& value : trees[0].values) value += model.start[0];
  return trees;
}

float below(float x) { return std::nextafter(x, -std::numeric_limits<float>::infinity()); }

// A linear format without a constant: refused, or told.
void leave_out_constant(const PlainModel& model, const ModelExport& options, std::string_view format,
                        std::vector<std::string>& notes) {
  if (model.start[0] == 0) return;
  const std::string change =
      fmt::format("{} by {}", model.start[0] > 0 ? "lower" : "higher", std::abs(model.start[0]));
  if (!options.without_constant)
    throw_input(
        "the model adds the constant {} to every score, for which a linear model of {} has no place; give "
        "--without-constant to leave it out: all scores are then {}, and their order is the same",
        model.start[0], format, change);
  notes.push_back(fmt::format("the constant {} is left out: all scores are {}, their order is the same",
                              model.start[0], change));
}

// A format in which a missing value has no place of its own.
void expect_no_missing(const PlainModel& model, const ModelExport& options, std::string_view format) {
  for (const uint32_t j : used_features(model))
    if (model.missing.contains(j))
      throw_input(
          "training had missing values of the feature '{}', and the model has learned where they go, which "
          "{} cannot "
          "say; export it for xgboost",
          name_of(options, j), format);
}

// --- XGBoost's own JSON: left where x < split_condition

// Its programs refuse a model with other names, or read them wrongly.
void expect_xgboost_names(const std::vector<std::string>& names) {
  for (size_t j = 0; j < names.size(); ++j)
    if (names[j].find_first_of("[]<") != std::string::npos)
      throw_input(
          "feature {} is called '{}', and XGBoost takes no [, ] or < in a name; give other names with "
          "--feature-names",
          j + 1, names[j]);
}

void print_xgboost_head(Buffer& out, const PlainModel& model, const ModelExport& options) {
  print(out, R"({{"learner":{{"attributes":{{}},"feature_names":[)");
  for (size_t j = 0; j < options.feature_names.size(); ++j)
    print(out, "{}{}", j > 0 ? "," : "", json_text(options.feature_names[j]));
  print(out, R"(],"feature_types":[)");
  for (size_t j = 0; j < options.feature_names.size(); ++j) print(out, R"({}"float")", j > 0 ? "," : "");
  print(out,
        R"(],"learner_model_param":{{"base_score":"{}","boost_from_average":"0","num_class":"0",)"
        R"("num_feature":"{}","num_target":"1"}},"objective":{{"name":"reg:squarederror",)"
        R"("reg_loss_param":{{"scale_pos_weight":"1"}}}},"gradient_booster":)",
        number(is_linear(model) ? 0.0 : model.start[0]), model.features);
}

template <typename Get>
void print_list(Buffer& out, std::string_view name, const PlainTree& tree, Get get) {
  print(out, R"("{}":[)", name);
  for (size_t n = 0; n < tree.nodes.size(); ++n) print(out, "{}{}", n > 0 ? "," : "", get(n));
  print(out, "],");
}

void print_xgboost_tree(Buffer& out, const PlainModel& model, size_t number_of_tree) {
  const PlainTree& tree = model.trees[number_of_tree];
  const auto& nodes = tree.nodes;
  std::vector<int32_t> parents(nodes.size(), std::numeric_limits<int32_t>::max());
  for (size_t n = 0; n < nodes.size(); ++n)
    if (!nodes[n].is_leaf()) {
      // XGBoost's predictor looks only at the left child's number.
      require(nodes[n].above == nodes[n].below + 1, "children that are not side by side");
      parents[static_cast<size_t>(nodes[n].below)] = parents[static_cast<size_t>(nodes[n].above)] =
          static_cast<int32_t>(n);
    }
  const auto value = [&](size_t n) { return single(tree.values[nodes[n].leaf]); };
  print(out, "{{");
  print_list(out, "base_weights", tree,
             [&](size_t n) { return number(nodes[n].is_leaf() ? value(n) : 0.0F); });
  print(out, R"("categories":[],"categories_nodes":[],"categories_segments":[],"categories_sizes":[],)");
  // Where training had no missing values, a value that is not there is 0, as in LETOR files.
  print_list(out, "default_left", tree, [&](size_t n) {
    const bool left = model.missing.empty() ? 0 < nodes[n].threshold : !nodes[n].missing_above;
    return !nodes[n].is_leaf() && left ? 1 : 0;
  });
  print(out, R"("id":{},)", number_of_tree);
  print_list(out, "left_children", tree, [&](size_t n) { return nodes[n].below; });
  print_list(out, "loss_changes", tree, [](size_t) { return "0.0"; });
  print_list(out, "parents", tree, [&](size_t n) { return parents[n]; });
  print_list(out, "right_children", tree, [&](size_t n) { return nodes[n].above; });
  print_list(out, "split_conditions", tree,
             [&](size_t n) { return number(nodes[n].is_leaf() ? value(n) : nodes[n].threshold); });
  print_list(out, "split_indices", tree, [&](size_t n) { return nodes[n].feature; });
  print_list(out, "split_type", tree, [](size_t) { return 0; });
  print_list(out, "sum_hessian", tree, [](size_t) { return "1.0"; });
  print(out,
        R"("tree_param":{{"num_deleted":"0","num_feature":"{}","num_nodes":"{}","size_leaf_vector":"0"}}}})",
        model.features, nodes.size());
}

void write_xgboost(Buffer& out, const PlainModel& model, const ModelExport& options) {
  expect_xgboost_names(options.feature_names);
  print_xgboost_head(out, model, options);
  if (is_linear(model)) {
    print(out, R"({{"model":{{"boosted_rounds":1,"weights":[)");
    for (const double weight : model.weights) print(out, "{},", number(weight));
    print(out, R"({}]}},"name":"gblinear"}})", number(model.start[0]));
  } else {
    print(out,
          R"({{"model":{{"gbtree_model_param":{{"num_parallel_tree":"1","num_trees":"{}",)"
          R"("size_leaf_vector":"0"}},"tree_info":[)",
          model.trees.size());
    for (size_t t = 0; t < model.trees.size(); ++t) print(out, "{}0", t > 0 ? "," : "");
    print(out, R"(],"trees":[)");
    for (size_t t = 0; t < model.trees.size(); ++t) {
      if (t > 0) out.push_back(',');
      print_xgboost_tree(out, model, t);
    }
    print(out, R"(]}},"name":"gbtree"}})");
  }
  print(out, "}},\"version\":[1,7,4]}}\n");
}

// --- RankLib: left where x <= threshold; one tag a line

void print_ranklib_node(Buffer& out, const PlainTree& tree, int32_t n, std::string_view position) {
  const PlainTree::Node& node = tree.nodes[static_cast<size_t>(n)];
  print(out, "<split{}>\n", position);
  if (node.is_leaf()) {
    print(out, "<output> {} </output>\n", number(tree.values[node.leaf]));
  } else {
    print(out, "<feature> {} </feature>\n<threshold> {} </threshold>\n", node.feature + 1,
          number(below(node.threshold)));
    print_ranklib_node(out, tree, node.below, " pos=\"left\"");
    print_ranklib_node(out, tree, node.above, " pos=\"right\"");
  }
  print(out, "</split>\n");
}

void write_ranklib(Buffer& out, const PlainModel& model) {
  if (is_linear(model)) {
    // Of double precision, as it holds them.
    print(out, "## Linear Regression\n## Lambda = 1.0E-10\n0:{}", model.start[0]);
    for (const uint32_t j : used_features(model)) print(out, " {}:{}", j + 1, model.weights[j]);
    out.push_back('\n');
    return;
  }
  const std::vector<PlainTree> trees = trees_with_start(model);
  size_t leaves = 0;
  for (const PlainTree& tree : trees) leaves = std::max(leaves, (tree.nodes.size() + 1) / 2);
  print(out, "## LambdaMART\n## No. of trees = {}\n## No. of leaves = {}\n\n<ensemble>\n", trees.size(),
        leaves);
  for (size_t t = 0; t < trees.size(); ++t) {
    print(out, "<tree id=\"{}\" weight=\"1.0\">\n", t + 1);
    print_ranklib_node(out, trees[t], 0, "");
    print(out, "</tree>\n");
  }
  print(out, "</ensemble>\n");
}

// --- Solr: left where x <= threshold + 1e-6; all numbers of trees as text

void print_features(Buffer& out, const PlainModel& model, const ModelExport& options) {
  print(out, R"("features":[)");
  bool first = true;
  for (const uint32_t j : used_features(model)) {
    print(out, R"({}{{"name":{}}})", first ? "" : ",", json_text(name_of(options, j)));
    first = false;
  }
  print(out, "],\n");
}

void print_solr_node(Buffer& out, const PlainTree& tree, int32_t n, const ModelExport& options) {
  const PlainTree::Node& node = tree.nodes[static_cast<size_t>(n)];
  if (node.is_leaf()) {
    print(out, R"({{"value":"{}"}})", number(tree.values[node.leaf]));
    return;
  }
  print(out, R"({{"feature":{},"threshold":"{}","left":)", json_text(name_of(options, node.feature)),
        number(solr_threshold(node.threshold)));
  print_solr_node(out, tree, node.below, options);
  print(out, R"(,"right":)");
  print_solr_node(out, tree, node.above, options);
  out.push_back('}');
}

constexpr float kSolrSlack = 1e-6F;

// The cuts that Solr's own rounding moves by a hair.
void tell_solr_cuts(const std::vector<PlainTree>& trees, std::vector<std::string>& notes) {
  size_t cuts = 0;
  size_t moved = 0;
  float widest = 0;
  for (const PlainTree& tree : trees)
    for (const PlainTree::Node& node : tree.nodes) {
      if (node.is_leaf()) continue;
      ++cuts;
      const float last_left = solr_threshold(node.threshold) + kSolrSlack;
      if (last_left == below(node.threshold)) continue;
      ++moved;
      widest = std::max(widest, node.threshold - last_left);
    }
  if (moved > 0)
    notes.push_back(fmt::format(
        "Solr adds 1e-6 to every threshold in single precision, which cannot give {} of the {} cuts to the "
        "last digit: values up to {:.1g} below such a cut go to its right",
        moved, cuts, widest));
}

void write_solr(Buffer& out, const PlainModel& model, const ModelExport& options,
                std::vector<std::string>& notes) {
  if (used_features(model).empty())
    throw_input(
        "it gives every document the same score, {}, and Solr takes no model without features; train it on "
        "data from which it learns something",
        trees_with_start(model)[0].values[0]);
  const bool linear = is_linear(model);
  print(out, "{{\"class\":\"org.apache.solr.ltr.model.{}\",\n\"name\":{},\n",
        linear ? "LinearModel" : "MultipleAdditiveTreesModel", json_text(options.name));
  print_features(out, model, options);
  if (linear) {
    leave_out_constant(model, options, "Solr", notes);
    print(out, R"("params":{{"weights":{{)");
    bool first = true;
    for (const uint32_t j : used_features(model)) {
      print(out, "{}{}:{}", first ? "" : ",", json_text(name_of(options, j)), number(model.weights[j]));
      first = false;
    }
    print(out, "}}}}}}\n");
    return;
  }
  const std::vector<PlainTree> trees = trees_with_start(model);
  tell_solr_cuts(trees, notes);
  print(out, "\"params\":{{\"trees\":[");
  for (size_t t = 0; t < trees.size(); ++t) {
    print(out, "{}\n{{\"weight\":\"1\",\"root\":", t > 0 ? "," : "");
    print_solr_node(out, trees[t], 0, options);
    out.push_back('}');
  }
  print(out, "]}}}}\n");
}

// --- Elasticsearch LTR: `yes` where x < split_condition; the definition is JSON in a string

void print_elastic_node(Buffer& out, const PlainTree& tree, int32_t n, int depth,
                        const ModelExport& options) {
  const PlainTree::Node& node = tree.nodes[static_cast<size_t>(n)];
  if (node.is_leaf()) {
    print(out, R"({{"nodeid":{},"leaf":{}}})", n, number(tree.values[node.leaf]));
    return;
  }
  print(out,
        R"({{"nodeid":{},"depth":{},"split":{},"split_condition":{},"yes":{},"no":{},"missing":{},)"
        R"("children":[)",
        n, depth, json_text(name_of(options, node.feature)), number(node.threshold), node.below, node.above,
        0 < node.threshold ? node.below : node.above);
  print_elastic_node(out, tree, node.below, depth + 1, options);
  out.push_back(',');
  print_elastic_node(out, tree, node.above, depth + 1, options);
  print(out, "]}}");
}

void write_elasticsearch(Buffer& out, const PlainModel& model, const ModelExport& options,
                         std::vector<std::string>& notes) {
  Buffer definition;
  const bool linear = is_linear(model);
  if (linear) {
    leave_out_constant(model, options, "Elasticsearch", notes);
    definition.push_back('{');
    bool first = true;
    for (const uint32_t j : used_features(model)) {
      print(definition, "{}{}:{}", first ? "" : ",", json_text(name_of(options, j)),
            number(model.weights[j]));
      first = false;
    }
    definition.push_back('}');
  } else {
    const std::vector<PlainTree> trees = trees_with_start(model);
    definition.push_back('[');
    for (size_t t = 0; t < trees.size(); ++t) {
      if (t > 0) definition.push_back(',');
      print_elastic_node(definition, trees[t], 0, 0, options);
    }
    definition.push_back(']');
  }
  print(out, "{{\"model\":{{\"name\":{},\"model\":{{\"type\":\"model/{}\",\"definition\":",
        json_text(options.name), linear ? "linear" : "xgboost+json");
  quote(out, {definition.data(), definition.size()});
  print(out, "}}}}}}\n");
}

}  // namespace

const std::vector<std::string>& model_format_names() {
  static const std::vector<std::string> names = {"xgboost", "ranklib", "solr", "elasticsearch"};
  return names;
}

ModelFormat parse_model_format(std::string_view name) {
  const auto& names = model_format_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end())
    throw_input("format is '{}'; expected one of: {}{}", name, join(names, ", "), did_you_mean(name, names));
  return static_cast<ModelFormat>(it - names.begin());
}

float solr_threshold(float threshold) {
  // Floats in their order, by whole numbers; bisected, as 10^9 floats lie below 1e-6.
  const auto at = [](int32_t place) {
    return std::copysign(std::bit_cast<float>(std::abs(place)), place < 0 ? -1.0F : 1.0F);
  };
  constexpr auto kInfinity = std::bit_cast<int32_t>(std::numeric_limits<float>::infinity());
  int32_t good = -kInfinity;
  int32_t bad = kInfinity;
  while (good + 1 < bad) {
    const int32_t middle = std::midpoint(good, bad);
    (at(middle) + kSolrSlack < threshold ? good : bad) = middle;
  }
  return at(good);
}

ExportedModel export_model(ModelFormat format, const PlainModel& model, const ModelExport& options) {
  require(model.columns == 1 && model.start.size() == 1, "one score a document is exported");
  require(options.feature_names.empty() || options.feature_names.size() == model.features,
          "names do not fit the features");
  if (is_linear(model) && !model.trees.empty())
    throw_input("it sums both trees and weighted features, for which {} has no model",
                model_format_names()[static_cast<size_t>(format)]);
  if (format != ModelFormat::kXgboost)
    expect_no_missing(model, options, model_format_names()[static_cast<size_t>(format)]);
  ExportedModel result;
  Buffer out;
  switch (format) {
    case ModelFormat::kXgboost:
      write_xgboost(out, model, options);
      break;
    case ModelFormat::kRankLib:
      write_ranklib(out, model);
      break;
    case ModelFormat::kSolr:
      write_solr(out, model, options, result.notes);
      break;
    case ModelFormat::kElasticsearch:
      write_elasticsearch(out, model, options, result.notes);
      break;
  }
  result.text = fmt::to_string(out);
  return result;
}

}  // namespace tunemix
