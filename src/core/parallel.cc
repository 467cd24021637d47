#include "tunemix/core/parallel.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

thread_local bool t_inside_task = false;

// How often an idle worker looks for work before it sleeps, about a fifth of a millisecond: bridges the gaps
// between the loops of one boosting round.
constexpr int kSpins = 16000;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::Impl {
  using Task = FunctionRef<void(size_t, int)>;

  explicit Impl(int workers) {
    for (int i = 1; i <= workers; ++i) threads.emplace_back([this, i] { work(i); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      epoch.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void run(size_t count, Task body) {
    const std::lock_guard one_loop_at_a_time(loop_mutex);
    {
      const std::lock_guard lock(mutex);
      task = &body;
      tasks = count;
      next.store(0, std::memory_order_relaxed);
      failed_task = count;
      failure = nullptr;
      busy.store(static_cast<int>(threads.size()), std::memory_order_relaxed);
      epoch.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
    drain(0);
    for (int spin = 0; busy.load(std::memory_order_acquire) > 0; ++spin) {
      if (spin < kSpins) {
        pause();
        continue;
      }
      std::unique_lock lock(mutex);
      done.wait(lock, [this] { return busy.load(std::memory_order_acquire) == 0; });
    }
    if (failure) std::rethrow_exception(failure);
  }

  void drain(int thread) {
    t_inside_task = true;
    for (;;) {
      const size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= tasks) break;
      try {
        (*task)(i, thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed_task) {
          failed_task = i;
          failure = std::current_exception();
        }
      }
    }
    t_inside_task = false;
  }

  void work(int thread) {
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && epoch.load(std::memory_order_acquire) == seen; ++spin) pause();
      if (epoch.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return epoch.load(std::memory_order_acquire) != seen; });
      }
      seen = epoch.load(std::memory_order_acquire);
      if (stopping) return;
      drain(thread);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard lock(mutex);
        done.notify_one();
      }
    }
  }

  std::mutex loop_mutex;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::atomic<uint64_t> epoch{0};
  std::atomic<size_t> next{0};
  std::atomic<int> busy{0};
  Task* task = nullptr;
  size_t tasks = 0;
  size_t failed_task = 0;
  std::exception_ptr failure;
  std::atomic<bool> stopping{false};
  std::vector<std::thread> threads;
};

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  if (threads < 1 || threads > 4096) throw_input("threads is {}; expected 1 to 4096", threads);
  if (threads > 1) impl_ = std::make_unique<Impl>(threads - 1);
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run(size_t tasks, FunctionRef<void(size_t)> task) {
  run_with_thread(tasks, [&](size_t i, int) { task(i); });
}

void ThreadPool::run_with_thread(size_t tasks, FunctionRef<void(size_t, int)> task) {
  if (impl_ == nullptr || tasks <= 1 || t_inside_task) {
    for (size_t i = 0; i < tasks; ++i) task(i, 0);
    return;
  }
  impl_->run(tasks, task);
}

void parallel_blocks(ThreadPool& pool, size_t n, size_t block, FunctionRef<void(size_t, size_t)> body) {
  require(block > 0, "parallel_blocks needs a block size");
  pool.run((n + block - 1) / block,
           [&](size_t i) { body(i * block, i * block + block < n ? i * block + block : n); });
}

}  // namespace tunemix
