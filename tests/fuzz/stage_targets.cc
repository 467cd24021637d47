// Stage artifacts and bundles, used as a run uses them.
#include <algorithm>

#include "pipeline/report/report.h"
#include "pipeline/stages/stored_features.h"
#include "tests/fuzz/small_run.h"
#include "tunemix/core/large_artifact.h"
#include "tunemix/export/bundle.h"
#include "tunemix/learners/registry.h"

namespace tunemix::fuzz {
namespace {

namespace fs = std::filesystem;

void add_jobs(SmallRun& run, std::vector<Target>& targets) {
  for (const TrainJob& job : run.plan().jobs)
    targets.push_back({"scores-" + run.plan().learner(job).learner->type,
                       {run.payload(kScoresKind, job.key)},
                       [&run, job](const Bytes& bytes) {
                         save_train_result(load_train_result(bytes, run.plan(), job, run.info()));
                       }});
  for (const CalibrateJob& job : run.plan().calibrations) {
    const std::string type = run.plan().learner(job).learner->type;
    const Bytes members = run.payload(kMembersKind, job.key);
    const auto parse = [&run, job](const Bytes& bytes) {
      return parse_members(bytes, run.plan(), job, run.info());
    };
    targets.push_back({"members-" + type,
                       {members},
                       [&run, parse, at = run.experiment().jobs().mean_scores(job)](const Bytes& bytes) {
                         std::vector<float> out(run.info().valid.labels.size());
                         for (const CalibratedModel& member : parse(bytes))
                           if (const ScoreMatrix& valid = at.points[member.point].valid;
                               member.calibrator.columns() == valid.columns())
                             member.calibrator.apply(valid, out, run.context());
                       }});
    targets.push_back({"member-scores-" + type,
                       {run.payload(kMemberValidKind, job.key)},
                       [&run, job, count = parse(members).size()](const Bytes& bytes) {
                         parse_member_scores(bytes, job, count, run.info().valid.labels.size());
                       }});
  }
}

void add_mix(SmallRun& run, std::vector<Target>& targets) {
  std::vector<std::vector<CalibratedModel>> tables;
  for (const CalibrateJob& job : run.plan().calibrations)
    tables.push_back(parse_members(run.payload(kMembersKind, job.key), run.plan(), job, run.info()));
  targets.push_back(
      {"mix", {run.payload(kMixKind, run.plan().mix_keys[0])}, [&run, tables](const Bytes& bytes) {
         for (const MixRow& row : load_mix(bytes, run.plan(), 0, run.info())) fits(row, tables);
       }});
}

// Of a few rows: what is checked is the same for each.
Bytes short_evaluation(SmallRun& run) {
  EvaluationResult result = load_evaluation(run.payload(kEvaluationKind, run.plan().evaluation_key));
  result.rows.erase(result.rows.begin(), std::find_if(result.rows.begin(), result.rows.end(),
                                                      [](const ResultRow& row) { return row.main; }));
  result.rows.resize(std::min<size_t>(2, result.rows.size()));
  result.ndcg_at.resize(2);
  result.choices.resize(2);
  result.per_query.resize(2);
  return save_evaluation(result);
}

void add_results(SmallRun& run, std::vector<Target>& targets) {
  targets.push_back({"evaluation", {short_evaluation(run)}, [](const Bytes& bytes) {
                       ReportData data;
                       data.results.evaluation = load_evaluation(bytes);
                       results_table(data.results, true);
                       results_table(data.results, false);
                       results_json(data.results);
                       render_report(data);
                     }});
}

void add_bundle(SmallRun& run, std::vector<Target>& targets) {
  const auto use = [&run](const fs::path& file) {
    const Bundle loaded = Bundle::load(file, registry());
    if (loaded.info().features == run.data().features()) loaded.predict(run.data(), run.context());
  };
  targets.push_back({"bundle", {read_artifact(run.bundle()).payload}, [&run, use](const Bytes& bytes) {
                       use(run.written("bundle", artifact_bytes(Bundle::kKind, Bundle::kVersion, bytes,
                                                                Compression::kNone)));
                     }});
  targets.push_back(
      {"container", {read_file(run.bundle())}, [](const Bytes& bytes) { parse_artifact(bytes, "file"); }});
}

// What is kept of features for other processes: whole folds, and bins.
void add_features(SmallRun& run, std::vector<Target>& targets) {
  const auto stored = [&run](const char* kind, uint32_t version, const Hash128& key, const Bytes& payload) {
    const fs::path path = run.store().path_of(kind, key);
    fs::create_directories(path.parent_path());
    run.written(path, artifact_bytes(kind, version, payload, Compression::kNone, key));
  };
  const auto fold =
      std::make_shared<PreparedFold>(read_fold(run.plan().config, 0, run.store(), run.context()),
                                     Standardize::kNone, SourceUse::kNone, 1, std::nullopt);
  const Hash128 key = run.plan().fold_keys[0];
  save_features(fold->data, key, run.store());
  targets.push_back({"features", {run.payload(kFeaturesKind, key)}, [&run, stored, key](const Bytes& bytes) {
                       stored(kFeaturesKind, kFeaturesVersion, key, bytes);
                       const auto kept = load_features(key, run.store(), run.context());
                       if (!kept) throw InputError("refused");
                       describes(run.info(), *kept);
                     }});
  const Dataset& all = fold->training_data();
  const Hash128 bins_key = StoredBins::key(all, 255, BinLayout::kPanels);
  StoredBins(run.store()).save(all, 255, fold->bins.bins(255, BinLayout::kPanels, run.context()));
  targets.push_back(
      {"bins", {run.payload(kBinsKind, bins_key)}, [&run, stored, fold, bins_key](const Bytes& bytes) {
         stored(kBinsKind, kBinsVersion, bins_key, bytes);
         if (!StoredBins(run.store()).load(fold->training_data(), 255, BinLayout::kPanels, run.context()))
           throw InputError("refused");
       }});
}

}  // namespace

std::vector<Target> stage_targets(SmallRun& run) {
  std::vector<Target> targets;
  targets.push_back({"data", {run.payload(kFoldKind, run.plan().fold_keys[0])}, [&run](const Bytes& bytes) {
                       const FoldInfo loaded = load_fold_info(bytes);
                       loaded.train.select_queries(
                           bag_split(run.plan().config, loaded.train.queries, 0, 0).train);
                       load_fold_info(save_fold_info(loaded));
                     }});
  add_jobs(run, targets);
  add_mix(run, targets);
  add_results(run, targets);
  add_bundle(run, targets);
  add_features(run, targets);
  return targets;
}

}  // namespace tunemix::fuzz
