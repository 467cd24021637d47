#include "tunemix/metric/policy.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace tunemix {
namespace {

// The two LETOR scripts look gains up in a table of their labels, the MSLR script in a longer one.
MetricPolicy letor_script(std::string_view name, std::vector<double> grades) {
  MetricPolicy policy;
  policy.name = name;
  policy.gain = Gain::kList;
  policy.grades = std::move(grades);
  policy.discount = Discount::kLetor;
  policy.empty = 0;
  policy.short_ndcg = ShortNdcg::kZero;
  policy.decimals = 4;
  return policy;
}

MetricPolicy ranklib() {
  MetricPolicy policy;
  policy.name = "ranklib";
  policy.empty = 0;
  policy.short_precision = ShortPrecision::kCut;
  policy.cut_at_k = true;
  policy.decimals = 4;
  return policy;
}

// trec_eval keeps scores in single precision, so scores that differ only in double are ties.
MetricPolicy trec() {
  MetricPolicy policy;
  policy.name = "trec";
  policy.gain = Gain::kLinear;
  policy.empty = 0;
  policy.ties = Ties::kName;
  policy.float_scores = true;
  policy.decimals = 4;
  return policy;
}

MetricPolicy letor3() {
  MetricPolicy policy = letor_script("letor3", {0, 1, 3});
  policy.short_precision = ShortPrecision::kZero;
  policy.decimals = 0;
  return policy;
}

MetricPolicy mslr() {
  MetricPolicy policy = letor_script("mslr", {0, 1, 3, 7, 15});
  policy.relevant_from = 2;
  return policy;
}

// Its NDCG is yahoo's, printed to six digits.
MetricPolicy lightgbm() {
  MetricPolicy policy;
  policy.name = "lightgbm";
  policy.empty_map = 1;
  policy.decimals = 6;
  return policy;
}

// Predictions are single precision; `ndcg@k-` and `map-` count 0 where the plain ones count 1.
MetricPolicy xgboost(std::string_view name, double empty) {
  MetricPolicy policy;
  policy.name = name;
  policy.empty = empty;
  policy.empty_map = empty;
  policy.float_scores = true;
  return policy;
}

// ndcg_score with the labels as they are and its own treatment of ties.
MetricPolicy sklearn() {
  MetricPolicy policy;
  policy.name = "sklearn";
  policy.gain = Gain::kLinear;
  policy.empty = 0;
  policy.ties = Ties::kAverage;
  return policy;
}

bool read_number(std::string_view text, double& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(value);
}

constexpr const char* kGainExpected =
    "exponential, linear, or a list of grades by label that never falls, such as 0,1,3";
constexpr const char* kErrMaxExpected = "auto (2 to the largest label) or a number of at least 1";

void set_gain(MetricPolicy& policy, std::string_view text) {
  policy.grades.clear();
  policy.gain = Gain::kList;
  if (text == "exponential") policy.gain = Gain::kExponential;
  if (text == "linear") policy.gain = Gain::kLinear;
  if (policy.gain != Gain::kList) return;
  double last = 0;
  for (const std::string& part : split(text, ',')) {
    double grade = 0;
    if (!read_number(part, grade) || grade < last)
      throw_input("gain is '{}'; expected {}", text, kGainExpected);
    policy.grades.push_back(last = grade);
  }
}

std::string get_gain(const MetricPolicy& policy) {
  if (policy.gain == Gain::kExponential) return "exponential";
  if (policy.gain == Gain::kLinear) return "linear";
  return fmt::format("{}", fmt::join(policy.grades, ","));
}

void set_err_max(MetricPolicy& policy, std::string_view text) {
  double value = 0;
  if (text != "auto" && (!read_number(text, value) || value < 1))
    throw_input("err-max is '{}'; expected {}", text, kErrMaxExpected);
  policy.err_max = value;
}

OptionTable<MetricPolicy> make_policy_options() {
  using P = MetricPolicy;
  OptionTable<P> table;
  table.custom("gain", kGainExpected, set_gain, get_gain, "gain of a label");
  table.choice("discount", &P::discount, {{"log2", Discount::kLog2}, {"letor", Discount::kLetor}},
               "weight of rank i: log2 is 1/log2(i+1), letor is 1 at ranks 1 and 2 and then 1/log2(i)");
  table.number("empty", &P::empty, 0.0, 1.0, "NDCG of a query without relevant documents");
  table.number("empty-map", &P::empty_map, 0.0, 1.0, "MAP of such a query");
  table.choice("short", &P::short_ndcg, {{"cut", ShortNdcg::kCut}, {"zero", ShortNdcg::kZero}},
               "NDCG@k of a query with fewer than k documents: cut is NDCG@n, zero is 0");
  table.choice(
      "short-precision", &P::short_precision,
      {{"pad", ShortPrecision::kPad}, {"cut", ShortPrecision::kCut}, {"zero", ShortPrecision::kZero}},
      "P@k of a query with fewer than k documents: pad divides by k, cut by n, zero is 0");
  table.choice(
      "ties", &P::ties, {{"file", Ties::kFile}, {"name", Ties::kName}, {"average", Ties::kAverage}},
      "documents with equal scores: in file order, by name descending, or the mean over their orders");
  table.number("relevant-from", &P::relevant_from, 1, 1000,
               "smallest label that MAP, P@k and MRR call relevant");
  table.custom(
      "err-max", kErrMaxExpected, set_err_max,
      [](const P& policy) { return policy.err_max == 0 ? "auto" : fmt::format("{}", policy.err_max); },
      "D of ERR, whose stop probability is (2^l-1)/D");
  return table;
}

}  // namespace

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names = {"yahoo", "ranklib",  "trec",    "letor3",   "letor4",
                                                 "mslr",  "lightgbm", "xgboost", "xgboost-", "sklearn"};
  return names;
}

MetricPolicy preset(std::string_view name) {
  if (name == "yahoo") return {};
  if (name == "ranklib") return ranklib();
  if (name == "trec") return trec();
  if (name == "letor3") return letor3();
  if (name == "letor4") return letor_script("letor4", {0, 1, 3});
  if (name == "mslr") return mslr();
  if (name == "lightgbm") return lightgbm();
  if (name == "xgboost") return xgboost(name, 1);
  if (name == "xgboost-") return xgboost(name, 0);
  if (name == "sklearn") return sklearn();
  throw_input("unknown preset '{}'{}; expected one of: {}", name, did_you_mean(name, preset_names()),
              join(preset_names(), ", "));
}

const OptionTable<MetricPolicy>& policy_options() {
  static const OptionTable<MetricPolicy> table = make_policy_options();
  return table;
}

int largest_label(const MetricPolicy& policy) {
  if (policy.gain != Gain::kList) return std::numeric_limits<int>::max();
  return static_cast<int>(policy.grades.size()) - 1;
}

std::vector<double> label_gains(const MetricPolicy& policy, int max_label) {
  if (max_label > largest_label(policy))
    throw_input("the data has label {}, but {} knows labels 0 to {} only; choose another tool or gain",
                max_label, policy.name, largest_label(policy));
  if (policy.gain == Gain::kExponential) return exponential_grades(max_label + 1);
  std::vector<double> gains = policy.grades;
  if (policy.gain == Gain::kLinear)
    for (int label = 0; label <= max_label; ++label) gains.push_back(label);
  return gains;
}

std::vector<double> stop_probabilities(const MetricPolicy& policy, int max_label) {
  const double most = policy.err_max == 0 ? std::exp2(max_label) : policy.err_max;
  std::vector<double> result = exponential_grades(max_label + 1);
  for (double& value : result) value /= most;
  if (result.back() > 1) result.clear();
  return result;
}

double discount_at(Discount discount, size_t rank) {
  const auto i = static_cast<double>(rank);
  if (discount == Discount::kLog2) return 1 / std::log2(i + 1);
  return rank <= 2 ? 1.0 : 1 / std::log2(i);
}

std::vector<double> exponential_grades(int num_labels) {
  std::vector<double> grades;
  for (int label = 0; label < num_labels; ++label) grades.push_back(std::exp2(label) - 1);
  return grades;
}

}  // namespace tunemix
