#include "tunemix/core/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <exception>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

// The exception of the task with the lowest number.
class FirstFailure {
 public:
  // Called in the handler of the exception.
  void keep(size_t task) {
#pragma omp critical(tunemix_first_failure)
    if (failure_ == nullptr || task < task_) {
      task_ = task;
      failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  size_t task_ = 0;
  std::exception_ptr failure_;
};

// A forked child has no threads but its own, and libgomp's next loop there would wait for the others for
// ever. So they end before a fork, and each process starts its own with its next loop.
void end_threads_before_forks() {
  [[maybe_unused]] static const int registered =
      pthread_atfork([] { omp_pause_resource_all(omp_pause_soft); }, nullptr, nullptr);
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  if (threads < 1 || threads > 4096) throw_input("threads is {}; expected 1 to 4096", threads);
}

void ThreadPool::run(size_t tasks, FunctionRef<void(size_t)> task) {
  run_with_thread(tasks, [&](size_t i, int) { task(i); });
}

void ThreadPool::run_with_thread(size_t tasks, FunctionRef<void(size_t, int)> task) {
  if (threads_ == 1 || tasks <= 1 || omp_in_parallel() != 0) {
    for (size_t i = 0; i < tasks; ++i) task(i, 0);
    return;
  }
  end_threads_before_forks();
  std::atomic<size_t> next{0};
  FirstFailure failure;
  // Always as many threads, also for fewer tasks: libgomp ends the threads that a smaller team leaves out,
  // and has to start them again for the next one. How long they wait awake for work is set when the program
  // starts (pipeline/run/wait_policy.h).
#pragma omp parallel num_threads(threads_)
  {
    const int thread = omp_get_thread_num();
    for (;;) {
      const size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= tasks) break;
      try {
        task(i, thread);
      } catch (...) {
        failure.keep(i);
      }
    }
  }
  failure.rethrow();
}

void parallel_blocks(ThreadPool& pool, size_t n, size_t block, FunctionRef<void(size_t, size_t)> body) {
  require(block > 0, "parallel_blocks needs a block size");
  pool.run((n + block - 1) / block,
           [&](size_t i) { body(i * block, i * block + block < n ? i * block + block : n); });
}

}  // namespace tunemix
