// The progress line on a terminal: a pseudo terminal of some width, and a small model of what it shows.
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <chrono>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What a terminal does with text, \r, \n, "erase to the end of the line" and "one line up"; anything else is
// a failure.
class Screen {
 public:
  explicit Screen(size_t columns) : columns_(columns) {}

  void show(const std::string& text) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\r') {
        column_ = 0;
      } else if (text[i] == '\n') {
        down();
      } else if (text.compare(i, 3, "\033[K") == 0) {
        lines_[row_].resize(std::min(lines_[row_].size(), column_));
        i += 2;
      } else if (text.compare(i, 3, "\033[A") == 0) {
        row_ -= row_ > 0 ? 1 : 0;
        i += 2;
      } else {
        ASSERT_NE(text[i], '\033') << "a code that is not expected: " << text.substr(i + 1, 8);
        if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80)
          continue;  // of a character that was counted
        if (column_ == columns_) {
          down();
          column_ = 0;
          ++wrapped_;
        }
        lines_[row_].resize(std::max(lines_[row_].size(), column_ + 1), ' ');
        lines_[row_][column_++] = text[i];
      }
    }
  }
  const std::vector<std::string>& lines() const { return lines_; }
  size_t wrapped() const { return wrapped_; }

 private:
  void down() {
    if (++row_ == lines_.size()) lines_.emplace_back();
  }
  size_t columns_;
  std::vector<std::string> lines_ = {""};
  size_t row_ = 0;
  size_t column_ = 0;
  size_t wrapped_ = 0;
};

struct Shown {
  int code = 0;
  std::string before;  // what came before the window was resized
  std::string after;
};

// Runs the program with stderr on a terminal of so many columns, which becomes `later` columns wide on the
// way.
Shown run_on_terminal(const Workspace& at, const std::string& arguments, size_t columns, size_t later) {
  struct winsize size {};
  size.ws_row = 25;
  size.ws_col = static_cast<unsigned short>(columns);
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    if (::chdir(at.path().c_str()) != 0) ::_exit(99);
    const int out = ::open("terminal.out", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(out, 1);
    ::setenv("TERM", "xterm", 1);
    ::setenv("LC_ALL", "C", 1);
    const std::string command = std::string("exec '") + TUNEMIX_PROGRAM + "' " + arguments;
    ::execl("/bin/bash", "bash", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(99);
  }
  Shown shown;
  std::string* part = &shown.before;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    part->append(buffer, static_cast<size_t>(n));
    // A frame of training is there: now the window changes.
    if (later != columns && part == &shown.before && shown.before.find("train") != std::string::npos) {
      size.ws_col = static_cast<unsigned short>(later);
      ::ioctl(terminal, TIOCSWINSZ, &size);
      part = &shown.after;
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(terminal);
  shown.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return shown;
}

// Long enough for some frames, which come ten a second.
const char* const kLonger =
    "name: longer\n"
    "data:\n"
    "  synthetic: {preset: quickstart, folds: 1}\n"
    "learners:\n"
    "  - {type: lambdamart, leaves: 16, iterations: 400, bags: 4}\n"
    "calibrate: {rbc: {regressors: [linear], targets: [raw]}}\n";

TEST(Terminal, TheProgressLineFitsAndLeavesNothingBehind) {
  for (const size_t columns : {40, 80, 120}) {
    Workspace at;
    at.write("longer.yaml", kLonger);
    const Shown shown = run_on_terminal(at, "run longer.yaml", columns, columns);
    ASSERT_EQ(shown.code, 0) << shown.before;
    EXPECT_THAT(shown.before, HasSubstr("\033[K")) << "no frame was drawn";
    EXPECT_THAT(shown.before, Not(HasSubstr("0.0 ms to go")));
    Screen screen(columns);
    screen.show(shown.before);
    EXPECT_EQ(screen.wrapped(), 0U) << columns << " columns";
    // What is left are the lines of the stages.
    for (const std::string& line : screen.lines())
      if (!line.empty()) {
        EXPECT_THAT(line, HasSubstr(" computed in ")) << columns << " columns";
      }
    EXPECT_EQ(screen.lines().size(), 7U) << columns << " columns";
  }
}

TEST(Terminal, ANarrowerOrWiderWindowIsNoticed) {
  for (const auto& [from, to] : {std::pair<size_t, size_t>{120, 40}, {40, 120}}) {
    Workspace at;
    at.write("longer.yaml", kLonger);
    const Shown shown = run_on_terminal(at, "run longer.yaml", from, to);
    ASSERT_EQ(shown.code, 0) << shown.before << shown.after;
    // Every frame that was begun after the change fits: a frame begins with a cleared line.
    const size_t first = shown.after.find("\033[K");
    ASSERT_NE(first, std::string::npos) << "no frame after the change";
    Screen screen(to);
    screen.show(shown.after.substr(first + 3));
    EXPECT_EQ(screen.wrapped(), 0U) << to << " columns";
  }
}

TEST(Terminal, WithoutATerminalThereAreNoCodes) {
  Workspace at;
  EXPECT_THAT(at.good("run tiny.yaml").err, Not(HasSubstr("\033")));
  EXPECT_THAT(at.run("run tiny.yaml seed=2", "TERM=dumb CI=1").err, Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace tunemix::test
