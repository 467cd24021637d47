// Locks of whole files between processes and, where the file system can, between machines.
#pragma once

#include <filesystem>
#include <string>

namespace tunemix {

enum class LockKind { kShared, kExclusive };
enum class LockWait { kWait, kTry };
// kUnsupported: the file system has no locks, which some shared ones have not.
enum class LockOutcome { kLocked, kBusy, kUnsupported };

// Held until the descriptor is closed. Throws RunError for what is neither of the outcomes.
LockOutcome lock_file(int fd, LockKind kind, LockWait wait, const std::filesystem::path& file);

// What a user must know where there are no locks.
std::string no_locks(const std::filesystem::path& folder);

}  // namespace tunemix
