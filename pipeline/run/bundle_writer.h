// Makes the bundle of a fold from what is in the store.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/stages/calibrate.h"
#include "pipeline/stages/mix.h"
#include "pipeline/stages/plan.h"

namespace tunemix {

bool bundle_is_current(const std::filesystem::path& file, const Hash128& mix_key);

// A model of the store is missing or damaged: its job has to run again.
class MissingModel : public std::runtime_error {
 public:
  MissingModel(const TrainJob& job, const std::string& why);
  const TrainJob& job() const { return job_; }

 private:
  const TrainJob& job_;
};

// members: by job of the fold. Throws MissingModel.
void write_bundle(const std::filesystem::path& file, const Plan& plan, size_t fold, const FoldInfo& info,
                  const MixRow& row, const std::vector<std::vector<CalibratedModel>>& members,
                  const ArtifactStore& store, const Context& context);

}  // namespace tunemix
