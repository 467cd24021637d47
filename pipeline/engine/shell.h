// Runs a command of the system and takes its output: what engines talk to schedulers by.
#pragma once

#include <string>
#include <vector>

namespace tunemix {

struct CommandResult {
  int code = 0;  // 128 + signal where one ended it
  std::string output;
};

// As one word of a shell's command line.
std::string quoted(const std::string& text);

// Runs `command` by a shell, both outputs together. Environment variables that begin with one of `without`
// are not seen by it. Ctrl-C and a lost connection do not reach it: a submission that is cut off would leave
// jobs that nobody knows of. Throws RunError where no shell starts.
CommandResult run_command(const std::string& command, const std::vector<std::string>& without = {});

// A command that runs beside the program in a process group of its own; ended with the object.
class BackgroundCommand {
 public:
  BackgroundCommand(const std::string& command, const std::string& output_file);
  ~BackgroundCommand();
  BackgroundCommand(const BackgroundCommand&) = delete;
  BackgroundCommand& operator=(const BackgroundCommand&) = delete;

  bool running();
  int code() const { return code_; }  // once it has ended

 private:
  int pid_ = -1;
  int code_ = 0;
};

}  // namespace tunemix
