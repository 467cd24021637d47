// Files that users name are written through what they are; those of our own never follow what waits for them.
#include "tunemix/core/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/support.h"
#include "tunemix/core/error.h"

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
