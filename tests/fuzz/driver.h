// Drives fuzz targets: mutants of their seeds, each of which depends on target, seed and its number alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tunemix::fuzz {

using Bytes = std::vector<uint8_t>;

struct Target {
  std::string name;                          // one word, as on the command line
  std::vector<Bytes> seeds;                  // all of them are accepted
  std::function<void(const Bytes&)> use;     // throws InputError to refuse
  std::vector<std::string_view> words = {};  // what a text consists of; none: binary
};

Bytes bytes_of(std::string_view text);
std::string_view text_of(const Bytes& bytes);

// Puts temporary files into memory where the machine has a file system for that: the program syncs what it
// writes.
void prefer_memory();

// Runs what the command line asks for and returns the exit code. Any error but InputError, a crash, ten
// seconds of processor time for one input and more than 2 GiB of memory end the program with the number of
// the input.
//   PROGRAM [SECONDS [SEED]]              every target in turn for its part of the time
//   PROGRAM TARGET COUNT [SEED [FIRST]]   inputs FIRST, FIRST + 1, ... of one target
//   PROGRAM --list                        the names of the targets
int run(int argc, char** argv, std::span<const Target> targets);

}  // namespace tunemix::fuzz
