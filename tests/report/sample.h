// Made-up report data with every section, the same at every call: what the tests of the report page draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tunemix::test {

using ReportJson = nlohmann::ordered_json;

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

inline ReportJson sample_rows() {
  const std::vector<double> level = {.789, .788, .787, .779, .776, .774, .777, .768, .791, .781};
  const std::vector<std::string> tools = {"ranklib", "yahoo", "trec", "letor4"};
  const std::vector<double> offset = {-.29, 0, -.31, -.27};
  ReportJson rows = ReportJson::array();
  for (const std::string split : {"valid", "test"}) {
    for (size_t tool = 0; tool < tools.size(); ++tool) {
      for (size_t row = 0; row < level.size(); ++row) {
        ReportJson folds = ReportJson::array();
        double sum = 0;
        for (uint64_t fold = 1; fold <= 5; ++fold) {
          const double ndcg =
              level[row] + offset[tool] + .05 * (scatter(fold) - .5) + .008 * (scatter(row, fold, tool) - .5);
          sum += ndcg;
          folds.push_back({{"fold", fold}, {"ndcg@10", ndcg}, {"stderr", .021}, {"err", ndcg * .4}});
        }
        rows.push_back({{"name", sample_row_names()[row]},
                        {"split", split},
                        {"tool", tools[tool]},
                        {"ndcg@10", sum / 5},
                        {"stderr", .0085 + .001 * scatter(row)},
                        {"err", sum / 5 * .4},
                        {"map", sum / 5 * .6},
                        {"folds", folds},
                        {"chosen", sample_row_names()[row] == "ALL+EXP"}});
      }
    }
  }
  return rows;
}

inline ReportJson sample_curves() {
  ReportJson points = ReportJson::array();
  for (const ReportJson& row : sample_rows()) {
    if (row["split"] != "test") continue;
    const double at_ten = row["ndcg@10"].get<double>();
    for (int k = 1; k <= 10; ++k)
      points.push_back({{"row", row["name"]},
                        {"tool", row["tool"]},
                        {"split", row["split"]},
                        {"k", k},
                        {"ndcg", at_ten - .012 * (10 - k) * (10 - k) / 20.0 +
                                     .006 * (scatter(points.size()) - .5) * (10 - k) / 9.0},
                        {"stderr", .011}});
  }
  return points;
}

inline ReportJson sample_data() {
  ReportJson splits = ReportJson::array();
  for (int fold = 1; fold <= 5; ++fold)
    for (const std::string split : {"train", "calibration", "valid", "test"}) {
      const int documents = split == "train" ? 7420 : split == "calibration" ? 1860 : 2870 + 60 * fold;
      splits.push_back(
          {{"fold", fold},
           {"split", split},
           {"documents", documents},
           {"queries", documents / 19},
           {"features", 46},
           {"labels", {documents * 80 / 100 - 10 * fold, documents * 13 / 100, documents * 7 / 100}},
           {"empty_queries", documents / 70}});
    }
  return splits;
}

inline ReportJson sample_members(int per_model) {
  const std::vector<std::string> cpc = {"cpc.shift", "cpc.ls", "cpc.sndcg"},
                                 rbc = {"rbc.linear.raw", "rbc.poly2.ndcg", "rbc.neural.raw"};
  const std::vector<std::string> models = {"tree leaves=8", "tree leaves=64",
                                           "product terms=3", "svm"};
  ReportJson members = ReportJson::array();
  for (int fold = 1; fold <= 5; ++fold)
    for (size_t model = 0; model < models.size(); ++model)
      for (int step = 0; step < per_model; ++step)
        for (size_t calibration = 0; calibration < 6; ++calibration) {
          const bool svm = model == 3;
          const double ndcg = (svm ? .768 : .776) + .006 * std::sqrt(step % 8) +
                              .02 * (scatter(members.size()) - .5) + (calibration == 5 ? -.01 : 0);
          members.push_back({{"fold", fold},
                             {"family", svm ? "svm" : "boosting"},
                             {"kind", calibration < 3 ? "cpc" : "rbc"},
                             {"calibration", calibration < 3 ? cpc[calibration] : rbc[calibration - 3]},
                             {"model", models[model]},
                             {"iterations", svm ? ReportJson() : ReportJson(10 << step % 8)},
                             {"C", svm ? ReportJson(std::pow(10.0, step % 8 - 6)) : ReportJson()},
                             {"quality", ndcg},
                             {"weight", std::exp(120 * (ndcg - .80)) / (svm ? 20 : 60)},
                             {"variance_share", .01 * scatter(members.size(), 3)}});
        }
  return members;
}

inline ReportJson sample_surface() {
  ReportJson cells = ReportJson::array();
  for (int fold = 1; fold <= 5; ++fold)
    for (const std::string row : {"AB+EXP", "SVM+EXP", "ALL+EXP"})
      for (const int iterations : {10, 20, 50, 100, 200, 500, 1000}) {
        if (row == "SVM+EXP" && iterations > 10) continue;
        for (int c = 0; c <= 200; c += 5) {
          const double away = (c - 60.0 - 10 * fold) / 200, length = std::log10(iterations) - 2.1;
          cells.push_back({{"fold", fold},
                           {"row", row},
                           {"c", c},
                           {"iterations", row == "SVM+EXP" ? ReportJson() : ReportJson(iterations)},
                           {"quality", .79 - .02 * away * away - .008 * length * length +
                                           .0015 * scatter(cells.size())}});
        }
      }
  return cells;
}

inline ReportJson sample_choices() {
  ReportJson choices = ReportJson::array();
  for (int fold = 1; fold <= 5; ++fold)
    for (const std::string row : {"AB+EXP", "SVM+EXP", "ALL+EXP"})
      choices.push_back(
          {{"fold", fold},
           {"row", row},
           {"c", 60 + 10 * fold},
           {"iterations", row == "SVM+EXP" ? ReportJson() : ReportJson(fold % 2 == 1 ? 100 : 200)},
           {"quality", .79 + .001 * fold}});
  return choices;
}

inline ReportJson sample_reliability() {
  const std::vector<std::string> members = {"mixture", "cpc.shift tree leaves=8 T=100",
                                            "cpc.ls tree leaves=8 T=100", "cpc.ls svm C=0.1"};
  ReportJson curves = ReportJson::array();
  for (int fold = 1; fold <= 5; ++fold)
    for (size_t member = 0; member < members.size(); ++member) {
      ReportJson points = ReportJson::array();
      for (int bin = 0; bin < 10; ++bin) {
        const double predicted = .05 + .1 * bin;
        const double bent = member == 1 ? predicted * predicted : predicted;
        points.push_back({{"predicted", predicted},
                          {"observed", std::clamp(bent + .08 * (scatter(member, bin, fold) - .5), 0.0, 1.0)},
                          {"count", 900 >> (bin / 2)}});
      }
      curves.push_back({{"fold", fold},
                        {"member", members[member]},
                        {"curve", points},
                        {"grades", member != 0},
                        {"log_loss", member == 0 ? ReportJson() : ReportJson(.52)},
                        {"ece", member == 1 ? .11 : .021}});
    }
  return curves;
}

inline ReportJson sample_features() {
  ReportJson features = ReportJson::array();
  for (size_t model = 0; model < 2; ++model)
    for (int feature = 1; feature <= 46; ++feature)
      features.push_back({{"model", model == 0 ? "tree leaves=8" : "product terms=3"},
                          {"feature", feature},
                          {"use", std::pow(scatter(feature, model, 7), 4) * .11}});
  return features;
}

inline ReportJson sample_bandit() {
  ReportJson points = ReportJson::array();
  for (size_t model = 0; model < 2; ++model)
    for (int feature = 1; feature <= 46; ++feature)
      for (int round = 20; round <= 1000; round += 20) {
        const double final_share = std::pow(scatter(feature, model, 7), 4) * .16;
        const double arrived = 1 - std::exp(-round / 250.0);
        points.push_back(
            {{"model", model == 0 ? "tree leaves=8" : "product terms=3"},
             {"round", round},
             {"feature", feature},
             {"probability", (1 - arrived) / 46 + arrived * final_share + .002 * scatter(feature, round)}});
      }
  return points;
}

inline ReportJson sample_families() {
  ReportJson families = ReportJson::array();
  for (int fold = 1; fold <= 5; ++fold) {
    families.push_back(
        {{"fold", fold}, {"family", "boosting"}, {"row", "AB"}, {"members", 40}, {"mass", .7}});
    families.push_back({{"fold", fold}, {"family", "svm"}, {"row", "SVM"}, {"members", 8}, {"mass", .3}});
  }
  return families;
}

inline ReportJson sample_comparison() {
  ReportJson result = {{"tool", "yahoo"},
                       {"oracle", {{"ndcg", .842}, {"err", .371}}},
                       {"rows", ReportJson::array()},
                       {"pairs", ReportJson::array()}};
  std::vector<std::string> whole;
  for (const ReportJson& row : sample_rows()) {
    if (row["split"] != "test" || row["tool"] != "yahoo") continue;
    const std::string name = row["name"];
    if (name.ends_with("+EXP") || name == "ALL+OneBest") whole.push_back(name);
    result["rows"].push_back({{"row", name},
                              {"ndcg", row["ndcg@10"]},
                              {"err", row["err"].get<double>() + .004 * scatter(name.size(), 5)},
                              {"best", .5 + .1 * scatter(name.size())}});
  }
  for (size_t a = 0; a < whole.size(); ++a)
    for (size_t b = a + 1; b < whole.size(); ++b)
      result["pairs"].push_back({{"a", whole[a]},
                                 {"b", whole[b]},
                                 {"p", a == 0 && b == 1 ? .0001 : scatter(a, b)},
                                 {"tau", .6 + .3 * scatter(b, a)}});
  return result;
}

inline ReportJson sample_learning() {
  ReportJson points = ReportJson::array();
  for (const std::string row : {"AB+EXP", "ALL+EXP"})
    for (const int iterations : {10, 20, 50, 100, 200, 500})
      points.push_back({{"row", row},
                        {"iterations", iterations},
                        {"quality", (row == "AB+EXP" ? .78 : .785) - .02 / std::sqrt(iterations)}});
  return points;
}

// `members_per_model` checkpoints of each of four models with six calibrations in five folds.
inline ReportJson sample_report_data(int members_per_model = 8) {
  return {{"name", "quickstart"},
          {"version", "0.1.0"},
          {"seed", 1},
          {"labels", 3},
          {"metric", "NDCG@10"},
          {"left_out", 12},
          {"families", sample_families()},
          {"data", sample_data()},
          {"rows", sample_rows()},
          {"comparison", sample_comparison()},
          {"learning", sample_learning()},
          {"ndcg_at", sample_curves()},
          {"choices", sample_choices()},
          {"members", sample_members(members_per_model)},
          {"surface", sample_surface()},
          {"reliability", sample_reliability()},
          {"features", sample_features()},
          {"bandit", sample_bandit()},
          {"timing",
           {{{"stage", "data"}, {"seconds", 1.4}, {"jobs", 5}, {"cached", 0}},
            {{"stage", "train"}, {"seconds", 148.2}, {"jobs", 125}, {"cached", 20}},
            {{"stage", "calibrate"}, {"seconds", 31.7}, {"jobs", 125}, {"cached", 0}},
            {{"stage", "mix"}, {"seconds", 9.8}, {"jobs", 5}, {"cached", 0}},
            {{"stage", "evaluate"}, {"seconds", 2.1}, {"jobs", 5}, {"cached", 0}}}},
          {"config",
           "name: quickstart\nseed: 1\nlearners:\n  - {type: adaboost_mh, base: tree, leaves: [8, 64], bags: "
           "1}\n"},
          {"notes",
           {"In fold 1, 28 % of the test queries have no relevant document: they count 1 under yahoo and 0 "
            "under the others."}}};
}

}  // namespace tunemix::test
