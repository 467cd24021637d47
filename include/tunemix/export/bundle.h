// A finished ensemble in one file: models, calibrators, weights, and all that is needed to score new
// documents exactly as the run that made it did.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tunemix/calibrate/calibrator.h"
#include "tunemix/data/categories.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/standardize.h"
#include "tunemix/learn/learner.h"
#include "tunemix/mix/mixture.h"

namespace tunemix {

// How good an ensemble was, or is expected to be, and by what that was found.
struct Expectation {
  std::string measure;  // "yahoo NDCG@10"; empty: nothing is known
  std::string data;     // "the test data of fold 1"
  double value = 0;
  std::optional<double> error;  // standard error over queries; none of a single query

  bool operator==(const Expectation&) const = default;
};

struct BundleInfo {
  std::string name;       // of the experiment
  std::string row;        // of its results: "ALL+EXP"
  uint32_t fold = 0;      // from 1; 0: trained on all the data of the experiment
  std::string key;        // of the mixture in the experiment's store
  uint64_t features = 0;  // of the data, before standardisation
  uint32_t labels = 0;
  FeatureNames feature_names = {};           // may name none
  std::vector<std::string> trained_on = {};  // files, or what stands for them
  uint64_t queries = 0;                      // of the training data
  uint64_t documents = 0;
  Expectation expected = {};
  Categories categories = {};  // put in before anything else is done to features

  // Of the features with what categories add, before standardisation.
  size_t width() const { return features + categories.size(); }
  bool operator==(const BundleInfo&) const = default;
};

// A model, and how the features that it reads are standardised.
struct BundleModel {
  LearnedModel learned;
  Standardize standardize = Standardize::kNone;
};

// What is calibrated is the mean of the scores of the models.
struct BundleMember {
  std::vector<uint32_t> models;  // of the bundle: the bags of one learner
  uint32_t point = 0;            // of each model's points
  Calibrator calibrator;
};

// Scores of new documents by rankers outside the bundle, by name.
using GivenScores = std::map<std::string, ScoreMatrix>;

class Bundle {
 public:
  static constexpr const char* kKind = "bundle";
  static constexpr uint32_t kVersion = 4;

  // members: in the order of the mixture's members.
  Bundle(BundleInfo info, std::vector<BundleModel> models, std::vector<BundleMember> members,
         Mixture mixture);

  const BundleInfo& info() const { return info_; }
  const std::vector<BundleModel>& models() const { return models_; }
  const std::vector<BundleMember>& members() const { return members_; }
  const Mixture& mixture() const { return mixture_; }

  // The members whose scores have to be given: their names and how many numbers a document has.
  std::map<std::string, size_t> external_scores() const;
  // One score a document. Throws InputError when the data has other features than the ensemble was trained
  // on, by number or by name, or when scores that have to be given are missing or do not fit.
  std::vector<float> predict(const Dataset& data, const Context& context,
                             const GivenScores& given = {}) const;

  void save(const std::filesystem::path& path) const;  // to a file that a user names
  static Bundle load(const std::filesystem::path& path, const Registry& registry);
  // What is in such a file, whose name is for messages.
  std::vector<uint8_t> file_bytes() const;
  static Bundle parse(std::span<const uint8_t> file, const std::string& name, const Registry& registry);

 private:
  // What is computed for the bags of a learner: the points that members need, and those members.
  struct Work {
    std::vector<uint32_t> models;
    std::vector<size_t> points;
    std::vector<size_t> members;
    std::vector<size_t> of_point;  // of each of the members, in `points`
  };
  void predict_part(const Dataset& documents, const GivenScores& given, std::vector<float>& member_scores,
                    std::span<float> out, const Context& context) const;

  BundleInfo info_;
  std::vector<BundleModel> models_;
  std::vector<BundleMember> members_;
  Mixture mixture_;
  std::vector<Work> work_;
};

// The description of a bundle without its models.
BundleInfo read_bundle_info(const std::filesystem::path& path);

}  // namespace tunemix
