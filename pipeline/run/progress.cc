#include "pipeline/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "tunemix/core/text.h"

namespace tunemix {
namespace {

constexpr double kSecondsBetweenFrames = 0.1;
constexpr double kSecondsBetweenLines = 10;
constexpr size_t kBarWidth = 24;

}  // namespace

ProgressView::ProgressView(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressView::~ProgressView() { clear(); }

void ProgressView::open_log(const std::string& file) { log_.open(file, std::ios::app); }

void ProgressView::log(LogLevel level, const std::string& message) {
  const std::lock_guard lock(mutex_);
  const char* name = level == LogLevel::kWarning ? "warning: " : "";
  if (log_) log_ << name << message << std::endl;
  if (level == LogLevel::kDebug || (quiet_ && level != LogLevel::kWarning)) return;
  say(name + message);
}

void ProgressView::begin_stage(const std::string& name, size_t jobs, size_t cached) {
  const std::lock_guard lock(mutex_);
  stage_ = name;
  jobs_ = jobs;
  cached_ = cached;
  done_ = 0;
  model_.clear();
  stage_timer_.restart();
  since_drawn_.restart();
}

void ProgressView::job_done(const std::string& name) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (log_)
    log_ << fmt::format("{}: {} done after {:.2f} s\n", stage_, name, stage_timer_.seconds()) << std::flush;
  draw();
}

void ProgressView::end_stage() {
  const std::lock_guard lock(mutex_);
  clear();
  std::string line = fmt::format("{:<10}", stage_);
  if (jobs_ > 0) line += fmt::format(" {} computed in {}", jobs_, human_seconds(stage_timer_.seconds()));
  if (cached_ > 0) line += fmt::format("{} {} from the cache", jobs_ > 0 ? "," : "", cached_);
  if (log_) log_ << line << std::endl;
  if (!quiet_) say(line);
}

void ProgressView::interrupted() {
  const std::lock_guard lock(mutex_);
  clear();
  if (log_) log_ << stage_ << ": interrupted" << std::endl;
}

void ProgressView::model(const std::string& job, const Progress& progress) {
  const std::lock_guard lock(mutex_);
  model_ = fmt::format("{}: {}/{} {:.4f}", job, progress.done, progress.total, progress.value);
  draw();
}

void ProgressView::draw() {
  if (quiet_ || jobs_ == 0) return;
  if (since_drawn_.seconds() < (terminal_ ? kSecondsBetweenFrames : kSecondsBetweenLines)) return;
  since_drawn_.restart();
  const double seconds = stage_timer_.seconds();
  const double rest =
      done_ > 0 ? seconds / static_cast<double>(done_) * static_cast<double>(jobs_ - done_) : 0;
  std::string eta = done_ > 0 ? ", " + human_seconds(rest) + " to go" : "";
  if (!terminal_) {
    std::cerr << fmt::format("{:<10} {}/{} jobs{}\n", stage_, done_, jobs_, eta);
    return;
  }
  const size_t full = done_ * kBarWidth / jobs_;
  std::string bar;
  for (size_t i = 0; i < kBarWidth; ++i) bar += i < full ? "█" : "░";
  std::string line = fmt::format("{:<10} {} {}/{}{}", stage_, bar, done_, jobs_, eta);
  if (!model_.empty()) line += "  " + model_;
  std::cerr << "\r\033[K" << line.substr(0, 200) << std::flush;
  drawn_ = true;
}

void ProgressView::clear() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
  drawn_ = false;
}

void ProgressView::say(const std::string& line) {
  clear();
  std::cerr << line << '\n';
}

}  // namespace tunemix
