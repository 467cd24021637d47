#include "tunemix/metric/score_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/error.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    parse_scores(text, "run.scores");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ScoreFile, ReadsWhatToolsWrite) {
  EXPECT_THAT(parse_scores("1\n-2.5\n", "x"), ElementsAre(1, -2.5));
  EXPECT_THAT(parse_scores("+1.5e-3\r\n  7\t\r\n.5", "x"), ElementsAre(0.0015, 7, 0.5));
  EXPECT_THAT(parse_scores("-1E+2\n1e-400\n\n \n", "x"), ElementsAre(-100, 0));
  EXPECT_THAT(parse_scores("", "x"), ElementsAre());
  EXPECT_THAT(parse_scores("0.1000000000000000055511151231257827", "x"), ElementsAre(0.1));
}

TEST(ScoreFile, RefusesAnythingElseWithItsLine) {
  EXPECT_EQ(refusal("1\nabc\n"), "run.scores:2: 'abc', expected one finite number");
  for (const char* bad :
       {"nan", "inf", "-inf", "1e400", "-1e400", "1 2", "1,5", "0x10", "1e", "+-1", "++1", "+", "-"})
    EXPECT_THAT(refusal(std::string("3\n4\n") + bad), HasSubstr("run.scores:3: ")) << bad;
  EXPECT_THAT(refusal("1\n\n2\n"), HasSubstr("run.scores:2: ''"));
  EXPECT_THAT(refusal(std::string_view("1\n\0\n", 4)), HasSubstr("run.scores:2: "));
}

TEST(ScoreFile, FollowsTheGroupingOfTheDocuments) {
  const test::ScratchDirectory scratch;
  write_file_atomically(scratch / "s", std::string_view("10\n20\n30\n40\n"));
  const Context context;
  const Dataset data =
      parse_letor("1 qid:a 1:1\n0 qid:b 1:1\n2 qid:a 1:1\n3 qid:b 1:1\n", "x", LetorOptions{}, context);
  EXPECT_THAT(data.labels(), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(read_scores(scratch / "s", data), ElementsAre(10, 30, 20, 40));
}

TEST(ScoreFile, RefusesAnotherNumberOfScores) {
  const test::ScratchDirectory scratch;
  write_file_atomically(scratch / "s", std::string_view("10\n20\n"));
  const Context context;
  const Dataset data = parse_letor("1 qid:a 1:1\n", "x", LetorOptions{}, context);
  try {
    read_scores(scratch / "s", data);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 scores, expected 1, one for each document"));
  }
}

}  // namespace
}  // namespace tunemix
