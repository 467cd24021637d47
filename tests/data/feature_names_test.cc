#include "tunemix/data/feature_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

using testing::HasSubstr;

std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

FeatureNames parse(std::string_view text, size_t features) {
  return parse_feature_names(text, "names.txt", features);
}

TEST(FeatureNames, AreOneALineOrNumbered) {
  for (const char* text :
       {"bm25\ntf idf\npage rank\n", "bm25\r\ntf idf\r\npage rank", "3: page rank\n1 bm25\n\n2:tf idf\n",
        "\xef\xbb\xbf"
        "1\tbm25\n2\ttf idf\n3\tpage rank\n"}) {
    const FeatureNames names = parse(text, 3);
    ASSERT_EQ(names.size(), 3U) << text;
    EXPECT_EQ(names[0], "bm25");
    EXPECT_EQ(names[1], "tf idf");
    EXPECT_EQ(names.label(2), "page rank");
    EXPECT_EQ(names.find("tf idf"), 1U);
    EXPECT_EQ(names.find("tf"), std::nullopt);
  }
}

TEST(FeatureNames, OfOtherFeaturesAreNumbersOrLeftOut) {
  const FeatureNames some = parse("2: b\n7: g\n", 5);
  EXPECT_EQ(some.size(), 2U);
  EXPECT_EQ(some.label(0), "1");
  EXPECT_EQ(some.label(1), "b");
  EXPECT_EQ(some.label(6), "7");
  EXPECT_EQ(some[0], "");
  const FeatureNames all = parse_feature_names("2: b\n7: g\n", "names.txt");
  EXPECT_EQ(all.size(), 7U);
  EXPECT_EQ(all.find("g"), 6U);
}

TEST(FeatureNames, ThatCannotBeRightAreRefused) {
  EXPECT_EQ(refused([] { parse("a\nb\n", 3); }),
            "names.txt: 2 names and the data has 3 features; expected one a line, or lines `NUMBER name`");
  EXPECT_EQ(refused([] { parse("a\nb\na\n", 3); }),
            "names.txt:3: features 1 and 3 are both called 'a'; expected different names");
  EXPECT_THAT(refused([] { parse("1 a\n1 b\n", 2); }),
              HasSubstr("names.txt:2: feature 1 has a name already"));
  EXPECT_THAT(refused([] { parse("1 a\nb\n", 2); }), HasSubstr("names.txt:2: 'b' without a number"));
  EXPECT_THAT(refused([] { parse("a\n\nb\n", 2); }), HasSubstr("names.txt:3: a name after an empty line"));
  EXPECT_THAT(refused([] { parse("0: a\n", 2); }), HasSubstr("expected a number from 1"));
  EXPECT_THAT(refused([] { parse("a\nb\tc\n", 2); }),
              HasSubstr("names.txt:2: a name with a control character"));
  EXPECT_THAT(refused([] { parse("a\n\xc3(\n", 2); }), HasSubstr("names.txt:2: a name that is no UTF-8"));
  EXPECT_THAT(refused([] { parse("\xed\xa0\x80\n", 1); }), HasSubstr("no UTF-8"));
  EXPECT_THAT(refused([] { parse("\n\n", 2); }), HasSubstr("no names"));
  EXPECT_EQ(parse("größe\n\xf0\x9f\x98\x80\n", 2)[0], "größe");
}

TEST(FeatureNames, ComeBackFromBytes) {
  const FeatureNames names = parse("2: b\n4: d\n", 9);
  BinaryWriter out;
  names.save(out);
  BinaryReader in(out.bytes(), "here");
  EXPECT_EQ(FeatureNames::load(in), names);
  in.expect_end();
}

TEST(FeatureNames, OfTheHeadOfAFileGoWithItsData) {
  const Context context(1);
  const std::string_view text =
      "# made by hand\n#2: bm 25\n# 1: tf\n#9: gone\n1 qid:1 1:2 2:3 # 3: no name\n#3: late\n0 qid:2 1:1 "
      "2:5\n";
  const Dataset data = parse_letor(text, "file", {}, context);
  EXPECT_EQ(data.feature_names().size(), 2U);
  EXPECT_EQ(data.feature_names()[0], "tf");
  EXPECT_EQ(data.feature_names()[1], "bm 25");
  const size_t second[] = {1};
  EXPECT_EQ(data.select_queries(second).feature_names(), data.feature_names());
  const Dataset unnamed = parse_letor("1 qid:1 1:2 2:3\n0 qid:2 1:1 2:5\n", "file", {}, context);
  EXPECT_TRUE(unnamed.feature_names().empty());
  EXPECT_EQ(unnamed.fingerprint(), data.fingerprint());
  EXPECT_THAT(refused([&] { parse_letor("#1: a\n#1: b\n1 qid:1 1:2\n", "file", {}, context); }),
              HasSubstr("file:2: feature 1 has a name already"));
}

TEST(FeatureNames, AreWrittenAndReadAgain) {
  const Context context(1);
  const test::ScratchDirectory scratch;
  const Dataset data = parse_letor("#2: bm 25\n1 qid:1 1:2 2:3\n", "file", {}, context);
  write_letor(data, scratch / "a.txt");
  EXPECT_EQ(read_letor(scratch / "a.txt", {}, context).feature_names(), data.feature_names());
  EXPECT_EQ(read_header_names(scratch / "a.txt"), data.feature_names());
  std::ofstream(scratch / "b.txt") << "#2: other\n1 qid:2 1:2 2:3\n";
  std::ofstream(scratch / "c.txt") << "1 qid:3 1:2 2:3\n";
  EXPECT_TRUE(read_header_names(scratch / "c.txt").empty());
  const std::vector<std::filesystem::path> agree = {scratch / "a.txt", scratch / "c.txt"};
  EXPECT_EQ(read_letor(agree, {}, context).feature_names(), data.feature_names());
  const std::vector<std::filesystem::path> differ = {scratch / "a.txt", scratch / "b.txt"};
  EXPECT_THAT(refused([&] { read_letor(differ, {}, context); }), HasSubstr("other names of features"));
}

}  // namespace
}  // namespace tunemix
