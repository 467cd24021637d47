#include "tests/fuzz/driver.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/core/timer.h"

namespace tunemix::fuzz {
namespace {

// What is at work, for the handler of a crash.
const char* g_target = "";
uint64_t g_seed = 0;
volatile size_t g_input = 0;

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
struct sigaction g_before[64];

// Says which input it was, and leaves the rest to whoever handled the signal before.
void on_crash(int signal) {
  char text[200];
  const int size = std::snprintf(text, sizeof text, "%s: input %zu of seed %llu: %s\n", g_target,
                                 static_cast<size_t>(g_input), static_cast<unsigned long long>(g_seed),
                                 signal == SIGPROF ? "takes too long" : "a crash");
  if (::write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) std::_Exit(3);
  ::sigaction(signal, &g_before[signal], nullptr);
  if (signal == SIGPROF) std::abort();
}

void guard() {
  struct sigaction handler {};
  handler.sa_handler = on_crash;
  for (const int signal : kSignals) ::sigaction(signal, &handler, &g_before[signal]);
#ifndef TUNEMIX_SANITIZED  // a sanitizer maps more than that at once
  const struct rlimit memory = {rlim_t{2} << 30, rlim_t{2} << 30};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
}

void start_clock() {
  const struct itimerval limit = {{0, 0}, {10, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

void overwrite(Bytes& bytes, size_t at, const uint8_t* from, size_t size) {
  std::copy_n(from, std::min(size, bytes.size() - at), bytes.begin() + static_cast<ptrdiff_t>(at));
}

void insert(Bytes& bytes, size_t at, std::span<const uint8_t> part) {
  bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), part.begin(), part.end());
}

// Values that lengths, counts and indices go wrong with.
void edit_binary(Bytes& bytes, Random& random) {
  static constexpr uint64_t kNumbers[] = {0, 1, 2, 0x7fffffff, 0xffffffff, uint64_t{1} << 40, ~uint64_t{0}};
  const size_t at = random.below(bytes.size());
  switch (random.below(4)) {
    case 0:
      bytes[at] = static_cast<uint8_t>(random.below(256));
      break;
    case 1:
      bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1U << random.below(8)));
      break;
    case 2: {
      const uint64_t number = kNumbers[random.below(std::size(kNumbers))];
      overwrite(bytes, at, reinterpret_cast<const uint8_t*>(&number), random.below(2) == 0 ? 4 : 8);
      break;
    }
    default: {
      uint8_t part[16];
      const size_t from = random.below(bytes.size());
      const size_t size = std::min<size_t>(bytes.size() - from, 1 + random.below(std::size(part)));
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(from), size, part);
      overwrite(bytes, at, part, size);
    }
  }
}

// Words of the text's language and pieces of the seeds in other places.
void edit_text(Bytes& bytes, const Target& target, Random& random) {
  const size_t at = random.below(bytes.size() + 1);
  const Bytes& other = target.seeds[random.below(target.seeds.size())];
  const std::string_view word = target.words[random.below(target.words.size())];
  const auto part = [&](const Bytes& from, size_t most) {
    const size_t begin = random.below(from.size() + 1);
    return Bytes(from.begin() + static_cast<ptrdiff_t>(begin),
                 from.begin() + static_cast<ptrdiff_t>(std::min(from.size(), begin + random.below(most))));
  };
  switch (random.below(5)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<uint8_t>(random.below(256));
      break;
    case 1:
      insert(bytes, at, part(bytes, 40));
      break;
    case 2:
      bytes.resize(at);
      insert(bytes, at, part(other, other.size() + 1));
      break;
    default:
      insert(bytes, at, bytes_of(word));
  }
}

void mutate(Bytes& bytes, const Target& target, Random& random) {
  for (size_t edits = 1 + random.below(4); edits > 0 && !bytes.empty(); --edits) {
    if (random.below(5) == 0) {
      const auto at = bytes.begin() + static_cast<ptrdiff_t>(random.below(bytes.size()));
      bytes.erase(at, at + static_cast<ptrdiff_t>(std::min<size_t>(static_cast<size_t>(bytes.end() - at),
                                                                   1 + random.below(16))));
    } else if (target.words.empty()) {
      edit_binary(bytes, random);
    } else {
      edit_text(bytes, target, random);
    }
  }
}

struct Span {
  size_t first = 0;
  size_t count = std::numeric_limits<size_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

// Prints a row of a table: target, seed, first input, inputs, accepted, seconds, most memory so far in MB.
bool run_target(const Target& target, uint64_t seed, const Span& span) {
  g_target = target.name.c_str();
  g_seed = seed;
  const uint64_t stream = derive_seed(seed, target.name);
  size_t accepted = 0;
  size_t inputs = 0;
  Bytes bytes;
  const Timer timer;
  for (const Bytes& good : target.seeds) target.use(good);
  for (; inputs < span.count && timer.seconds() < span.seconds; ++inputs) {
    g_input = span.first + inputs;
    Random random(stream + g_input);
    bytes = target.seeds[random.below(target.seeds.size())];
    mutate(bytes, target, random);
    start_clock();
    try {
      target.use(bytes);
      ++accepted;
    } catch (const InputError&) {
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: input %zu of seed %llu: %s\n", g_target, static_cast<size_t>(g_input),
                   static_cast<unsigned long long>(seed), error.what());
      return false;
    }
  }
  if (inputs >= 100000 && (accepted == 0 || accepted == inputs)) {
    std::fprintf(stderr, "%s: %zu of %zu inputs accepted; some should be, and some not\n", g_target, accepted,
                 inputs);
    return false;
  }
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%-24s\t%llu\t%zu\t%9zu\t%9zu\t%8.1f\t%4ld\n", g_target, static_cast<unsigned long long>(seed),
              span.first, inputs, accepted, timer.seconds(), usage.ru_maxrss / 1024);
  std::fflush(stdout);
  return true;
}

}  // namespace

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void prefer_memory() {
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
}

int run(int argc, char** argv, std::span<const Target> targets) {
  const auto number = [&](int i, uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::string_view what = argc > 1 ? argv[1] : "3";
  if (what == "--list") {
    for (const Target& target : targets) std::printf("%s\n", target.name.c_str());
    return 0;
  }
  guard();
  if (std::isdigit(static_cast<unsigned char>(what[0])) != 0) {
    const double seconds = std::atof(what.data()) / static_cast<double>(targets.size());
    return std::all_of(
               targets.begin(), targets.end(),
               [&](const Target& target) { return run_target(target, number(2, 1), {.seconds = seconds}); })
               ? 0
               : 1;
  }
  const auto target =
      std::find_if(targets.begin(), targets.end(), [&](const Target& t) { return t.name == what; });
  if (target == targets.end() || argc < 3) {
    std::fprintf(stderr, "usage: %s [SECONDS [SEED]] | TARGET COUNT [SEED [FIRST]] | --list\n", argv[0]);
    return 2;
  }
  return run_target(*target, number(3, 1), {.first = number(4, 0), .count = number(2, 0)}) ? 0 : 1;
}

}  // namespace tunemix::fuzz
