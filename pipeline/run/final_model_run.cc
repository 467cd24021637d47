// The last step of `tunemix fit`: trains on all the data what the folds have chosen.
#include <algorithm>

#include "pipeline/run/bundle_writer.h"
#include "pipeline/run/experiment.h"

namespace tunemix {

const FinalChoice& Experiment::final_choice() {
  if (final_choice_) return *final_choice_;
  const Hash128 key = choice_key(plan_);
  final_choice_ =
      store_->load_as(kChoiceKind, key, kChoiceVersion, context_,
                      [&](std::span<const uint8_t> payload) { return load_choice(payload, plan_); });
  if (final_choice_) return *final_choice_;
  std::vector<const MixRow*> chosen;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) chosen.push_back(&main_row(mix_rows(fold)));
  const GridPoint best = best_of_folds(chosen);
  std::vector<MixRow> rows;
  std::vector<std::vector<std::vector<CalibratedModel>>> tables;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) {
    context_.check_stop();
    FoldMembers of_fold = members(fold);
    rows.push_back(mix_row_at(plan_, fold, fold_info(fold), of_fold, chosen[fold]->name, best.c,
                              best.checkpoint, context_));
    tables.push_back(std::move(of_fold.members));
  }
  final_choice_ = average_mixtures(plan_, best, rows, tables);
  store_->save(kChoiceKind, key, kChoiceVersion, save_choice(*final_choice_));
  return *final_choice_;
}

AllDataInfo Experiment::all_data() {
  std::vector<FoldInfo> folds;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) folds.push_back(fold_info(fold));
  return describe_all(plan_.config, folds);
}

BundleInfo Experiment::final_info() {
  const AllDataInfo all = all_data();
  FoldInfo described;
  described.features = all.features;
  for (size_t fold = 0; fold < plan_.fold_keys.size() && described.feature_names.empty(); ++fold)
    described.feature_names = fold_info(fold).feature_names;
  return final_bundle_info(plan_, all, final_key(plan_, final_jobs(plan_, final_choice())),
                           fold_feature_names(plan_.config, described), evaluation());
}

void Experiment::run_final() {
  const std::vector<FinalJob> jobs = final_jobs(plan_, final_choice());
  const std::filesystem::path file = directory() / "bundle.tmx";
  const BundleInfo info = final_info();
  const bool current = bundle_is_current(file, info);
  std::vector<const TrainJob*> missing;
  for (const FinalJob& job : jobs)
    if (!current && !store_->contains(kFinalKind, job.key)) missing.push_back(&job);
  // Written first, so that a cleaner knows what an interrupted run has made.
  const auto relative = [&](const char* kind, const Hash128& key) {
    return store_->path_of(kind, key).lexically_relative(store_->root()).string();
  };
  final_artifacts_ = {relative(kChoiceKind, choice_key(plan_))};
  for (const FinalJob& job : jobs) final_artifacts_.push_back(relative(kFinalKind, job.key));
  write_manifest();
  view_.begin_stage("final", missing.size(), jobs.size() - missing.size());
  if (!current) {
    const AllDataInfo all = all_data();
    std::vector<FoldInfo> folds;
    for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) folds.push_back(fold_info(fold));
    std::map<Standardize, std::unique_ptr<PreparedData>> prepared;
    const auto prepare = [&](const TrainJob& job) {
      const LearnerSpec& spec = plan_.learner(job);
      if (spec.learner->external || prepared.contains(spec.standardize)) return;
      prepared[spec.standardize] =
          prepare_all(read_all(plan_.config, all, *store_, context_), spec.standardize, context_);
    };
    const auto run_jobs = [&](const std::vector<const TrainJob*>& some) {
      for (const TrainJob* job : some) prepare(*job);
      for_each_job(
          some, wide_jobs(all.documents.labels.size(), all.features, some.size()),
          [&](const TrainJob& job, const Context& context) {
            const LearnerSpec& spec = plan_.learner(job);
            PreparedData* data = spec.learner->external ? nullptr : prepared.at(spec.standardize).get();
            run_final_job(plan_, static_cast<const FinalJob&>(job), all, folds, data, *store_, context);
          });
    };
    if (!missing.empty()) run_jobs(missing);
    std::vector<FinalPart> parts;
    for (const FinalJob& job : jobs) {
      auto part = load_final_part(plan_, job, *store_, context_);
      if (!part) {  // damaged, or removed meanwhile
        run_jobs({&job});
        part = load_final_part(plan_, job, *store_, context_);
        if (!part) throw_run("the part of {} cannot be read back", job.name);
      }
      parts.push_back(std::move(*part));
    }
    const Bundle bundle = make_final_bundle(info, plan_, final_choice(), jobs, std::move(parts));
    write_file_atomically(file, bundle.file_bytes());
  }
  view_.end_stage();
}

}  // namespace tunemix
