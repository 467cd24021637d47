// One call from Python into the library: threads, Ctrl-C, progress and warnings, with the interpreter's lock
// released while the library works.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/run/progress.h"
#include "tunemix/core/context.h"

namespace tunemix::python {

namespace py = pybind11;

class Session {
 public:
  // threads: 0 for all cores. progress: None, or a function that is told (stage, done, jobs, share, rest,
  // model) by any of the working threads, one call at a time; what it raises ends the work.
  explicit Session(int threads, py::object progress = py::none());
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Context& context() const { return context_; }
  // For what reports stages.
  ProgressListener listener();

  // Runs body() without the lock. Warnings of the library become Python's; Ctrl-C ends the work and raises
  // what Python's own handler raises.
  template <typename Body>
  void work(Body body) {
    std::exception_ptr failure;
    {
      const Interrupts interrupts(*this);
      const py::gil_scoped_release release;
      try {
        body();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    finish(failure);
  }

 private:
  // Ctrl-C sets the session's flag while this lives, if the call comes from Python's main thread.
  class Interrupts {
   public:
    explicit Interrupts(Session& session);
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

   private:
    Session& session_;
    bool installed_ = false;
  };

  void tell(const StageProgress& progress);
  void keep_warning(LogLevel level, const std::string& message);
  void finish(const std::exception_ptr& failure);

  Context context_;
  py::object progress_;
  std::atomic<bool> stop_{false};
  bool interrupted_ = false;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
  std::exception_ptr progress_failure_;
};

}  // namespace tunemix::python
