// What every learner is: options with roles, a trainer that can be stopped and taken up again, and a model
// whose points (boosting lengths, values of C) are usable one by one. Nothing outside a learner's folder
// knows more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/core/options.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"
#include "tunemix/learn/plain_model.h"
#include "tunemix/learn/training_data.h"

namespace tunemix {

// One usable model of a training run. `length` is the number of rounds that was asked for (a run that ends
// early stands for all later ones), 0 where a run has no length; `label` tells apart points of the same
// length: "C=0.1".
struct Point {
  int64_t length = 0;
  std::string label;

  auto operator<=>(const Point&) const = default;
  std::string name() const;  // "T=100", "C=0.1", or empty
};

// Options as text, in the order of the learner's table.
using Settings = std::vector<std::pair<std::string, std::string>>;
const std::string& setting(const Settings& settings, std::string_view key);

// What is worth telling of a model or of a training, by name.
struct Fact {
  std::string name;
  std::variant<int64_t, double, std::string, std::vector<double>> value;
};
using Facts = std::vector<Fact>;

// How much training looked at each feature after some rounds.
struct FeatureShares {
  int64_t round = 0;
  std::vector<float> shares;
};

// Immutable and safe to share between threads.
class Model {
 public:
  virtual ~Model() = default;

  virtual size_t features() const = 0;  // of the data that it scores
  virtual size_t columns() const = 0;   // K scores a document from a classifier, 1 from a plain ranker
  virtual std::vector<Point> points() const = 0;
  // The scores by some of points(), given by their numbers. Throws InputError for data with other features.
  virtual std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                         const Context& context) const = 0;
  // R of the `shift` calibration, the largest |f_l| there can be; 0: not known.
  virtual double range(size_t /*point*/) const { return 0; }
  // A model of the given points alone (by their ascending numbers), without what only the others need.
  // Its bytes do not depend on the points left out.
  virtual std::unique_ptr<Model> keep(std::span<const size_t> points) const = 0;

  virtual Facts facts() const { return {}; }
  // The share of each feature in the model's decisions, summing to 1; empty if the model has none.
  virtual std::vector<double> importance() const { return {}; }
  // What a bandit made of the features; empty without one.
  virtual std::vector<FeatureShares> attention() const { return {}; }
  // Not empty: the model is a name for scores from elsewhere, which have to be given for new documents.
  virtual std::string external_scores() const { return {}; }
  // For each feature 1 where a document's score never falls as its value rises, all else being as it is, -1
  // where it never rises, or 0; empty: all 0.
  virtual std::vector<int8_t> monotone() const { return {}; }
  // The scores of a point in plain terms, for other programs. Throws InputError with the reason where they
  // are something else.
  virtual PlainModel plain(size_t point) const;

  virtual void save(BinaryWriter& out) const = 0;
};

// One training run: made by LearnerEntry::start, or by LearnerEntry::resume from what save_state wrote.
class Trainer {
 public:
  virtual ~Trainer() = default;

  // Trains for about so many seconds (0: no limit). Returns whether the run is complete.
  virtual bool step(double seconds) = 0;
  // The model of what is trained; has all points that were asked for once the run is complete.
  virtual std::unique_ptr<Model> model() const = 0;
  // All that going on needs besides data and settings. Not called where the learner is not resumable.
  virtual void save_state(BinaryWriter& /*out*/) const {}
  virtual Facts facts() const { return {}; }
};

struct TrainingRequest {
  const TrainingData& data;
  Settings settings;               // every option
  std::vector<int64_t> lengths;    // of the points, ascending; empty where the learner has no length
  const Dataset* valid = nullptr;  // for early stopping; may be missing
  // Where the learner takes them: real numbers, one for each document of data.all(), to learn instead of the
  // grades. They are compared within queries only: adding a number to those of a query changes nothing.
  std::span<const float> targets = {};
};

// What a list means where one value is expected: kGrid: one learner for each; kLength: rounds, where a list
// means checkpoints of one run; kPath: the option itself is a list, whose values are points of one run.
// kFeatures: a map by features (monotone.h), in which names become numbers before training.
enum class OptionRole { kGrid, kLength, kPath, kFeatures };

struct OptionInfo {
  std::string name;
  std::string default_value;
  std::string expected;
  std::string doc;
  OptionRole role = OptionRole::kGrid;
};

// What the weight of a document multiplies: its own part of a loss over documents, so that 2 is the document
// twice; its gradient, where that comes from its whole query, or by the mean of its query's documents the
// query's part of a loss over pairs or lists, so that 2 for all of them is the query twice; or nothing, as
// nothing is trained.
enum class WeightUse { kDocument, kQuery, kNone };

// One learner, as the registry lists it.
struct LearnerEntry {
  std::string type;         // `type:` of a config, --learner of `train`
  std::string family;       // whose members share a mass in the mixture
  std::string row;          // prefix of the family's rows in the results: "AB"
  std::string doc;          // one line
  std::string citation;     // where it comes from
  uint32_t version = 1;     // raised when the same settings come to give another model, or its format changes
  bool one_column = false;  // scores have one column rather than K
  bool resumable = false;   // save_state and resume work
  WeightUse weights = WeightUse::kDocument;
  bool takes_targets = false;  // TrainingRequest::targets are used where they are given
  bool reads_columns = false;  // trains and scores by bins and columns of the features, never by rows
  // Missing values are seen as such, in training and by models. Learners that take numbers only are given
  // medians in their place and indicators beside them (feature_fill.h), in models of theirs that do the same.
  bool takes_missing = false;

  std::vector<OptionInfo> options;
  // The value of an option as it is written in settings; throws InputError("...; expected ...").
  std::function<std::string(const std::string& key, const std::string& value)> canonical;
  // What tells these settings from others, for people: "tree leaves=8". By default the type and what is not
  // default.
  std::function<std::string(const Settings&)> title;
  // The points of a run, known before training. By default one for each length, or a single one.
  std::function<std::vector<Point>(const Settings&, std::span<const int64_t> lengths)> points;

  std::function<std::unique_ptr<Trainer>(const TrainingRequest&, const Context&)> start;
  // The state may have been saved under other lengths, all else being equal.
  std::function<std::unique_ptr<Trainer>(const TrainingRequest&, BinaryReader& state, const Context&)> resume;
  std::function<std::unique_ptr<Model>(BinaryReader&)> load;
  // Set where nothing is trained and scores come from files: the model that stands for them. Family and row
  // are then the name that the config gives.
  std::function<std::unique_ptr<Model>(const std::string& name, size_t columns)> external;

  // The option that is the number of rounds, if there is one.
  const OptionInfo* length_option() const;
  const OptionInfo& option(std::string_view key) const;  // throws InputError with the nearest name
  // Whether these settings ask for scores that only rise, or only fall, with some features.
  bool is_monotone(const Settings& settings) const;
  // The settings with features by other numbers in maps of them: column c of the data is made of feature
  // source[c], both from 0. Names become numbers before.
  Settings for_columns(Settings settings, const FeatureNames& names, std::span<const uint32_t> source) const;
  // All options: the given ones over the defaults. Throws InputError for an unknown key or a bad value.
  Settings complete(const Settings& given) const;
};

// Fills in options, canonical, and the defaults of title and points from an option table. Options in `roles`
// have another role than kGrid; those in `from_data` are set by training itself and are not offered.
template <typename Options>
void describe_options(LearnerEntry& entry, const OptionTable<Options>& table,
                      const std::map<std::string, OptionRole>& roles = {},
                      const std::vector<std::string>& from_data = {}) {
  for (const auto& option : table.entries()) {
    if (std::find(from_data.begin(), from_data.end(), option.name) != from_data.end()) continue;
    const auto role = roles.find(option.name);
    entry.options.push_back({option.name, option.get(Options{}), option.expected, option.doc,
                             role == roles.end() ? OptionRole::kGrid : role->second});
  }
  entry.canonical = [&table](const std::string& key, const std::string& value) {
    Options options;
    table.set(options, key, value);
    return table.entry(key).get(options);
  };
}

template <typename Options>
Options parse_settings(const OptionTable<Options>& table, const Settings& settings) {
  Options options;
  for (const auto& [key, value] : settings) table.set(options, key, value);
  return options;
}

// The lengths that are points where none are asked for: 10, 20, 50, 100, 200, ... below `length`, then
// `length`.
std::vector<int64_t> default_lengths(int64_t length);

// The learners that a program knows.
class Registry {
 public:
  void add(LearnerEntry entry);  // a type, family or row that is there already is an InternalError
  const std::vector<std::unique_ptr<const LearnerEntry>>& entries() const { return entries_; }
  const LearnerEntry* find(std::string_view type) const;    // null where there is none
  const LearnerEntry& expect(std::string_view type) const;  // throws InputError with the nearest name

 private:
  std::vector<std::unique_ptr<const LearnerEntry>> entries_;
};

// A model with its learner: what is saved under its type and version, and loaded through the registry.
struct LearnedModel {
  const LearnerEntry* learner = nullptr;
  std::unique_ptr<const Model> model;

  void save(BinaryWriter& out) const;
  static LearnedModel load(BinaryReader& in, const Registry& registry);
  void save(const std::filesystem::path& path) const;
  static LearnedModel load(const std::filesystem::path& path, const Registry& registry);
  static constexpr const char* kKind = "model";
  static constexpr uint32_t kVersion = 1;
};

}  // namespace tunemix
