// What ranking tools disagree about, one field per choice, and the presets that equal real tools or, for
// `yahoo`, the formula of its challenge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/options.h"

namespace tunemix {

enum class Gain { kExponential, kLinear, kList };  // 2^l-1, l, or a list of grades by label
enum class Discount { kLog2, kLetor };             // 1/log2(i+1); 1 at ranks 1 and 2, then 1/log2(i)
enum class ShortNdcg { kCut, kZero };              // k > n: NDCG@k is NDCG@n, or 0
enum class ShortPrecision { kPad, kCut, kZero };   // k > n: divide by k, divide by n, or 0
enum class Ties { kFile, kName, kAverage };        // file order; name descending; mean over the tied orders

struct MetricPolicy {
  std::string name = "yahoo";                             // the preset it started from
  Gain gain = Gain::kExponential;                         // gain of a label
  std::vector<double> grades;                             // by label, for Gain::kList
  Discount discount = Discount::kLog2;                    // weight of a rank
  double empty = 1;                                       // NDCG of a query without relevant documents
  double empty_map = 0;                                   // average precision of such a query
  ShortNdcg short_ndcg = ShortNdcg::kCut;                 // NDCG@k and DCG@k of a query with fewer than k
  ShortPrecision short_precision = ShortPrecision::kPad;  // P@k of a query with fewer than k
  Ties ties = Ties::kFile;                                // order of documents with equal scores
  bool float_scores = false;                              // scores are rounded to single precision first
  int relevant_from = 1;  // smallest label that MAP, P@k and MRR call relevant
  double err_max = 16;    // D of ERR's stop probability (2^l-1)/D; 0: auto
  bool cut_at_k = false;  // ERR and MRR see the first k ranks only
  int decimals = 0;       // printed; 0: all
};

// yahoo, ranklib, trec, letor3, letor4, mslr, lightgbm, xgboost, xgboost- (its `ndcg@k-`), sklearn
const std::vector<std::string>& preset_names();
MetricPolicy preset(std::string_view name);  // throws InputError with the nearest name

// The policies one by one: gain, discount, empty, empty-map, short, ties, relevant-from, err-max.
const OptionTable<MetricPolicy>& policy_options();

// The largest label that the policy has a gain for; a large number where there is no limit.
int largest_label(const MetricPolicy& policy);
// The gain of each label 0..max_label; throws InputError when the policy has none for one of them.
std::vector<double> label_gains(const MetricPolicy& policy, int max_label);
// The probability to stop at a document of each label 0..max_label (ERR); empty where one would exceed 1.
std::vector<double> stop_probabilities(const MetricPolicy& policy, int max_label);
double discount_at(Discount discount, size_t rank);  // rank from 1

// z_l = 2^l - 1 for l in 0..num_labels-1.
std::vector<double> exponential_grades(int num_labels);

}  // namespace tunemix
