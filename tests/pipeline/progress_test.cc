#include "pipeline/run/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunemix {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgressLine, FitsAnyWidth) {
  const StageProgress progress{"calibrate", 117, 1024, "about 12 min to go",
                               "fold 3: tree leaves=64, bag 5: 120/500 0.0412"};
  for (size_t columns = 1; columns <= 200; ++columns)
    for (const bool unicode : {false, true}) {
      const std::string line = progress_line(progress, columns, unicode);
      EXPECT_LE(screen_columns(line), columns);
      EXPECT_EQ(line.find('\n'), std::string::npos);
    }
  for (const size_t columns : {39, 79, 119}) {
    const std::string line = progress_line(progress, columns, true);
    EXPECT_THAT(line, HasSubstr("117/1024")) << columns;
    EXPECT_THAT(line, HasSubstr("about 12 min to go")) << columns;
  }
  EXPECT_THAT(progress_line(progress, 119, true), HasSubstr("fold 3: tree"));
  EXPECT_THAT(progress_line(progress, 119, true), HasSubstr("█"));
  EXPECT_THAT(progress_line(progress, 119, false), HasSubstr("##-"));
}

TEST(ProgressLine, LongTextsOfSeveralBytesAreCutBetweenCharacters) {
  const StageProgress progress{"train", 1, 2, "", "ÄÖÜäöüßÄÖÜäöüßÄÖÜäöüßÄÖÜäöüßÄÖÜäöüß"};
  for (size_t columns = 30; columns <= 80; ++columns) {
    const std::string line = progress_line(progress, columns, true);
    EXPECT_LE(screen_columns(line), columns);
    EXPECT_NE(static_cast<unsigned char>(line.back()), 0xC3) << "half a character";
  }
}

TEST(TimeLeft, SaysNothingWithoutAReason) {
  TimeLeft left;
  EXPECT_EQ(left.text(), "");
  left.update(0.5, 0.5);  // too early
  EXPECT_EQ(left.text(), "");
  left.update(2, 0.001);  // too little done
  EXPECT_EQ(left.text(), "");
  left.update(10, 0.5);
  EXPECT_EQ(left.text(), "about 10 s to go");
  left.update(20, 1);
  EXPECT_EQ(left.text(), "");
}

TEST(TimeLeft, NeverCountsMillisecondsNorJumps) {
  TimeLeft left;
  std::string before;
  // Jobs of 0.2 and of 4 seconds in turn: the plain estimate jumps at each.
  double seconds = 2;
  double done = 5;
  left.update(seconds, done / 100);
  double last = -1;
  for (int job = 0; job < 90; ++job) {
    seconds += job % 2 == 0 ? 0.2 : 4;
    done += 1;
    left.update(seconds, done / 100);
    const std::string text = left.text();
    EXPECT_THAT(text, Not(HasSubstr("ms")));
    EXPECT_THAT(text, Not(HasSubstr(" 0")));
    const size_t digits = text.find_first_of("0123456789");
    if (digits == std::string::npos) continue;
    const double value = std::stod(text.substr(digits)) * (text.find("min") != std::string::npos ? 60 : 1);
    if (last > 0 && job > 10) {
      EXPECT_LT(std::abs(value - last), 65) << text;
    }
    last = value;
  }
}

TEST(ProgressView, TextOfFilesCannotMoveTheCursor) {
  testing::internal::CaptureStderr();
  ProgressView view(true);
  view.log(LogLevel::kWarning, "a feature called '\x1b[2J\x07'\nand another line");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: a feature called '\\x1b[2J\\x07'\nand another line\n");
}

TEST(ProgressView, TellsAListenerInsteadOfTheScreen) {
  std::vector<StageProgress> told;
  std::vector<std::string> said;
  ProgressView view({[&](const StageProgress& progress) { told.push_back(progress); },
                     [&](LogLevel, const std::string& message) { said.push_back(message); }});
  testing::internal::CaptureStderr();
  view.begin_stage("train", 2, 1);
  view.log(LogLevel::kWarning, "careful");
  view.job_done("one");
  view.job_done("two");
  view.end_stage();
  view.begin_stage("mix", 0, 3);  // all cached: nothing to tell
  view.end_stage();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().stage, "train");
  EXPECT_EQ(told.back().done, 2U);
  EXPECT_EQ(told.back().share, 1);
  EXPECT_THAT(said, testing::ElementsAre("careful"));
}

}  // namespace
}  // namespace tunemix
