// Locks of whole files between processes and, where the file system can, between machines.
#pragma once

#include <filesystem>
#include <string>

#include "tunemix/core/file.h"

namespace tunemix {

enum class LockKind { kShared, kExclusive };
enum class LockWait { kWait, kTry };
// kUnsupported: the file system has no locks, which some shared ones have not.
enum class LockOutcome { kLocked, kBusy, kUnsupported };

// A file of the program's own to be locked, made where there is none. Throws RunError.
FileDescriptor open_lock_file(const std::filesystem::path& file);

// Held until the descriptor is closed, also by other descriptors of the same opening. A descriptor that only
// reads can have a shared lock, one that only writes an exclusive one. Throws RunError for any other error.
LockOutcome lock_file(int fd, LockKind kind, LockWait wait, const std::filesystem::path& file);

// Who sees the locks on files in a folder: "shared" for every machine that shares it, as far as the mount
// table tells, else a name of this machine since it was started; "none" where neither can be found out.
inline constexpr const char* kNoLockReach = "none";
std::string lock_reach(const std::filesystem::path& folder, const char* mount_table = "/proc/self/mounts");

// What a user must know where there are no locks.
std::string no_locks(const std::filesystem::path& folder);

}  // namespace tunemix
