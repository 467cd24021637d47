// Whole files: read with the system's reason where that fails, written so that a reader never sees half of
// one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
// Nothing where there is no such file; one that is there and cannot be read is an error as above.
std::optional<std::string> read_if_there(const std::filesystem::path& path);

// A new file of a random name, which takes the place of `path` when it is whole: synced and renamed by
// commit(), taken away without it. It is locked for as long as its writer lives. Throws RunError.
class AtomicFile {
 public:
  // The new file is made in `folder`, by default beside `path`, on the same file system in any case.
  explicit AtomicFile(std::filesystem::path path, const std::filesystem::path& folder = {});
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const uint8_t> bytes);
  // At a place of its own, for writers side by side.
  void write_at(std::span<const uint8_t> bytes, uint64_t offset) const;
  void set_mode(unsigned mode) const;
  // A symbolic link at `path` is replaced, not followed.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: there is none
  FileDescriptor fd_;
};

// A file of the program's own, as a whole.
void write_file_atomically(const std::filesystem::path& path, std::span<const uint8_t> bytes,
                           const std::filesystem::path& folder = {});
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// Whether a file of this name is one that an AtomicFile had not finished.
bool is_temporary_name(const std::filesystem::path& path);
// Removes from a folder, not from those in it, what writers have left that are gone: files whose lock is
// free, if it is sure that their writers' locks would be seen here. With `of`: only those for a file of that
// name.
void sweep_temporaries(const std::filesystem::path& folder, std::string_view of = {});

// A log of the program's own, to be written at its end; made where there is none. Without a descriptor, and
// with errno, where that fails.
FileDescriptor open_log(const std::filesystem::path& file);
// In one piece. What cannot be written is left out: logs only help people.
void append_to_log(const FileDescriptor& log, std::string_view text);

// Folders on the way to a file that were missing; taken away again unless they are kept.
class MadeFolders {
 public:
  MadeFolders() = default;
  ~MadeFolders();
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

  // Also those to which symbolic links lead. Throws InputError or RunError.
  void make(const std::filesystem::path& folder);
  void keep() { made_.clear(); }

 private:
  void make(const std::filesystem::path& folder, int links_left);
  std::vector<std::filesystem::path> made_;
};

// Whether missing folders on the way to a file are made; without commit() they are taken away again.
enum class Folders { kExpect, kMake };

// A file that a user names, to be written: the only way to do so. A regular file (also behind symbolic links)
// is replaced as a whole by commit(); a device, a pipe or standard output is written through.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path, Folders folders = Folders::kExpect);

  void write(std::span<const uint8_t> bytes);
  // At a place of its own, for writers side by side; only where replaces() holds.
  void write_at(std::span<const uint8_t> bytes, uint64_t offset) const { file_->write_at(bytes, offset); }
  bool replaces() const { return file_.has_value(); }
  void commit();

 private:
  std::filesystem::path path_;  // as the user wrote it
  MadeFolders made_;
  std::optional<AtomicFile> file_;  // nothing: written through
  FileDescriptor through_;
};

void write_user_file(const std::filesystem::path& path, std::span<const uint8_t> bytes,
                     Folders folders = Folders::kExpect);
void write_user_file(const std::filesystem::path& path, std::string_view text,
                     Folders folders = Folders::kExpect);

// Whether both name the same file, through links or not.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace tunemix
