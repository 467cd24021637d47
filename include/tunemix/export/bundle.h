// A finished ensemble in one file: models, calibrators, weights, and all that is needed to score new
// documents exactly as the run that made it did.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "tunemix/calibrate/calibrator.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/standardize.h"
#include "tunemix/learners/adaboost_mh.h"
#include "tunemix/learners/svm.h"
#include "tunemix/mix/mixture.h"

namespace tunemix {

struct BundleInfo {
  std::string name;       // of the experiment
  std::string row;        // of its results: "ALL+EXP"
  uint32_t fold = 0;      // from 1
  std::string key;        // of the mixture in the experiment's store
  uint64_t features = 0;  // of the data, before standardisation
  uint32_t labels = 0;
  Standardize standardize = Standardize::kNone;
};

struct BundleMember {
  uint32_t model = 0;  // of the bundle's models
  int32_t rounds = 0;  // of a boosted model
  Calibrator calibrator;
};

using BundleModel = std::variant<AdaBoostModel, SvmModel>;

class Bundle {
 public:
  static constexpr const char* kKind = "bundle";
  static constexpr uint32_t kVersion = 1;

  // members: in the order of the mixture's members.
  Bundle(BundleInfo info, std::vector<BundleModel> models, std::vector<BundleMember> members,
         Mixture mixture);

  const BundleInfo& info() const { return info_; }
  const std::vector<BundleModel>& models() const { return models_; }
  const Mixture& mixture() const { return mixture_; }

  // One score a document. Throws InputError when the data has other features than the ensemble was trained
  // on.
  std::vector<float> predict(const Dataset& data, const Context& context) const;

  void save(const std::filesystem::path& path) const;
  static Bundle load(const std::filesystem::path& path);

 private:
  std::vector<float> predict_part(const Dataset& data, const Context& context) const;

  BundleInfo info_;
  std::vector<BundleModel> models_;
  std::vector<BundleMember> members_;
  Mixture mixture_;
};

// The description of a bundle without its models.
BundleInfo read_bundle_info(const std::filesystem::path& path);

}  // namespace tunemix
