// Whole files: read with the system's reason where that fails, written so that a reader never sees half of
// one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tunemix {

// "PATH: WHAT: why" for a system error: InputError where another path or permission would help, RunError
// where the machine failed (EIO, EMFILE, ...).
[[noreturn]] void throw_file_error(const std::filesystem::path& path, std::string_view what, int error);

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Says why a file cannot be read before anything tries to: throws InputError with the reason and what to do
// where it is missing, a folder, a pattern that no shell has expanded, or not ours to read. "-" and whatever
// is not a regular file are left to the reader.
void expect_readable(const std::filesystem::path& file);

// All bytes of a file, or of what comes through a pipe.
std::vector<uint8_t> read_file(const std::filesystem::path& path);
std::string read_text_file(const std::filesystem::path& path);
// The same of a regular file (also behind links) of at most so many bytes; throws InputError for anything
// else, without waiting for it.
std::vector<uint8_t> read_regular_file(const std::filesystem::path& path, size_t most);
void expect_regular_file(const std::filesystem::path& path, size_t most);

// Writes to a new file of a random name in `folder` (by default beside `path`), syncs, renames. A symbolic
// link at `path` is replaced, not followed. Throws RunError.
void write_file_atomically(const std::filesystem::path& path, std::span<const uint8_t> bytes,
                           const std::filesystem::path& folder = {});
void write_file_atomically(const std::filesystem::path& path, std::string_view text);
// Whether a file of this name is one that write_file_atomically had not finished.
bool is_temporary_name(const std::filesystem::path& path);

// Whether missing folders on the way to a file are made; without commit() they are taken away again.
enum class Folders { kExpect, kMake };

// A file that a user names, to be written. A regular file (also behind symbolic links) is replaced as a whole
// by commit(); a device, a pipe or standard output is written through.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path, Folders folders = Folders::kExpect);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const uint8_t> bytes);
  // At a place of its own, for writers side by side; only where replaces() holds.
  void write_at(std::span<const uint8_t> bytes, uint64_t offset) const;
  bool replaces() const { return !temporary_.empty(); }
  void commit();

 private:
  std::filesystem::path path_;       // as the user wrote it
  std::filesystem::path target_;     // behind its links
  std::filesystem::path temporary_;  // empty: written through
  std::vector<std::filesystem::path> made_;
  FileDescriptor fd_;
};

void write_user_file(const std::filesystem::path& path, std::span<const uint8_t> bytes,
                     Folders folders = Folders::kExpect);
void write_user_file(const std::filesystem::path& path, std::string_view text,
                     Folders folders = Folders::kExpect);

// Whether both name the same file, through links or not.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace tunemix
