#include "tunemix/core/file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

#include "tunemix/core/error.h"
#include "tunemix/core/file_lock.h"
#include "tunemix/core/host.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".tmp";
constexpr size_t kMostOfName = 100;
constexpr size_t kRandomDigits = 16;
constexpr int kMostTries = 10;  // to have a new file alone
constexpr int kMostLinks = 40;
constexpr size_t kMostRead = size_t{1} << 20;  // at a time, from what tells no size

std::string describe(int error) { return std::generic_category().message(error); }

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

uint64_t random_number() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
    throw_run("no random number for the name of a temporary file: {}", describe(errno));
  return number;
}

// NAME.REACH.RANDOM.tmp: of the file to be written, and who sees the lock (core/file_lock.h).
struct TemporaryName {
  std::string of;
  std::string reach;
};

std::string name_part(const fs::path& path) { return path.filename().string().substr(0, kMostOfName); }

fs::path temporary_path(const fs::path& folder, const fs::path& of, std::string_view reach) {
  return folder / fmt::format("{}.{}.{:016x}{}", name_part(of), reach, random_number(), kTemporary);
}

std::optional<TemporaryName> parse_temporary(const fs::path& path) {
  if (!is_temporary_name(path)) return std::nullopt;
  const fs::path random = path.stem();
  const fs::path reach = random.stem();
  const std::string digits = random.extension().string();
  if (digits.size() != 1 + kRandomDigits || !reach.has_extension() ||
      digits.find_first_not_of("0123456789abcdef", 1) != std::string::npos)
    return std::nullopt;
  return TemporaryName{reach.stem().string(), reach.extension().string().substr(1)};
}

// A new file: never one that is there already, nor behind a link that waits under the name.
FileDescriptor create(const fs::path& path) {
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
}

// Its writer is gone if nobody holds its lock. The name was drawn for this file alone, so that it can name no
// other in the meantime; a writer that has not yet locked its new file notices that it is gone.
void remove_if_free(const fs::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (lock_file(fd.get(), LockKind::kExclusive, LockWait::kTry, path) == LockOutcome::kLocked)
    ::unlink(path.c_str());
}

void write_all(int fd, std::span<const uint8_t> bytes, const fs::path& path) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_run("{}: cannot write: {}", path.string(), describe(errno));
    at += static_cast<size_t>(n);
  }
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

// The file behind a chain of links, which need not be there; tells whether the chain is one of the system's
// names for open files.
fs::path behind_links(fs::path path, bool& open_file) {
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::symlink) return path;
    const fs::path to = fs::read_symlink(path, error);
    if (error) throw_file_error(path, "cannot read the link", error.value());
    path = to.is_absolute() ? to : path.parent_path() / to;
    open_file = open_file || path.string().starts_with("/proc/");
  }
  throw_file_error(path, "cannot write", ELOOP);
}

}  // namespace

std::string host_name() {
  std::array<char, 65> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return "host";
  std::string name(buffer.data());
  std::erase_if(name, [](char c) { return c == '/' || c == '.'; });
  return name.substr(0, 30);
}

void throw_file_error(const fs::path& path, std::string_view what, int error) {
  for (const int wrong : {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EROFS, ENXIO, ETXTBSY})
    if (error == wrong) throw_input("{}: {}: {}", path.string(), what, describe(error));
  throw_run("{}: {}: {}", path.string(), what, describe(error));
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void expect_readable(const std::filesystem::path& file) {
  const std::string name = file.string();
  if (name == "-") return;
  if (name.empty()) throw_input("a file name is empty; expected the path of a file");
  if (::access(file.c_str(), R_OK) != 0) {
    const int error = errno;
    if (error == ENOENT && name.find_first_of("*?[") != std::string::npos)
      throw_input(
          "{}: cannot open: no file has that name; patterns are not expanded here, list the files one by one",
          name);
    if (error == ENOENT)
      throw_input("{}: cannot open: there is no such file; check the path, which is taken from the folder {}",
                  name, std::filesystem::current_path().string());
    if (error == EACCES) throw_input("{}: cannot open: you may not read it; check its permissions", name);
    throw_input("{}: cannot open: {}", name, std::generic_category().message(error));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw_input("{}: cannot open: it is a folder; expected a file", name);
}

namespace {

[[noreturn]] void throw_too_long(const fs::path& path, size_t most) {
  throw_input("{}: it has more than {} bytes, the most that are read of it", path.string(), most);
}

// All that comes out of a file; more than `most` is refused.
std::vector<uint8_t> read_all(const FileDescriptor& fd, const fs::path& path, size_t expected, size_t most) {
  // One byte more than there should be finds the end at once.
  std::vector<uint8_t> bytes(expected + 1);
  for (size_t size = 0;;) {
    const ssize_t n = ::read(fd.get(), bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_file_error(path, "cannot read the file", errno);
    size += static_cast<size_t>(n);
    if (size > most) throw_too_long(path, most);
    if (n == 0) {
      bytes.resize(size);
      return bytes;
    }
    if (size == bytes.size()) bytes.resize(size + std::max(size, kMostRead));
  }
}

struct stat status_of(const FileDescriptor& fd, const fs::path& path) {
  if (fd.get() < 0) throw_file_error(path, "cannot open the file", errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw_file_error(path, "cannot read the file", errno);
  if (S_ISDIR(info.st_mode)) throw_file_error(path, "cannot open the file", EISDIR);
  return info;
}

}  // namespace

std::vector<uint8_t> read_file(const fs::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const struct stat info = status_of(fd, path);
  return read_all(fd, path, S_ISREG(info.st_mode) ? static_cast<size_t>(info.st_size) : kMostRead, SIZE_MAX);
}

namespace {

std::pair<FileDescriptor, size_t> open_regular_file(const fs::path& path, size_t most) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const struct stat info = status_of(fd, path);
  if (!S_ISREG(info.st_mode)) throw_input("{}: a device or a pipe; expected a regular file", path.string());
  const auto size = static_cast<size_t>(info.st_size);
  if (size > most) throw_too_long(path, most);
  return {std::move(fd), size};
}

}  // namespace

std::vector<uint8_t> read_regular_file(const fs::path& path, size_t most) {
  const auto [fd, size] = open_regular_file(path, most);
  return read_all(fd, path, size, most);
}

void expect_regular_file(const fs::path& path, size_t most) { (void)open_regular_file(path, most); }

std::string read_text_file(const fs::path& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

std::optional<std::string> read_if_there(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  return read_text_file(path);
}

AtomicFile::AtomicFile(fs::path path, const fs::path& folder) : path_(std::move(path)) {
  const fs::path where = folder.empty() ? folder_of(path_) : folder;
  std::string reach = lock_reach(where);
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const fs::path name = temporary_path(where, path_, reach);
    fd_ = create(name);
    if (fd_.get() < 0 && errno == EEXIST) continue;
    if (fd_.get() < 0) throw_run("{}: cannot create the file: {}", path_.string(), describe(errno));
    temporary_ = name;
    if (reach == kNoLockReach) return;
    const LockOutcome outcome = lock_file(fd_.get(), LockKind::kExclusive, LockWait::kTry, name);
    struct stat info {};
    if (outcome == LockOutcome::kLocked && ::fstat(fd_.get(), &info) == 0 && info.st_nlink > 0) return;
    // Somebody who sweeps was quicker, or there are no locks: then nobody must think that this one is free.
    ::unlink(name.c_str());
    temporary_.clear();
    if (outcome == LockOutcome::kUnsupported) reach = kNoLockReach;
  }
  throw_run("{}: cannot create the file: others take away every new one", path_.string());
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const uint8_t> bytes) { write_all(fd_.get(), bytes, path_); }

void AtomicFile::write_at(std::span<const uint8_t> bytes, uint64_t offset) const {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        ::pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_run("{}: cannot write: {}", path_.string(), describe(errno));
    done += static_cast<size_t>(n);
  }
}

void AtomicFile::set_mode(unsigned mode) const { (void)::fchmod(fd_.get(), mode); }

// So that both the content and the name survive a power cut. Open until it has its name, since its lock ends
// with it; what a close could tell, the sync has told.
void AtomicFile::commit() {
  if (::fsync(fd_.get()) != 0) throw_run("{}: cannot sync: {}", path_.string(), describe(errno));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw_run("{}: cannot rename into place: {}", path_.string(), describe(errno));
  temporary_.clear();
  fd_ = FileDescriptor();
  const FileDescriptor parent(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() >= 0) ::fsync(parent.get());
}

void write_file_atomically(const fs::path& path, std::span<const uint8_t> bytes, const fs::path& folder) {
  AtomicFile file(path, folder);
  file.write(bytes);
  file.commit();
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, bytes_of(text));
}

bool is_temporary_name(const fs::path& path) { return path.extension() == kTemporary; }

void sweep_temporaries(const fs::path& folder, std::string_view of) {
  std::optional<std::string> reach;  // asked for when it is needed: seldom
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::optional<TemporaryName> name = parse_temporary(it->path());
    if (!name || name->reach == kNoLockReach || (!of.empty() && name->of != name_part(of))) continue;
    if (!reach) reach = lock_reach(folder);
    if (name->reach == *reach) remove_if_free(it->path());
  }
}

FileDescriptor open_log(const fs::path& file) {
  return FileDescriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644));
}

void append_to_log(const FileDescriptor& log, std::string_view text) {
  if (log.get() >= 0 && ::write(log.get(), text.data(), text.size()) < 0) return;
}

MadeFolders::~MadeFolders() {
  for (size_t i = made_.size(); i > 0; --i) ::rmdir(made_[i - 1].c_str());
}

void MadeFolders::make(const fs::path& folder) { make(folder, kMostLinks); }

void MadeFolders::make(const fs::path& folder, int links_left) {
  std::error_code error;
  if (folder.empty() || fs::exists(folder, error)) return;
  if (links_left == 0) throw_file_error(folder, "cannot create the folder", ELOOP);
  bool ignored = false;
  const fs::path target = behind_links(folder, ignored);
  make(target.parent_path(), target == folder ? links_left : links_left - 1);
  if (::mkdir(target.c_str(), 0777) == 0)
    made_.push_back(target);
  else if (errno != EEXIST)
    throw_file_error(folder, "cannot create the folder", errno);
}

OutputFile::OutputFile(const fs::path& path, Folders folders) : path_(path) {
  bool open_file = false;
  const fs::path target = behind_links(path, open_file);
  struct stat info {};
  struct stat standard {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (there && S_ISDIR(info.st_mode)) throw_file_error(path, "cannot write", EISDIR);
  if (there && ::fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == info.st_dev &&
      standard.st_ino == info.st_ino) {
    // Not opened again: that would begin at the start of what was written already.
    through_ = FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (through_.get() < 0) throw_file_error(path, "cannot write", errno);
    return;
  }
  if (there && (!S_ISREG(info.st_mode) || open_file)) {
    through_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (through_.get() < 0) throw_file_error(path, "cannot write", errno);
    return;
  }
  if (there && ::access(path.c_str(), W_OK) != 0) throw_file_error(path, "cannot write", errno);
  if (folders == Folders::kMake) made_.make(target.parent_path());
  const fs::path folder = folder_of(target);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw_file_error(path, "cannot create the file", errno);
  sweep_temporaries(folder, target.filename().string());
  file_.emplace(target);
  // Who may read the old file may read the new one, and nobody else.
  if (there) file_->set_mode(info.st_mode & 07777);
}

void OutputFile::write(std::span<const uint8_t> bytes) {
  if (file_)
    file_->write(bytes);
  else
    write_all(through_.get(), bytes, path_);
}

void OutputFile::commit() {
  if (!file_) {
    if (::close(through_.release()) != 0) throw_run("{}: cannot write: {}", path_.string(), describe(errno));
    return;
  }
  file_->commit();
  made_.keep();
}

void write_user_file(const fs::path& path, std::span<const uint8_t> bytes, Folders folders) {
  OutputFile file(path, folders);
  file.write(bytes);
  file.commit();
}

void write_user_file(const fs::path& path, std::string_view text, Folders folders) {
  write_user_file(path, bytes_of(text), folders);
}

bool same_file(const fs::path& a, const fs::path& b) {
  struct stat of_a {};
  struct stat of_b {};
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

}  // namespace tunemix
