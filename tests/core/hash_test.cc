#include "tunemix/core/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

TEST(Hash, IsXxh3) {
  // The published values of the empty input.
  EXPECT_EQ(hash_bytes(nullptr, 0).hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(checksum64(nullptr, 0), 0x2d06800538d394c2ULL);
}

TEST(Hash, APieceAtATimeIsTheSame) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += static_cast<char>('a' + i % 23);
  for (const size_t cut : {0, 1, 16, 255, 256, 1024, 2999, 3000}) {
    Hasher hasher;
    hasher.bytes(text.data(), cut).bytes(text.data() + cut, text.size() - cut);
    EXPECT_EQ(hasher.digest(), hash_bytes(text.data(), text.size())) << cut;
  }
}

TEST(Hash, EveryBitCounts) {
  std::vector<uint8_t> bytes(40, 0);
  std::set<Hash128> seen = {hash_bytes(bytes.data(), bytes.size())};
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<uint8_t>(1U << bit % 8);
    EXPECT_TRUE(seen.insert(hash_bytes(bytes.data(), bytes.size())).second) << bit;
    bytes[bit / 8] = 0;
  }
}

TEST(Hash, BordersBetweenPartsCount) {
  EXPECT_NE(Hasher().text("ab").text("c").digest(), Hasher().text("a").text("bc").digest());
  EXPECT_NE(Hasher().text("").digest(), Hasher().digest());
  const std::vector<int> one = {1};
  const std::vector<int> two = {1, 2};
  const std::vector<int> rest = {2, 3};
  const std::vector<int> last = {3};
  const auto both = [](std::span<const int> a, std::span<const int> b) {
    return Hasher().values(a).values(b).digest();
  };
  EXPECT_NE(both(one, rest), both(two, last));
}

TEST(Hash, HexRoundTrips) {
  const Hash128 hash{0x0123456789abcdefULL, 0x00000000000000ffULL};
  EXPECT_EQ(hash.hex(), "0123456789abcdef00000000000000ff");
  EXPECT_EQ(Hash128::from_hex(hash.hex()), hash);
  for (const char* bad : {"", "12", "0123456789abcdef00000000000000f", "0123456789abcdef00000000000000fff",
                          "0123456789abcdeg00000000000000ff", "-123456789abcdef00000000000000ff"})
    EXPECT_THROW(Hash128::from_hex(bad), InputError) << bad;
}

}  // namespace
}  // namespace tunemix
