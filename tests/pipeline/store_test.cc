// The store: what is saved comes back, what is damaged does not, and the cleaner takes nothing that is
// needed.
#include "pipeline/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<uint8_t> kPayload = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    context_.on_log = [this](LogLevel level, const std::string& message) {
      if (level == LogLevel::kWarning) warnings_.push_back(message);
    };
  }
  std::optional<std::vector<uint8_t>> load(uint32_t version = 2) const {
    return store_.load("scores", key_, version, context_);
  }
  void write(const fs::path& file, const std::string& bytes) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
  }

  test::ScratchDirectory scratch_;
  ArtifactStore store_{scratch_ / "store"};
  Hash128 key_ = hash_bytes("key", 3);
  fs::path path_ = store_.path_of("scores", key_);
  Context context_;
  std::vector<std::string> warnings_;
};

TEST_F(StoreTest, WhatIsSavedComesBack) {
  EXPECT_FALSE(store_.contains("scores", key_));
  EXPECT_FALSE(load());
  for (const Compression compression : {Compression::kZstd, Compression::kNone}) {
    store_.save("scores", key_, 2, kPayload, compression);
    EXPECT_TRUE(store_.contains("scores", key_));
    EXPECT_FALSE(store_.contains("model", key_));
    EXPECT_EQ(load(), kPayload);
  }
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(StoreTest, EveryFlippedBitAndEveryTruncationIsNoticedAndNamed) {
  store_.save("scores", key_, 2, kPayload);
  const std::string whole = read_text_file(path_);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    for (const std::string& damaged : {bytes, whole.substr(0, at)}) {
      warnings_.clear();
      write(path_, damaged);
      EXPECT_FALSE(load()) << at;
      ASSERT_EQ(warnings_.size(), 1U);
      EXPECT_THAT(warnings_[0], HasSubstr(path_.string()));
      EXPECT_THAT(warnings_[0], HasSubstr("it is computed again"));
      EXPECT_FALSE(store_.contains("scores", key_));
    }
  }
}

TEST_F(StoreTest, AnotherVersionOrKindCountsAsMissing) {
  store_.save("scores", key_, 1, kPayload);
  EXPECT_FALSE(load(2));
  EXPECT_FALSE(store_.contains("scores", key_));
  EXPECT_THAT(warnings_, IsEmpty());  // an older version is nothing to worry about
  store_.save("scores", key_, 3, kPayload);
  EXPECT_FALSE(load(2));
  write_artifact(path_, "model", 2, kPayload);
  EXPECT_FALSE(load(2));
  EXPECT_EQ(warnings_.size(), 2U);
}

TEST_F(StoreTest, AnArtifactInThePlaceOfAnotherIsNoticed) {
  const Hash128 other = hash_bytes("other", 5);
  store_.save("scores", other, 2, kPayload);
  store_.save("scores", key_, 2, kPayload);
  fs::copy_file(store_.path_of("scores", other), path_, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(load());
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_THAT(warnings_[0], testing::AllOf(HasSubstr("of another key"), HasSubstr(other.hex())));
  EXPECT_FALSE(store_.contains("scores", key_));
  EXPECT_TRUE(store_.contains("scores", other));
}

TEST_F(StoreTest, WhatCannotBeReadIsNotRemoved) {
  fs::create_directories(path_ / "inside");  // opens, and cannot be read as a file
  EXPECT_THROW(load(), RunError);
  EXPECT_TRUE(store_.contains("scores", key_));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(StoreTest, ContentThatCannotBeIsDamage) {
  store_.save("scores", key_, 2, kPayload);
  const auto refuse = [](std::span<const uint8_t>) -> int { throw InputError("no such thing"); };
  EXPECT_FALSE(store_.load_as("scores", key_, 2, context_, refuse));
  EXPECT_FALSE(store_.contains("scores", key_));
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_THAT(warnings_[0], HasSubstr("no such thing; it is computed again"));
}

TEST_F(StoreTest, AReaderChangesNothing) {
  const ArtifactStore none(scratch_ / "none", StoreUse::kRead);
  EXPECT_FALSE(fs::exists(scratch_ / "none"));
  EXPECT_FALSE(ArtifactStore(scratch_ / "none").contains("scores", key_));
  EXPECT_FALSE(fs::exists(scratch_ / "none")) << "a store is made by the first save";
  store_.save("scores", key_, 2, kPayload);
  fs::resize_file(path_, 5);
  const ArtifactStore reader(store_.root(), StoreUse::kRead);
  EXPECT_FALSE(reader.load("scores", key_, 2, context_));
  EXPECT_TRUE(reader.contains("scores", key_));
  EXPECT_THAT(warnings_[0], HasSubstr("the next run computes it again"));
}

TEST_F(StoreTest, AFileThatChangesWhileItIsReadFailsTheRun) {
  const std::vector<fs::path> files = {scratch_ / "a"};
  write(files[0], "some text");
  store_.file_hash(files[0]);
  EXPECT_EQ(store_.read_as_planned(files, [] { return 7; }), 7);
  const auto time = fs::last_write_time(files[0]);
  const auto edit = [&] {
    write(files[0], "SOME TEXT");
    fs::last_write_time(files[0], time);  // size and time of change as before
    return 7;
  };
  EXPECT_THROW(store_.read_as_planned(files, edit), RunError);
  EXPECT_THROW(store_.read_as_planned(files, [] { return 7; }), RunError) << "it was changed after the plan";
  store_.file_hash(files[0]);
  EXPECT_EQ(store_.read_as_planned(files, [] { return 7; }), 7);
  EXPECT_THROW(store_.read_as_planned({scratch_ / "b"}, [] { return 7; }), InputError);
  write(scratch_ / "b", "new");
  EXPECT_THROW(store_.read_as_planned({scratch_ / "b"}, [] { return 7; }), RunError);
}

TEST_F(StoreTest, EqualSizeAndTimeWithOtherContentIsNoticed) {
  const fs::path a = scratch_ / "a";
  write(a, "some text");
  const auto time = fs::last_write_time(a);
  const Hash128 before = store_.file_hash(a);
  store_.save_file_hashes();
  write(a, "SOME TEXT");
  fs::last_write_time(a, time);
  EXPECT_NE(store_.file_hash(a), before);
  EXPECT_NE(ArtifactStore(store_.root()).file_hash(a), before);
}

TEST_F(StoreTest, AFolderThatCannotBeMadeFailsTheRun) {
  write(scratch_ / "file", "");
  EXPECT_THROW(ArtifactStore(scratch_ / "file" / "store").save("model", key_, 1, kPayload), RunError);
  write(store_.root() / "model", "");
  EXPECT_THROW(store_.save("model", key_, 1, kPayload), RunError);
}

TEST_F(StoreTest, AFileIsHashedByItsContentAndAgainWhenItChanges) {
  const fs::path a = scratch_ / "a";
  const fs::path b = scratch_ / "b";
  write(a, "some text");
  write(b, "some text");
  EXPECT_EQ(store_.file_hash(a), store_.file_hash(b));
  const Hash128 before = store_.file_hash(a);
  write(a, "SOME TEXT");
  fs::last_write_time(a, fs::last_write_time(b) + std::chrono::seconds(2));
  EXPECT_NE(store_.file_hash(a), before);
  EXPECT_THROW(store_.file_hash(scratch_ / "none"), InputError);
  EXPECT_THROW(store_.file_hash(scratch_.path()), InputError);
}

TEST_F(StoreTest, AFileThatWasSeenMayBeAwayIfThatIsAllowed) {
  const fs::path a = scratch_ / "a";
  write(a, "some text");
  const Hash128 hash = store_.file_hash(a);
  store_.save_file_hashes();
  fs::remove(a);
  ArtifactStore later(store_.root());
  EXPECT_TRUE(later.remembers(a));
  EXPECT_EQ(later.file_hash(a, MissingFiles::kRemember), hash);
  EXPECT_THROW(later.file_hash(a, MissingFiles::kRefuse), InputError);
  EXPECT_THROW(later.file_hash(scratch_ / "never", MissingFiles::kRemember), InputError);
}

TEST_F(StoreTest, ADamagedListOfFilesIsMadeAnew) {
  const fs::path a = scratch_ / "a";
  write(a, "some text");
  const Hash128 hash = store_.file_hash(a);
  for (const char* text : {"", "[", "[]", "3", "{\"x\": 1}", "{\"x\": [1, 2, 3]}", "{\"x\": [-1, 2, \"00\"]}",
                           "{\"x\": [1, 2, \"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"]}"}) {
    write(store_.root() / "files.json", text);
    ArtifactStore again(store_.root());
    EXPECT_EQ(again.file_hash(a), hash) << text;
  }
}

// Runs with manifests, as a cleaner finds them.
class CleanTest : public StoreTest {
 protected:
  fs::path runs_ = scratch_ / "runs";
  fs::path root_ = runs_ / ".store";

  void make_run(const std::string& name, int age, const std::vector<std::string>& artifacts) const {
    nlohmann::json manifest = {{"name", name}, {"artifacts", artifacts}};
    write(runs_ / name / "manifest.json", manifest.dump());
    for (const std::string& artifact : artifacts) write(root_ / artifact, "x");
    fs::last_write_time(runs_ / name / "manifest.json",
                        fs::file_time_type::clock::now() - std::chrono::hours(age));
  }
  std::vector<std::string> stored() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), root_).string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(CleanTest, KeepsWhatKeptRunsNeedAndNothingElse) {
  make_run("old", 3, {"scores/aa/1.tmx", "scores/aa/2.tmx", "mix/aa/3.tmx"});
  make_run("new", 1, {"scores/aa/2.tmx", "mix/bb/4.tmx"});
  make_run("mid", 2, {"scores/aa/5.tmx"});
  write(root_ / "scores/cc/orphan.tmx", "x");
  write(root_ / "files.json", "{}");
  const uintmax_t manifest_bytes = fs::file_size(runs_ / "old/manifest.json");
  CleanReport report = clean_runs(runs_, 2, true);
  EXPECT_EQ(report.removed_files, 3U);
  EXPECT_EQ(stored().size(), 8U)
      << "a dry run removes nothing";  // six artifacts, the list of files, the lock
  EXPECT_TRUE(fs::exists(runs_ / "old"));

  report = clean_runs(runs_, 2, false);
  EXPECT_THAT(report.kept_runs, ElementsAre("new", "mid"));
  ASSERT_EQ(report.removed_runs.size(), 1U);
  EXPECT_EQ(report.removed_runs[0].name, "old");
  // Its manifest, and those of its artifacts that no other run names.
  EXPECT_EQ(report.removed_runs[0].bytes, manifest_bytes + 2);
  EXPECT_EQ(report.removed_files, 3U);
  EXPECT_EQ(report.removed_bytes, 3U);
  EXPECT_EQ(report.kept_files, 3U);
  EXPECT_THAT(stored(),
              ElementsAre("files.json", "lock", "mix/bb/4.tmx", "scores/aa/2.tmx", "scores/aa/5.tmx"));
  EXPECT_FALSE(fs::exists(runs_ / "old"));
  report = clean_runs(runs_, 0, false);
  EXPECT_THAT(stored(), ElementsAre("files.json", "lock"));
}

TEST_F(CleanTest, RemovesWhatKilledRunsLeftHalfWritten) {
  make_run("run", 1, {"scores/aa/1.tmx"});
  write(root_ / "scores/aa/1.tmx.77.0.tmp", "half");
  write(root_ / "files.json.77.1.tmp", "half");
  write(runs_ / "run" / "results.json.77.2.tmp", "half");
  EXPECT_EQ(clean_runs(runs_, 1, false).removed_files, 3U);
  EXPECT_THAT(stored(), ElementsAre("lock", "scores/aa/1.tmx"));
  EXPECT_FALSE(fs::exists(runs_ / "run" / "results.json.77.2.tmp"));
}

TEST_F(CleanTest, RefusesWhileARunIsActive) {
  make_run("run", 1, {"scores/aa/1.tmx"});
  {
    const ArtifactStore active(root_);
    EXPECT_THROW(clean_runs(runs_, 0, false), RunError);
    EXPECT_EQ(stored().size(), 2U);
  }
  EXPECT_EQ(clean_runs(runs_, 0, false).removed_files, 1U);
}

TEST_F(CleanTest, RemovesNothingWhenAManifestCannotBeRead) {
  make_run("old", 2, {"scores/aa/1.tmx"});
  make_run("new", 1, {"scores/aa/2.tmx"});
  for (const char* text : {"", "{", "[]", "{\"artifacts\": 3}", "{\"artifacts\": [3]}"}) {
    write(runs_ / "new" / "manifest.json", text);
    EXPECT_THROW(clean_runs(runs_, 1, false), RunError) << text;
    EXPECT_EQ(stored().size(), 3U);
    EXPECT_TRUE(fs::exists(runs_ / "old"));
  }
  EXPECT_THROW(clean_runs(scratch_ / "none", 1, false), InputError);
}

}  // namespace
}  // namespace tunemix
