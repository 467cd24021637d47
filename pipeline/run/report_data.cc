// Gathers what the report shows.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "pipeline/run/bundle_writer.h"
#include "pipeline/run/comparison.h"
#include "pipeline/run/experiment.h"
#include "pipeline/store/json_text.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

// Feature use and bandit probabilities of so many features are shown.
constexpr size_t kShownFeatures = 12;
// Reliability curves of so many members of a fold are shown, besides the mixture's.
constexpr size_t kShownReliabilities = 3;

SplitSummary describe_split(size_t fold, const char* name, const SplitInfo& split, int labels,
                            size_t features) {
  std::vector<size_t> counts(static_cast<size_t>(labels), 0);
  for (const int32_t label : split.labels) ++counts[static_cast<size_t>(label)];
  size_t empty = 0;
  for (size_t q = 0; q < split.queries.size(); ++q) {
    const auto begin = split.labels.begin() + static_cast<ptrdiff_t>(split.queries.begin(q));
    const auto end = split.labels.begin() + static_cast<ptrdiff_t>(split.queries.end(q));
    empty += std::all_of(begin, end, [](int32_t label) { return label == 0; }) ? 1 : 0;
  }
  return {fold + 1, name, split.labels.size(), split.queries.size(), features, counts, empty};
}

void add_members(std::vector<ReportMember>& out, size_t fold, const MixRow& row) {
  for (size_t i = 0; i < row.sources.size(); ++i) {
    const Member& member = row.mixture.members()[i];
    const MemberDiagnostics& found = row.diagnostics[i];
    out.push_back({fold + 1, member.family, std::string(to_string(member.kind)), member.calibration,
                   member.model, member.checkpoint, found.quality, found.weight, found.variance_share});
  }
}

// Their masses, in the config's order.
void add_families(std::vector<FamilyShare>& out, size_t fold, const MixRow& row, const Config& config) {
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
    if (members > 0) out.push_back({fold + 1, family, spec.row(), members, mass});
  }
}

// The quality of every family's mixture by the length of its members, with the best c of each: the mean over
// folds.
std::vector<LearningPoint> learning_curves(const std::vector<const std::vector<MixRow>*>& folds) {
  std::vector<LearningPoint> out;
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
        out.push_back({(*folds[0])[r].name, length,
                       std::accumulate(qualities.begin(), qualities.end(), 0.0) /
                           static_cast<double>(qualities.size())});
  }
  return out;
}

// The name of a feature, or its number as the files have it; of a derived one what it is.
std::string feature_name(const FeatureNames& names, Standardize mode, size_t feature, size_t width) {
  const auto [origin, how] = feature_origin(mode, feature, width);
  return names.label(origin) + std::string(how);
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

// Of importance.json; nothing where it holds anything else.
std::optional<FeatureLosses> parse_importance(const Json& json) {
  const auto error = [](const Json& value) { return value.is_null() ? std::nan("") : value.get<double>(); };
  FeatureLosses result;
  try {
    json.at("data").get_to(result.data);
    json.at("ndcg").get_to(result.ndcg);
    result.standard_error = error(json.at("stderr"));
    json.at("repeats").get_to(result.repeats);
    json.at("queries").get_to(result.queries);
    for (const Json& feature : json.at("features"))
      result.features.push_back(
          {feature.at("name"), feature.at("loss").get<double>(), error(feature.at("stderr"))});
  } catch (const Json::exception&) {
    return std::nullopt;
  }
  return result;
}

}  // namespace

void Experiment::add_reliability(std::vector<ReliabilityCurve>& out, size_t fold) {
  const FoldInfo& info = fold_info(fold);
  const std::vector<double> grades = fold_grades(plan_.config, info.labels);
  const MixRow& row = main_row(mix_rows(fold));
  const bool in_grades = false;  // a mixture of standardised members ranks, it does not predict grades
  out.push_back({fold + 1, "mixture", reliability(row.valid, info.valid.labels, grades, in_grades)});
  for (const size_t i : heaviest_members(row, kShownReliabilities)) {
    const MemberRef& ref = row.sources[i];
    const CalibrateJob& job = plan_.calibrations_of(fold)[ref.learner];
    const auto table = load_members(plan_, job, info, store(), context_);
    if (!table || ref.member >= table->size()) continue;
    const CalibratedModel& member = (*table)[ref.member];
    const LearnerScores means = jobs_.mean_scores(job);
    const Member& name = row.mixture.members()[i];
    out.push_back({fold + 1,
                   fmt::format("{} {}{}", name.calibration, name.model,
                               name.checkpoint > 0 ? fmt::format(" T={}", name.checkpoint) : ""),
                   reliability(member.calibrator, means.points[member.point].valid, info.valid.labels, grades,
                               context_)});
  }
}

std::optional<FeatureLosses> Experiment::read_importance() {
  const Json json = json_if_there<Json>(directory() / "importance.json");
  std::optional<FeatureLosses> found = parse_importance(json);
  if (!found) return found;
  const std::string key = json.value("bundle", "");
  for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold)
    if (plan_.mix_keys[fold].hex() == key) found->ensemble = fmt::format("the ensemble of fold {}", fold + 1);
  if (const std::filesystem::path file = directory() / "bundle.tmx"; std::filesystem::exists(file)) try {
      if (read_bundle_info(file).key == key) found->ensemble = "the final model";
    } catch (const InputError&) {  // not ours: as if it were not there
    }
  return found->ensemble.empty() ? std::nullopt : found;
}

// What each learner looks at: the shares of features averaged over folds and bags, and over rounds in the
// first.
void Experiment::add_feature_use(ReportData& data) {
  const Categories& categories = fold_info(0).categories;
  const FeatureNames names = categories.names(feature_names(0), fold_info(0).features);
  const size_t width = fold_info(0).features + categories.size();
  for (size_t l = 0; l < plan_.config.learners.size(); ++l) {
    const LearnerSpec& learner = plan_.config.learners[l];
    const auto name = [&](size_t feature) {
      return feature_name(names, learner.standardize, feature, width);
    };
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
          data.bandit.push_back({learner.title(), point.round, name(point.feature), point.share});
    }
    std::vector<size_t> order(use.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return use[a] > use[b]; });
    order.resize(std::min(order.size(), kShownFeatures));
    for (const size_t j : order)
      data.features.push_back({learner.title(), name(j), use[j] / static_cast<double>(models)});
  }
}

ReportData Experiment::report_data(const EvaluationResult& evaluation) {
  ReportData data;
  data.results = results(evaluation);
  data.version = TUNEMIX_VERSION;
  std::vector<FoldInfo> infos;
  std::vector<const std::vector<MixRow>*> rows;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) {
    infos.push_back(fold_info(fold));
    rows.push_back(&mix_rows(fold));
  }
  data.comparison = compare_rows(evaluation, infos, rows);
  data.learning = learning_curves(rows);
  size_t empty = 0;
  size_t queries = 0;
  for (size_t fold = 0; fold < infos.size(); ++fold) {
    const FoldInfo& info = infos[fold];
    data.labels = std::max(data.labels, info.labels);
    data.data.push_back(describe_split(fold, "train", info.train, info.labels, info.features));
    data.data.push_back(describe_split(fold, "valid", info.valid, info.labels, info.features));
    data.data.push_back(describe_split(fold, "test", info.test, info.labels, info.features));
    empty += data.data.back().empty_queries;
    queries += data.data.back().queries;
    const MixRow& row = main_row(*rows[fold]);
    add_members(data.members, fold, row);
    add_families(data.families, fold, row, plan_.config);
    data.left_out += row.left_out;
    add_reliability(data.reliability, fold);
    for (const GridPoint& point : row.grid)
      data.surface.push_back({fold + 1, row.name, point.c, point.checkpoint, point.quality});
  }
  if (empty > 0)
    data.notes.push_back(fmt::format(
        "{} of {} test queries have no relevant document; the tools disagree on what those count.", empty,
        queries));
  add_feature_use(data);
  data.importance = read_importance();
  data.config = plan_.config.resolved;
  return data;
}

}  // namespace tunemix
