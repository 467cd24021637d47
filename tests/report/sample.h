// Made-up report data with every section, the same at every call: what the tests of the report page draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/report/data.h"

namespace tunemix::test {

// A number in [0, 1) that looks random but depends on its arguments only.
inline double scatter(uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  uint64_t x = a * 0x9E3779B97F4A7C15U + b * 0xC2B2AE3D27D4EB4FU + c * 0x165667B19E3779F9U + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

inline const std::vector<std::string>& sample_row_names() {
  static const std::vector<std::string> names = {"AB+EXP",  "AB+EXP.CPC",  "AB+EXP.RBC",  "AB+OneBest",
                                                 "SVM+EXP", "SVM+EXP.CPC", "SVM+EXP.RBC", "SVM+OneBest",
                                                 "ALL+EXP", "ALL+OneBest"};
  return names;
}

inline void add_sample_rows(EvaluationResult& evaluation) {
  const std::vector<double> level = {.789, .788, .787, .779, .776, .774, .777, .768, .791, .781};
  const std::vector<std::string> tools = {"yahoo", "ranklib", "trec", "letor4"};
  const std::vector<double> offset = {0, -.29, -.31, -.27};
  for (const std::string split : {"test", "valid"})
    for (size_t tool = 0; tool < tools.size(); ++tool)
      for (size_t r = 0; r < level.size(); ++r) {
        ResultRow row;
        row.name = sample_row_names()[r];
        row.split = split;
        row.tool = tools[tool];
        row.main = row.name == "ALL+EXP";
        for (uint64_t fold = 1; fold <= 5; ++fold) {
          const double ndcg =
              level[r] + offset[tool] + .05 * (scatter(fold) - .5) + .008 * (scatter(r, fold, tool) - .5);
          row.ndcg += ndcg / 5;
          row.folds.push_back({fold, ndcg, .021, ndcg * .4, 40, 3, 5});
        }
        row.standard_error = .0085 + .001 * scatter(r);
        row.err = row.ndcg * .4;
        row.err_max = 16;
        row.map = row.ndcg * .6;
        for (size_t k = 1; split == "test" && k <= 10; ++k) {
          const auto away = static_cast<double>(10 - k);
          evaluation.ndcg_at.push_back({row.name, row.tool, split, k,
                                        row.ndcg - .012 * away * away / 20 +
                                            .006 * (scatter(evaluation.ndcg_at.size()) - .5) * away / 9,
                                        .011});
        }
        evaluation.rows.push_back(std::move(row));
      }
}

inline std::vector<SplitSummary> sample_data() {
  std::vector<SplitSummary> splits;
  for (size_t fold = 1; fold <= 5; ++fold)
    for (const std::string split : {"train", "calibration", "valid", "test"}) {
      const size_t documents = split == "train" ? 7420 : split == "calibration" ? 1860 : 2870 + 60 * fold;
      const size_t some = documents * 13 / 100, many = documents * 7 / 100;
      splits.push_back({fold,
                        split,
                        documents,
                        documents / 19,
                        46,
                        {documents - some - many, some, many},
                        documents / 70});
    }
  return splits;
}

inline std::vector<ReportMember> sample_members(int per_model) {
  const std::vector<std::string> calibrations = {"cpc.shift",      "cpc.ls",         "cpc.sndcg",
                                                 "rbc.linear.raw", "rbc.poly2.ndcg", "rbc.neural.raw"};
  const std::vector<std::string> models = {"tree leaves=8", "tree leaves=64", "product terms=3", "svm C=0.1"};
  std::vector<ReportMember> members;
  for (size_t fold = 1; fold <= 5; ++fold)
    for (size_t model = 0; model < models.size(); ++model)
      for (int step = 0; step < per_model; ++step)
        for (size_t calibration = 0; calibration < 6; ++calibration) {
          const bool svm = model == 3;
          const double quality = (svm ? .768 : .776) + .006 * std::sqrt(step % 8) +
                                 .02 * (scatter(members.size()) - .5) + (calibration == 5 ? -.01 : 0);
          members.push_back({fold, svm ? "svm" : "boosting", calibration < 3 ? "cpc" : "rbc",
                             calibrations[calibration], models[model], svm ? 0 : 10 << step % 8, quality,
                             std::exp(120 * (quality - .80)) / (svm ? 20 : 60),
                             .01 * scatter(members.size(), 3)});
        }
  return members;
}

inline std::vector<SurfacePoint> sample_surface() {
  std::vector<SurfacePoint> cells;
  for (size_t fold = 1; fold <= 5; ++fold)
    for (const std::string row : {"AB+EXP", "SVM+EXP", "ALL+EXP"})
      for (const int iterations : {10, 20, 50, 100, 200, 500, 1000}) {
        if (row == "SVM+EXP" && iterations > 10) continue;
        for (int c = 0; c <= 200; c += 5) {
          const double away = (c - 60.0 - 10.0 * static_cast<double>(fold)) / 200;
          const double length = std::log10(iterations) - 2.1;
          cells.push_back({fold, row, static_cast<double>(c), row == "SVM+EXP" ? 0 : iterations,
                           .79 - .02 * away * away - .008 * length * length + .0015 * scatter(cells.size())});
        }
      }
  return cells;
}

inline std::vector<RowChoice> sample_choices() {
  std::vector<RowChoice> choices;
  for (size_t fold = 1; fold <= 5; ++fold)
    for (const std::string row : {"AB+EXP", "SVM+EXP", "ALL+EXP"}) {
      const double quality = .79 + .001 * static_cast<double>(fold);
      choices.push_back({fold, row, 60 + 10 * static_cast<double>(fold),
                         row == "SVM+EXP" ? 0
                         : fold % 2 == 1  ? 100
                                          : 200,
                         quality, quality, ""});
    }
  return choices;
}

inline std::vector<ReliabilityCurve> sample_reliability() {
  const std::vector<std::string> members = {"mixture", "cpc.shift tree leaves=8 T=100",
                                            "cpc.ls tree leaves=8 T=100", "cpc.ls svm C=0.1"};
  std::vector<ReliabilityCurve> curves;
  for (size_t fold = 1; fold <= 5; ++fold)
    for (size_t member = 0; member < members.size(); ++member) {
      Reliability reliability;
      for (size_t bin = 0; bin < 10; ++bin) {
        const double predicted = .05 + .1 * static_cast<double>(bin);
        const double bent = member == 1 ? predicted * predicted : predicted;
        reliability.bins.push_back({predicted - .05, predicted + .05, predicted,
                                    std::clamp(bent + .08 * (scatter(member, bin, fold) - .5), 0.0, 1.0),
                                    size_t{900} >> (bin / 2)});
      }
      if (member > 0) {
        reliability.expected_error = member == 1 ? .11 : .021;
        reliability.log_loss = .52;
      }
      curves.push_back({fold, members[member], reliability});
    }
  return curves;
}

inline void add_sample_features(ReportData& data) {
  for (size_t model = 0; model < 2; ++model)
    for (size_t feature = 1; feature <= 46; ++feature) {
      const std::string title = model == 0 ? "tree leaves=8" : "product terms=3";
      const double share = std::pow(scatter(feature, model, 7), 4);
      data.features.push_back({title, std::to_string(feature), share * .11});
      for (int round = 20; round <= 1000; round += 20) {
        const double arrived = 1 - std::exp(-round / 250.0);
        data.bandit.push_back({title, round, std::to_string(feature),
                               (1 - arrived) / 46 + arrived * share * .16 +
                                   .002 * scatter(feature, static_cast<uint64_t>(round))});
      }
    }
}

inline RowComparison sample_comparison(const std::vector<ResultRow>& rows) {
  RowComparison result;
  result.tool = "yahoo";
  result.oracle_ndcg = .842;
  result.oracle_err = .371;
  std::vector<std::string> whole;
  for (const ResultRow& row : rows) {
    if (row.split != "test" || row.tool != "yahoo") continue;
    if (row.name.ends_with("+EXP") || row.name == "ALL+OneBest") whole.push_back(row.name);
    result.rows.push_back({row.name, row.ndcg, row.err + .004 * scatter(row.name.size(), 5),
                           .5 + .1 * scatter(row.name.size())});
  }
  for (size_t a = 0; a < whole.size(); ++a)
    for (size_t b = a + 1; b < whole.size(); ++b)
      result.pairs.push_back(
          {whole[a], whole[b], a == 0 && b == 1 ? .0001 : scatter(a, b), .6 + .3 * scatter(b, a)});
  return result;
}

inline std::vector<LearningPoint> sample_learning() {
  std::vector<LearningPoint> points;
  for (const std::string row : {"AB+EXP", "ALL+EXP"})
    for (const int iterations : {10, 20, 50, 100, 200, 500})
      points.push_back({row, iterations, (row == "AB+EXP" ? .78 : .785) - .02 / std::sqrt(iterations)});
  return points;
}

// `members_per_model` checkpoints of each of four models with six calibrations in five folds.
inline ReportData sample_report_data(int members_per_model = 8) {
  ReportData data;
  data.results.name = "quickstart";
  data.results.seed = 1;
  add_sample_rows(data.results.evaluation);
  data.results.evaluation.choices = sample_choices();
  data.results.timing = {{"data", 1.4, 5, 0},
                         {"train", 148.2, 125, 20},
                         {"calibrate", 31.7, 125, 0},
                         {"mix", 9.8, 5, 0},
                         {"evaluate", 2.1, 5, 0}};
  data.version = "0.1.0";
  data.labels = 3;
  data.notes = {
      "In fold 1, 28 % of the test queries have no relevant document: they count 1 under yahoo and 0 under "
      "the "
      "others."};
  data.comparison = sample_comparison(data.results.evaluation.rows);
  data.learning = sample_learning();
  data.data = sample_data();
  data.members = sample_members(members_per_model);
  for (size_t fold = 1; fold <= 5; ++fold) {
    data.families.push_back({fold, "boosting", "AB", 40, .7});
    data.families.push_back({fold, "svm", "SVM", 8, .3});
  }
  data.left_out = 12;
  data.reliability = sample_reliability();
  data.surface = sample_surface();
  add_sample_features(data);
  data.config =
      "name: quickstart\nseed: 1\nlearners:\n  - {type: adaboost_mh, base: tree, leaves: [8, 64], bags: 1}\n";
  return data;
}

}  // namespace tunemix::test
