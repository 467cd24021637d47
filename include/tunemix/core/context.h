// What every computation is given besides its data: threads, seed, log, progress, and a way to be stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tunemix/core/error.h"
#include "tunemix/core/parallel.h"
#include "tunemix/core/random.h"

namespace tunemix {

enum class LogLevel { kDebug, kInfo, kWarning };

// Steps of one long computation, for a progress bar.
struct Progress {
  size_t done = 0;
  size_t total = 0;
  double value = 0;  // the figure of interest: the edge of a round, the gap of an epoch
};

class Context {
 public:
  explicit Context(int threads = 1, uint64_t seed = 1) : seed_(seed), pool_(threads) {}

  ThreadPool& pool() const { return pool_; }
  int threads() const { return pool_.threads(); }
  uint64_t seed() const { return seed_; }
  Random stream(std::string_view name) const { return Random(seed_, name); }

  std::function<void(LogLevel, const std::string&)> on_log;
  std::function<void(const Progress&)> on_progress;
  const std::atomic<bool>* stop = nullptr;  // set from a signal handler

  void log(LogLevel level, const std::string& message) const {
    if (on_log) on_log(level, message);
  }
  void warn(const std::string& message) const { log(LogLevel::kWarning, message); }
  void progress(size_t done, size_t total, double value) const {
    if (on_progress) on_progress({done, total, value});
  }
  // To be called now and then in long loops.
  void check_stop() const {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Interrupted();
  }

 private:
  uint64_t seed_;
  mutable ThreadPool pool_;
};

}  // namespace tunemix
