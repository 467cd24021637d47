#include "pipeline/run/bundle_writer.h"

#include <algorithm>
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

using Json = nlohmann::ordered_json;

// The marked row under the first tool: of the test data, or of validation where there is none.
const Json& headline(const EvaluationResult& evaluation) {
  for (const Json& row : evaluation.summary["rows"])
    if (row["chosen"].get<bool>()) return row;
  throw InternalError("no row stands for the experiment");
}

// `measured`: the row itself, or one fold of it.
Expectation expectation(const Json& row, const Json& measured) {
  Expectation result{row["tool"].get<std::string>() + " NDCG@10",
                     row["split"] == "test" ? "the test data" : "the validation data",
                     measured["ndcg@10"].get<double>(), std::nullopt};
  if (!measured["stderr"].is_null()) result.error = measured["stderr"].get<double>();
  return result;
}

}  // namespace

BundleInfo final_bundle_info(const Plan& plan, const AllDataInfo& all, const Hash128& key, FeatureNames names,
                             const EvaluationResult& evaluation) {
  BundleInfo result;
  result.name = plan.config.name;
  result.key = key.hex();
  result.features = all.features;
  result.labels = static_cast<uint32_t>(all.labels);
  result.feature_names = std::move(names);
  result.trained_on = all.files;
  result.queries = all.documents.queries.size();
  result.documents = all.documents.labels.size();
  const Json& row = headline(evaluation);
  result.row = row["name"].get<std::string>();
  result.expected = expectation(row, row);
  const size_t folds = plan.fold_keys.size();
  result.expected.data += folds == 1 ? " of the fold, by its own models"
                                     : fmt::format(" of the {} folds, by their own models", folds);
  return result;
}

MissingModel::MissingModel(const TrainJob& job, const std::string& why)
    : std::runtime_error(fmt::format("the model of {}: {}", job.name, why)), job_(job) {}

BundleInfo fold_bundle_info(const Plan& plan, size_t fold, const FoldInfo& info, FeatureNames names,
                            const EvaluationResult& evaluation) {
  BundleInfo result;
  result.name = plan.config.name;
  result.fold = static_cast<uint32_t>(fold + 1);
  result.key = plan.mix_keys[fold].hex();
  result.features = info.features;
  result.labels = static_cast<uint32_t>(info.labels);
  result.feature_names = std::move(names);
  result.trained_on =
      !plan.config.data.given.empty() ? std::vector{std::string(kGivenData)}
      : plan.config.data.folds.empty()
          ? std::vector{fmt::format("synthetic {}, fold {}", plan.config.data.synthetic.preset, fold + 1)}
          : plan.config.data.folds[fold].train;
  result.queries = info.train.queries.size();
  result.documents = info.train.labels.size();
  const auto& row = headline(evaluation);
  result.row = row["name"].get<std::string>();
  result.expected = expectation(row, row["folds"].at(fold));
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
  const std::vector<const TrainJob*> jobs = plan.jobs_of(fold);
  std::map<uint32_t, std::vector<size_t>> points;  // of each job's model that are needed
  for (const MemberRef& ref : row.sources) points[ref.job].push_back(members[ref.job][ref.member].point);
  std::vector<BundleModel> models;
  std::map<uint32_t, uint32_t> model_of_job;
  for (auto& [job, needed] : points) {
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    LearnedModel whole = load_model(*jobs[job], store, context);
    if (needed.back() >= whole.model->points().size())
      throw MissingModel(*jobs[job], "it has too few points");
    model_of_job[job] = static_cast<uint32_t>(models.size());
    models.push_back({{whole.learner, whole.model->keep(needed)},
                      bundle_standardize(plan.learner(*jobs[job]).standardize)});
  }
  std::vector<BundleMember> bundle_members;
  for (const MemberRef& ref : row.sources) {
    const CalibratedModel& member = members[ref.job][ref.member];
    const std::vector<size_t>& needed = points[ref.job];
    const auto at = std::lower_bound(needed.begin(), needed.end(), member.point) - needed.begin();
    bundle_members.push_back({model_of_job[ref.job], static_cast<uint32_t>(at), member.calibrator});
  }
  const Bundle bundle(std::move(info), std::move(models), std::move(bundle_members), row.mixture);
  write_file_atomically(file, bundle.file_bytes());
}

}  // namespace tunemix
