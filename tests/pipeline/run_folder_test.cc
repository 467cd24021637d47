// A name's folder holds the last config's files, and those of the configs before it apart.
#include "pipeline/store/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "tests/support.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunFolderTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string read(const std::string& name) const {
    return fs::exists(folder_ / name) ? read_text_file(folder_ / name) : "none";
  }
  void run(const std::string& id, const std::string& result) {
    aside_ = set_aside_other_config(folder_, id);
    write("manifest.json", "{\"artifacts\": [\"evaluation/" + id.substr(0, 2) + "/" + id + ".tmx\"]}");
    bring_back_config(folder_, id);
    if (!result.empty()) write("results.json", result);
  }

  test::ScratchDirectory scratch_;
  fs::path folder_ = scratch_ / "runs/name";
  std::optional<fs::path> aside_;
  std::string a_ = std::string(32, 'a');
  std::string b_ = std::string(32, 'b');
};

TEST_F(RunFolderTest, ConfigsAreKeptApart) {
  run(a_, "of a");
  write("exports/x.txt", "x of a");
  write("notes.txt", "mine");
  EXPECT_FALSE(aside_);
  EXPECT_EQ(folder_of_config(folder_, b_), folder_ / "configs/bbbbbbbbbbbb");
  run(b_, "");
  EXPECT_EQ(aside_, folder_ / "configs/aaaaaaaaaaaa");
  EXPECT_EQ(read("results.json"), "none") << "a result of the other config is no result of this one";
  EXPECT_EQ(read("exports/x.txt"), "none");
  EXPECT_EQ(read("configs/aaaaaaaaaaaa/results.json"), "of a");
  EXPECT_EQ(read("configs/aaaaaaaaaaaa/exports/x.txt"), "x of a");
  EXPECT_EQ(read("notes.txt"), "mine");
  EXPECT_EQ(folder_of_config(folder_, a_), folder_ / "configs/aaaaaaaaaaaa");
  EXPECT_EQ(folder_of_config(folder_, b_), folder_);
  write("results.json", "of b");
  run(a_, "");
  EXPECT_EQ(read("results.json"), "of a");
  EXPECT_EQ(read("exports/x.txt"), "x of a");
  EXPECT_EQ(read("configs/bbbbbbbbbbbb/results.json"), "of b");
  EXPECT_FALSE(fs::exists(folder_ / "configs/aaaaaaaaaaaa"));
}

TEST_F(RunFolderTest, OneRunAtATime) {
  const RunLock first(folder_);
  try {
    const RunLock second(folder_);
    FAIL() << "two runs have the folder";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(::getpid())));
  }
}

TEST_F(RunFolderTest, EachConfigIsARunForTheCleaner) {
  run(a_, "of a");
  run(b_, "of b");
  const fs::path runs = scratch_ / "runs";
  fs::last_write_time(folder_ / "configs/aaaaaaaaaaaa/manifest.json",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::create_directories(runs / ".removed.1.tmp/inside");
  fs::create_directories(runs / "killed/logs");
  fs::create_directories(runs / "theirs/photos");
  const std::vector<StoredRun> found = runs_by_age(runs);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "name");
  EXPECT_EQ(found[1].name, "name/configs/aaaaaaaaaaaa");
  remove_run(found[0]);
  EXPECT_EQ(read("results.json"), "none");
  EXPECT_EQ(read("configs/aaaaaaaaaaaa/results.json"), "of a");
  remove_left_over_folders(runs);
  EXPECT_EQ(read("configs/aaaaaaaaaaaa/results.json"), "of a");
  EXPECT_FALSE(fs::exists(runs / ".removed.1.tmp") || fs::exists(runs / "killed"));
  EXPECT_TRUE(fs::exists(runs / "theirs/photos"));
  remove_run(found[1]);
  remove_left_over_folders(runs);
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace tunemix
