// What people and clients write: configs, score files, TREC's files, compressed data, and requests.
#include "pipeline/serve/ranking_request.h"
#include "tests/compress.h"
#include "tests/fuzz/small_run.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/score_file.h"
#include "tunemix/metric/trec_file.h"

namespace tunemix::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigs[] = {
    "name: small\n"
    "data: {synthetic: {preset: quickstart, queries: 12, folds: 1}}\n"
    "learners:\n"
    "  - {type: adaboost_mh, base: tree, leaves: 3, iterations: 4}\n"
    "  - {type: svm, C: [0.1, 1]}\n"
    "calibrate: {cpc: [shift], rbc: {regressors: [linear], targets: [raw]}}\n"
    "mix: {c: {from: 0, to: 20, step: 10}}\n"
    "evaluate: {tools: [yahoo]}\n",
    "name: files\n"
    "seed: 3\n"
    "data:\n"
    "  root: /data\n"
    "  standardize: append\n"
    "  folds:\n"
    "    - {train: [a.txt, b.txt], valid: c.txt, test: d.txt}\n"
    "learners:\n"
    "  - {type: lambdamart, leaves: [3, 8], checkpoints: [1, 2], iterations: 4, bags: 2}\n"
    "  - {type: svm, classes: ordinal, labels: [[0], [1, 2]]}\n"
    "engine: {type: local}\n"};

constexpr std::string_view kJsonRequests[] = {
    R"({"qid": "q1", "documents": [{"id": "d1", "features": [0.5, 0, 1]}, {"features": {"1": 2, "bm25": 3}}]})",
    R"({"queries": [{"qid": 7, "documents": [{"id": 4, "features": [1, 2, 3e-2]}]}, {"documents": [{"features": {}}]}]})"};

constexpr std::string_view kJsonRequestsWithScores[] = {
    R"({"documents": [{"features": {"1": 2}, "scores": {"bm25": 3.5, "classes": [0.1, 0.9]}}]})"};

constexpr std::string_view kLetorRequests[] = {"0 qid:1 1:0.5 3:2 #docid = a\n-1 qid:1 2:1e-3\n0 qid:2\n"};

const std::vector<std::string_view> kYamlWords = {
    "\n",   "  ",   ": ",   "- ",     "[",          "]",         "{",      "}",     ",",
    "\"",   "&a ",  "*a",   "!!str ", "|\n",        "#",         "~",      "null",  "true",
    "0",    "-1",   "1e99", "bags",   "type: ",     "learners:", "folds:", "data:", "auto",
    "<<: ", "0x10", ".inf", ".nan",   "2147483648", "mix",       "../",    "scores"};
const std::vector<std::string_view> kJsonWords = {"{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  ":",
                                                  "\"",
                                                  "null",
                                                  "true",
                                                  "0",
                                                  "-0",
                                                  "1e39",
                                                  "1e400",
                                                  "-1",
                                                  "\"qid\"",
                                                  "\"id\"",
                                                  "\"1\"",
                                                  "\"4\"",
                                                  "\"bm25\"",
                                                  "\"queries\":",
                                                  "\"documents\":",
                                                  "\"features\":",
                                                  "\\u0000",
                                                  "\\ud800",
                                                  "18446744073709551616"};
const std::vector<std::string_view> kLetorWords = {
    "qid:", ":",   "\n",   "\r\n", " ",          "\t", "#",   "e",        "-",          "+",       ".",
    "nan",  "inf", "1e39", "0",    "9999999999", "2:", "4:1", "docid = ", "#1: name\n", "16777217"};
const std::vector<std::string_view> kNumberWords = {"\n",  " ",   "\t",    ",",      "-",     "+", ".",
                                                    "nan", "inf", "1e309", "1e-320", "0x1p3", "e", "\r\n"};
const std::vector<std::string_view> kTrecWords = {
    "\n", " ", "\t", "-1", "31", "32", "Q0", "nan", "1e400", "1 0 A 1\n", "1 Q0 A 1 2 me\n", "\r\n"};

template <size_t kCount, typename Text>
std::vector<Bytes> seeds_of(const Text (&texts)[kCount]) {
  std::vector<Bytes> seeds;
  for (const std::string_view text : texts) seeds.push_back(bytes_of(text));
  return seeds;
}

void add_scores(SmallRun& run, std::vector<Target>& targets) {
  const Bytes seed = bytes_of("1.5\n-2e3\n0\n");
  targets.push_back(
      {"score-file", {seed}, [](const Bytes& bytes) { parse_scores(text_of(bytes), "s"); }, kNumberWords});
  targets.push_back({"score-columns",
                     {seed, bytes_of("1 2\n3 4\n5 1e-3\n")},
                     [&run](const Bytes& bytes) {
                       const fs::path files[] = {run.written("columns", bytes)};
                       read_score_columns(files, 3, {});
                     },
                     kNumberWords});
}

void add_compressed(SmallRun& run, std::vector<Target>& targets) {
  const std::string text = read_text_file(run.training_file());
  for (const std::string kind : {"gz", "zst"})
    targets.push_back({"letor-" + kind,
                       {bytes_of(kind == "gz" ? test::gzip(text) : test::zstd(text))},
                       [&run, kind](const Bytes& bytes) {
                         LetorOptions reading;
                         reading.max_feature_id = 2000;
                         read_letor(run.written("mutant." + kind, bytes), reading, run.context());
                       }});
}

void add_trec(SmallRun& run, std::vector<Target>& targets) {
  const Bytes qrels = bytes_of("1 0 A 2\n1 0 B 0\n2 0 A 1\n");
  const Bytes ranking = bytes_of("1 Q0 B 1 2.5 me\n1 Q0 A 2 1e-3 me\n2 Q0 C 1 7 me\n2 Q0 A 2 6 me\n");
  const auto evaluate = [&run](const fs::path& judged, const fs::path& ranked) {
    const TrecRun read = read_trec(judged, ranked, MissingQueries::kKeep);
    Evaluator(read.data, {preset("trec"), preset("ranklib")})(read.scores, run.context().pool(), true);
  };
  targets.push_back({"qrels",
                     {qrels},
                     [&run, evaluate, good = run.written("run", ranking)](const Bytes& bytes) {
                       evaluate(run.written("qrels.mutant", bytes), good);
                     },
                     kTrecWords});
  targets.push_back({"trec-run",
                     {ranking},
                     [&run, evaluate, good = run.written("qrels", qrels)](const Bytes& bytes) {
                       evaluate(good, run.written("run.mutant", bytes));
                     },
                     kTrecWords});
}

void add_requests(std::vector<Target>& targets) {
  // Small enough that mutants reach the limits.
  static const serve::RequestLimits limits{.bytes = 1000, .documents = 4, .values = 40};
  static const FeatureNames names = [] {
    FeatureNames given;
    given.set(1, "bm25");
    return given;
  }();
  static const serve::BundleInput features{3, names};
  static const serve::BundleInput with_scores{3, names, {{"bm25", 1}, {"classes", 2}}};
  targets.push_back({"json-request", seeds_of(kJsonRequests),
                     [](const Bytes& bytes) { serve::parse_json_request(text_of(bytes), features, limits); },
                     kJsonWords});
  targets.push_back(
      {"json-request-with-scores", seeds_of(kJsonRequestsWithScores),
       [](const Bytes& bytes) { serve::parse_json_request(text_of(bytes), with_scores, limits); },
       kJsonWords});
  targets.push_back({"letor-request", seeds_of(kLetorRequests),
                     [](const Bytes& bytes) { serve::parse_letor_request(text_of(bytes), features, limits); },
                     kLetorWords});
}

}  // namespace

std::vector<Target> text_targets(SmallRun& run) {
  std::vector<Target> targets;
  targets.push_back({"config", seeds_of(kConfigs),
                     [](const Bytes& bytes) {
                       parse_config({bytes.begin(), bytes.end()}, "config", {});
                     },
                     kYamlWords});
  add_scores(run, targets);
  add_compressed(run, targets);
  add_trec(run, targets);
  add_requests(targets);
  return targets;
}

}  // namespace tunemix::fuzz
