#include "pipeline/run/bundle_writer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

LearnedModel load_model(const TrainJob& job, const ArtifactStore& store, const Context& context) {
  const auto payload = store.load(kModelKind, job.key, LearnedModel::kVersion, context);
  if (!payload) throw MissingModel(job, "it is not in the store");
  try {
    BinaryReader in(*payload, "the model");
    LearnedModel model = LearnedModel::load(in, registry());
    in.expect_end();
    return model;
  } catch (const InputError& error) {
    throw MissingModel(job, error.what());
  }
}

// What is expected of new data: the mean of the main row, or its result on one fold.
Expectation expectation(const ResultRow& row, double ndcg, double standard_error) {
  Expectation result{row.tool + " NDCG@10", row.split == "test" ? "the test data" : "the validation data",
                     ndcg, std::nullopt};
  if (!std::isnan(standard_error)) result.error = standard_error;
  return result;
}

BundleInfo bundle_info(const Plan& plan, const FoldInfo& info, const Hash128& key, FeatureNames names) {
  BundleInfo result;
  result.name = plan.config.name;
  result.key = key.hex();
  result.features = info.features;
  result.labels = static_cast<uint32_t>(info.labels);
  result.feature_names = std::move(names);
  result.categories = info.categories;
  if (!plan.config.data.given.empty()) result.trained_on = {"data in memory"};
  result.queries = info.train.queries.size();
  result.documents = info.train.labels.size();
  return result;
}

}  // namespace

BundleInfo final_bundle_info(const Plan& plan, const FoldInfo& all, const Hash128& key, FeatureNames names,
                             const EvaluationResult& evaluation) {
  const DataConfig& data = plan.config.data;
  const size_t folds = plan.fold_keys.size();
  BundleInfo result = bundle_info(plan, all, key, std::move(names));
  for (const FoldFiles& fold : data.folds)
    for (const auto* split : {&fold.train, &fold.valid, &fold.test})
      for (const std::string& file : *split)
        if (std::find(result.trained_on.begin(), result.trained_on.end(), file) == result.trained_on.end())
          result.trained_on.push_back(file);
  if (data.given.empty() && data.folds.empty())
    result.trained_on = {
        fmt::format("synthetic {}, {} fold{}", data.synthetic.preset, folds, folds == 1 ? "" : "s")};
  const ResultRow& row = main_row(evaluation);
  result.row = row.name;
  result.expected = expectation(row, row.ndcg, row.standard_error);
  result.expected.data += folds == 1 ? " of the fold, by its own models"
                                     : fmt::format(" of the {} folds, by their own models", folds);
  return result;
}

MissingModel::MissingModel(const TrainJob& job, const std::string& why)
    : std::runtime_error(fmt::format("the model of {}: {}", job.name, why)), job_(job) {}

BundleInfo fold_bundle_info(const Plan& plan, size_t fold, const FoldInfo& info, FeatureNames names,
                            const EvaluationResult& evaluation) {
  BundleInfo result = bundle_info(plan, info, plan.mix_keys[fold], std::move(names));
  result.fold = static_cast<uint32_t>(fold + 1);
  if (!plan.config.data.folds.empty())
    result.trained_on = plan.config.data.folds[fold].train;
  else if (plan.config.data.given.empty())
    result.trained_on = {fmt::format("synthetic {}, fold {}", plan.config.data.synthetic.preset, fold + 1)};
  const ResultRow& row = main_row(evaluation);
  const FoldResult& measured = row.folds.at(fold);
  result.row = row.name;
  result.expected = expectation(row, measured.ndcg, measured.standard_error);
  result.expected.data += fmt::format(" of fold {}", fold + 1);
  return result;
}

bool bundle_is_current(const std::filesystem::path& file, const BundleInfo& info) {
  if (!std::filesystem::exists(file)) return false;
  try {
    return read_bundle_info(file) == info;
  } catch (const InputError&) {
    return false;
  }
}

void write_bundle(const std::filesystem::path& file, BundleInfo info, const Plan& plan, size_t fold,
                  const MixRow& row, const std::vector<std::vector<CalibratedModel>>& members,
                  const ArtifactStore& store, const Context& context) {
  std::map<uint32_t, std::vector<size_t>> points;  // of each learner's models that are needed
  for (const MemberRef& ref : row.sources)
    points[ref.learner].push_back(members[ref.learner][ref.member].point);
  std::vector<BundleModel> models;
  std::map<uint32_t, std::vector<uint32_t>> bags;  // of each learner, in `models`
  for (auto& [learner, needed] : points) {
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    for (const TrainJob& job : plan.bags_of(plan.calibrations_of(fold)[learner])) {
      LearnedModel whole = load_model(job, store, context);
      if (needed.back() >= whole.model->points().size()) throw MissingModel(job, "it has too few points");
      bags[learner].push_back(static_cast<uint32_t>(models.size()));
      models.push_back(
          {{whole.learner, whole.model->keep(needed)}, bundle_standardize(plan.learner(job).standardize)});
    }
  }
  std::vector<BundleMember> bundle_members;
  for (const MemberRef& ref : row.sources) {
    const CalibratedModel& member = members[ref.learner][ref.member];
    const std::vector<size_t>& needed = points[ref.learner];
    const auto at = std::lower_bound(needed.begin(), needed.end(), member.point) - needed.begin();
    bundle_members.push_back({bags[ref.learner], static_cast<uint32_t>(at), member.calibrator});
  }
  const Bundle bundle(std::move(info), std::move(models), std::move(bundle_members), row.mixture);
  write_file_atomically(file, bundle.file_bytes());
}

}  // namespace tunemix
