#include "tunemix/core/text.h"

#include <gtest/gtest.h>

namespace tunemix {
namespace {

using Words = std::vector<std::string>;

TEST(Nearest, FindsTheWordThatWasMeant) {
  const Words words = {"shrinkage", "iterations", "leaves", "bandit", "base"};
  EXPECT_EQ(nearest("shrinkige", words), "shrinkage");
  EXPECT_EQ(nearest("leafs", words), "leaves");
  EXPECT_EQ(nearest("iteration", words), "iterations");
  EXPECT_EQ(nearest("iter", words), "iterations") << "a beginning is near";
  EXPECT_EQ(nearest("bas", words), "base");
  EXPECT_EQ(nearest("base", words), "base");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  const Words words = {"shrinkage", "iterations"};
  EXPECT_EQ(nearest("colour", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("anything", Words{}), "");
}

TEST(Nearest, TakesTheFirstOfEquallyNearWords) { EXPECT_EQ(nearest("cat", Words{"bat", "rat"}), "bat"); }

TEST(DidYouMean, IsAHalfSentenceOrNothing) {
  EXPECT_EQ(did_you_mean("tre", Words{"tree", "stump"}), "; did you mean 'tree'?");
  EXPECT_EQ(did_you_mean("product", Words{"tree", "stump"}), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,b,c", ','), (Words{"a", "b", "c"}));
  EXPECT_EQ(split(",a,,b,", ','), (Words{"", "a", "", "b", ""}));
  EXPECT_EQ(split("alone", ','), Words{"alone"});
  EXPECT_EQ(split("", ','), Words{""});
}

TEST(Join, UndoesSplit) {
  for (const char* text : {"a,b,c", ",a,,b,", "alone", ","}) EXPECT_EQ(join(split(text, ','), ","), text);
  EXPECT_EQ(join(Words{"a", "b"}, " and "), "a and b");
  EXPECT_EQ(join(Words{}, ","), "");
}

TEST(HumanBytes, ChoosesAUnit) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 KB");
  EXPECT_EQ(human_bytes(1.26e6), "1.3 MB");
  EXPECT_EQ(human_bytes(289e6), "289.0 MB");
  EXPECT_EQ(human_bytes(4.2e9), "4.2 GB");
  EXPECT_EQ(human_bytes(5e15), "5000.0 TB");
}

TEST(HumanBytes, NeverShowsAThousandOfAUnit) { EXPECT_EQ(human_bytes(999960), "1.0 MB"); }

TEST(HumanSeconds, ChoosesAUnit) {
  EXPECT_EQ(human_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(human_seconds(0.25), "0.2 s");
  EXPECT_EQ(human_seconds(59.4), "59.4 s");
  EXPECT_EQ(human_seconds(61), "1 min 01 s");
  EXPECT_EQ(human_seconds(3599), "59 min 59 s");
  EXPECT_EQ(human_seconds(3600), "1 h 00 min");
  EXPECT_EQ(human_seconds(7384), "2 h 03 min");
}

TEST(HumanSeconds, NeverShowsSixtySeconds) { EXPECT_EQ(human_seconds(59.97), "1 min 00 s"); }

}  // namespace
}  // namespace tunemix
