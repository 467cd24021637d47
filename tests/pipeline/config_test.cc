// The config: defaults, grids, overrides, what is said about mistakes, and that what is resolved reads back.
#include "pipeline/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "pipeline/stages/plan.h"
#include "tests/support.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/random.h"
#include "tunemix/learners/recipe.h"

namespace tunemix {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

const std::string kSmall =
    "name: small\n"
    "data:\n"
    "  synthetic: {preset: quickstart}\n"
    "learners:\n"
    "  - {type: svm}\n";

const std::string kFull =
    "# every section\n"
    "name: full.1\n"
    "seed: 7\n"
    "data:\n"
    "  synthetic: {preset: quickstart, queries: 40, folds: 2}\n"
    "  standardize: append\n"
    "  calibration: {parts: 3}\n"
    "  grades: [0, 1, 3, 7, 15]\n"
    "learners:\n"
    "  - {type: adaboost_mh, base: tree, leaves: [4, 8], shrinkage: [0.1, 0.2], iterations: 20, checkpoints: "
    "[5, 10], bags: 2}\n"
    "  - {type: svm, C: [1e-3, 0.1], bias: false}\n"
    "calibrate: {cpc: [shift, ls], rbc: {regressors: [linear], targets: [ndcg]}}\n"
    "mix: {c: {from: 0, to: 100, step: 10}, metric: ndcg@5, normalize: none, families: pooled}\n"
    "evaluate: {tools: [trec, yahoo], err_max: 16}\n"
    "engine: {type: slurm, slurm: {partition: fast, time: \"00:10:00\", cpus: 2}}\n";

Config parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "c.yaml", overrides);
}

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Config, GivenDataTakesThePlaceOfFiles) {
  const auto split = [](float value) {
    return Dataset(std::vector<float>{value, 2}, 1, {{0, 1}, QueryIndex({0, 2}, {"q"})});
  };
  ConfigSource source{R"({"name": "given", "learners": [{"type": "svm"}]})", "", {}, {}};
  const auto fails = [&](const std::string& sentence) {
    try {
      parse_config(source);
      ADD_FAILURE() << "expected: " << sentence;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(sentence));
    }
  };
  fails("config: data: is missing");
  source.given = {std::make_shared<const FoldFeatures>(FoldFeatures{split(1), split(3), split(4)})};
  const Config config = parse_config(source);
  EXPECT_EQ(fold_count(config.data), 1U);
  EXPECT_EQ(config.values.at("data.given.0.valid"), split(3).fingerprint().hex());
  source.overrides = {"data.synthetic={preset: quickstart}"};
  fails("the data is given already");
  EXPECT_THAT(error_of(config.resolved), testing::HasSubstr("was in the memory of a program"));
}

TEST(Config, DefaultsAreThoseOfTheStructs) {
  const Config config = parse(kSmall);
  EXPECT_EQ(config.name, "small");
  EXPECT_EQ(config.seed, 1U);
  EXPECT_THAT(config.data.standardize, ElementsAre(Standardize::kNone));
  EXPECT_EQ(config.data.calibration_parts, DataConfig().calibration_parts);
  EXPECT_EQ(config.data.synthetic.folds, 1);
  ASSERT_EQ(config.learners.size(), 1U);
  EXPECT_EQ(config.learners[0].family(), "svm");
  EXPECT_EQ(config.learners[0].points().size(), 6U);
  EXPECT_EQ(config.learners[0].bags, 1);
  EXPECT_EQ(config.calibrate.cpc, CalibrateConfig().cpc);
  EXPECT_EQ(config.mix.c_to, MixOptions().c_to);
  EXPECT_EQ(config.evaluate.tools, EvaluateConfig().tools);
  EXPECT_EQ(config.engine.type, "local");
  EXPECT_EQ(config.values.at("mix.c.to"), "200");
}

TEST(Config, AListOfAnOptionIsAGrid) {
  const Config config = parse(kFull);
  ASSERT_EQ(config.learners.size(), 5U);
  std::vector<std::string> points;
  for (const LearnerSpec& spec : config.learners) points.push_back(spec.title());
  EXPECT_THAT(points,
              testing::UnorderedElementsAre("tree leaves=4", "tree leaves=4 shrinkage=0.2", "tree leaves=8",
                                            "tree leaves=8 shrinkage=0.2", testing::StartsWith("svm")));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(config.learners[i].bags, 2);
    EXPECT_THAT(config.learners[i].lengths, ElementsAre(5, 10, 20));
  }
  EXPECT_THAT(config.learners[4].points(), ElementsAre(Point{0, "C=0.001"}, Point{0, "C=0.1"}));
  EXPECT_EQ(config.mix.metric, "ndcg@5");
  EXPECT_EQ(config.engine.slurm.cpus, 2);
}

// A list of lengths are the points of one training; without checkpoints the default ones end at the last.
TEST(Config, LengthsArePointsOfOneTraining) {
  const auto lengths = [](const std::string& text) {
    const Config config = parse(replaced(kSmall, "type: svm", "type: lambdamart, " + text));
    EXPECT_EQ(config.learners.size(), 1U);
    EXPECT_EQ(parse_config(config.resolved, "r.yaml", {}).values, config.values);
    return config.learners.front().lengths;
  };
  EXPECT_THAT(lengths("iterations: [200, 100]"), ElementsAre(100, 200));
  EXPECT_THAT(lengths("iterations: 200, checkpoints: [50, 20]"), ElementsAre(20, 50, 200));
  EXPECT_THAT(lengths("iterations: 200, checkpoints: [200]"), ElementsAre(200));
  EXPECT_THAT(lengths("iterations: 15"), ElementsAre(10, 15));
  EXPECT_THAT(error_of(kSmall, {"learners.0={type: lambdamart, checkpoints: [100000]}"}),
              AllOf(StartsWith("command line: learners.0.checkpoints: has 100000, and 'iterations' is "),
                    HasSubstr("expected whole numbers up to that")));
}

TEST(Config, EntriesThatTrainTheSameAreRefusedWithBothPlaces) {
  const std::string first = "  - {type: svm, C: [0.1, 1]}\n";
  EXPECT_EQ(error_of(replaced(kSmall, "  - {type: svm}\n", first + "  - {type: svm, C: [1, 10]}\n")),
            "c.yaml:6:5: learners.1: svm C=1 is trained here and at c.yaml:5:5: learners.0; raise 'bags' to "
            "train it more often");
  EXPECT_EQ(parse(replaced(kSmall, "  - {type: svm}\n", first + "  - {type: svm, C: 10}\n")).learners.size(),
            2U);
}

TEST(Config, OverridesReachEveryDepth) {
  const Config config =
      parse(kFull, {"seed=9", "mix.c.to=50", "learners.0.leaves=[2,3,4]", "learners.1.bags=3",
                    "calibrate.cpc=[]", "data.synthetic={preset: mslr10k, queries: 9}", "engine.type=local"});
  EXPECT_EQ(config.seed, 9U);
  EXPECT_EQ(config.mix.c_to, 50);
  EXPECT_EQ(config.learners.size(), 7U);
  EXPECT_EQ(config.learners.back().bags, 3);
  EXPECT_THAT(config.calibrate.cpc, IsEmpty());
  EXPECT_EQ(config.data.synthetic.preset, "mslr10k");
  EXPECT_EQ(config.engine.type, "local");
  EXPECT_THAT(config.resolved, HasSubstr("seed: 9  # command line"));
  // A section that the file leaves out.
  EXPECT_EQ(parse(kSmall, {"mix.c.step=2"}).mix.c_step, 2);
}

TEST(Config, WrongOverridesSayWhatIsExpected) {
  EXPECT_THAT(error_of(kSmall, {"mix"}), HasSubstr("'mix' is no override; expected key.path=value"));
  EXPECT_THAT(error_of(kSmall, {"=1"}), HasSubstr("expected key.path=value"));
  EXPECT_THAT(error_of(kSmall, {"mix..c=1"}), HasSubstr("expected key.path=value"));
  EXPECT_THAT(error_of(kSmall, {"learners.5.bags=1"}), HasSubstr("index from 0 to 0"));
  EXPECT_THAT(error_of(kSmall, {"learners.x.bags=1"}), HasSubstr("index from 0 to 0"));
  EXPECT_THAT(error_of(kSmall, {"name.x=1"}),
              HasSubstr("the key before 'x' has a value, not keys of its own"));
  EXPECT_THAT(error_of(kSmall, {"mix.c.to=[1"}), HasSubstr("not YAML"));
  EXPECT_THAT(error_of(kSmall, {"mix.c.too=1"}),
              AllOf(StartsWith("command line: mix.c.too: unknown key"), HasSubstr("did you mean 'to'")));
  EXPECT_THAT(error_of(kSmall, {"seed=-1"}), StartsWith("command line: seed:"));
}

TEST(Config, UnknownKeysHaveAPlaceAndTheNearestKey) {
  EXPECT_THAT(error_of(replaced(kFull, "seed", "sed")),
              AllOf(StartsWith("c.yaml:3:1: sed: unknown key"), HasSubstr("did you mean 'seed'")));
  EXPECT_THAT(error_of(replaced(kFull, "standardize", "standardise")),
              AllOf(StartsWith("c.yaml:6:3: data.standardise: unknown key"),
                    HasSubstr("did you mean 'standardize'")));
  EXPECT_THAT(
      error_of(replaced(kFull, "leaves", "leafs")),
      AllOf(StartsWith("c.yaml:10:37: learners.0.leafs: unknown key"), HasSubstr("did you mean 'leaves'")));
  EXPECT_THAT(error_of(replaced(kFull, "bias", "leaves")),
              StartsWith("c.yaml:11:33: learners.1.leaves: unknown key"));
  EXPECT_THAT(
      error_of(replaced(kFull, "regressors", "regressor")),
      AllOf(HasSubstr("calibrate.rbc.regressor: unknown key"), HasSubstr("did you mean 'regressors'")));
  EXPECT_THAT(error_of(replaced(kFull, "time:", "tim:")), HasSubstr("engine.slurm.tim: unknown key"));
}

TEST(Config, MistakesHaveThePlaceTheKeyAndWhatIsExpected) {
  struct Case {
    std::string from;
    std::string to;
    std::string place;
    std::string part;
  };
  const std::vector<Case> cases = {
      {"seed: 7", "seed: seven", "c.yaml:3:7: seed: ", "'seven'"},
      {"seed: 7", "seed: [7]", "c.yaml:3:7: seed: ", "expected"},
      {"seed: 7", "seed: {a: 1}", "c.yaml:3:7: seed: ", "expected a value"},
      {"parts: 3", "parts: 1", "c.yaml:7:24: data.calibration.parts: ", "expected 0, or 2 to 1000"},
      {"parts: 3", "parts: 2.5", "c.yaml:7:24: data.calibration.parts: ", "2.5"},
      {"parts: 3", "fraction: 0.2", "c.yaml:7:27: data.calibration.fraction: ", "write parts, 1 / fraction"},
      {"standardize: append", "standardize: appendd",
       "c.yaml:6:16: data.standardize: ", "did you mean 'append'"},
      {"grades: [0, 1, 3, 7, 15]", "grades: [0, 3, 1]", "c.yaml:8:11: data.grades: ", "do not fall"},
      {"grades: [0, 1, 3, 7, 15]", "labels: 1", "c.yaml:8:11: data.labels: ", "2 to 32"},
      {"iterations: 20", "iterations: 0", "c.yaml:10:", "learners.0.iterations: "},
      {"iterations: 20", "iterations: 2.5", "c.yaml:10:", "2.5"},
      {"iterations: 20", "iterations: []", "c.yaml:10:", "learners.0.iterations: "},
      {"iterations: 20, checkpoints: [5, 10]", "iterations: [10, 10]",
       "c.yaml:10:88: learners.0.iterations: ", "10 occurs twice"},
      {"iterations: 20", "iterations: [10, 20]",
       "c.yaml:10:", "learners.0.checkpoints: 'iterations' is a list"},
      {"checkpoints: [5, 10]", "checkpoints: [2.5, 10]", "c.yaml:10:",
       "learners.0.checkpoints: checkpoints is "
       "'2.5'; expected a list of whole numbers from 1 to 10000000"},
      {"checkpoints: [5, 10]", "checkpoints: [5, 10, 5]",
       "c.yaml:10:", "learners.0.checkpoints: 5 occurs twice"},
      {"checkpoints: [5, 10]", "checkpoints: [5, 21]", "c.yaml:10:",
       "learners.0.checkpoints: has 21, and 'iterations' is 20; expected whole numbers up to that"},
      {"C: [1e-3, 0.1]", "C: [1, 1]", "c.yaml:11:", "occurs twice; give each value once"},
      {"C: [1e-3, 0.1]", "C: [1, 1.0]", "c.yaml:11:", "occurs twice; give each value once"},
      {"leaves: [4, 8]", "leaves: [4, 4]", "c.yaml:10:", "occurs twice"},
      {"leaves: [4, 8]", "leaves: [4, [8]]", "c.yaml:10:", "plain values"},
      {"type: svm,", "type: svn,", "c.yaml:11:12: learners.1.type: ", "did you mean 'svm'"},
      {"C: [1e-3, 0.1]", "C: []", "c.yaml:11:", "learners.1.C: "},
      {"cpc: [shift, ls]", "cpc: [shift, lsq]", "c.yaml:12:18: calibrate.cpc: ", "did you mean 'ls'"},
      {"from: 0", "from: 300", "c.yaml:13:", "below 'from'"},
      {"step: 10", "step: 0.000001", "c.yaml:13:", "more than 10000"},
      {"ndcg@5", "precision", "c.yaml:13:", "expected ndcg@K"},
      {"err_max: 16", "err_max: 0.5", "c.yaml:14:", "from 1"},
      {"partition: fast", "partition: 'a b'", "c.yaml:15:", "engine.slurm.partition: "},
      {"partition: fast", "constraint: 'a\"b'", "c.yaml:15:", "engine.slurm.constraint: "},
      {"partition: fast", "options: \"a\\nb\"", "c.yaml:15:", "in one line"},
      {"name: full.1", "name: ../x", "c.yaml:2:7: name: ", "letters"},
      {"name: full.1", "name: full\nname: again", "c.yaml:3:1: name: ", "occurs twice; give each key once"},
      {"rbc: {regressors: [linear], targets: [ndcg]}", "rbc: 3",
       "c.yaml:12:36: calibrate.rbc: ", "key: value"},
      {"preset: quickstart", "preset: nothing",
       "c.yaml:5:23: data.synthetic.preset: ", "expected quickstart, mslr10k, web2"},
      {"  standardize: append", "  folds: []", "c.yaml:", "either 'folds'"},
  };
  for (const Case& c : cases)
    EXPECT_THAT(error_of(replaced(kFull, c.from, c.to)), AllOf(StartsWith(c.place), HasSubstr(c.part)))
        << c.to;
  EXPECT_THAT(error_of("name: [\n"), AllOf(StartsWith("c.yaml:2:"), HasSubstr("not YAML")));
  EXPECT_THAT(error_of("- a\n"), HasSubstr("not a config"));
  EXPECT_THAT(error_of(""), HasSubstr("name"));
  EXPECT_THAT(error_of("name: x\n"), HasSubstr("data"));
  EXPECT_THAT(error_of(replaced(kSmall, "  - {type: svm}\n", "")), HasSubstr("learners: expected a list"));
}

TEST(Config, TheFolderMayNameTheEnvironment) {
  const std::string text =
      "name: x\ndata:\n  root: ${TUNEMIX_TEST_ROOT}/sets\n  folds: [{train: a, valid: b, test: c}]\n"
      "learners: [{type: svm}]\n";
  unsetenv("TUNEMIX_TEST_ROOT");
  EXPECT_THAT(error_of(text), AllOf(StartsWith("c.yaml:3:9: data.root: "), HasSubstr("$TUNEMIX_TEST_ROOT")));
  setenv("TUNEMIX_TEST_ROOT", "/somewhere", 1);
  EXPECT_EQ(parse(text).data.root, "/somewhere/sets");
  unsetenv("TUNEMIX_TEST_ROOT");
}

// The keys of everything that a run of the config makes.
std::vector<std::string> plan_keys(const Config& config, ArtifactStore& store) {
  const Plan plan = make_plan(config, store);
  return plan_artifacts(plan, store);
}

TEST(Config, TheResolvedConfigIsEnoughToRepeatTheRun) {
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  const std::vector<std::string> names = {"plain.txt", "with blank.txt", "it's, a: [b] #c.txt", "\"quoted\"",
                                          "- x"};
  for (const std::string& name : names)
    write_file_atomically(scratch / name, "1 qid:1 1:1\n0 qid:1 1:0\n" + name);
  const std::string files =
      "name: files\ndata:\n  root: " + scratch.path().string() +
      "\n  folds:\n    - {train: [plain.txt, 'with blank.txt'], valid: 'it''s, a: [b] "
      "#c.txt', test: '\"quoted\"'}\n"
      "    - {train: plain.txt, valid: '- x', test: plain.txt}\n"
      "learners:\n  - {type: adaboost_mh, base: [tree, product], leaves: 4, "
      "iterations: 30}\n  - {type: svm}\n"
      "mix: {choose: fixed, fixed: {c: 12.5, iterations: 10}}\n"
      "engine:\n  type: command\n  slurm:\n    setup: |\n      module load a\n      export B='c d'\n"
      "    options: --gres=gpu:1 --comment=\"a b\"\n    constraint: a&(b|c)\n"
      "  command: {run: 'xargs -d \"\\n\" -P 2 < {commands}'}\n";
  for (const std::string& text : {kSmall, kFull, files}) {
    for (const std::vector<std::string>& overrides :
         {std::vector<std::string>{}, {"seed=3", "mix.c.to=60", "data.calibration.parts=4"}}) {
      const Config first = parse(text, overrides);
      const Config again = parse_config(first.resolved, "config.resolved.yaml", {});
      EXPECT_EQ(again.values, first.values) << first.resolved;
      EXPECT_EQ(plan_keys(again, store), plan_keys(first, store));
      EXPECT_EQ(again.engine.type, first.engine.type);
      // Nothing is left to a default.
      EXPECT_EQ(again.resolved.find("# default"), std::string::npos) << again.resolved;
    }
  }
}

TEST(Config, TheRecommendedConfigsAreRead) {
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(TUNEMIX_SOURCE_DIR) / "configs"))
    if (entry.path().extension() == ".yaml") {
      EXPECT_NO_THROW(read_config(entry.path(), {"data.root=/nowhere"})) << entry.path();
    }
}

TEST(Config, WithoutLearnersTheRecipeForTheSizeOfTheDataIsUsed) {
  const std::string text = "name: a\ndata: {synthetic: {preset: quickstart}}\n";
  const Config open = parse(text);
  EXPECT_TRUE(open.learners.empty());
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  std::vector<std::string> seen;
  for (const Recipe& recipe : recommended_recipes()) {
    const Config config = with_recipe(open, recipe.documents);
    ASSERT_FALSE(config.learners.empty());
    EXPECT_EQ(recommended_recipe(recipe.documents).yaml, recipe.yaml);
    if (recipe.documents != Recipe::kAny) {
      EXPECT_NE(recommended_recipe(recipe.documents + 1).yaml, recipe.yaml);
    }
    EXPECT_THAT(seen, Not(Contains(config.resolved)));
    seen.push_back(config.resolved);
    const Config again = parse_config(config.resolved, "config.resolved.yaml", {});
    EXPECT_EQ(again.values, config.values);
    EXPECT_EQ(plan_keys(again, store), plan_keys(config, store));
    // Of every kind that is promised: +-1 votes on little data, real ones on more.
    std::set<std::string> rows;
    std::set<std::string> votes;
    for (const LearnerSpec& spec : config.learners) {
      rows.insert(spec.row());
      for (const auto& [key, value] : spec.settings)
        if (key == "votes") votes.insert(value);
    }
    EXPECT_THAT(rows, IsSupersetOf({"AB", "LM"}));
    EXPECT_EQ(votes.contains("leaf"), recipe.documents <= 20000);
    EXPECT_EQ(votes.contains("real"), recipe.documents > 20000);
  }
}

TEST(Config, ViewsAreAGrid) {
  const auto titles = [](const std::string& views, const std::string& learners) {
    const Config config = parse("name: a\ndata: {synthetic: {preset: quickstart}, standardize: " + views +
                                "}\nlearners: [" + learners + "]\n");
    std::vector<std::string> result;
    for (const LearnerSpec& spec : config.learners)
      result.push_back(spec.title() + ": " + std::string(to_string(spec.standardize)));
    return result;
  };
  const std::string svm = "{type: svm, C: [0.1]}";
  EXPECT_THAT(titles("context", svm), ElementsAre("svm: context"));
  EXPECT_THAT(titles("[none, context]", svm),
              ElementsAre("svm standardize=none: none", "svm standardize=context: context"));
  EXPECT_THAT(titles("append", svm + ", {type: svm, C: [0.1], standardize: [cdf, replace]}"),
              ElementsAre("svm: append", "svm standardize=cdf: cdf", "svm standardize=replace: replace"));
  EXPECT_THAT(titles("[append, cdf]", "{type: svm, C: [0.1], standardize: context}"),
              ElementsAre("svm standardize=context: context"));
  const auto refused = [&](const std::string& views, const std::string& learners) {
    try {
      titles(views, learners);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused("[none, none]", svm), HasSubstr("data.standardize: "));
  EXPECT_THAT(refused("[none, none]", svm), HasSubstr("each word once; 'none' occurs twice"));
  EXPECT_THAT(refused("[]", svm), HasSubstr("data.standardize: "));
  EXPECT_THAT(refused("[append, contxt]", svm), HasSubstr("did you mean 'context'"));
  EXPECT_THAT(refused("none", svm + ", {type: svm, C: [0.1], standardize: [none, cdf]}"),
              HasSubstr("is trained here and at"));
}

TEST(Config, WhatAConfigSaysGoesBeforeTheRecipe) {
  const std::string text =
      "name: a\ndata: {synthetic: {preset: quickstart}, standardize: replace}\n"
      "calibrate: {cpc: [shift]}\n";
  const Config config = with_recipe(parse(text, {"seed=7"}), 1000);
  EXPECT_THAT(config.data.standardize, ElementsAre(Standardize::kReplace));
  EXPECT_FALSE(config.learners.empty());
  for (const LearnerSpec& spec : config.learners) EXPECT_EQ(spec.standardize, Standardize::kReplace);
  EXPECT_EQ(config.resolved.find("cdf"), std::string::npos) << "learners that are left out";
  EXPECT_THAT(config.calibrate.cpc, ElementsAre("shift"));
  EXPECT_EQ(config.seed, 7U);
  // Much data needs a smaller share of it for calibration.
  const std::string open = "name: a\ndata: {synthetic: {preset: quickstart}}\n";
  EXPECT_EQ(with_recipe(parse(open), 1000).data.calibration_parts, 5);
  EXPECT_EQ(with_recipe(parse(open), 1000000).data.calibration_parts, 20);
  EXPECT_EQ(with_recipe(parse(open, {"data.calibration.parts=3"}), 1000000).data.calibration_parts, 3);
}

TEST(Config, NothingIsLeftOutForCalibrationWhereItCannotChangeAnOrder) {
  const std::string text =
      "name: a\ndata: {synthetic: {preset: quickstart}, calibration: {parts: 0}}\n"
      "learners: [{type: lambdamart}]\ncalibrate: {rbc: {regressors: [linear, logistic]}}\n";
  EXPECT_EQ(parse(text).data.calibration_parts, 0);
  EXPECT_THAT(
      error_of(text, {"calibrate.rbc.regressors=[linear, poly2]"}),
      AllOf(HasSubstr("data.calibration.parts is 0"), HasSubstr("poly2, which may change the order")));
  EXPECT_THAT(error_of(text, {"learners=[{type: svm}]"}),
              AllOf(HasSubstr("learners.0 (svm) gives a score for each label"), HasSubstr("write 2 parts")));
}

TEST(Config, AMissingFileIsAnErrorOfTheUser) { EXPECT_THROW(read_config("/nowhere/x.yaml", {}), InputError); }

// Valid text, mutated: it is read or refused with an InputError, and nothing else ever happens. What is read
// reads back from its resolved form.
TEST(Config, MutatedTextNeverDoesAnythingElse) {
  const std::vector<std::string> pieces = {
      "[",        "]",   "{",     "}",     ":",       ": ", "- ",  "\n",
      "\n  ",     "#",   "&a ",   "*a",    "!!",      "|",  ">",   "'",
      "\"",       "~",   "null",  "1e999", "-1",      "0",  "nan", "99999999999999999999",
      "true",     "\t",  "%",     "\x01",  "\xff",    "<<", ",",   "?",
      "learners", "svm", "ndcg@", "\\",    "\xc3\xa4"};
  Random random(1, "config fuzz");
  size_t read = 0;
  size_t refused = 0;
  for (size_t i = 0; i < 4000; ++i) {
    std::string text = i % 3 == 0 ? kSmall : kFull;
    const size_t changes = 1 + random.below(i % 2 == 0 ? 1 : 3);
    for (size_t n = 0; n < changes; ++n) {
      const size_t at = random.below(text.size() + 1);
      switch (random.below(5)) {
        case 0:
          text.erase(at, 1 + random.below(12));
          break;
        case 1:
          text.insert(at, pieces[random.below(pieces.size())]);
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(random.below(256));
          break;
        case 3:
          text.insert(at, text.substr(random.below(text.size() + 1), random.below(40)));
          break;
        default:
          text.replace(at, 1 + random.below(6), pieces[random.below(pieces.size())]);
          break;
      }
    }
    try {
      const Config config = parse(text);
      ++read;
      const Config again = parse_config(config.resolved, "resolved", {});
      EXPECT_EQ(again.values, config.values) << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 6), "c.yaml") << error.what() << "\n" << text;
      ++refused;
    }
  }
  EXPECT_GT(read, 50U);
  EXPECT_GT(refused, 100U);
}

TEST(Config, MutatedOverridesNeverDoAnythingElse) {
  const std::vector<std::string> paths = {"seed",
                                          "data",
                                          "data.synthetic",
                                          "learners",
                                          "learners.0",
                                          "learners.9.x",
                                          "learners.0.leaves",
                                          "mix",
                                          "mix.c",
                                          "mix.c.to",
                                          "calibrate.rbc.targets",
                                          "evaluate.tools",
                                          "engine.slurm.time",
                                          "x",
                                          "name.y",
                                          "a.b.c.d"};
  const std::vector<std::string> values = {"1",       "",         "[]",    "{}",          "[1, 2]",
                                           "{a: b}",  "~",        "[[1]]", "text",        "\"\"",
                                           "&a [*a]", "- 1\n- 2", "*x",    "{type: svm}", "[{type: svm}]"};
  for (const std::string& text : {kSmall, kFull})
    for (const std::string& path : paths)
      for (const std::string& value : values) try {
          parse(text, {path + "=" + value});
        } catch (const InputError& error) {
          EXPECT_THAT(error.what(), HasSubstr(":")) << path << "=" << value;
        }
}

TEST(Config, TheReferenceInDocsIsUpToDate) {
  EXPECT_EQ(read_text_file(std::filesystem::path(TUNEMIX_SOURCE_DIR) / "docs" / "config.md"),
            config_reference())
      << "write it again: tunemix run --help-config > docs/config.md";
}

std::string with_source(const std::string& source, const std::string& learner,
                        const std::string& data = "replace") {
  return "name: transfer\n"
         "data:\n"
         "  folds: [{train: a, valid: b, test: c}]\n"
         "  standardize: " +
         data + "\n  source: " + source + "\nlearners:\n  - " + learner + "\n";
}

TEST(Config, ASourceIsUsedAsItSays) {
  const std::string svm = "{type: svm}";
  const Config both = parse_config(with_source("{files: [big], weight: 0.5}", svm), "x", {});
  ASSERT_EQ(both.learners.size(), 2U);
  EXPECT_EQ(both.learners[0].source, SourceUse::kNone);
  EXPECT_EQ(both.learners[1].source, SourceUse::kOnly);
  EXPECT_EQ(both.learners[1].row(), "SVM@src");
  EXPECT_NE(both.learners[0].family(), both.learners[1].family());
  EXPECT_EQ(both.data.source.weight, 0.5);
  EXPECT_EQ(parse_config(both.resolved, "resolved", {}).values, both.values);
  const Config joint = parse_config(with_source("{files: big, use: joint}", svm), "x", {});
  ASSERT_EQ(joint.learners.size(), 1U);
  EXPECT_EQ(joint.learners[0].source, SourceUse::kJoint);
  EXPECT_EQ(joint.learners[0].row(), "SVM");
  const Config own = parse_config(with_source("{files: big}", "{type: svm, source: none}"), "x", {});
  ASSERT_EQ(own.learners.size(), 1U);
  EXPECT_EQ(own.learners[0].source, SourceUse::kNone);
  const SourceConfig map =
      parse_config(with_source("{files: big, features: ['1-3', 7, '9:4']}", svm), "x", {}).data.source;
  EXPECT_THAT(map.feature_pairs(), ElementsAre(std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 3},
                                               std::pair{7, 7}, std::pair{9, 4}));
}

TEST(Config, ASourceThatCannotBeUsed) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse_config(text, "x", {});
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string svm = "{type: svm}";
  EXPECT_THAT(error(with_source("{weight: 2}", svm)), HasSubstr("data.source.files"));
  EXPECT_THAT(error(with_source("{files: big}", svm, "none")), HasSubstr("set data.standardize: replace"));
  EXPECT_THAT(error(with_source("{files: big, features: ['x']}", svm)), HasSubstr("'x' is no feature"));
  EXPECT_THAT(error(with_source("{files: big, features: ['3-1']}", svm)), HasSubstr("'3-1' is no range"));
  EXPECT_THAT(error(with_source("{files: big, features: ['1-3', '5:2']}", svm)), HasSubstr("given twice"));
  EXPECT_THAT(
      error("name: a\ndata: {synthetic: {preset: quickstart}}\nlearners: [{type: svm, source: joint}]\n"),
      HasSubstr("there is no data.source"));
  EXPECT_THAT(
      error(
          "name: a\ndata: {synthetic: {preset: quickstart}, source: {files: x}}\nlearners: [{type: svm}]\n"),
      HasSubstr("goes with 'folds'"));
}

}  // namespace
}  // namespace tunemix
