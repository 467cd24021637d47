// Gathers what the report shows.
#include <algorithm>
#include <map>
#include <numeric>

#include "pipeline/run/bundle_writer.h"
#include "pipeline/run/comparison.h"
#include "pipeline/run/experiment.h"
#include "pipeline/store/json_text.h"
#include "tunemix/calibrate/reliability.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

// Feature use and bandit probabilities of so many features are shown.
constexpr size_t kShownFeatures = 12;
// Reliability curves of so many members of a fold are shown, besides the mixture's.
constexpr size_t kShownReliabilities = 3;

Json describe_split(size_t fold, const char* name, const SplitInfo& split, int labels, size_t features) {
  std::vector<size_t> counts(static_cast<size_t>(labels), 0);
  for (const int32_t label : split.labels) ++counts[static_cast<size_t>(label)];
  size_t empty = 0;
  for (size_t q = 0; q < split.queries.size(); ++q) {
    const auto begin = split.labels.begin() + static_cast<ptrdiff_t>(split.queries.begin(q));
    const auto end = split.labels.begin() + static_cast<ptrdiff_t>(split.queries.end(q));
    empty += std::all_of(begin, end, [](int32_t label) { return label == 0; }) ? 1 : 0;
  }
  return {{"fold", fold + 1},
          {"split", name},
          {"documents", split.labels.size()},
          {"queries", split.queries.size()},
          {"features", features},
          {"labels", counts},
          {"empty_queries", empty}};
}

void add_members(Json& out, size_t fold, const MixRow& row) {
  for (size_t i = 0; i < row.sources.size(); ++i) {
    const Member& member = row.mixture.members()[i];
    Json entry = {{"fold", fold + 1},
                  {"family", member.family},
                  {"kind", to_string(member.kind)},
                  {"calibration", member.calibration},
                  {"model", member.model}};
    entry["iterations"] = member.checkpoint > 0 ? Json(member.checkpoint) : Json(nullptr);
    entry["quality"] = row.diagnostics[i].quality;
    entry["weight"] = row.diagnostics[i].weight;
    entry["variance_share"] = row.diagnostics[i].variance_share;
    out.push_back(std::move(entry));
  }
}

// Their masses, in the config's order.
void add_families(Json& out, size_t fold, const MixRow& row, const Config& config) {
  std::vector<std::string> seen;
  for (const LearnerSpec& spec : config.learners) {
    const std::string family = spec.family();
    if (std::find(seen.begin(), seen.end(), family) != seen.end()) continue;
    seen.push_back(family);
    double mass = 0;
    size_t members = 0;
    for (size_t i = 0; i < row.sources.size(); ++i)
      if (row.mixture.members()[i].family == family) {
        mass += row.diagnostics[i].weight;
        ++members;
      }
    if (members > 0)
      out.push_back({{"fold", fold + 1},
                     {"family", family},
                     {"row", spec.row()},
                     {"members", members},
                     {"mass", mass}});
  }
}

// The quality of every family's mixture by the length of its members, with the best c of each: the mean over
// folds.
Json learning_curves(const std::vector<const std::vector<MixRow>*>& folds) {
  Json out = Json::array();
  for (size_t r = 0; r < folds[0]->size(); ++r) {
    if (!(*folds[0])[r].name.ends_with("+EXP")) continue;
    std::map<int64_t, std::vector<double>> best;
    for (const std::vector<MixRow>* rows : folds) {
      std::map<int64_t, double> of_fold;
      for (const GridPoint& point : (*rows)[r].grid) {
        const auto at = of_fold.try_emplace(point.checkpoint, point.quality).first;
        at->second = std::max(at->second, point.quality);
      }
      for (const auto& [length, quality] : of_fold) best[length].push_back(quality);
    }
    for (const auto& [length, qualities] : best)
      if (length > 0 && qualities.size() == folds.size())
        out.push_back({{"row", (*folds[0])[r].name},
                       {"iterations", length},
                       {"quality", std::accumulate(qualities.begin(), qualities.end(), 0.0) /
                                       static_cast<double>(qualities.size())}});
  }
  return out;
}

Json describe_reliability(size_t fold, const std::string& member, const Reliability& reliability) {
  Json entry = {{"fold", fold + 1}, {"member", member}, {"curve", Json::array()}};
  for (const ReliabilityBin& bin : reliability.bins)
    entry["curve"].push_back(
        {{"predicted", bin.predicted}, {"observed", bin.observed}, {"count", bin.documents}});
  entry["grades"] = reliability.expected_error.has_value();
  entry["log_loss"] = reliability.log_loss ? Json(*reliability.log_loss) : Json(nullptr);
  entry["ece"] = reliability.expected_error ? Json(*reliability.expected_error) : Json(nullptr);
  return entry;
}

// The name of a feature, or its number as the files have it; of a standardised one that it is.
std::string feature_name(const FeatureNames& names, Standardize mode, size_t feature, size_t width) {
  if (mode == Standardize::kReplace) return names.label(feature) + " (standardised)";
  if (mode == Standardize::kAppend && feature >= width)
    return names.label(feature - width) + " (standardised)";
  return names.label(feature);
}

// The members of a mixture with the largest weights, no two of them of the same calibration.
std::vector<size_t> heaviest_members(const MixRow& row, size_t count) {
  std::vector<size_t> order(row.sources.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return row.diagnostics[a].weight > row.diagnostics[b].weight; });
  std::vector<size_t> result;
  std::vector<std::string> seen;
  for (const size_t i : order) {
    const std::string& calibration = row.mixture.members()[i].calibration;
    if (std::find(seen.begin(), seen.end(), calibration) != seen.end()) continue;
    seen.push_back(calibration);
    result.push_back(i);
    if (result.size() == count) break;
  }
  return result;
}

}  // namespace

Json Experiment::reliability_data(size_t fold) {
  const FoldInfo& info = fold_info(fold);
  const std::vector<double> grades = fold_grades(plan_.config, info.labels);
  const MixRow& row = main_row(mix_rows(fold));
  const bool in_grades = false;  // a mixture of standardised members ranks, it does not predict grades
  Json result = Json::array();
  result.push_back(
      describe_reliability(fold, "mixture", reliability(row.valid, info.valid.labels, grades, in_grades)));
  for (const size_t i : heaviest_members(row, kShownReliabilities)) {
    const MemberRef& ref = row.sources[i];
    const CalibrateJob& job = plan_.calibrations_of(fold)[ref.learner];
    const auto table = load_members(plan_, job, info, store(), context_);
    if (!table || ref.member >= table->size()) continue;
    const CalibratedModel& member = (*table)[ref.member];
    const LearnerScores means = jobs_.mean_scores(job);
    const Member& name = row.mixture.members()[i];
    const std::string title = fmt::format("{} {}{}", name.calibration, name.model,
                                          name.checkpoint > 0 ? fmt::format(" T={}", name.checkpoint) : "");
    result.push_back(describe_reliability(fold, title,
                                          reliability(member.calibrator, means.points[member.point].valid,
                                                      info.valid.labels, grades, context_)));
  }
  return result;
}

Json Experiment::read_importance() {
  Json found = json_if_there<Json>(directory() / "importance.json");
  if (!found.is_object() || !found.contains("features") || !found["features"].is_array()) return nullptr;
  const std::string key = found.value("bundle", "");
  for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold)
    if (plan_.mix_keys[fold].hex() == key)
      found["ensemble"] = fmt::format("the ensemble of fold {}", fold + 1);
  if (const std::filesystem::path file = directory() / "bundle.tmx"; std::filesystem::exists(file)) try {
      if (read_bundle_info(file).key == key) found["ensemble"] = "the final model";
    } catch (const InputError&) {  // not ours: as if it were not there
    }
  return found.contains("ensemble") ? found : Json(nullptr);
}

// What each learner looks at: the shares of features averaged over folds and bags, and over rounds in the
// first.
void Experiment::add_feature_use(Json& data) {
  const FeatureNames names = feature_names(0);
  for (size_t l = 0; l < plan_.config.learners.size(); ++l) {
    const LearnerSpec& learner = plan_.config.learners[l];
    const size_t width = fold_info(0).features;
    std::vector<double> use;
    size_t models = 0;
    for (const TrainJob& job : plan_.jobs) {
      if (job.learner != l) continue;
      const TrainResult result = jobs_.scores(job, context_);
      if (result.importance.empty()) continue;
      use.resize(std::max(use.size(), result.importance.size()));
      for (size_t j = 0; j < result.importance.size(); ++j) use[j] += result.importance[j];
      if (models++ == 0)
        for (const auto& point : result.attention)
          data["bandit"].push_back(
              {{"model", learner.title()},
               {"round", point.round},
               {"feature", feature_name(names, learner.standardize, point.feature, width)},
               {"probability", point.share}});
    }
    std::vector<size_t> order(use.size());
    for (size_t j = 0; j < order.size(); ++j) order[j] = j;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return use[a] > use[b]; });
    order.resize(std::min(order.size(), kShownFeatures));
    for (const size_t j : order)
      data["features"].push_back({{"model", learner.title()},
                                  {"feature", feature_name(names, learner.standardize, j, width)},
                                  {"use", use[j] / static_cast<double>(models)}});
  }
}

Json Experiment::report_data(const EvaluationResult& evaluation) {
  const Json summary = results(evaluation);
  Json data = {{"name", plan_.config.name}, {"version", TUNEMIX_VERSION}, {"seed", plan_.config.seed}};
  data["metric"] = summary["metric"];
  data["warnings"] = warnings();
  const size_t folds = plan_.fold_keys.size();
  for (const char* key : {"rows", "ndcg_at", "choices"}) data[key] = summary[key];
  const std::string value = "valid_" + SelectionName::parse(plan_.config.mix.metric).text();
  for (Json& choice : data["choices"]) {
    choice["quality"] = choice[value];
    choice.erase(value);
  }
  std::vector<FoldInfo> infos;
  std::vector<const std::vector<MixRow>*> rows;
  for (size_t fold = 0; fold < folds; ++fold) {
    infos.push_back(fold_info(fold));
    rows.push_back(&mix_rows(fold));
  }
  data["comparison"] = compare_rows(evaluation, infos, rows);
  data["comparison"]["tool"] = data["rows"][0]["tool"];
  data["learning"] = learning_curves(rows);
  size_t empty = 0;
  size_t queries = 0;
  for (size_t fold = 0; fold < folds; ++fold) {
    const FoldInfo& info = fold_info(fold);
    data["labels"] = std::max(data.value("labels", 0), info.labels);
    data["data"].push_back(describe_split(fold, "train", info.train, info.labels, info.features));
    data["data"].push_back(describe_split(fold, "valid", info.valid, info.labels, info.features));
    data["data"].push_back(describe_split(fold, "test", info.test, info.labels, info.features));
    empty += data["data"].back()["empty_queries"].get<size_t>();
    queries += data["data"].back()["queries"].get<size_t>();
    const MixRow& row = main_row(mix_rows(fold));
    add_members(data["members"], fold, row);
    add_families(data["families"], fold, row, plan_.config);
    data["left_out"] = data.value("left_out", size_t{0}) + row.left_out;
    for (Json& entry : reliability_data(fold)) data["reliability"].push_back(std::move(entry));
    for (const GridPoint& point : row.grid)
      data["surface"].push_back({{"fold", fold + 1},
                                 {"row", row.name},
                                 {"c", point.c},
                                 {"iterations", point.checkpoint},
                                 {"quality", point.quality}});
  }
  if (empty > 0)
    data["notes"].push_back(fmt::format(
        "{} of {} test queries have no relevant document; the tools disagree on what those count.", empty,
        queries));

  add_feature_use(data);
  for (const auto& [stage, entry] : summary["timing"].items()) {
    Json timing = {{"stage", stage}};
    timing.update(entry);
    data["timing"].push_back(std::move(timing));
  }
  if (Json importance = read_importance(); !importance.is_null()) data["importance"] = std::move(importance);
  data["config"] = plan_.config.resolved;
  return data;
}

}  // namespace tunemix
