// Files that users name are written through what they are; those of our own never follow what waits for them.
#include "tunemix/core/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <set>

#include "tests/support.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/error.h"
#include "tunemix/core/file_lock.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

TEST(UserFile, IsWrittenBehindItsLinksAndKeepsItsMode) {
  const test::ScratchDirectory scratch;
  write_user_file(scratch / "real", std::string_view("old"));
  ::chmod((scratch / "real").c_str(), 0600);
  fs::create_symlink("real", scratch / "one");
  fs::create_symlink(scratch / "one", scratch / "two");
  write_user_file(scratch / "two", std::string_view("new"));
  EXPECT_TRUE(fs::is_symlink(scratch / "two") && fs::is_symlink(scratch / "one"));
  EXPECT_EQ(read_text_file(scratch / "real"), "new");
  EXPECT_EQ(fs::status(scratch / "real").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("missing", scratch / "dangling");
  write_user_file(scratch / "dangling", std::string_view("made"));
  EXPECT_EQ(read_text_file(scratch / "missing"), "made");
  fs::create_symlink("round", scratch / "round");
  EXPECT_THROW(write_user_file(scratch / "round", std::string_view("x")), InputError);
  EXPECT_EQ(test::entries(scratch.path()), 6U) << "a temporary file is left";
}

TEST(UserFile, DevicesAndPipesStayWhatTheyAre) {
  const test::ScratchDirectory scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  const pid_t reader = ::fork();
  if (reader == 0) ::_exit(read_text_file(scratch / "pipe") == "through the pipe" ? 0 : 1);
  write_user_file(scratch / "pipe", std::string_view("through the pipe"));
  int status = 1;
  ::waitpid(reader, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_fifo(scratch / "pipe"));
  write_user_file("/dev/null", std::string_view("x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_user_file("/dev/full", std::string_view("x")), RunError);
  EXPECT_EQ(test::entries(scratch.path()), 1U);
}

// As root, a copy of a device shows whether a device would be replaced.
TEST(UserFile, ADeviceIsWrittenThrough) {
  const test::ScratchDirectory scratch;
  const fs::path device = scratch / "null";
  if (::mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0)
    GTEST_SKIP() << "only root can make devices";
  const int fd = ::open(device.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) GTEST_SKIP() << "devices do not work in " << scratch.path();
  ::close(fd);
  write_user_file(device, std::string_view("x"));
  write_artifact(device, "thing", 1, {});
  EXPECT_TRUE(fs::is_character_file(device));
  EXPECT_EQ(test::entries(scratch.path()), 1U);
}

TEST(UserFile, MissingFoldersBehindLinksAreMade) {
  const test::ScratchDirectory scratch;
  fs::create_directory_symlink("far/away", scratch / "link");
  fs::create_symlink("link/deep/file", scratch / "out");
  {
    OutputFile file(scratch / "link/x", Folders::kMake);
    EXPECT_TRUE(fs::is_directory(scratch / "far/away"));
  }
  EXPECT_FALSE(fs::exists(scratch / "far")) << "folders are left without a file";
  EXPECT_THROW(OutputFile(scratch / "link/x", Folders::kExpect), InputError);
  write_user_file(scratch / "out", std::string_view("x"), Folders::kMake);
  EXPECT_EQ(read_text_file(scratch / "far/away/deep/file"), "x");
  EXPECT_TRUE(fs::is_symlink(scratch / "out") && fs::is_symlink(scratch / "link"));
  fs::create_symlink("two/x", scratch / "one");
  fs::create_symlink("one/x", scratch / "two");
  EXPECT_THROW(write_user_file(scratch / "one/y", std::string_view("x"), Folders::kMake), InputError);
}

TEST(UserFile, AFailureLeavesNoFolderBehind) {
  const test::ScratchDirectory scratch;
  {
    OutputFile file(scratch / "a/b/c", Folders::kMake);
    EXPECT_TRUE(fs::exists(scratch / "a/b"));
  }
  EXPECT_EQ(test::entries(scratch.path()), 0U);
  EXPECT_THROW(OutputFile(scratch / "a/b/c", Folders::kExpect), InputError);
  EXPECT_THROW(OutputFile(scratch / "a/b" / std::string(300, 'x') / "c", Folders::kMake), InputError);
  EXPECT_EQ(test::entries(scratch.path()), 0U);
  EXPECT_THROW(OutputFile(scratch.path()), InputError);
  write_user_file(scratch / "a/b/c", std::string_view("x"), Folders::kMake);
  EXPECT_EQ(read_text_file(scratch / "a/b/c"), "x");
}

TEST(OwnFile, ReplacesALinkAndNeverFollowsIt) {
  const test::ScratchDirectory scratch;
  write_file_atomically(scratch / "theirs", std::string_view("theirs"));
  fs::create_symlink("theirs", scratch / "ours");
  write_file_atomically(scratch / "ours", std::string_view("ours"));
  EXPECT_EQ(read_text_file(scratch / "theirs"), "theirs");
  EXPECT_FALSE(fs::is_symlink(scratch / "ours"));
  // Names as long as the system allows have room for what a temporary name adds.
  write_file_atomically(scratch / std::string(255, 'n'), std::string_view("long"));
  EXPECT_EQ(test::entries(scratch.path()), 3U);
}

// A child that begins to write a file and then ends as told; its temporary file stays behind.
fs::path abandoned(const fs::path& target, const fs::path& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    new AtomicFile(target, folder);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(target.filename().string() + ".")) return entry.path();
  return {};
}

TEST(Temporaries, OfWritersThatAreGoneAreSwept) {
  const test::ScratchDirectory scratch;
  const fs::path dead = abandoned(scratch / "a", scratch.path());
  ASSERT_TRUE(fs::exists(dead) && is_temporary_name(dead));
  AtomicFile live(scratch / "a");
  EXPECT_EQ(test::entries(scratch.path()), 2U);
  sweep_temporaries(scratch.path());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_EQ(test::entries(scratch.path()), 1U) << "the one of a live writer is gone";
  live.write(std::vector<uint8_t>{'x'});
  live.commit();
  EXPECT_EQ(read_text_file(scratch / "a"), "x");
}

TEST(Temporaries, OfThisNameAloneBesideWhatAUserNames) {
  const test::ScratchDirectory scratch;
  const fs::path same = abandoned(scratch / "out", scratch.path());
  const fs::path other = abandoned(scratch / "other", scratch.path());
  write_file_atomically(scratch / "out.mine.tmp", std::string_view("a user's"));
  write_user_file(scratch / "out", std::string_view("x"));
  EXPECT_FALSE(fs::exists(same));
  EXPECT_TRUE(fs::exists(other) && fs::exists(scratch / "out.mine.tmp"));
}

// Files whose locks might not be seen here are left alone, and so is what only looks like one.
TEST(Temporaries, WhatIsNotKnownToBeFreeStays) {
  const test::ScratchDirectory scratch;
  const std::string own = abandoned(scratch / "a", scratch.path()).filename().string();
  const std::string reach = own.substr(2, own.size() - 2 - 21);
  EXPECT_EQ(reach, lock_reach(scratch.path()));
  const std::string random(16, '7');
  const std::set<std::string> stay = {
      "a.none." + random + ".tmp",
      "a." + std::string(reach == "shared" ? "0123456789ab" : "shared") + "." + random + ".tmp",
      "a." + reach + "." + random,
      "a." + reach + ".77.tmp",
      "a." + reach + "." + std::string(15, '7') + "x.tmp",
      random + ".tmp",
      "a.tmp"};
  for (const std::string& name : stay) write_file_atomically(scratch / name, std::string_view("x"));
  fs::create_directory(scratch / ("folder." + reach + "." + random + ".tmp"));
  ASSERT_EQ(::mkfifo((scratch / ("pipe." + reach + "." + random + ".tmp")).c_str(), 0600), 0);
  fs::create_symlink("a.tmp", scratch / ("link." + reach + "." + random + ".tmp"));
  sweep_temporaries(scratch.path());
  EXPECT_FALSE(fs::exists(scratch / own));
  EXPECT_EQ(test::entries(scratch.path()), stay.size() + 3);
}

// Many who write, and many who sweep at the same time: every file gets to its place.
TEST(Temporaries, WritersAndSweepersAtOnce) {
  const test::ScratchDirectory scratch;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 0;
      for (int n = 0; n < 100 && code == 0; ++n) try {
          if (i < 2)
            write_file_atomically(scratch / std::to_string(i), std::string_view("whole"));
          else
            sweep_temporaries(scratch.path());
        } catch (const std::exception&) {
          code = 1;
        }
      ::_exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(test::entries(scratch.path()), 2U);
}

TEST(Locks, AreBetweenOpenings) {
  const test::ScratchDirectory scratch;
  const fs::path file = scratch / "lock";
  const FileDescriptor a = open_lock_file(file);
  const FileDescriptor b = open_lock_file(file);
  const auto take = [&](const FileDescriptor& fd, LockKind kind) {
    return lock_file(fd.get(), kind, LockWait::kTry, file);
  };
  EXPECT_EQ(take(a, LockKind::kShared), LockOutcome::kLocked);
  EXPECT_EQ(take(b, LockKind::kShared), LockOutcome::kLocked);
  EXPECT_EQ(take(b, LockKind::kExclusive), LockOutcome::kBusy);
  {
    const FileDescriptor c = open_lock_file(file);  // its end takes no lock of others away
    EXPECT_EQ(take(c, LockKind::kExclusive), LockOutcome::kBusy);
  }
  EXPECT_EQ(take(b, LockKind::kExclusive), LockOutcome::kBusy);
  fs::create_symlink("lock", scratch / "link");
  EXPECT_THROW(open_lock_file(scratch / "link"), RunError);
}

TEST(Locks, WhoSeesThemIsInTheMountTable) {
  const test::ScratchDirectory scratch;
  fs::create_directories(scratch / "a b/c");
  const std::string at = fs::canonical(scratch.path()).string();
  const auto reach = [&](const std::string& lines) {
    write_file_atomically(scratch / "mounts", lines);
    return lock_reach(scratch / "a b/c", (scratch / "mounts").c_str());
  };
  const std::string mine = reach("");
  EXPECT_EQ(mine.size(), 12U);
  EXPECT_NE(mine, "shared");
  EXPECT_EQ(reach("/dev/x / ext4 rw 0 0\n"), "shared");
  EXPECT_EQ(reach("/dev/x / ext4 rw 0 0\nhost:/x " + at + " fuse.sshfs rw 0 0\n"), mine);
  EXPECT_EQ(reach("/dev/x / ext4 rw 0 0\nhost:/x " + at + "/a\\040b nfs4 rw,local_lock=none,x 0 0\n"),
            "shared");
  EXPECT_EQ(reach("/dev/x / ext4 rw 0 0\nhost:/x " + at + "/a\\040b nfs rw,local_lock=all 0 0\n"), mine);
  EXPECT_EQ(reach("x " + at + " lustre rw,flock 0 0\n"), "shared");
  EXPECT_EQ(reach("x " + at + " lustre rw,localflock 0 0\n"), mine);
  EXPECT_EQ(reach("x " + at + "/a ext4 rw 0 0\n"), mine) << "a folder whose name only begins alike";
  EXPECT_EQ(reach("x " + at + " virtiofs rw 0 0\nx " + at + " xfs rw 0 0\n"), "shared") << "the last one";
}

TEST(Logs, GrowAtTheirEndAndFollowNoLink) {
  const test::ScratchDirectory scratch;
  append_to_log(open_log(scratch / "log"), "one\n");
  append_to_log(open_log(scratch / "log"), "two\n");
  EXPECT_EQ(read_text_file(scratch / "log"), "one\ntwo\n");
  fs::create_symlink("log", scratch / "link");
  EXPECT_LT(open_log(scratch / "link").get(), 0);
  append_to_log(open_log(scratch / "link"), "three\n");
  EXPECT_EQ(read_text_file(scratch / "log"), "one\ntwo\n");
}

TEST(ReadIfThere, TellsMissingFromUnreadable) {
  const test::ScratchDirectory scratch;
  write_file_atomically(scratch / "a", std::string_view("x"));
  EXPECT_EQ(read_if_there(scratch / "a"), "x");
  EXPECT_EQ(read_if_there(scratch / "none"), std::nullopt);
  EXPECT_EQ(read_if_there(scratch / "a/b"), std::nullopt);
  EXPECT_THROW(read_if_there(scratch.path()), InputError);
}

TEST(SameFile, ThroughLinks) {
  const test::ScratchDirectory scratch;
  write_file_atomically(scratch / "a", std::string_view("x"));
  write_file_atomically(scratch / "b", std::string_view("x"));
  fs::create_hard_link(scratch / "a", scratch / "hard");
  fs::create_symlink("a", scratch / "soft");
  EXPECT_TRUE(same_file(scratch / "a", scratch / "hard") && same_file(scratch / "soft", scratch / "a"));
  EXPECT_FALSE(same_file(scratch / "a", scratch / "b") || same_file(scratch / "none", scratch / "none"));
}

TEST(FileErrors, TellTheMachineFromTheUser) {
  EXPECT_THROW(throw_file_error("f", "cannot read", ENOENT), InputError);
  EXPECT_THROW(throw_file_error("f", "cannot read", EIO), RunError);
  EXPECT_THROW(throw_file_error("f", "cannot read", EMFILE), RunError);
}

}  // namespace
}  // namespace tunemix
