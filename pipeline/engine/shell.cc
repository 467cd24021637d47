#include "pipeline/engine/shell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <thread>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"

namespace tunemix {
namespace {

// Time to end in peace for a command that is to be ended.
constexpr int kGraceTenths = 50;

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// "env -u A -u B " for the variables to be left out.
std::string cleared(const std::vector<std::string>& prefixes) {
  std::string result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('='));
    for (const std::string& prefix : prefixes)
      if (name.starts_with(prefix)) result += " -u " + quoted(std::string(name));
  }
  return result.empty() ? "" : "env" + result + " ";
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

CommandResult run_command(const std::string& command, const std::vector<std::string>& without) {
  // What is ignored stays ignored in the command.
  const std::string line = "trap '' INT TERM HUP; exec " + cleared(without) + command + " 2>&1";
  FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw_run("cannot start: {}", command);
  CommandResult result;
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    result.output.append(buffer.data(), n);
  result.code = code_of(::pclose(pipe));
  while (!result.output.empty() && result.output.back() == '\n') result.output.pop_back();
  return result;
}

BackgroundCommand::BackgroundCommand(const std::string& command, const std::string& output_file) {
  const FileDescriptor out = open_log(output_file);
  if (out.get() < 0)
    throw_run("{}: cannot create the file: {}", output_file, std::generic_category().message(errno));
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
    const int in = ::open("/dev/null", O_RDONLY);
    ::dup2(in, 0);
    ::dup2(out.get(), 1);
    ::dup2(out.get(), 2);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  if (pid_ < 0) throw_run("cannot start: {}", command);
  ::setpgid(pid_, pid_);  // by both, whoever comes first
}

bool BackgroundCommand::running() {
  if (pid_ < 0) return false;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return true;
  code_ = ended == pid_ ? code_of(status) : 127;
  pid_ = -1;
  return false;
}

BackgroundCommand::~BackgroundCommand() {
  if (pid_ < 0) return;
  const pid_t group = pid_;
  ::kill(-group, SIGTERM);
  for (int tenth = 0; tenth < kGraceTenths && running(); ++tenth)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(-group, SIGKILL);
  if (pid_ >= 0) ::waitpid(pid_, nullptr, 0);
}

}  // namespace tunemix
