// Parallel loops with and without a data race, to show what the thread sanitizer sees:
//   race_plant none|counter|neighbour
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "tunemix/core/parallel.h"

using namespace tunemix;

namespace {

// Runs two tasks on threads of their own, task 1 after task 0 in time. All that says so is relaxed, so the
// sanitizer sees nothing that orders them; two accesses at the very same moment, it could miss.
template <class Task>
void run_unordered(ThreadPool& pool, const Task& task) {
  std::atomic<int> begun{0}, done{0};
  pool.run(2, [&](size_t i) {
    begun.fetch_add(1, std::memory_order_relaxed);
    while (begun.load(std::memory_order_relaxed) < 2 ||
           done.load(std::memory_order_relaxed) < static_cast<int>(i)) {
    }
    task(i);
    done.fetch_add(1, std::memory_order_relaxed);
  });
}

// What the library's loops do all the time: the caller writes before the loop and reads after it, tasks write
// to places of their own, of their thread, or throw.
long without_race(ThreadPool& pool) {
  long sum = 0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<long> input(64, repeat), output(64, 0), of_thread(static_cast<size_t>(pool.threads()), 0);
    pool.run_with_thread(input.size(), [&](size_t i, int thread) {
      output[i] = input[i] + 1;
      of_thread[static_cast<size_t>(thread)] += input[i];
      pool.run(2, [&](size_t) { ++output[i]; });
    });
    for (const long value : output) sum += value;
    for (const long value : of_thread) sum += value;
    try {
      pool.run(8, [&](size_t i) {
        if (i % 3 == 1) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      sum += std::stol(error.what());
    }
  }
  return sum;
}

long race_on_a_counter(ThreadPool& pool) {
  long counter = 0;
  run_unordered(pool, [&](size_t) { ++counter; });
  return counter;
}

long race_with_a_neighbour(ThreadPool& pool) {
  std::vector<long> values(2, 0);
  run_unordered(pool, [&](size_t i) { values[i] = values[1 - i] + 1; });
  return values[0] + values[1];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "none";
  ThreadPool pool(2);
  long result = 0;
  if (kind == "none") result = without_race(pool);
  if (kind == "counter") result = race_on_a_counter(pool);
  if (kind == "neighbour") result = race_with_a_neighbour(pool);
  return result == 0 ? 1 : 0;
}
