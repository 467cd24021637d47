#include "session.h"

#include <algorithm>
#include <csignal>
#include <thread>

namespace tunemix::python {
namespace {

// What a signal handler may touch.
std::atomic<bool> g_signal{false};
std::atomic<std::atomic<bool>*> g_stop{nullptr};
struct sigaction g_before {};

void on_interrupt(int) {
  g_signal.store(true);
  if (std::atomic<bool>* stop = g_stop.load()) stop->store(true);
}

int thread_count(int threads) {
  if (threads < 0) throw_input("threads is {}; expected 1 to 4096, or 0 for all cores", threads);
  return threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

bool in_main_thread() {
  const py::object ident = py::module_::import("threading").attr("main_thread")().attr("ident");
  return !ident.is_none() && ident.cast<unsigned long>() == PyThread_get_thread_ident();
}

}  // namespace

Session::Session(int threads, py::object progress)
    : context_(thread_count(threads)), progress_(std::move(progress)) {
  context_.stop = &stop_;
  context_.on_log = [this](LogLevel level, const std::string& message) { keep_warning(level, message); };
}

ProgressListener Session::listener() {
  return {[this](const StageProgress& progress) { tell(progress); }, context_.on_log};
}

Session::Interrupts::Interrupts(Session& session) : session_(session) {
  if (!in_main_thread() || g_stop.load() != nullptr) return;
  struct sigaction before {};
  if (sigaction(SIGINT, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  g_signal.store(false);
  g_stop.store(&session.stop_);
  struct sigaction handler {};
  handler.sa_handler = on_interrupt;
  installed_ = sigaction(SIGINT, &handler, &g_before) == 0;
  if (!installed_) g_stop.store(nullptr);
}

Session::Interrupts::~Interrupts() {
  if (!installed_) return;
  sigaction(SIGINT, &g_before, nullptr);
  g_stop.store(nullptr);
  session_.interrupted_ = g_signal.load();
}

void Session::tell(const StageProgress& progress) {
  if (progress_.is_none()) return;
  const py::gil_scoped_acquire lock;
  if (progress_failure_ != nullptr) return;
  try {
    progress_(progress.stage, progress.done, progress.jobs, progress.share, progress.rest, progress.model);
  } catch (py::error_already_set&) {
    progress_failure_ = std::current_exception();
    stop_.store(true);
  }
}

void Session::keep_warning(LogLevel level, const std::string& message) {
  if (level != LogLevel::kWarning) return;
  const std::lock_guard lock(mutex_);
  warnings_.push_back(message);
}

void Session::finish(const std::exception_ptr& failure) {
  for (const std::string& warning : warnings_)
    if (PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 3) != 0) throw py::error_already_set();
  warnings_.clear();
  if (progress_failure_ != nullptr) std::rethrow_exception(progress_failure_);
  if (interrupted_) {
    // As if the signal had come now, so that a handler of the program's own runs too.
    PyErr_SetInterrupt();
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace tunemix::python
