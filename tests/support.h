// What several tests share: where the LETOR sets are, and a scratch directory.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tunemix::test {

// $TUNEMIX_SHARED_DATA; empty where it is not set.
inline std::filesystem::path shared_data() {
  const char* set = std::getenv("TUNEMIX_SHARED_DATA");
  return set != nullptr ? set : "";
}

// A fresh directory that is removed at the end of the test.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "tunemix-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// How many files and folders are in one.
inline size_t entries(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace tunemix::test

#define TUNEMIX_NEED_SHARED_DATA()          \
  if (tunemix::test::shared_data().empty()) \
  GTEST_SKIP() << "set TUNEMIX_SHARED_DATA to run the tests on the LETOR sets"
