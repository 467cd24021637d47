// The parallel loops that everything uses, on OpenMP's threads; nothing else in the library starts threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace tunemix {

// A non-owning reference to a callable, so that a loop body costs no allocation.
template <typename Signature>
class FunctionRef;
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
      FunctionRef(F&& f)  // NOLINT: implicit on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
        }) {}
  R operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

// Runs tasks 0..n-1 on `threads` threads, the caller's among them. Which thread runs which task is not
// determined, so tasks write to places of their own and are summed afterwards in order. The first exception
// by task number is rethrown in the caller once all tasks have ended. A loop inside a task runs serially.
class ThreadPool {
 public:
  // Costs nothing: the threads are OpenMP's, which keeps them between loops.
  explicit ThreadPool(int threads);

  int threads() const { return threads_; }
  void run(size_t tasks, FunctionRef<void(size_t)> task);
  // As run, telling each task the number of the thread that runs it (0..threads-1), for scratch space per
  // thread.
  void run_with_thread(size_t tasks, FunctionRef<void(size_t task, int thread)> task);

 private:
  int threads_;
};

// A block size for n items where each block has a sum of its own: `smallest`, or more so that there are at
// most `most` blocks.
inline size_t block_size(size_t n, size_t smallest, size_t most) {
  return std::max(smallest, (n + most - 1) / most);
}

// Calls body(begin, end) over [0, n) in fixed blocks of `block`: the blocks are the same for any number of
// threads.
void parallel_blocks(ThreadPool& pool, size_t n, size_t block, FunctionRef<void(size_t, size_t)> body);

}  // namespace tunemix
