#include "tunemix/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::vector<int> hits(97, 0);
      pool.run(hits.size(), [&](size_t i) { ++hits[i]; });
      EXPECT_EQ(hits, std::vector<int>(97, 1));
    }
  }
}

TEST(ThreadPool, ThreadNumbersAreInRangeAndNotSharedAtOnce) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> clash{false};
  pool.run_with_thread(1000, [&](size_t, int thread) {
    if (inside[thread].fetch_add(1) != 0) clash = true;
    inside[thread].fetch_sub(1);
  });
  EXPECT_FALSE(clash);
}

TEST(ThreadPool, RethrowsTheFirstFailureByTaskNumber) {
  ThreadPool pool(4);
  std::atomic<int> finished{0};
  try {
    pool.run(100, [&](size_t i) {
      if (i == 17 || i == 60) throw std::runtime_error("task " + std::to_string(i));
      ++finished;
    });
    FAIL() << "expected an exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "task 17");
  }
  EXPECT_EQ(finished, 98);
  int after = 0;
  pool.run(1, [&](size_t) { ++after; });
  EXPECT_EQ(after, 1);
}

TEST(ThreadPool, ALoopInsideATaskRunsSerially) {
  ThreadPool pool(4);
  std::vector<long> sums(8, 0);
  pool.run(sums.size(), [&](size_t i) { pool.run(100, [&](size_t j) { sums[i] += static_cast<long>(j); }); });
  for (const long sum : sums) EXPECT_EQ(sum, 4950);
}

TEST(ThreadPool, ALoopInsideASingleTaskIsParallel) {
  ThreadPool pool(3);
  std::atomic<int> highest{0};
  pool.run(1, [&](size_t) {
    // Every task waits until another thread has begun one.
    std::atomic<int> begun{0};
    pool.run_with_thread(2, [&](size_t, int thread) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
      for (int seen = highest; thread > seen && !highest.compare_exchange_weak(seen, thread);) {
      }
    });
  });
  EXPECT_GT(highest, 0);
}

TEST(ThreadPool, PoolsOfSeveralCallersDoNotDisturbEachOther) {
  std::vector<std::vector<long>> sums(3, std::vector<long>(50, 0));
  std::vector<std::thread> callers;
  for (std::vector<long>& of_caller : sums)
    callers.emplace_back([&of_caller] {
      ThreadPool pool(2);
      for (int repeat = 0; repeat < 20; ++repeat)
        pool.run(of_caller.size(), [&](size_t i) { of_caller[i] += static_cast<long>(i); });
    });
  for (std::thread& caller : callers) caller.join();
  for (const std::vector<long>& of_caller : sums)
    for (size_t i = 0; i < of_caller.size(); ++i) EXPECT_EQ(of_caller[i], 20 * static_cast<long>(i));
}

TEST(ThreadPool, RefusesAnAbsurdNumberOfThreads) {
  EXPECT_THROW(ThreadPool(0), InputError);
  EXPECT_THROW(ThreadPool(-3), InputError);
}

TEST(ParallelBlocks, CoversTheRangeInFixedBlocks) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<size_t> begin_of(1000, 0);
    parallel_blocks(pool, begin_of.size(), 64, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) begin_of[i] = begin;
    });
    for (size_t i = 0; i < begin_of.size(); ++i) EXPECT_EQ(begin_of[i], i / 64 * 64);
  }
}

}  // namespace
}  // namespace tunemix
