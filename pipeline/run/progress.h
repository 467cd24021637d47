// What a person sees of a running experiment: on a terminal one line that moves, in a pipe a line now and
// then; the log file gets everything.
#pragma once

#include <fstream>
#include <mutex>
#include <string>

#include "tunemix/core/context.h"
#include "tunemix/core/timer.h"

namespace tunemix {

class ProgressView {
 public:
  // quiet: warnings only.
  explicit ProgressView(bool quiet);
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
  void clear();
  void say(const std::string& line);

  bool quiet_;
  bool terminal_;
  std::mutex mutex_;
  std::ofstream log_;
  std::string stage_;
  size_t jobs_ = 0;
  size_t cached_ = 0;
  size_t done_ = 0;
  std::string model_;
  Timer stage_timer_;
  Timer since_drawn_;
  bool drawn_ = false;
};

}  // namespace tunemix
