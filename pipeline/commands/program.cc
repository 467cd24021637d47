#include <csignal>
#include <iostream>
#include <thread>

#include "pipeline/commands/commands.h"
#include "pipeline/run/terminal.h"

namespace tunemix {
namespace {

std::atomic<bool> g_stop{false};

void on_interrupt(int) { g_stop.store(true); }

}  // namespace

std::unique_ptr<Context> Program::context(uint64_t seed) const {
  const int count =
      threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  auto result = std::make_unique<Context>(count, seed);
  result->stop = &g_stop;
  const bool silent = quiet;
  result->on_log = [silent](LogLevel level, const std::string& message) {
    if (level == LogLevel::kWarning)
      std::cerr << "warning: " << printable_lines(message) << '\n';
    else if (level == LogLevel::kInfo && !silent)
      std::cerr << printable_lines(message) << '\n';
  };
  struct sigaction handler {};
  handler.sa_handler = on_interrupt;
  handler.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the program at once
  // A dropped connection is like Ctrl-C, unless nohup said that it is nothing.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &handler, nullptr);
  }
  // A file that grows past the limit of its size is an error of that write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  return result;
}

void add_common_options(CLI::App& command, Program& program) {
  command.add_option("--threads", program.threads, "Threads to use (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command.add_flag("--quiet", program.quiet, "Only warnings and errors on stderr");
}

void add_max_feature_id(CLI::App& command, size_t& max_feature_id) {
  command.add_option("--max-feature-id", max_feature_id, "A larger feature id is refused")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
}

}  // namespace tunemix
