// Everything that the report of a run shows. A number that there is not is NaN, shown as a dash; a section
// without data is left out.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stages/results.h"
#include "tunemix/calibrate/reliability.h"

namespace tunemix {

struct SplitSummary {
  size_t fold = 0;  // from 1, as everywhere below
  std::string split;
  size_t documents = 0;
  size_t queries = 0;
  size_t features = 0;
  std::vector<size_t> labels;  // documents with label 0, 1, ...
  size_t empty_queries = 0;    // without a relevant document
};

// The rows against each other on the test queries, under the first tool.
struct RowComparison {
  struct Row {
    std::string row;
    double ndcg = 0;
    double err = 0;
    double best = 0;  // the share of queries on which no row is better
  };
  struct Pair {
    std::string a;
    std::string b;
    double p = 0;    // two-sided, of the paired t-test over all test queries
    double tau = 0;  // Kendall's of their rankings, the mean over queries
  };
  std::string tool;
  std::vector<Row> rows;
  double oracle_ndcg = 0;  // of the best row for each query
  double oracle_err = 0;
  std::vector<Pair> pairs;  // of the rows of whole families
};

// The quality of a row's mixture by the boosting length of its members, with the best c of each length: the
// mean over folds.
struct LearningPoint {
  std::string row;
  int64_t iterations = 0;
  double quality = 0;
};

// The mixture on validation data for one choice that was tried.
struct SurfacePoint {
  size_t fold = 0;
  std::string row;
  double c = 0;
  int64_t iterations = 0;  // 0: no boosting
  double quality = 0;
};

struct ReportMember {
  size_t fold = 0;
  std::string family;
  std::string kind;  // "cpc" or "rbc"
  std::string calibration;
  std::string model;
  int64_t iterations = 0;  // 0: no boosting
  double quality = 0;
  double weight = 0;
  double variance_share = 0;
};

struct FamilyShare {
  size_t fold = 0;
  std::string family;
  std::string row;  // the prefix of its rows
  size_t members = 0;
  double mass = 0;
};

struct ReliabilityCurve {
  size_t fold = 0;
  std::string member;  // or "mixture"
  Reliability reliability;
};

struct FeatureUse {
  std::string model;
  std::string feature;
  double use = 0;  // its share of the model's splits
};

struct BanditPoint {
  std::string model;
  int64_t round = 0;
  std::string feature;
  double probability = 0;
};

// What `tunemix importance` has found for an ensemble of the run.
struct FeatureLosses {
  struct Feature {
    std::string name;
    double loss = 0;
    double standard_error = 0;
  };
  std::string ensemble;
  std::vector<std::string> data;
  double ndcg = 0;
  double standard_error = 0;
  size_t repeats = 0;
  size_t queries = 0;
  std::vector<Feature> features;
};

struct ReportData {
  Results results;
  std::string version;
  int labels = 0;
  std::vector<std::string> notes;
  std::optional<RowComparison> comparison;
  std::vector<LearningPoint> learning;
  std::vector<SplitSummary> data;
  std::vector<ReportMember> members;
  std::vector<FamilyShare> families;
  size_t left_out = 0;  // members that rank as another does
  std::vector<ReliabilityCurve> reliability;
  std::vector<SurfacePoint> surface;
  std::vector<FeatureUse> features;
  std::vector<BanditPoint> bandit;
  std::optional<FeatureLosses> importance;
  std::string config;
};

// docs/report.md lists the keys.
nlohmann::ordered_json report_json(const ReportData& data);

}  // namespace tunemix
