#include "pipeline/run/bundle_writer.h"

#include <algorithm>
#include <map>

#include "tunemix/export/bundle.h"

namespace tunemix {
namespace {

BundleModel load_model(const TrainJob& job, const std::filesystem::path& path, bool svm) {
  try {
    if (svm) return SvmModel::load(path);
    return AdaBoostModel::load(path);
  } catch (const InputError& error) {
    throw MissingModel(job, error.what());
  }
}

}  // namespace

MissingModel::MissingModel(const TrainJob& job, const std::string& why)
    : std::runtime_error(fmt::format("the model of {}: {}", job.name, why)), job_(job) {}

std::string main_row_name(const std::vector<std::string>& names) {
  for (const char* wanted : {"ALL+EXP", "AB+EXP", "SVM+EXP"})
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
  require(!names.empty(), "no row to stand for the experiment");
  return names.front();
}

const MixRow& main_row(const std::vector<MixRow>& rows) {
  std::vector<std::string> names;
  for (const MixRow& row : rows) names.push_back(row.name);
  const std::string name = main_row_name(names);
  return *std::find_if(rows.begin(), rows.end(), [&](const MixRow& row) { return row.name == name; });
}

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
                  const ArtifactStore& store) {
  const std::vector<const TrainJob*> jobs = plan.jobs_of(fold);
  std::vector<BundleModel> models;
  std::map<std::pair<uint32_t, size_t>, uint32_t> model_numbers;  // (job, model file) -> model of the bundle
  std::vector<int> most_rounds;                                   // that a member asks of each model
  std::vector<BundleMember> bundle_members;
  for (const MemberRef& ref : row.sources) {
    const CalibratedModel& member = members[ref.job][ref.member];
    const bool svm = plan.config.learners[jobs[ref.job]->learner].type == "svm";
    const size_t model_file = svm ? member.model : 0;
    const auto [it, fresh] =
        model_numbers.try_emplace({ref.job, model_file}, static_cast<uint32_t>(models.size()));
    if (fresh) {
      const Hash128 key = plan.model_files(*jobs[ref.job])[model_file];
      models.push_back(load_model(*jobs[ref.job], store.path_of(kModelKind, key), svm));
      most_rounds.push_back(0);
    }
    int32_t rounds = 0;
    if (const auto* boosted = std::get_if<AdaBoostModel>(&models[it->second])) {
      if (boosted->rounds() < member.iterations && !boosted->finished_early())
        throw MissingModel(*jobs[ref.job], "it has too few rounds");
      rounds = std::min(member.iterations, boosted->rounds());
    }
    most_rounds[it->second] = std::max(most_rounds[it->second], rounds);
    bundle_members.push_back({it->second, rounds, member.calibrator});
  }
  for (size_t m = 0; m < models.size(); ++m)
    if (auto* boosted = std::get_if<AdaBoostModel>(&models[m]))
      *boosted = boosted->first_rounds(most_rounds[m]);
  BundleInfo bundle_info{plan.config.name,
                         row.name,
                         static_cast<uint32_t>(fold + 1),
                         plan.mix_keys[fold].hex(),
                         info.features,
                         static_cast<uint32_t>(info.labels),
                         plan.config.data.standardize};
  Bundle(std::move(bundle_info), std::move(models), std::move(bundle_members), row.mixture).save(file);
}

}  // namespace tunemix
