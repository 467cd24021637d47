#include "pipeline/run/bundle_writer.h"

#include <algorithm>
#include <map>

#include "tunemix/export/bundle.h"

namespace tunemix {

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
  std::vector<BundleMember> bundle_members;
  for (const MemberRef& ref : row.sources) {
    const CalibratedModel& member = members[ref.job][ref.member];
    const bool svm = plan.config.learners[jobs[ref.job]->learner].type == "svm";
    const size_t model_file = svm ? member.model : 0;
    const auto [it, fresh] =
        model_numbers.try_emplace({ref.job, model_file}, static_cast<uint32_t>(models.size()));
    if (fresh) {
      const auto path = store.path_of(kModelKind, plan.model_files(*jobs[ref.job])[model_file]);
      if (svm)
        models.emplace_back(SvmModel::load(path));
      else
        models.emplace_back(AdaBoostModel::load(path));
    }
    int32_t rounds = 0;
    if (const auto* boosted = std::get_if<AdaBoostModel>(&models[it->second]))
      rounds = std::min(member.iterations, boosted->rounds());
    bundle_members.push_back({it->second, rounds, member.calibrator});
  }
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
