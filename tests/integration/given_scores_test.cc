// `type: scores`: members whose scores come from files, as a run reads them and `predict` is given them.
#include <gmock/gmock.h>

#include "tests/compress.h"
#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// Four files of data; of each the scores of a classifier, a column for each label, in NAME.k, and those of a
// ranker in NAME.r; both also compressed.
class GivenScores : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : kFiles)
      at_.good(std::string("synth --preset quickstart --queries 15 --seed ") + file[1] + " --out " + file +
               ".txt");
    at_.good("train --data S1.txt --learner adaboost_mh --set iterations=10 --model k.tmx --quiet");
    at_.good("train --data S1.txt --learner ranksvm --set C=1 --model r.tmx --quiet");
    for (const std::string file : kFiles)
      for (const std::string kind : {"k", "r"}) {
        at_.good("score --model " + kind + ".tmx --data " + file + ".txt --out " + file + "." + kind +
                 " --quiet");
        const std::string text = slurp(at_ / (file + "." + kind));
        at_.write(file + "." + kind + ".gz", gzip(text));
        at_.write(file + "." + kind + ".zst", zstd(text));
      }
    write(classes_ + ranker_ + "  - {type: svm, C: [0.1]}\n");
  }
  void write(const std::string& learners) const {
    at_.write("given.yaml",
              "name: given\ndata:\n  folds:\n"
              "    - {train: [S1.txt, S2.txt], valid: S3.txt, test: S4.txt}\n"
              "    - {train: [S3.txt, S4.txt], valid: S1.txt, test: S2.txt}\n"
              "learners:\n" +
                  learners +
                  "calibrate: {cpc: [shift, ls], rbc: {regressors: [linear], targets: [raw]}}\n"
                  "mix: {c: {from: 0, to: 100, step: 10}}\n");
  }
  // Of a run that trains nothing.
  std::string refused() const {
    const Result result = at_.run("run given.yaml");
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_FALSE(fs::exists(at_ / "runs/.store/model"));
    EXPECT_FALSE(fs::exists(at_ / "runs/.store/scores"));
    return result.err;
  }
  // The last lines are not there.
  void shorten(const std::string& file) const {
    const std::string text = slurp(at_ / file);
    at_.write(file, text.substr(0, text.find_last_of('\n', text.size() - 2) + 1));
  }

  static constexpr const char* kFiles[] = {"S1", "S2", "S3", "S4"};
  Workspace at_;
  const std::string classes_ =
      "  - {type: scores, name: classes, files: [{train: [S1.k.gz, S2.k], valid: S3.k.zst, test: S4.k}, "
      "{train: [S3.k, S4.k.zst], valid: [S1.k], test: S2.k.gz}]}\n";
  const std::string ranker_ =
      "  - {type: scores, name: ranker, files: [{train: [S1.r, S2.r.zst], valid: S3.r, test: S4.r.gz}, "
      "{train: [S3.r, S4.r], valid: S1.r, test: S2.r}]}\n";
};

TEST_F(GivenScores, AreMembersAndPredictGivesTheScoresOfTheRun) {
  const json results = json::parse(at_.good("run given.yaml --json").out);
  std::vector<std::string> rows;
  for (const json& row : results["rows"]) rows.push_back(row["name"]);
  EXPECT_THAT(rows, testing::IsSupersetOf({"classes+EXP", "ranker+EXP", "ALL+EXP"}));
  // Plain files wherever the run read compressed ones.
  for (const auto& [fold, test] : {std::pair<std::string, std::string>{"1", "S4"}, {"2", "S2"}}) {
    at_.good("export given.yaml --fold " + fold + " --format scores --out run.scores");
    const std::string predict =
        "predict --bundle runs/given/bundle-fold" + fold + ".tmx --data " + test + ".txt";
    at_.good(predict + " --member-scores classes=" + test + ".k --member-scores ranker=" + test +
             ".r.zst --out predicted.scores");
    EXPECT_NE(slurp(at_ / "run.scores"), "");
    EXPECT_EQ(slurp(at_ / "predicted.scores"), slurp(at_ / "run.scores"));
    const Result without = at_.run(predict + " --member-scores classes=" + test + ".k --out without.scores");
    EXPECT_EQ(without.code, 2);
    EXPECT_THAT(without.err, HasSubstr("--member-scores ranker=FILE"));
    const Result twice =
        at_.run(predict + " --member-scores classes=" + test + ".k --member-scores ranker=" + test +
                ".r --member-scores classes=" + test + ".k --out twice.scores");
    EXPECT_EQ(twice.code, 2);
    EXPECT_THAT(twice.err, HasSubstr("scores of 'classes' are given twice"));
    const Result other = at_.run(predict + " --member-scores classes=" + test +
                                 ".r --member-scores ranker=" + test + ".r --out other.scores");
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("the scores 'classes' are"));
  }
  EXPECT_THAT(computed_stages(at_.good("run given.yaml").err), IsEmpty());
}

// Serves the bundle with the scores in each request, and wants those of `predict`; then leaves scores out,
// gives too many, or other ones.
constexpr const char* kClient = R"(
import json, sys, urllib.error, urllib.request
port = sys.argv[1]
queries = {}
for line, k, r in zip(open("S4.txt"), open("S4.k"), open("S4.r")):
    words = line.split("#")[0].split()
    scores = {"classes": [float(x) for x in k.split()], "ranker": float(r)}
    queries.setdefault(words[1][4:], []).append({"features": dict(w.split(":") for w in words[2:]), "scores": scores})
for documents in queries.values():
    for d in documents:
        d["features"] = {k: float(v) for k, v in d["features"].items()}
def ask(kind="application/json"):
    body = json.dumps({"queries": [{"qid": q, "documents": d} for q, d in queries.items()]}).encode()
    request = urllib.request.Request("http://127.0.0.1:%s/rank" % port, body, {"Content-Type": kind})
    try:
        return json.loads(urllib.request.urlopen(request).read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())["error"]
got = [d["score"] for q in ask()["queries"] for d in q["documents"]]
assert got == [float(line) for line in open("predicted.scores")], "other scores"
first = next(iter(queries.values()))[0]
good = first["scores"]
for scores, words in (({}, "document 1 has 0 of the 5 scores 'classes'"), ({"ranker": 1}, "'classes'"),
                      ({**good, "ranker": [1, 2]}, "more than 1 scores 'ranker'"), ({**good, "ranker": "x"}, "expected numbers"),
                      ({**good, "classes": [1, 2]}, "2 of the 5"), ({**good, "classes": 1}, "1 of the 5"),
                      ({**good, "classes": [[1]]}, "expected numbers"), ({**good, "ranker": 1e300}, "finite"),
                      ({**good, "other": 1}, "the scores 'other'; the bundle asks for 'classes'"), ([1], "it was not expected")):
    first["scores"] = scores
    said = ask()
    assert words in said, (scores, said)
del first["scores"]
assert "document 1 has 0 of the 5 scores" in ask()
assert "which LETOR lines have no place for" in ask("text/plain")
print("all well")
)";

TEST_F(GivenScores, ComeWithRequests) {
  at_.good("run given.yaml");
  at_.good(
      "predict --bundle runs/given/bundle-fold1.tmx --data S4.txt --member-scores classes=S4.k "
      "--member-scores ranker=S4.r --out predicted.scores");
  at_.write("client.py", kClient);
  Process server = at_.start("serve --bundle runs/given/bundle-fold1.tmx --listen 127.0.0.1:0");
  const std::string port = at_.served_port();
  ASSERT_NE(port, "");
  const std::string ask =
      "cd '" + at_.path().string() + "' && python3 client.py " + port + " > client.txt 2>&1";
  EXPECT_EQ(std::system(ask.c_str()), 0) << slurp(at_ / "client.txt");
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

TEST_F(GivenScores, WhoseFileIsADeviceOrTooLongAreRefused) {
  at_.good("run given.yaml");
  ASSERT_EQ(std::system(("cd '" + at_.path().string() + "' && mkfifo pipe && truncate -s 20G huge").c_str()),
            0);
  for (const std::string file : {"/dev/zero", "pipe", "huge"}) {
    const Result result =
        at_.run("predict --bundle runs/given/bundle-fold1.tmx --data S4.txt --member-scores classes=" + file);
    EXPECT_EQ(result.code, 2) << file;
    EXPECT_THAT(result.err, HasSubstr(file + ": ")) << file;
  }
}

TEST_F(GivenScores, TooFewLinesAreRefusedBeforeAnythingIsTrained) {
  shorten("S2.k");
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("S1.k.gz, "), HasSubstr("S2.k: "), HasSubstr(" lines of scores; expected "),
                    HasSubstr("one for each document of the data")));
  // In a later fold, and in a later split.
  write("  - {type: svm, C: [0.1]}\n" + ranker_);
  shorten("S2.r");
  EXPECT_THAT(refused(), AllOf(HasSubstr("S2.r: "), HasSubstr(" lines of scores; expected ")));
}

TEST_F(GivenScores, AnotherNumberOfColumnsIsRefusedBeforeAnythingIsTrained) {
  std::string two;
  std::istringstream lines(slurp(at_ / "S4.r"));
  for (std::string line; std::getline(lines, line);) two += line + " " + line + "\n";
  at_.write("S4.two", two);
  std::string learner = ranker_;
  learner.replace(learner.find("S4.r.gz"), 7, "S4.two");
  write("  - {type: svm, C: [0.1]}\n" + learner);
  EXPECT_THAT(refused(), HasSubstr("S4.two: 2 numbers a line; expected one, or 5, one for each label"));
  learner = ranker_;
  learner.replace(learner.find("S4.r.gz"), 7, "S4.k");
  write("  - {type: svm, C: [0.1]}\n" + learner);
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("given.yaml:8:5: learners.1: "),
                    HasSubstr("the score files of train, valid and test differ in the numbers a line")));
}

// Members that rank as others do are left out of the mixture; if that is all of a name, nobody is asked for
// it.
TEST_F(GivenScores, CopiesOfAnotherMemberAreNotAskedFor) {
  std::string copy = ranker_;
  copy.replace(copy.find("name: ranker"), 12, "name: zcopy");
  write(ranker_ + copy + "  - {type: svm, C: [0.1]}\n");
  at_.good("run given.yaml");
  const std::string predict =
      "predict --bundle runs/given/bundle-fold1.tmx --data S4.txt --member-scores ranker=S4.r --out "
      "predicted.scores";
  at_.good(predict);
  at_.good("export given.yaml --fold 1 --format scores --out run.scores");
  EXPECT_EQ(slurp(at_ / "predicted.scores"), slurp(at_ / "run.scores"));
  at_.good("fit given.yaml --out ranker.tmx");
  at_.good("predict --bundle ranker.tmx --data S4.txt --member-scores ranker=S4.r --out final.scores");
}

TEST_F(GivenScores, HaveNoFeaturesToStandardise) {
  std::string learner = ranker_;
  learner.replace(learner.find("name: ranker"), 12, "name: ranker, standardize: replace");
  write(learner);
  EXPECT_THAT(refused(), AllOf(HasSubstr("learners.0.standardize: unknown key"), HasSubstr("given.yaml:7:")));
}

}  // namespace
}  // namespace tunemix::test
