#include "tunemix/core/file_lock.h"

#include <fcntl.h>
#include <mntent.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBootDigits = 12;

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Kept by one kernel, or by a server that all machines ask. A file server that uses the folder itself sees
// the locks of its NFS clients: they are byte ranges there, as lock_file's are.
bool all_see_locks(const mntent& mount) {
  constexpr auto kLocal = std::to_array<std::string_view>(
      {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "ramfs", "overlay"});
  constexpr auto kWithOption = std::to_array<std::pair<std::string_view, const char*>>(
      {{"nfs", "local_lock=none"}, {"nfs4", "local_lock=none"}, {"lustre", "flock"}});
  const std::string_view type = mount.mnt_type;
  for (const std::string_view local : kLocal)
    if (type == local) return true;
  for (const auto& [name, option] : kWithOption)
    if (type == name) return ::hasmntopt(&mount, option) != nullptr;
  return false;
}

// The last of the deepest mounts over a folder is the one that is seen.
bool all_see_locks(const fs::path& folder, const char* mount_table) {
  std::error_code error;
  const std::string path = fs::canonical(folder, error).string();
  const std::unique_ptr<FILE, int (*)(FILE*)> table(::setmntent(mount_table, "re"), ::endmntent);
  if (error || table == nullptr) return false;
  std::vector<char> text(size_t{1} << 16);
  mntent mount{};
  size_t depth = 0;
  bool result = false;
  while (::getmntent_r(table.get(), &mount, text.data(), static_cast<int>(text.size())) != nullptr) {
    const std::string_view at = mount.mnt_dir;
    if (at.size() < depth || !is_within(path, at)) continue;
    depth = at.size();
    result = all_see_locks(mount);
  }
  return result;
}

}  // namespace

FileDescriptor open_lock_file(const fs::path& file) {
  FileDescriptor fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (fd.get() < 0)
    throw_run("{}: cannot create the lock file: {}", file.string(), std::generic_category().message(errno));
  return fd;
}

LockOutcome lock_file(int fd, LockKind kind, LockWait wait, const fs::path& file) {
  struct flock whole {};
  whole.l_type = kind == LockKind::kShared ? F_RDLCK : F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (::fcntl(fd, wait == LockWait::kTry ? F_OFD_SETLK : F_OFD_SETLKW, &whole) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EAGAIN || error == EACCES) return LockOutcome::kBusy;
    if (error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL)
      return LockOutcome::kUnsupported;
    throw_run("{}: cannot lock the file: {}", file.string(), std::generic_category().message(error));
  }
  return LockOutcome::kLocked;
}

std::string lock_reach(const fs::path& folder, const char* mount_table) {
  if (all_see_locks(folder, mount_table)) return "shared";
  try {
    std::string boot = read_text_file("/proc/sys/kernel/random/boot_id");
    std::erase_if(boot, [](char c) { return c == '-' || c == '\n'; });
    if (!boot.empty()) return boot.substr(0, kBootDigits);
  } catch (const std::exception&) {  // a machine that does not tell
  }
  return kNoLockReach;
}

std::string no_locks(const fs::path& folder) {
  return folder.string() +
         ": the file system has no locks; make sure that only one run uses this folder at a time, and that "
         "none is active when you clean";
}

}  // namespace tunemix
