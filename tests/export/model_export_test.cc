// Exported models give our scores, read by the rules of the programs that they are for.
#include "tunemix/export/model_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/learners/train_by_name.h"
#include "tests/support.h"
#include "trees/plain_tree.h"
#include "tunemix/core/random.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;

constexpr size_t kFeatures = 8;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Dataset labelled_data(uint64_t seed, int labels = 4) {
  return make_synthetic(
      {.queries = 40, .features = kFeatures, .labels = labels, .mean_length = 10, .seed = seed}, Context());
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (size_t j = 0; j < kFeatures; ++j) result.push_back("feature \"" + std::to_string(j + 1) + "\"");
  return result;
}

// --- what the other programs do with a model, as plainly as can be

using Row = std::span<const float>;
using Ranker = std::function<double(Row)>;

// Of a document by the names in the model.
std::map<std::string, float> named(Row row) {
  std::map<std::string, float> values;
  for (size_t j = 0; j < row.size(); ++j) values[names()[j]] = row[j];
  return values;
}

float solr_tree(const json& node, const std::map<std::string, float>& row) {
  if (!node.contains("feature")) return std::stof(node.at("value").get<std::string>());
  const float threshold = std::stof(node.at("threshold").get<std::string>()) + 1e-6F;
  return solr_tree(node.at(row.at(node.at("feature")) <= threshold ? "left" : "right"), row);
}

Ranker solr(const std::string& text) {
  const json model = json::parse(text);
  std::set<std::string> declared;
  for (const json& feature : model.at("features")) declared.insert(feature.at("name").get<std::string>());
  return [model, declared](Row row) {
    std::map<std::string, float> values = named(row);
    std::erase_if(values, [&](const auto& value) { return !declared.contains(value.first); });
    float score = 0;
    if (model.at("class") == "org.apache.solr.ltr.model.LinearModel") {
      const json& weights = model.at("params").at("weights");
      EXPECT_EQ(weights.size(), declared.size());
      for (const auto& [name, value] : values) {
        EXPECT_TRUE(weights.at(name).is_number_float());  // a whole number would be refused
        score += value * weights.at(name).get<float>();
      }
      return static_cast<double>(score);
    }
    EXPECT_EQ(model.at("class"), "org.apache.solr.ltr.model.MultipleAdditiveTreesModel");
    for (const json& tree : model.at("params").at("trees"))
      score += std::stof(tree.at("weight").get<std::string>()) * solr_tree(tree.at("root"), values);
    return static_cast<double>(score);
  };
}

float elastic_tree(const json& node, const std::map<std::string, float>& row) {
  if (node.contains("leaf")) return node.at("leaf").get<float>();
  const json& children = node.at("children");
  EXPECT_EQ(children.size(), 2U);
  EXPECT_EQ(children[0].at("nodeid"), node.at("yes"));
  EXPECT_EQ(children[1].at("nodeid"), node.at("no"));
  EXPECT_TRUE(node.contains("depth"));
  const auto threshold = node.at("split_condition").get<float>();
  EXPECT_EQ(node.at("missing"), 0 < threshold ? node.at("yes") : node.at("no"));
  return elastic_tree(children[row.at(node.at("split")) < threshold ? 0 : 1], row);
}

Ranker elasticsearch(const std::string& text) {
  const json model = json::parse(text).at("model").at("model");
  const json definition = json::parse(model.at("definition").get<std::string>());
  return [type = model.at("type").get<std::string>(), definition](Row row) {
    const std::map<std::string, float> values = named(row);
    float score = 0;
    if (type == "model/linear") {
      for (const auto& [name, weight] : definition.items()) score += values.at(name) * weight.get<float>();
      return static_cast<double>(score);
    }
    EXPECT_EQ(type, "model/xgboost+json");
    for (const json& tree : definition) score += elastic_tree(tree, values);
    return static_cast<double>(score);
  };
}

// Lines of the model, one tag or one key-value list each, as RankLib joins and reads them.
class RankLib {
 public:
  explicit RankLib(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
      if (line.starts_with("##")) {
        if (kind_.empty()) kind_ = line.substr(3);
      } else if (!line.empty()) {
        lines_.push_back(line);
      }
    }
  }

  double operator()(Row row) {
    row_ = row;
    at_ = 0;
    if (kind_ == "Linear Regression") {
      std::istringstream words(lines_.at(0));
      std::string word;
      double score = 0;
      while (words >> word) {
        const size_t colon = word.find(':');
        const size_t id = std::stoul(word.substr(0, colon));
        const double weight = std::stod(word.substr(colon + 1));
        score += id == 0 ? weight : weight * static_cast<double>(row[id - 1]);
      }
      return score;
    }
    EXPECT_EQ(kind_, "LambdaMART");
    float score = 0;
    expect("<ensemble>");
    while (lines_.at(at_) != "</ensemble>") {
      EXPECT_THAT(lines_.at(at_++), testing::ContainsRegex("^<tree id=\"[0-9]+\" weight=\"1.0\">$"));
      score += node("<split>");
      expect("</tree>");
    }
    return static_cast<double>(score);
  }

 private:
  void expect(const std::string& line) { EXPECT_EQ(lines_.at(at_++), line); }
  std::string value(const std::string& tag) {
    const std::string line = lines_.at(at_++);
    const std::string open = "<" + tag + "> ";
    const std::string end = " </" + tag + ">";
    EXPECT_TRUE(line.starts_with(open) && line.ends_with(end)) << line;
    return line.substr(open.size(), line.size() - open.size() - end.size());
  }
  float node(const std::string& tag) {
    expect(tag);
    float result = 0;
    if (lines_.at(at_).starts_with("<output>")) {
      result = std::stof(value("output"));
    } else {
      const size_t feature = std::stoul(value("feature"));
      const float threshold = std::stof(value("threshold"));
      const float left = node("<split pos=\"left\">");
      const float right = node("<split pos=\"right\">");
      result = row_[feature - 1] <= threshold ? left : right;
    }
    expect("</split>");
    return result;
  }

  std::string kind_;
  std::vector<std::string> lines_;
  size_t at_ = 0;
  Row row_;
};

// XGBoost's own file, as its predictor walks it; a missing value goes where it says, or always where 0 goes.
Ranker xgboost(const std::string& text, bool missing_as_zero) {
  const json learner = json::parse(text).at("learner");
  EXPECT_EQ(learner.at("feature_names").get<std::vector<std::string>>(), names());
  return [learner, missing_as_zero](Row row) {
    const json& booster = learner.at("gradient_booster");
    float score = std::stof(learner.at("learner_model_param").at("base_score").get<std::string>());
    if (booster.at("name") == "gblinear") {
      const auto weights = booster.at("model").at("weights").get<std::vector<float>>();
      EXPECT_EQ(weights.size(), row.size() + 1);
      for (size_t j = 0; j < row.size(); ++j) score += weights[j] * row[j];
      return static_cast<double>(score + weights.back());
    }
    for (const json& tree : booster.at("model").at("trees")) {
      size_t node = 0;
      while (tree.at("left_children")[node] != -1) {
        const size_t feature = tree.at("split_indices")[node];
        const auto threshold = tree.at("split_conditions")[node].get<float>();
        const bool default_left = tree.at("default_left")[node].get<int>() != 0;
        if (missing_as_zero) {
          EXPECT_EQ(default_left, 0 < threshold);
        }
        const bool left = std::isnan(row[feature]) ? default_left : row[feature] < threshold;
        // Its predictor takes the right child to be the one after the left.
        node = tree.at("left_children")[node].get<size_t>() + (left ? 0 : 1);
      }
      score += tree.at("split_conditions")[node].get<float>();
    }
    return static_cast<double>(score);
  };
}

Ranker read(ModelFormat format, const std::string& text) {
  switch (format) {
    case ModelFormat::kXgboost:
      return xgboost(text, true);
    case ModelFormat::kRankLib:
      return [ranklib = RankLib(text)](Row row) mutable { return ranklib(row); };
    case ModelFormat::kSolr:
      return solr(text);
    default:
      return elasticsearch(text);
  }
}

// In all formats, on new documents, whose values lie on the cuts as often as not.
void expect_same_scores(const PlainModel& plain, std::span<const float> ours, const Dataset& data,
                        double constant = 0) {
  for (const ModelFormat format :
       {ModelFormat::kXgboost, ModelFormat::kRankLib, ModelFormat::kSolr, ModelFormat::kElasticsearch}) {
    const bool leaves_out = constant != 0 && format >= ModelFormat::kSolr;
    const ExportedModel exported = export_model(format, plain, {"mine", names(), leaves_out});
    const Ranker ranker = read(format, exported.text);
    for (size_t i = 0; i < data.documents(); ++i) {
      const double wanted = static_cast<double>(ours[i]) - (leaves_out ? constant : 0);
      double size = std::max(1.0, std::abs(wanted));  // of what is summed in single precision
      if (!plain.weights.empty()) size += std::abs(plain.start[0]);
      for (size_t j = 0; j < plain.weights.size(); ++j)
        size += std::abs(plain.weights[j] * static_cast<double>(data.row(i)[j]));
      ASSERT_NEAR(ranker(data.row(i)), wanted, 1e-5 * size)
          << model_format_names()[static_cast<size_t>(format)] << ", document " << i;
    }
  }
}

TEST(ModelExport, OneColumnModelsOfTheRegistry) {
  const Context context;
  const Dataset train = labelled_data(1);
  const Dataset data = labelled_data(2);
  size_t exported = 0;
  for (const auto& learner : registry().entries()) {
    if (!learner->start || !learner->one_column) continue;
    SCOPED_TRACE(learner->type);
    Settings settings;
    std::vector<int64_t> lengths;
    if (const OptionInfo* length = learner->length_option()) {
      settings = {{length->name, "12"}};
      lengths = {4, 12};
    }
    const LearnedModel learned = test::train_by_name(train, learner->type, settings, lengths, context);
    for (size_t point = 0; point < learned.model->points().size(); ++point) {
      PlainModel plain;
      try {
        plain = plain_ranker(*learned.model, point);
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), AnyOf(HasSubstr("hidden units"), HasSubstr("no sums of trees")));
        continue;
      }
      const ScoreMatrix ours = learned.model->score(data, std::span(&point, 1), context)[0];
      const bool linear = plain.trees.empty();
      expect_same_scores(plain, ours.values(), data, linear ? plain.start[0] : 0);
      ++exported;
    }
  }
  EXPECT_GE(exported, 12U);
}

// A bundle of one model with linear calibrations, which are mixed as they are.
Bundle linear_bundle(LearnedModel learned, const Dataset& data, Normalize normalize, Standardize mode,
                     std::span<const char* const> specs, const Context& context) {
  const std::vector<double> grades = {0, 1, 3, 7};
  std::vector<BundleMember> members;
  std::vector<Member> described;
  for (uint32_t point = 0; point < learned.model->points().size(); ++point)
    for (const char* spec : specs) {
      const size_t points[] = {point};
      const ScoreMatrix scores = learned.model->score(data, points, context)[0];
      members.push_back({{0},
                         point,
                         Calibrator::fit(CalibrationSpec::parse(spec),
                                         {scores, data.labels(), data.queries(), grades}, {}, 1, context)});
      Member member;
      member.kind = members.back().calibrator.spec().kind;
      member.checkpoint = point + 1;
      member.calibration = spec;
      described.push_back(member);
    }
  std::vector<double> weights;
  for (size_t m = 0; m < members.size(); ++m) weights.push_back(0.5 + 0.25 * static_cast<double>(m));
  const size_t features = mode == Standardize::kAppend ? data.features() / 2 : data.features();
  std::vector<BundleModel> models;
  models.push_back({std::move(learned), mode});
  return Bundle({"mine", "ALL+EXP", 1, "key", features, 4}, std::move(models), members,
                Mixture(described, weights, normalize, 0, 0));
}

constexpr const char* kLinear[] = {"rbc.linear.ndcg", "rbc.linear.raw"};

TEST(ModelExport, ClassifiersWithLinearCalibrations) {
  const Context context;
  const Dataset train = labelled_data(1);
  const Dataset data = labelled_data(2);
  const std::vector<std::pair<std::string, Settings>> cases = {
      {"adaboost_mh", {{"leaves", "6"}}},
      {"adaboost_mh", {{"votes", "real"}}},
      {"adaboost_mh", {{"base", "product"}, {"terms", "4"}}},
      {"adaboost_mh", {{"base", "stump"}}},
      {"logitboost", {{"leaves", "5"}}},
      {"svm", {{"C", "[0.01, 1]"}}}};
  for (const auto& [type, settings] : cases) {
    SCOPED_TRACE(type);
    const LearnerEntry& learner = registry().expect(type);
    const Bundle bundle =
        linear_bundle(test::train_by_name(train, type, settings,
                                          learner.length_option() != nullptr ? std::vector<int64_t>{5, 12}
                                                                             : std::vector<int64_t>{},
                                          context),
                      train, Normalize::kNone, Standardize::kNone, kLinear, context);
    const PlainModel plain = plain_ranker(bundle);
    expect_same_scores(plain, bundle.predict(data, context), data, plain.trees.empty() ? plain.start[0] : 0);
  }
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(ModelExport, WhatIsNotExactIsRefused) {
  const Context context;
  const Dataset train = labelled_data(1);
  const auto boosted = [&](const Dataset& data) {
    return test::train_by_name(data, "adaboost_mh", {}, {5}, context);
  };
  const LearnedModel classifier = boosted(train);
  EXPECT_THAT(refusal([&] { plain_ranker(*classifier.model, 0); }), HasSubstr("4 scores a document"));
  EXPECT_THAT(refusal([&] {
                plain_ranker(linear_bundle(boosted(train), train, Normalize::kQuery, Standardize::kNone,
                                           kLinear, context));
              }),
              HasSubstr("standardised within each query"));
  constexpr const char* kCurved[] = {"rbc.poly2.raw"};
  EXPECT_THAT(refusal([&] {
                plain_ranker(linear_bundle(boosted(train), train, Normalize::kNone, Standardize::kNone,
                                           kCurved, context));
              }),
              HasSubstr("rbc.poly2.raw of the member"));
  const Dataset twice = standardize(train, Standardize::kAppend, context);
  EXPECT_THAT(refusal([&] {
                plain_ranker(linear_bundle(boosted(twice), twice, Normalize::kNone, Standardize::kAppend,
                                           kLinear, context));
              }),
              HasSubstr("standardize: append"));
  // A constant has no place in two of the linear formats; nothing has a place for trees beside weights.
  PlainModel linear{2, 1, {0.5}, {}, {1, 2}, {}};
  for (const ModelFormat format : {ModelFormat::kSolr, ModelFormat::kElasticsearch}) {
    EXPECT_THAT(refusal([&] { export_model(format, linear, {}); }), HasSubstr("--without-constant"));
    EXPECT_THAT(export_model(format, linear, {"m", {}, true}).notes.at(0), HasSubstr("0.5"));
  }
  linear.start = {-0.5};
  EXPECT_THAT(export_model(ModelFormat::kSolr, linear, {"m", {}, true}).notes.at(0),
              HasSubstr("higher by 0.5"));
  EXPECT_THAT(refusal([&] { export_model(ModelFormat::kSolr, linear, {}); }), HasSubstr("higher by 0.5"));
  // What RankLib holds in double precision is written so.
  linear.weights = {1.0 / 3, 2};
  EXPECT_THAT(export_model(ModelFormat::kRankLib, linear, {}).text,
              HasSubstr("0:-0.5 1:0.3333333333333333 2:2"));
  for (const char* name : {"a[0]", "b]", "x<y"})
    EXPECT_THAT(refusal([&] {
                  export_model(ModelFormat::kXgboost, linear, {"m", {"good", name}});
                }),
                HasSubstr(fmt::format("feature 2 is called '{}'", name)));
  const PlainModel constant{2, 1, {0.5}, {}, {}, {}};
  EXPECT_THAT(refusal([&] { export_model(ModelFormat::kSolr, constant, {}); }),
              HasSubstr("the same score, 0.5"));
  PlainTree leaf;
  leaf.nodes.resize(1);
  leaf.values = {1.0};
  linear.trees.push_back(leaf);
  EXPECT_THAT(refusal([&] { export_model(ModelFormat::kXgboost, linear, {}); }), HasSubstr("both"));
  const PlainTree endless{{{0, -kInfinity, 1, 2, 0}, {0, 0, -1, -1, 0}, {0, 0, -1, -1, 1}}, {0.0, 1.0}};
  for (const ModelFormat format :
       {ModelFormat::kXgboost, ModelFormat::kRankLib, ModelFormat::kSolr, ModelFormat::kElasticsearch})
    EXPECT_THAT(refusal([&] {
                  export_model(format, {2, 1, {0.0}, {endless}, {}, {}}, {});
                }),
                HasSubstr("-inf"));
  EXPECT_THAT(refusal([&] { parse_model_format("solar"); }), HasSubstr("did you mean 'solr'"));
}

// x goes left in Solr where x <= (float)(t + 1e-6f).
bool solr_left(float x, float t) { return x <= t + 1e-6F; }

TEST(ModelExport, SolrThresholdsKeepTheCut) {
  Random random(3, "thresholds");
  for (int trial = 0; trial < 20000; ++trial) {
    const double size = std::pow(10.0, random.uniform() * 16 - 10);
    const auto cut = static_cast<float>((random.uniform() < 0.3 ? -1 : 1) * size);
    const float t = solr_threshold(cut);
    ASSERT_FALSE(solr_left(cut, t)) << cut;
    ASSERT_TRUE(solr_left(cut, std::nextafter(t, kInfinity))) << cut;  // no larger one will do
    // Of cuts that are large beside the slack, every float below goes left.
    if (cut > 4e-6F) {
      ASSERT_TRUE(solr_left(std::nextafter(cut, -kInfinity), t)) << cut;
    }
  }
  // The threshold is near 0, where floats lie densest.
  for (int ulps = -1000; ulps <= 1000; ++ulps) {
    const float cut = 1e-6F + static_cast<float>(ulps) * 1.2e-13F;
    const float t = solr_threshold(cut);
    ASSERT_FALSE(solr_left(cut, t)) << cut;
    ASSERT_TRUE(solr_left(cut, std::nextafter(t, kInfinity))) << cut;
  }
  for (const float cut : {0.0F, 1e-6F, 1.0F, 16777216.0F, -1.0F, 1e-38F, 3e38F, -3e38F}) {
    EXPECT_FALSE(solr_left(cut, solr_threshold(cut))) << cut;
    EXPECT_TRUE(solr_left(cut - std::max(2e-13F, std::abs(cut) * 1e-6F), solr_threshold(cut))) << cut;
  }
}

Dataset with_missing(const Dataset& data, uint64_t seed) {
  Random random(seed);
  std::vector<float> features(data.values().begin(), data.values().end());
  for (size_t k = 0; k < features.size(); ++k)
    if (k % kFeatures > 1 && random.uniform() < 0.3) features[k] = std::numeric_limits<float>::quiet_NaN();
  return Dataset(std::move(features), kFeatures, data.about());
}

TEST(ModelExport, MissingValuesGoTheLearnedWayInXgboostAndAreRefusedElsewhere) {
  const Context context;
  const Dataset train = with_missing(labelled_data(1), 1);
  const Dataset data = with_missing(labelled_data(2), 2);
  const std::vector<std::pair<std::string, Settings>> cases = {
      {"adaboost_mh", {{"leaves", "6"}}},
      {"adaboost_mh", {{"base", "product"}, {"terms", "8"}, {"shrinkage", "1"}}},
      {"adaboost_mh", {{"base", "stump"}}},
      {"logitboost", {{"leaves", "5"}}},
      {"lambdamart", {{"leaves", "8"}}},
      {"extra_trees", {}}};
  for (const auto& [type, settings] : cases) {
    SCOPED_TRACE(type);
    const Bundle bundle = linear_bundle(test::train_by_name(train, type, settings, {5, 12}, context), train,
                                        Normalize::kNone, Standardize::kNone, kLinear, context);
    const PlainModel plain = plain_ranker(bundle);
    const ExportedModel exported = export_model(ModelFormat::kXgboost, plain, {"mine", names(), false});
    const Ranker ranker = xgboost(exported.text, false);
    const std::vector<float> ours = bundle.predict(data, context);
    for (size_t i = 0; i < data.documents(); ++i)
      ASSERT_NEAR(ranker(data.row(i)), ours[i], 1e-5 * std::max(1.0F, std::abs(ours[i])));
    for (const ModelFormat format : {ModelFormat::kRankLib, ModelFormat::kSolr, ModelFormat::kElasticsearch})
      EXPECT_THAT(refusal([&] {
                    export_model(format, plain, {"mine", names(), false});
                  }),
                  HasSubstr("training had missing values of the feature 'feature"));
  }
}

// A product of stumps on the same feature: paths that contradict themselves are not written.
TEST(ModelExport, ProductsExpandToWhatTheyAre) {
  const Context context;
  for (const bool missing : {false, true}) {
    const Dataset train = missing ? with_missing(labelled_data(5), 5) : labelled_data(5);
    const LearnedModel learned =
        test::train_by_name(train, "adaboost_mh", {{"base", "product"}, {"terms", "8"}}, {20}, context);
    const PlainModel plain = learned.model->plain(0);
    const size_t points[] = {0};
    const ScoreMatrix scores = learned.model->score(train, points, context)[0];
    for (size_t i = 0; i < train.documents(); ++i)
      for (size_t l = 0; l < plain.columns; ++l) {
        double sum = plain.start[l];
        for (const PlainTree& tree : plain.trees)
          sum += tree.values[tree.leaf(train.row(i)) * plain.columns + l];
        ASSERT_NEAR(sum, scores.row(i)[l], 1e-5);
      }
    for (const PlainTree& tree : plain.trees) {
      EXPECT_LE((tree.nodes.size() + 1) / 2, 256U);
      for (const PlainTree::Node& node : tree.nodes)
        EXPECT_TRUE(node.is_leaf() || node.above == node.below + 1);
    }
  }
  Tree large;
  large.product = true;
  large.cuts.assign(13, Cut{0, 0});
  EXPECT_THAT(refusal([&] { trees::plain_tree(large, BinCuts(std::vector<std::vector<float>>{{1.0F}})); }),
              HasSubstr("2^13"));
}

}  // namespace
}  // namespace tunemix
