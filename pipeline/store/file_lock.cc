#include "pipeline/store/file_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <system_error>

#include "tunemix/core/error.h"

namespace tunemix {

LockOutcome lock_file(int fd, LockKind kind, LockWait wait, const std::filesystem::path& file) {
  const int how = (kind == LockKind::kShared ? LOCK_SH : LOCK_EX) | (wait == LockWait::kTry ? LOCK_NB : 0);
  while (::flock(fd, how) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EWOULDBLOCK) return LockOutcome::kBusy;
    if (error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL)
      return LockOutcome::kUnsupported;
    throw_run("{}: cannot lock the file: {}", file.string(), std::generic_category().message(error));
  }
  return LockOutcome::kLocked;
}

std::string no_locks(const std::filesystem::path& folder) {
  return folder.string() +
         ": the file system has no locks (flock); make sure that only one run uses this folder at a time, "
         "and "
         "that none is active when you clean";
}

}  // namespace tunemix
