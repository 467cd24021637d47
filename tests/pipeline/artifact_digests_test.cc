// What a small run of every learner computes, by digest: a change of results without a new version would let
// old and new artifacts mix in one store.
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "pipeline/run/experiment.h"
#include "tests/support.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

// Runs that say more than 6 rounds, to be shorter or to use more of the learner. A new learner needs none.
const std::map<std::string, std::string>& further_options() {
  static const std::map<std::string, std::string> options = {{"adaboost_mh", "leaves: 4, bandit: value"},
                                                             {"svm", "C: [1e-3, 0.1]"},
                                                             {"lambdamart", "leaves: 4"},
                                                             {"mart", "leaves: 4"},
                                                             {"logitboost", "leaves: 4, iterations: 3"},
                                                             {"yetirank", "leaves: 4"},
                                                             {"random_forest", "leaves: 4"},
                                                             {"extra_trees", "leaves: 4"},
                                                             {"linear_regression", "L2: [0.01]"},
                                                             {"ranksvm", "C: [0.1]"},
                                                             {"ranknet", "epoch: 5"},
                                                             {"listnet", "epoch: 5"},
                                                             {"coordinate_ascent", "r: 1, i: 3"},
                                                             {"adarank", "round: 4"},
                                                             {"rankboost", "round: 4"},
                                                             {"frank", "round: 4"}};
  return options;
}

std::string short_run(const LearnerEntry& learner) {
  std::string text = "type: " + learner.type;
  const auto further = further_options().find(learner.type);
  if (further != further_options().end()) text += ", " + further->second;
  const OptionInfo* length = learner.length_option();
  if (length != nullptr && text.find(" " + length->name + ":") == std::string::npos)
    text += ", " + length->name + ": 6";
  return text;
}

std::string config_text() {
  std::string text =
      "name: digests\n"
      "data: {synthetic: {preset: quickstart, queries: 25}}\n"
      "learners:\n";
  for (const auto& learner : registry().entries())
    if (!learner->external) text += "  - {" + short_run(*learner) + "}\n";
  return text + "mix: {c: {from: 0, to: 100, step: 20}, parts: 2}\n";
}

struct Versioned {
  uint32_t version = 0;
  std::string digest;
  bool operator==(const Versioned&) const = default;
};
using Digests = std::map<std::string, Versioned>;  // by kind, models by learner

Digests run_and_digest(const fs::path& scratch) {
  const Context context(2);
  ProgressView view(true);
  RunOptions options;
  options.runs = scratch / "runs";
  Experiment(parse_config(config_text(), "digests.yaml", {}), options, context, view).run();
  std::map<std::string, std::pair<uint32_t, std::set<std::string>>> payloads;
  for (const auto& entry : fs::recursive_directory_iterator(options.runs / ".store")) {
    if (entry.path().extension() != ".tmx") continue;
    const Artifact artifact = read_artifact(entry.path());
    std::string kind = artifact.kind;
    uint32_t version = artifact.version;
    if (kind == LearnedModel::kKind) {
      const LearnedModel model = LearnedModel::load(entry.path(), registry());
      kind += " of " + model.learner->type;
      version = model.learner->version;
    }
    payloads[kind].first = version;
    payloads[kind].second.insert(hash_bytes(artifact.payload.data(), artifact.payload.size()).hex());
  }
  Digests digests;
  for (const auto& [kind, found] : payloads) {
    Hasher hasher;
    for (const std::string& payload : found.second) hasher.text(payload);
    digests[kind] = {found.first, hasher.digest().hex()};
  }
  return digests;
}

std::string libc() { return std::string("glibc ") + gnu_get_libc_version(); }

TEST(ArtifactDigests, ChangeWithTheirVersionsOnly) {
  const fs::path file = fs::path(TUNEMIX_SOURCE_DIR) / "tests/pipeline/artifact_digests.txt";
  test::ScratchDirectory scratch;
  const Digests now = run_and_digest(scratch.path());
  if (std::getenv("TUNEMIX_WRITE_DIGESTS") != nullptr) {
    std::ofstream out(file);
    out << libc() << '\n';
    for (const auto& [kind, d] : now) out << kind << '\t' << d.version << '\t' << d.digest << '\n';
    GTEST_SKIP() << "wrote " << file;
  }
  ASSERT_TRUE(fs::exists(file)) << file << " is not there; write it with TUNEMIX_WRITE_DIGESTS=1";
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  if (line != libc()) GTEST_SKIP() << "made with " << line << ", whose exp and log may round otherwise";
  Digests before;
  while (std::getline(in, line)) {
    const std::vector<std::string> words = split(line, '\t');
    ASSERT_EQ(words.size(), 3U) << line;
    before[words[0]] = {static_cast<uint32_t>(std::stoul(words[1])), words[2]};
  }
  const std::string how = "; then TUNEMIX_WRITE_DIGESTS=1 pipeline_tests --gtest_filter='ArtifactDigests.*'";
  for (const auto& [kind, d] : now) {
    if (!before.contains(kind)) {
      ADD_FAILURE() << kind << " is new" << how;
    } else if (before[kind].version != d.version) {
      ADD_FAILURE() << kind << " has a new version" << how;
    } else {
      EXPECT_EQ(before[kind].digest, d.digest)
          << kind
          << " has other content under the same version: raise the version (plan.h, or LearnerEntry), or, "
          << "where only what it is computed from has changed, leave it" << how;
    }
  }
  EXPECT_EQ(before.size(), now.size());
}

}  // namespace
}  // namespace tunemix
