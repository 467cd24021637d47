#include "tunemix/data/letor_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support.h"

namespace tunemix {
namespace {

TEST(LetorReader, ReadsTheRealSets) {
  TUNEMIX_NEED_SHARED_DATA();
  struct Expected {
    std::string folder;
    std::vector<std::string> files;
    size_t documents, queries, features;
    int max_label;
  };
  const std::vector<std::string> parts = {"S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"};
  const Expected sets[] = {{"MQ2008", parts, 15211, 784, 46, 2},
                           {"OHSUMED", parts, 16140, 106, 45, 2},
                           {"MSLR-sample", {"train.txt", "vali.txt", "test.txt"}, 9189, 90, 136, 4},
                           {"sparse300", {"train.txt", "test.txt"}, 3773, 251, 300, 4}};
  for (const Expected& set : sets) {
    std::vector<std::filesystem::path> files;
    for (const std::string& file : set.files) files.push_back(test::shared_data() / set.folder / file);
    const Dataset one = read_letor(files, {}, Context(1));
    EXPECT_EQ(one.documents(), set.documents) << set.folder;
    EXPECT_EQ(one.queries().size(), set.queries) << set.folder;
    EXPECT_EQ(one.features(), set.features) << set.folder;
    EXPECT_EQ(one.max_label(), set.max_label) << set.folder;
    EXPECT_EQ(read_letor(files, {}, Context(4)).fingerprint(), one.fingerprint()) << set.folder;
  }
}

}  // namespace
}  // namespace tunemix
