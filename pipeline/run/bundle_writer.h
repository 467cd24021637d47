// Makes the bundle of a fold from what is in the store.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/stages/evaluate.h"
#include "pipeline/stages/mix.h"
#include "pipeline/stages/plan.h"
#include "tunemix/export/bundle.h"

namespace tunemix {

// What the bundle of a fold says of itself, given the names of its features.
BundleInfo fold_bundle_info(const Plan& plan, size_t fold, const FoldInfo& info, FeatureNames names,
                            const EvaluationResult& evaluation);
// The same of the final model, which no data is left to judge by: what is expected of it is what the folds
// have reached.
BundleInfo final_bundle_info(const Plan& plan, const FoldInfo& all, const Hash128& key, FeatureNames names,
                             const EvaluationResult& evaluation);
// Whether the file holds the bundle that says this of itself.
bool bundle_is_current(const std::filesystem::path& file, const BundleInfo& info);

// A model of the store is missing or damaged: its job has to run again.
class MissingModel : public std::runtime_error {
 public:
  MissingModel(const TrainJob& job, const std::string& why);
  const TrainJob& job() const { return job_; }

 private:
  const TrainJob& job_;
};

// members: of the fold, by learner. Throws MissingModel.
void write_bundle(const std::filesystem::path& file, BundleInfo info, const Plan& plan, size_t fold,
                  const MixRow& row, const std::vector<std::vector<CalibratedModel>>& members,
                  const ArtifactStore& store, const Context& context);

}  // namespace tunemix
