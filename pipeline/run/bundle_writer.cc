#include "pipeline/run/bundle_writer.h"

#include <algorithm>
#include <map>

#include "tunemix/export/bundle.h"
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

}  // namespace

MissingModel::MissingModel(const TrainJob& job, const std::string& why)
    : std::runtime_error(fmt::format("the model of {}: {}", job.name, why)), job_(job) {}

bool bundle_is_current(const std::filesystem::path& file, const Hash128& mix_key) {
  if (!std::filesystem::exists(file)) return false;
  try {
    return read_bundle_info(file).key == mix_key.hex();
  } catch (const InputError&) {
    return false;
  }
}

void write_bundle(const std::filesystem::path& file, const Plan& plan, size_t fold, const FoldInfo& info,
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
  BundleInfo bundle_info{plan.config.name,          row.name,      static_cast<uint32_t>(fold + 1),
                         plan.mix_keys[fold].hex(), info.features, static_cast<uint32_t>(info.labels)};
  Bundle(std::move(bundle_info), std::move(models), std::move(bundle_members), row.mixture).save(file);
}

}  // namespace tunemix
