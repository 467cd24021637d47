// What a person sees of a running experiment: on a terminal one line that moves, in a pipe a line now and
// then; the log file gets everything.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "tunemix/core/context.h"
#include "tunemix/core/file.h"
#include "tunemix/core/timer.h"

namespace tunemix {

// How far a stage is.
struct StageProgress {
  std::string stage;
  size_t done = 0;
  size_t jobs = 0;
  std::string rest;   // "about 2 min to go"; empty where nobody can say
  std::string model;  // what is trained just now
  double share = 0;   // of the stage's work that is done
};

// One line of at most `columns` characters on the screen. What does not fit goes in this order: the model,
// the bar, the time to go.
std::string progress_line(const StageProgress& progress, size_t columns, bool unicode);
// Characters on the screen: those of UTF-8 text.
size_t screen_columns(std::string_view text);

// The time that is left, by the share of the work that is done; smoothed, so that it does not jump when a
// short job follows a long one.
class TimeLeft {
 public:
  void restart() { *this = TimeLeft(); }
  // `share` of the work took `seconds` so far.
  void update(double seconds, double share);
  // Empty while there is too little to go by, and at the end.
  std::string text() const;

 private:
  bool known_ = false;
  double at_ = 0;    // seconds of the last update
  double rest_ = 0;  // seconds
};

// Who is told instead of a screen. Called by any thread that works, one at a time.
struct ProgressListener {
  std::function<void(const StageProgress&)> on_progress;  // now and then, and at the end of a stage
  std::function<void(LogLevel, const std::string&)> on_log;
};

class ProgressView {
 public:
  // quiet: warnings only.
  explicit ProgressView(bool quiet);
  explicit ProgressView(ProgressListener listener);
  ~ProgressView();
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;

  void open_log(const std::string& file);
  void log(LogLevel level, const std::string& message);

  // A stage with so many jobs begins, one of its jobs has ended, it has ended.
  void begin_stage(const std::string& name, size_t jobs, size_t cached);
  void job_done(const std::string& name);
  void end_stage();
  void interrupted();
  // The current model of a job: rounds done, of how many, the last edge or gap.
  void model(const std::string& job, const Progress& progress);

 private:
  void draw();
  void tell();
  void clear();
  void say(const std::string& line);
  double share_done() const;

  bool quiet_ = false;
  bool terminal_ = false;
  bool unicode_ = false;
  std::optional<ProgressListener> listener_;
  std::mutex mutex_;
  FileDescriptor log_;
  std::string stage_;
  size_t jobs_ = 0;
  size_t cached_ = 0;
  size_t done_ = 0;
  std::string model_;
  std::map<std::string, double> running_;  // share of each job under way
  TimeLeft left_;
  Timer stage_timer_;
  Timer since_drawn_;
  size_t drawn_ = 0;  // columns of the line on the screen
};

}  // namespace tunemix
