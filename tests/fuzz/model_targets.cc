// Models and training states of every learner, and models composed of them.
#include <map>

#include "tests/fuzz/small_run.h"
#include "tests/learners/train_by_name.h"
#include "tunemix/data/derived.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/learn/composed_model.h"

namespace tunemix::fuzz {
namespace {

// A training on the documents of the run.
struct Training {
  explicit Training(const Dataset& all) : data(all) {}
  Dataset data;
  BinCache bins{data};
  TrainingData documents{bins};
};

// Settings beside the defaults; a model and a state of each are seeds.
std::vector<Settings> variants(const std::string& type) {
  static const std::map<std::string, std::vector<Settings>> kVariants = {
      {"adaboost_mh",
       {{{"leaves", "3"}, {"votes", "real"}, {"bandit", "value"}, {"arms_per_pull", "1"}},
        {{"base", "stump"}, {"bandit", "exp3p"}, {"arms_per_pull", "1"}},
        {{"base", "product"}, {"terms", "2"}, {"bandit", "ucbv"}, {"arms_per_pull", "1"}}}},
      {"lambdamart",
       {{{"leaves", "3"}, {"min_documents", "1"}, {"bandit", "exp3g"}, {"arms_per_pull", "1"}},
        {{"leaves", "3"}, {"min_documents", "1"}, {"row_fraction", "0.5"}, {"patience", "1"}}}},
      {"svm", {{{"C", "[0.1, 1]"}}, {{"C", "1"}, {"solver", "dual"}, {"scale", "minmax"}}}},
      {"ranksvm", {{{"C", "[0.1, 1]"}}}},
      {"ranknet", {{}, {{"layer", "1"}, {"node", "2"}}}},
      {"listnet", {{}, {{"layer", "1"}, {"node", "2"}}}},
  };
  const auto found = kVariants.find(type);
  return found == kVariants.end() ? std::vector<Settings>{{}} : found->second;
}

Settings complete(const LearnerEntry& learner, Settings settings) {
  if (const OptionInfo* length = learner.length_option()) settings.emplace_back(length->name, "2");
  for (const OptionInfo& option : learner.options)
    if (option.name == "leaves" &&
        std::none_of(settings.begin(), settings.end(), [](const auto& s) { return s.first == "leaves"; }))
      settings.emplace_back("leaves", "3");
  return learner.complete(settings);
}

TrainingRequest request_of(const LearnerEntry& learner, const Settings& settings, const Training& training) {
  return {training.documents, complete(learner, settings),
          learner.length_option() != nullptr ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{},
          &training.data};
}

std::unique_ptr<Trainer> trained(const LearnerEntry& learner, const Settings& settings,
                                 const Training& training, const Context& context) {
  std::unique_ptr<Trainer> trainer = learner.start(request_of(learner, settings, training), context);
  while (!trainer->step(0)) {
  }
  return trainer;
}

std::vector<size_t> all_points(const Model& model) {
  std::vector<size_t> points(model.points().size());
  for (size_t p = 0; p < points.size(); ++p) points[p] = p;
  return points;
}

void use_model(const Model& model, const Dataset& data, const Context& context) {
  const std::vector<size_t> points = all_points(model);
  may_refuse([&] { model.score(data, points, context); });
  model.attention();
  model.facts();
  if (model.features() > LetorOptions().max_feature_id) return;  // the rest has a number for each
  may_refuse([&] { model.plain(points.back()); });
  model.importance();
  BinaryWriter out;
  model.keep(std::span(points).last(1))->save(out);
}

Bytes model_bytes(const LearnedModel& model) {
  BinaryWriter out;
  model.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

Target model_target(const std::string& name, std::vector<Bytes> seeds, SmallRun& run) {
  return {"model-" + name, std::move(seeds), [&run](const Bytes& bytes) {
            BinaryReader in(bytes, "model");
            const LearnedModel loaded = LearnedModel::load(in, registry());
            in.expect_end();
            use_model(*loaded.model, run.data(), run.context());
          }};
}

// A mutant of a state goes on to the end.
Target state_target(const LearnerEntry& learner, const std::shared_ptr<Training>& training, SmallRun& run) {
  std::vector<Bytes> seeds;
  std::vector<Settings> settings = variants(learner.type);
  for (const Settings& variant : settings) {
    const std::unique_ptr<Trainer> begun =
        learner.start(request_of(learner, variant, *training), run.context());
    begun->step(1e-9);
    BinaryWriter state;
    begun->save_state(state);
    seeds.emplace_back(state.bytes().begin(), state.bytes().end());
    seeds.back().push_back(static_cast<uint8_t>(seeds.size() - 1));  // the variant that it is of
  }
  return {"state-" + learner.type, std::move(seeds),
          [&learner, &run, training, settings](const Bytes& bytes) {
            if (bytes.empty()) throw InputError("nothing");
            const Settings& variant = settings[bytes.back() % settings.size()];
            BinaryReader in(std::span<const uint8_t>(bytes).first(bytes.size() - 1), "state");
            const std::unique_ptr<Trainer> trainer =
                learner.resume(request_of(learner, variant, *training), in, run.context());
            in.expect_end();
            while (!trainer->step(0)) {
            }
            const std::unique_ptr<Model> model = trainer->model();
            model->score(run.data(), all_points(*model), run.context());
          }};
}

// Of grouped labels, of problems "label above l", and of shares of some of the features.
std::vector<Bytes> composed_seeds(const Training& training, SmallRun& run) {
  const LearnerEntry& svm = registry().expect("svm");
  const Settings settings = {{"C", "1"}};
  const auto on = [&](const std::vector<int32_t>& labels) {
    const Training taught(with_labels(training.data, labels));
    return trained(svm, settings, taught, run.context())->model();
  };
  const auto above = [&](int32_t bound) {
    std::vector<int32_t> labels;
    for (const int32_t label : training.data.labels()) labels.push_back(label > bound ? 1 : 0);
    return labels;
  };
  const LabelGroups groups({{0}, {1, 2}});
  std::vector<OrdinalProblem> problems(2);
  for (size_t l = 0; l < 2; ++l) {
    problems[l].model = on(above(static_cast<int32_t>(l)));
    problems[l].chances = {{1, 0}};
  }
  FeatureMap map{training.data.features(), {0, 1, 2}, FeatureCdf::fit(training.data, run.context())};
  std::vector<Bytes> seeds;
  const auto add = [&](std::unique_ptr<Model> model) {
    seeds.push_back(model_bytes({&svm, std::move(model)}));
  };
  add(std::make_unique<ComposedModel>(on(groups.map(training.data.labels())), groups));
  add(std::make_unique<ComposedModel>(std::move(problems), std::nullopt));
  add(std::make_unique<ComposedModel>(
      std::make_unique<ComposedModel>(on(groups.map(training.data.labels())), groups), std::move(map)));
  return seeds;
}

}  // namespace

std::vector<Target> model_targets(SmallRun& run) {
  std::vector<Target> targets;
  LetorOptions reading;
  reading.num_features = run.data().features();
  const auto training = std::make_shared<Training>(read_letor(run.training_file(), reading, run.context()));
  for (const std::string& type : test::trained_types()) {
    const LearnerEntry& learner = registry().expect(type);
    std::vector<Bytes> seeds;
    for (const Settings& settings : variants(type))
      seeds.push_back(model_bytes({&learner, trained(learner, settings, *training, run.context())->model()}));
    targets.push_back(model_target(type, std::move(seeds), run));
    if (learner.resumable) targets.push_back(state_target(learner, training, run));
  }
  targets.push_back(model_target("composed", composed_seeds(*training, run), run));
  const LearnerEntry& external = registry().expect("scores");
  targets.push_back(model_target("scores", {model_bytes({&external, external.external("bm25", 1)})}, run));
  return targets;
}

}  // namespace tunemix::fuzz
