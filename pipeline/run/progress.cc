#include "pipeline/run/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "pipeline/run/terminal.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

constexpr double kSecondsBetweenFrames = 0.1;
constexpr double kSecondsBetweenLines = 10;
constexpr size_t kWidestBar = 24;
constexpr size_t kNarrowestBar = 6;
// The estimate moves towards the newest figure with this time constant.
constexpr double kSmoothingSeconds = 5;
constexpr double kLeastSeconds = 1;
constexpr double kLeastShare = 0.02;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A line that moves needs a terminal that can clear it.
bool is_terminal() {
  const std::string kind = variable("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != "dumb" && !kind.empty();
}

bool shows_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (std::string value = variable(name); !value.empty()) {
      std::transform(value.begin(), value.end(), value.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
  return false;
}

// Asked every time: a window can be resized.
size_t terminal_columns() {
  struct winsize size {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// The first characters of UTF-8 text.
std::string cut(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && seen++ == columns) break;
  }
  return std::string(text.substr(0, at));
}

}  // namespace

size_t screen_columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string progress_line(const StageProgress& progress, size_t columns, bool unicode) {
  const std::string count = fmt::format("{}/{}", progress.done, progress.jobs);
  const std::string stage = fmt::format("{:<10}", progress.stage);
  const std::string rest = progress.rest.empty() ? "" : ", " + progress.rest;
  size_t used = screen_columns(stage) + 1 + count.size();
  if (used > columns) return cut(fmt::format("{} {}", progress.stage, count), columns);
  const bool with_rest = used + screen_columns(rest) <= columns;
  if (with_rest) used += screen_columns(rest);
  std::string bar;
  if (used + kNarrowestBar + 1 <= columns) {
    // Half of what a wide line leaves goes to the model.
    const size_t free = columns - used - 1;
    const size_t width = std::min({kWidestBar, free, std::max(kNarrowestBar, free / 2)});
    const size_t full = progress.jobs == 0 ? 0 : std::min(width, progress.done * width / progress.jobs);
    for (size_t i = 0; i < width; ++i) bar += unicode ? (i < full ? "█" : "░") : (i < full ? "#" : "-");
    bar += ' ';
    used += width + 1;
  }
  std::string line = fmt::format("{} {}{}{}", stage, bar, count, with_rest ? rest : "");
  if (!progress.model.empty() && used + 12 <= columns) line += "  " + cut(progress.model, columns - used - 2);
  return line;
}

void TimeLeft::update(double seconds, double share) {
  if (share < kLeastShare || share >= 1 || seconds < kLeastSeconds) {
    if (share >= 1) known_ = false;
    return;
  }
  const double newest = seconds * (1 - share) / share;
  if (!known_) {
    rest_ = newest;
  } else {
    const double passed = seconds - at_;
    const double weight = 1 - std::exp(-passed / kSmoothingSeconds);
    rest_ = std::max(0.0, rest_ - passed);
    rest_ += weight * (newest - rest_);
  }
  known_ = true;
  at_ = seconds;
}

std::string TimeLeft::text() const {
  if (!known_) return "";
  if (rest_ < 1) return "nearly done";
  if (rest_ < 55) return fmt::format("about {:.0f} s to go", std::ceil(rest_));
  if (rest_ < 3570) return fmt::format("about {:.0f} min to go", std::ceil(rest_ / 60));
  return fmt::format("about {:.1f} h to go", rest_ / 3600);
}

ProgressView::ProgressView(bool quiet) : quiet_(quiet), terminal_(is_terminal()), unicode_(shows_unicode()) {}

ProgressView::ProgressView(ProgressListener listener) : listener_(std::move(listener)) {}

ProgressView::~ProgressView() { clear(); }

void ProgressView::open_log(const std::string& file) { log_ = tunemix::open_log(file); }

void ProgressView::log(LogLevel level, const std::string& message) {
  const std::lock_guard lock(mutex_);
  const std::string line = (level == LogLevel::kWarning ? "warning: " : "") + printable_lines(message);
  append_to_log(log_, line + '\n');
  if (listener_) {
    listener_->on_log(level, message);
    return;
  }
  if (level == LogLevel::kDebug || (quiet_ && level != LogLevel::kWarning)) return;
  say(line);
}

void ProgressView::begin_stage(const std::string& name, size_t jobs, size_t cached) {
  const std::lock_guard lock(mutex_);
  stage_ = name;
  jobs_ = jobs;
  cached_ = cached;
  done_ = 0;
  model_.clear();
  running_.clear();
  left_.restart();
  stage_timer_.restart();
  since_drawn_.restart();
}

void ProgressView::job_done(const std::string& name) {
  const std::lock_guard lock(mutex_);
  ++done_;
  running_.erase(name);
  append_to_log(log_, fmt::format("{}: {} done after {:.2f} s\n", stage_, name, stage_timer_.seconds()));
  draw();
}

void ProgressView::end_stage() {
  const std::lock_guard lock(mutex_);
  clear();
  std::string line = fmt::format("{:<10}", stage_);
  if (jobs_ > 0) line += fmt::format(" {} computed in {}", jobs_, human_seconds(stage_timer_.seconds()));
  if (cached_ > 0) line += fmt::format("{} {} from the cache", jobs_ > 0 ? "," : "", cached_);
  append_to_log(log_, line + '\n');
  if (listener_) {
    if (jobs_ > 0) tell();
  } else if (!quiet_) {
    say(line);
  }
}

void ProgressView::interrupted() {
  const std::lock_guard lock(mutex_);
  clear();
  append_to_log(log_, stage_ + ": interrupted\n");
}

void ProgressView::model(const std::string& job, const Progress& progress) {
  const std::lock_guard lock(mutex_);
  running_[job] =
      progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : 0;
  model_ = fmt::format("{}: {}/{} {:.4f}", job, progress.done, progress.total, progress.value);
  draw();
}

double ProgressView::share_done() const {
  double done = static_cast<double>(done_);
  for (const auto& [job, share] : running_) done += std::min(share, 1.0);
  return done / static_cast<double>(jobs_);
}

void ProgressView::tell() {
  listener_->on_progress({stage_, done_, jobs_, left_.text(), model_, share_done()});
}

void ProgressView::draw() {
  if (quiet_ || jobs_ == 0) return;
  if (since_drawn_.seconds() < (terminal_ || listener_ ? kSecondsBetweenFrames : kSecondsBetweenLines))
    return;
  since_drawn_.restart();
  left_.update(stage_timer_.seconds(), share_done());
  if (listener_) {
    tell();
    return;
  }
  const StageProgress progress{stage_, done_, jobs_, left_.text(), model_, share_done()};
  if (!terminal_) {
    std::cerr << fmt::format("{:<10} {}/{} jobs{}{}\n", stage_, done_, jobs_,
                             progress.rest.empty() ? "" : ", ", progress.rest);
    return;
  }
  // The last column stays free: a cursor that has left it may already be on the next line.
  const std::string line = progress_line(progress, terminal_columns() - 1, unicode_);
  clear();
  std::cerr << line << std::flush;
  drawn_ = screen_columns(line);
}

void ProgressView::clear() {
  if (drawn_ == 0) return;
  // A window that became narrower has wrapped the line.
  const size_t wrapped = (drawn_ - 1) / terminal_columns();
  std::cerr << "\r\033[K";
  for (size_t i = 0; i < wrapped; ++i) std::cerr << "\033[A\033[K";
  std::cerr << std::flush;
  drawn_ = 0;
}

void ProgressView::say(const std::string& line) {
  clear();
  std::cerr << line << '\n';
}

}  // namespace tunemix
