#include "tunemix/data/letor_reader.h"

#include <fast_float/fast_float.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "data/decimal.h"
#include "data/row_assembler.h"
#include "tests/compress.h"
#include "tests/support.h"
#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/data/side_files.h"

namespace tunemix {
namespace {

using test::gzip;
using test::zstd;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Dataset parse(std::string_view text, const LetorOptions& options = {}) {
  return parse_letor(text, "file", options, Context(1));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

void write(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

// Text of `queries` queries whose lines differ, about 35 bytes a line.
std::string sample_text(size_t queries, size_t length) {
  std::string text;
  Random random(7);
  for (size_t q = 0; q < queries; ++q)
    for (size_t i = 0; i < length; ++i)
      text += fmt::format("{} qid:{} 1:{:.6f} 3:{} 4:{:.3e} #docid = D{}-{}\n", random.below(3), q,
                          random.uniform(), random.below(1000), random.normal(), q, i);
  return text;
}

// Whatever looks like a number is a word all the same, of any length.
TEST(LetorReader, QueryIdsAreWords) {
  const std::string longest(1 << 20, 'q');
  const std::vector<std::string> ids = {"inf", "1e400", "1e401", "-inf", "nan", longest + "1", longest + "2"};
  std::string text;
  for (const std::string& id : ids) text += "1 qid:" + id + " 1:2\n0 qid:" + id + " 1:1\n";
  const Dataset data = parse(text);
  ASSERT_EQ(data.queries().size(), ids.size());
  for (size_t q = 0; q < ids.size(); ++q) EXPECT_EQ(data.queries().id(q), ids[q]);
}

TEST(LetorReader, ReadsWhatTheFormatSays) {
  const Dataset data = parse(
      "# a whole-line comment\n"
      "2 qid:a 1:0.5 3:-2 # docid = D1 inc = 1\n"
      "\n"
      "0 qid:a 2:1e-3#docid=D2\n"
      "1 qid:b\n");
  ASSERT_EQ(data.documents(), 3U);
  ASSERT_EQ(data.features(), 3U);
  EXPECT_THAT(data.row(0), ElementsAre(0.5F, 0, -2));
  EXPECT_THAT(data.row(1), ElementsAre(0, 0.001F, 0));
  EXPECT_THAT(data.row(2), ElementsAre(0, 0, 0));
  EXPECT_THAT(data.labels(), ElementsAre(2, 0, 1));
  EXPECT_THAT(data.queries().ids(), ElementsAre("a", "b"));
  EXPECT_THAT(data.queries().offsets(), ElementsAre(0, 2, 3));
  EXPECT_EQ(data.names()[0], "D1");
  EXPECT_EQ(data.names()[1], "D2");
  EXPECT_EQ(data.names()[2], "");
  EXPECT_EQ(data.max_label(), 2);
  EXPECT_TRUE(data.source_rows().empty());
}

TEST(LetorReader, BlanksLineEndsAndSignsDoNotMatter) {
  const Hash128 plain = parse("1 qid:1 1:2 2:0.5\n0 qid:1 1:30 2:0\n").fingerprint();
  for (const char* same :
       {"1 qid:1 1:2 2:0.5\r\n0 qid:1 1:30 2:0\r\n", "1\tqid:1\t1:2\t2:0.5\n0 qid:1 1:30",
        "  1   qid:1  1:2   2:0.5   \n0 qid:1 1:30 2:0", "+1 qid:1 1:+2 +2:+0.5\n0 qid:1 1:+3e1 2:-0\n",
        "1.0 qid:1 1:2.0 2:.5\n0e0 qid:1 01:30. 2:0e9\n", "1 qid:1 1:2 2:5E-1 #\n\n \n0 qid:1 1:30#\n#\n",
        "1 qid:1 1:2.000000 2:0.500000000000000000000000001\n0 qid:1 1:0.3e+2 2:1e-50\n",
        "\xef\xbb\xbf"
        "1 qid:1 1:2 2:0.5\n0 qid:1 1:30 2:0\n"})
    EXPECT_EQ(parse(same).fingerprint(), plain) << same;
}

struct Refusal {
  std::string text;
  std::string message;  // what the error must contain
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << testing::PrintToString(refusal.text); }

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithFileLineAndReason) {
  // The bad line is the third of a file, with good ones around it.
  const std::string good = "1 qid:1 1:2 2:0.5\n";
  const std::string text = good + good + GetParam().text + "\n" + good;
  const std::string message = error_of([&] { parse(text); });
  EXPECT_THAT(message, StartsWith("file:3: "));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_THAT(message, HasSubstr("expected"));
  // And as the last line, cut off before its newline.
  EXPECT_EQ(error_of([&] { parse(good + good + GetParam().text); }), message);
}

INSTANTIATE_TEST_SUITE_P(
    LetorReader, Refused,
    testing::Values(
        // labels
        Refusal{"x qid:1 1:2", "label 'x'"}, Refusal{"qid:1 1:2", "label 'qid:1'"},
        Refusal{"1x qid:1 1:2", "label '1x'"}, Refusal{"1.5 qid:1 1:2", "label '1.5'"},
        Refusal{"-1 qid:1 1:2", "label '-1'"}, Refusal{"nan qid:1 1:2", "label 'nan'"},
        Refusal{"inf qid:1 1:2", "label 'inf'"}, Refusal{"1e99 qid:1 1:2", "label '1e99'"},
        Refusal{"99999999999999999999 qid:1 1:2", "label '9999"}, Refusal{"32 qid:1 1:2", "from 0 to 31"},
        Refusal{"+-1 qid:1 1:2", "label '+-1'"}, Refusal{"0x1 qid:1 1:2", "label '0x1'"},
        // qids
        Refusal{"1", "no qid"}, Refusal{"1 1:2", "no qid"}, Refusal{"1 qid: 1:2", "empty qid"},
        Refusal{"1 qid:", "empty qid"}, Refusal{"1 qid", "no qid"}, Refusal{"1 QID:1 1:2", "no qid"},
        Refusal{"1 qid:1 qid:2 1:2", "second or misplaced qid"}, Refusal{"1 #qid:1", "no qid"},
        Refusal{"1 qid:\x01 1:2", "qid '\\x01'"},
        // ids
        Refusal{"1 qid:1 a:2", "feature id 'a'"}, Refusal{"1 qid:1 0:2", "feature id '0'"},
        Refusal{"1 qid:1 -1:2", "feature id '-1'"}, Refusal{"1 qid:1 1.5:2", "feature id '1.5'"},
        Refusal{"1 qid:1 :2", "feature id ''"}, Refusal{"1 qid:1 2:1 1:1", "feature id 1 after 2"},
        Refusal{"1 qid:1 1:1 1:1", "feature id 1 after 1"}, Refusal{"1 qid:1 1x:1", "feature id '1x'"},
        Refusal{"1 qid:1 100001:1", "feature id 100001"},
        Refusal{"1 qid:1 99999999999999999999999:1", "expected at most 100000"},
        Refusal{"1 qid:1 18446744073709551617:1", "expected at most 100000"},
        Refusal{"1 qid:1 2", "'2' is no feature"}, Refusal{"1 qid:1 1:2 word", "'word' is no feature"},
        // values
        Refusal{"1 qid:1 1:", "no value"}, Refusal{"1 qid:1 1: 2:3", "no value"},
        Refusal{"1 qid:1 1:x", "value 'x' of feature 1"}, Refusal{"1 qid:1 1:2x 2:1", "value '2x'"},
        Refusal{"1 qid:1 1:0.5x", "value '0.5x'"}, Refusal{"1 qid:1 1:0x10", "value '0x10'"},
        Refusal{"1 qid:1 1:nanx", "value 'nanx'"}, Refusal{"1 qid:1 1:na", "value 'na'"},
        Refusal{"1 qid:1 1:inf", "value 'inf'"}, Refusal{"1 qid:1 1:-infinity", "value '-infinity'"},
        Refusal{"1 qid:1 1:1e39", "overflows"}, Refusal{"1 qid:1 1:-1e39", "overflows"},
        Refusal{"1 qid:1 1:340282366920938463463374607431768211456", "overflows"},
        Refusal{"1 qid:1 1:1e", "value '1e'"}, Refusal{"1 qid:1 1:1e+", "value '1e+'"},
        Refusal{"1 qid:1 1:.", "value '.'"}, Refusal{"1 qid:1 1:-", "value '-'"},
        Refusal{"1 qid:1 1:+", "value '+'"}, Refusal{"1 qid:1 1:+-1", "value '+-1'"},
        Refusal{"1 qid:1 1:--1", "value '--1'"}, Refusal{"1 qid:1 1:1.2.3", "value '1.2.3'"},
        Refusal{"1 qid:1 1:2:3", "value '2:3'"}, Refusal{"1 qid:1 1:2,5", "value '2,5'"},
        Refusal{"1 qid:1 1:12345678901x", "value '12345678901x'"}, Refusal{"1 qid:1 2:5\r 3:1", "\\x0d"},
        // bytes that are no text
        Refusal{std::string("1 qid:1 1:2\0", 12), "NUL"}, Refusal{std::string("\0", 1), "NUL"},
        Refusal{std::string("1 qid:1 1:2 # a\0b", 17), "NUL"}, Refusal{std::string("# \0", 3), "NUL"},
        Refusal{std::string("1 qid:\0 1:2", 11), "NUL"},
        Refusal{"\x7f"
                "ELF\x02",
                "label '\\x7fELF\\x02'"}));

TEST(LetorReader, NanIsAMissingValueOrRefused) {
  const std::string text = "1 qid:1 1:nan 2:3 4:NaN\n0 qid:1 2:-nan 5:+NAN#docid = a\n";
  const Dataset data = parse(text);
  ASSERT_EQ(data.features(), 5U);
  const uint32_t missing = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
  std::vector<uint32_t> bits;
  for (const float x : data.values()) bits.push_back(std::bit_cast<uint32_t>(x));
  const auto value = [](float x) { return std::bit_cast<uint32_t>(x); };
  EXPECT_THAT(bits, ElementsAre(missing, value(3), 0, missing, 0, 0, missing, 0, 0, missing));
  LetorOptions options;
  options.missing = MissingValues::kRefuse;
  EXPECT_EQ(error_of([&] { parse(text, options); }),
            "file:1: value 'nan' of feature 1, expected a finite number (data.missing is refuse)");
}

TEST(LetorReader, LabelsAreWithinTheNumberOfLabels) {
  LetorOptions options;
  options.num_labels = 3;
  EXPECT_EQ(parse("2 qid:1 1:1\n", options).max_label(), 2);
  EXPECT_EQ(error_of([&] { parse("2 qid:1 1:1\n3 qid:1 1:1\n", options); }),
            "file:2: label '3', expected a whole number from 0 to 2");
}

TEST(LetorReader, FeatureIdsAreWithinTheirBounds) {
  LetorOptions options;
  options.max_feature_id = 5;
  EXPECT_EQ(parse("2 qid:1 5:1\n", options).features(), 5U);
  EXPECT_THAT(error_of([&] { parse("2 qid:1 6:1\n", options); }), HasSubstr("at most 5 (--max-feature-id)"));
  options = {};
  options.num_features = 4;
  EXPECT_EQ(parse("2 qid:1 2:1\n", options).features(), 4U);
  EXPECT_THAT(error_of([&] { parse("2 qid:1 1:1 2:1 3:1 4:1 5:1\n", options); }),
              HasSubstr("file:1: feature id 5, expected at most 4, the number of features"));
}

TEST(LetorReader, UnlabelledDataForPrediction) {
  LetorOptions options;
  options.unlabelled = true;
  EXPECT_THAT(parse("-1 qid:1 1:1\n0 qid:1 1:2\n", options).labels(), ElementsAre(0, 0));
  EXPECT_THAT(error_of([&] { parse("-2 qid:1 1:1\n", options); }), HasSubstr("label '-2'"));
}

TEST(LetorReader, NothingToReadIsAnError) {
  const test::ScratchDirectory scratch;
  EXPECT_THAT(error_of([&] { parse(""); }), HasSubstr("no documents"));
  EXPECT_THAT(error_of([&] { parse("# only\n\n  \n"); }), HasSubstr("no documents"));
  for (const char* name : {"empty.txt", "empty.gz", "empty.zst"}) {
    write(scratch / name, "");
    EXPECT_THAT(error_of([&] { read_letor(scratch / name, {}, Context(1)); }),
                HasSubstr("the file is empty"));
  }
  EXPECT_THAT(error_of([&] { read_letor(scratch / "none.txt", {}, Context(1)); }),
              AllOf(HasSubstr("none.txt"), HasSubstr("cannot open")));
  EXPECT_THAT(error_of([&] { read_letor(scratch.path(), {}, Context(1)); }), HasSubstr("it is a folder"));
}

TEST(LetorReader, TheFirstBadLineIsTheOneReported) {
  // Several batches and many runs; bad lines in several of them.
  const std::string good = sample_text(20000, 15);
  std::vector<size_t> starts = {0};
  for (size_t at = good.find('\n'); at + 1 < good.size(); at = good.find('\n', at + 1))
    starts.push_back(at + 1);
  ASSERT_GT(good.size(), size_t{1} << 23);
  for (const size_t line : {starts.size() / 3, starts.size() - 10}) {
    std::string text = good;
    for (const size_t bad : {line, line + 3, std::min(line + 5000, starts.size() - 1)})
      text[starts[bad]] = 'x';
    for (const int threads : {1, 2, 4})
      EXPECT_THAT(error_of([&] { parse_letor(text, "file", {}, Context(threads)); }),
                  StartsWith(fmt::format("file:{}: label 'x'", line + 1)));
  }
}

TEST(LetorReader, SameOnAnyThreadsFilesAndCompression) {
  const test::ScratchDirectory scratch;
  const std::string text = sample_text(4000, 20);
  const Dataset expected = parse(text);
  EXPECT_EQ(expected.queries().size(), 4000U);
  const size_t half = text.find("\n", text.size() / 2) + 1;
  const std::string_view first = std::string_view(text).substr(0, half);
  const std::string_view second = std::string_view(text).substr(half);
  write(scratch / "all.txt", text);
  write(scratch / "first.txt", first.substr(0, half - 1));  // without its last newline
  write(scratch / "second.txt", second);
  write(scratch / "all.txt.gz", gzip(text));
  write(scratch / "members.gz", gzip(first) + gzip(second));
  write(scratch / "hidden-gzip", gzip(text));
  write(scratch / "all.zst", zstd(text));
  write(scratch / "frames.zst", zstd(first) + zstd(second));
  const std::vector<std::vector<std::string>> inputs = {{"all.txt"},     {"first.txt", "second.txt"},
                                                        {"all.txt.gz"},  {"members.gz"},
                                                        {"hidden-gzip"}, {"all.zst"},
                                                        {"frames.zst"}};
  for (const auto& input : inputs)
    for (const int threads : {1, 2, 4}) {
      std::vector<std::filesystem::path> files;
      for (const std::string& name : input) files.push_back(scratch / name);
      const Dataset read = read_letor(files, {}, Context(threads));
      EXPECT_EQ(read.fingerprint(), expected.fingerprint()) << input[0] << " on " << threads;
      EXPECT_EQ(read.names()[read.documents() - 1], expected.names()[read.documents() - 1]);
    }
}

TEST(LetorReader, DamagedCompressionIsRefused) {
  const test::ScratchDirectory scratch;
  const std::string text = sample_text(500, 10);
  const auto refuse = [&](const std::string& name, const std::string& bytes) {
    write(scratch / name, bytes);
    return error_of([&] { read_letor(scratch / name, {}, Context(2)); });
  };
  const std::string gz = gzip(text);
  const std::string zst = zstd(text);
  EXPECT_THAT(refuse("cut.gz", gz.substr(0, gz.size() / 2)), HasSubstr("gzip data is cut off"));
  EXPECT_THAT(refuse("cut.zst", zst.substr(0, zst.size() / 2)), HasSubstr("zstd data is cut off"));
  EXPECT_THAT(refuse("tail.gz", gz + "garbage"), HasSubstr("gzip data is damaged"));
  EXPECT_THAT(refuse("tail.zst", zst + "garbage"), HasSubstr("zstd data is"));
  EXPECT_THAT(refuse("plain.gz", text), HasSubstr("is not gzip data"));
  EXPECT_THAT(refuse("plain.zst", text), HasSubstr("is not zstd data"));
  std::string flipped = gz;
  flipped[gz.size() / 2] = static_cast<char>(~flipped[gz.size() / 2]);
  EXPECT_NE(refuse("flipped.gz", flipped), "no error");
}

TEST(LetorReader, RowsOfAQueryAreGroupedStably) {
  Context context(2);
  std::vector<std::string> warnings;
  context.on_log = [&](LogLevel level, const std::string& message) {
    if (level == LogLevel::kWarning) warnings.push_back(message);
  };
  const Dataset data = parse_letor(
      "0 qid:b 1:1 #docid = r0\n1 qid:a 1:2 #docid = r1\n2 qid:b 1:3\n"
      "0 qid:c 1:4 #docid = r3\n1 qid:a 1:5 #docid = r4\n2 qid:b 1:6 #docid = r5\n",
      "file", {}, context);
  EXPECT_THAT(data.values(), ElementsAre(1, 3, 6, 2, 5, 4));
  EXPECT_THAT(data.labels(), ElementsAre(0, 2, 2, 1, 1, 0));
  EXPECT_THAT(data.queries().ids(), ElementsAre("b", "a", "c"));
  EXPECT_THAT(data.queries().offsets(), ElementsAre(0, 3, 5, 6));
  EXPECT_THAT(data.source_rows(), ElementsAre(0, 2, 5, 1, 4, 3));
  EXPECT_EQ(data.names()[2], "r5");
  EXPECT_EQ(data.names()[1], "");
  EXPECT_EQ(warnings.size(), 1U);

  // A query in two files is one query.
  const test::ScratchDirectory scratch;
  write(scratch / "1.txt", "0 qid:1 1:1\n0 qid:2 1:2\n");
  write(scratch / "2.txt", "0 qid:2 1:3\n0 qid:1 1:4\n");
  warnings.clear();
  const std::vector<std::filesystem::path> files = {scratch / "1.txt", scratch / "2.txt"};
  EXPECT_THAT(read_letor(files, {}, context).values(), ElementsAre(1, 4, 2, 3));
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(LetorReader, LightGbmGroups) {
  const test::ScratchDirectory scratch;
  const std::string rows = "0 1:1\n2.0 2:5\n1 1:3\n";
  write(scratch / "rank.train", rows);
  write(scratch / "rank.train.query", "2\n1\n");
  const Dataset data = read_letor(scratch / "rank.train", {}, Context(2));
  EXPECT_THAT(data.queries().offsets(), ElementsAre(0, 2, 3));
  EXPECT_THAT(data.queries().ids(), ElementsAre("1", "2"));
  EXPECT_THAT(data.labels(), ElementsAre(0, 2, 1));
  EXPECT_THAT(data.values(), ElementsAre(1, 0, 0, 5, 3, 0));

  write(scratch / "rank.train.gz", gzip(rows));
  EXPECT_EQ(read_letor(scratch / "rank.train.gz", {}, Context(1)).fingerprint(), data.fingerprint());

  // Two such files are one data set whose queries stay apart.
  const std::vector<std::filesystem::path> twice = {scratch / "rank.train", scratch / "rank.train"};
  EXPECT_EQ(read_letor(twice, {}, Context(1)).queries().size(), 4U);

  const auto error = [&] { return error_of([&] { read_letor(scratch / "rank.train", {}, Context(1)); }); };
  write(scratch / "rank.train.query", "2\n2\n");
  EXPECT_THAT(error(), HasSubstr("the group sizes add up to 4, expected 3"));
  write(scratch / "rank.train.query", "2\nx\n");
  EXPECT_THAT(error(), HasSubstr("rank.train.query:2: group size 'x'"));
  write(scratch / "rank.train.query", "3\n0\n");
  EXPECT_THAT(error(), HasSubstr("rank.train.query:2: group size '0'"));
  write(scratch / "rank.train.query", "3\n");
  write(scratch / "rank.train", "0 1:1\n1 qid:1 1:2\n1 1:3\n");
  EXPECT_THAT(error(), HasSubstr("rank.train:2: a second or misplaced qid"));
  // A file with qids needs no sizes, and its neighbour is not looked at.
  write(scratch / "rank.train", "0 qid:7 1:1\n");
  EXPECT_THAT(read_letor(scratch / "rank.train", {}, Context(1)).queries().ids(), ElementsAre("7"));
  write(scratch / "groups", rows);
  write(scratch / "groups.query", "3\n");
  const std::vector<std::filesystem::path> mixed = {scratch / "rank.train", scratch / "groups"};
  EXPECT_THAT(error_of([&] { read_letor(mixed, {}, Context(1)); }), HasSubstr("expected all files"));
}

TEST(LetorReader, WidthsThatGrowLate) {
  std::string text;
  Random random(3);
  std::vector<std::map<size_t, float>> rows;
  for (size_t i = 0; i < 30000; ++i) {
    text += fmt::format("0 qid:{}", i / 10);
    auto& row = rows.emplace_back();
    const size_t most = 1 + i * 40 / 30000;
    for (size_t id = 1 + random.below(3); id <= most; id += 1 + random.below(9)) {
      row[id] = static_cast<float>(random.below(100000));
      text += fmt::format(" {}:{}", id, row[id]);
    }
    text += '\n';
  }
  const Dataset data = parse(text);
  ASSERT_EQ(data.features(), 40U);
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < 40; ++j)
      ASSERT_EQ(data.row(i)[j], rows[i].contains(j + 1) ? rows[i][j + 1] : 0.0F) << i << " " << j;
}

TEST(LetorReader, LabelsOnlyChecksTheFeaturesAndKeepsNone) {
  const std::string text = "1 qid:7 1:1 40:2 #docid = A\n0 qid:8 1:1\n2 qid:7 2:5 90:1\n";
  LetorOptions options;
  options.labels_only = true;
  const Dataset whole = parse(text);
  const Dataset data = parse(text, options);
  EXPECT_EQ(data.features(), 0U);
  EXPECT_TRUE(data.values().empty());
  EXPECT_TRUE(std::equal(data.labels().begin(), data.labels().end(), whole.labels().begin()));
  EXPECT_EQ(data.queries().ids(), whole.queries().ids());
  EXPECT_EQ(data.queries().offsets(), whole.queries().offsets());
  EXPECT_EQ(data.names()[0], "A");
  EXPECT_EQ(data.source_rows()[1], 2U);
  EXPECT_THAT(error_of([&] { parse("1 qid:7 1:1\n1 qid:7 3:1 2:1\n", options); }),
              StartsWith("file:2: feature id 2 after 3"));
}

TEST(LetorReader, LongLines) {
  LetorOptions options;
  options.max_feature_id = 3000000;
  std::string text = "0 qid:1 1:1\n1 qid:1";
  for (size_t id = 2; id <= 1600000; id += 2) text += fmt::format(" {}:0.25", id);
  text += " 3000000:7\n2 qid:1 1:3";
  ASSERT_GT(text.size(), size_t{1} << 23);
  const Dataset data = parse(text, options);
  EXPECT_EQ(data.features(), 3000000U);
  EXPECT_EQ(data.row(1)[1599999], 0.25F);
  EXPECT_EQ(data.row(1)[2999999], 7.0F);
  EXPECT_EQ(data.row(2)[0], 3.0F);
}

// Documents of queries of 1 to 40 rows, some of them wider than the ones before.
std::string many_queries(size_t queries) {
  Random random(8);
  std::string text = "#1: first\n#2: second\n";
  for (size_t q = 0; q < queries; ++q)
    for (size_t i = 0, rows = 1 + random.below(40); i < rows; ++i) {
      text += fmt::format("{} qid:{}", random.below(3), q);
      for (size_t id = 1; id <= 20 + 20 * q / queries; ++id)
        text += fmt::format(" {}:{}", id, random.below(99999));
      text += i % 3 == 0 ? fmt::format(" # docid = {}-{}\n", q, i) : "\n";
    }
  return text;
}

void expect_same_rows(const Dataset& parts, const Dataset& whole, size_t first) {
  for (size_t i = 0; i < parts.documents(); ++i) {
    ASSERT_TRUE(std::equal(parts.row(i).begin(), parts.row(i).end(), whole.row(first + i).begin()))
        << first + i;
    ASSERT_EQ(parts.labels()[i], whole.labels()[first + i]);
    ASSERT_EQ(parts.names().size() > 0 ? parts.names()[i] : "", whole.names()[first + i]);
  }
}

TEST(LetorParts, AreTheWholeDataInOrder) {
  test::ScratchDirectory scratch;
  const std::string text = many_queries(4000);
  ASSERT_GT(text.size(), size_t{2} << 23);
  std::ofstream(scratch / "a.txt") << "\xef\xbb\xbf" << text;
  std::ofstream(scratch / "b.txt") << "1 qid:last 1:5\n";
  const std::vector<std::filesystem::path> files = {scratch / "a.txt", scratch / "b.txt"};
  const Context context(3);
  const Dataset whole = read_letor(files, {}, context);
  LetorOptions options;
  options.least_features = whole.features();
  LetorParts parts(files, options, context);
  size_t documents = 0, queries = 0, count = 0;
  while (const std::optional<Dataset> part = parts.next()) {
    for (size_t q = 0; q < part->queries().size(); ++q, ++queries) {
      ASSERT_EQ(part->queries().id(q), whole.queries().id(queries));
      ASSERT_EQ(part->queries().begin(q) + documents, whole.queries().begin(queries));
    }
    expect_same_rows(*part, whole, documents);
    EXPECT_EQ(part->feature_names().size(), documents + 1 < whole.documents() ? 2U : 0U);
    documents += part->documents();
    ++count;
  }
  EXPECT_GE(count, 4U);
  EXPECT_EQ(documents, whole.documents());
  EXPECT_EQ(queries, whole.queries().size());
  EXPECT_EQ(parts.widest(), whole.features());
}

TEST(LetorParts, RefuseQueriesThatComeAgain) {
  test::ScratchDirectory scratch;
  std::ofstream(scratch / "a.txt") << "1 qid:7 1:1\n0 qid:8 1:1\n2 qid:7 1:5\n";
  std::ofstream(scratch / "b.txt") << "1 qid:8 1:1\n";
  std::ofstream(scratch / "c.txt") << "1 qid:8 1:1\n0 qid:9 1:2\n";
  std::ofstream(scratch / "none.txt") << "# nothing\n\n";
  const Context context(1);
  const auto read = [&](std::vector<std::filesystem::path> files) {
    LetorParts parts(std::move(files), {}, context);
    while (parts.next()) {
    }
  };
  EXPECT_THAT(error_of([&] { read({scratch / "a.txt"}); }), HasSubstr("a.txt:3: the rows of query '7'"));
  EXPECT_THAT(error_of([&] {
                read({scratch / "c.txt", scratch / "b.txt"});
              }),
              HasSubstr("b.txt:1: the rows of query '8'"));
  EXPECT_THROW(read({scratch / "a.txt"}), NotInParts);
  EXPECT_NO_THROW(read({scratch / "c.txt"}));
  EXPECT_THAT(error_of([&] { read({scratch / "c.txt", scratch / "none.txt"}); }), HasSubstr("no documents"));
}

// Another format: rows of a data set, a few at a time, in blocks that are as wide as they happen to be.
class MemoryRows : public RowSource {
 public:
  MemoryRows(const Dataset& data, bool with_ids) : data_(data), with_ids_(with_ids) {}
  std::span<const RowBlock> next(size_t width) override {
    blocks_.clear();
    for (size_t b = 0; b < 3 && at_ < data_.documents(); ++b) {
      RowBlock& block = blocks_.emplace_back();
      block.rows = std::min<size_t>(1 + random_.below(5), data_.documents() - at_);
      block.max_id = data_.features();
      block.stride = std::max(width, data_.features()) + random_.below(3);
      block.values.resize(block.rows * block.stride);
      for (size_t i = 0; i < block.rows; ++i, ++at_) {
        float* to = block.values.data() + i * block.stride;
        std::fill(std::copy_n(data_.row(at_).data(), data_.features(), to), to + block.stride, 0.0F);
        block.labels.push_back(data_.labels()[at_]);
        while (data_.queries().end(query_) <= at_) ++query_;
        if (with_ids_) block.queries.push_back({data_.queries().id(query_), i});
      }
    }
    return blocks_;
  }
  const std::string& name() const override { return name_; }
  std::string place() const override { return fmt::format("{}, row {}", name_, at_); }
  bool has_queries() const override { return with_ids_; }
  FeatureNames feature_names() const override { return {}; }

 private:
  const Dataset& data_;
  bool with_ids_;
  std::string name_ = "memory";
  std::vector<RowBlock> blocks_;
  size_t at_ = 0, query_ = 0;
  Random random_{5};
};

TEST(RowAssembler, TakesTheRowsOfAnyFormat) {
  const Context context(2);
  const Dataset data = parse(many_queries(40));
  test::ScratchDirectory scratch;
  std::ofstream groups(scratch / "groups");
  for (size_t q = 0; q < data.queries().size(); ++q) groups << data.queries().length(q) << "\n";
  groups.close();
  std::ofstream weights(scratch / "weights");
  for (size_t i = 0; i < data.documents(); ++i) weights << 1 + i % 3 << "\n";
  weights.close();
  for (const bool with_ids : {true, false}) {
    MemoryRows source(data, with_ids);
    RowAssembler rows(0, true, context);
    rows.read(source, with_ids ? std::filesystem::path() : scratch / "groups", scratch / "weights");
    const Dataset read = rows.finish();
    EXPECT_TRUE(std::equal(data.values().begin(), data.values().end(), read.values().begin()));
    EXPECT_EQ(read.queries().offsets(), data.queries().offsets());
    EXPECT_EQ(read.queries().id(2), with_ids ? data.queries().id(2) : "3");
    EXPECT_EQ(read.weights()[4], 2);
  }
}

TEST(RowAssembler, GivesFinishedQueriesAndKeepsTheLast) {
  const Context context(1);
  const Dataset data = parse(many_queries(40));
  MemoryRows source(data, true);
  RowAssembler rows(0, true, context);
  Documents all;
  std::vector<float> values;
  const auto take = [&](const Dataset& part) {
    all.append(part.about());
    values.insert(values.end(), part.values().begin(), part.values().end());
  };
  size_t parts = 0;
  while (rows.add(source))
    if (const std::optional<Dataset> part = rows.take_finished_queries()) {
      take(*part);
      ++parts;
    }
  take(rows.finish());
  EXPECT_GT(parts, 10U);
  EXPECT_EQ(all.queries.ids(), data.queries().ids());
  EXPECT_EQ(all.queries.offsets(), data.queries().offsets());
  EXPECT_TRUE(std::equal(values.begin(), values.end(), data.values().begin(), data.values().end()));
}

// The obvious parser: words, std::stod-like conversion by fast_float, a map per row.
struct SlowRow {
  int label;
  std::string qid;
  std::map<size_t, float> values;
};

std::vector<SlowRow> slow_parse(const std::string& text) {
  std::vector<SlowRow> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    SlowRow row;
    std::string word;
    if (!(words >> row.label >> word)) continue;
    row.qid = word.substr(4);
    while (words >> word) {
      const size_t colon = word.find(':');
      const size_t skip = word[colon + 1] == '+' ? 2 : 1;
      float value = 0;
      fast_float::from_chars(word.data() + colon + skip, word.data() + word.size(), value);
      row.values[std::stoul(word.substr(0, colon))] = value;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string random_number(Random& random) {
  std::string text;
  if (random.below(4) == 0) text += random.below(2) == 0 ? "-" : "+";
  const auto digits = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) text += static_cast<char>('0' + random.below(10));
  };
  digits(1 + random.below(random.below(8) == 0 ? 25 : 4));
  if (random.below(2) == 0) {
    text += '.';
    digits(random.below(random.below(8) == 0 ? 30 : 9));
  }
  if (random.below(10) == 0) text += fmt::format("e{}", static_cast<int>(random.below(50)) - 40);
  float value = 0;
  const std::string_view unsigned_text = std::string_view(text).substr(text[0] == '+' ? 1 : 0);
  fast_float::from_chars(unsigned_text.data(), unsigned_text.data() + unsigned_text.size(), value);
  return std::isfinite(value) ? text : "1";
}

RC_GTEST_PROP(LetorReader, EqualsTheObviousParser, (uint64_t seed)) {
  Random random(seed);
  std::string text;
  const auto blank = [&] { return random.below(6) == 0 ? "\t " : " "; };
  const size_t lines = 1 + random.below(40);
  for (size_t i = 0; i < lines; ++i) {
    if (random.below(15) == 0) text += random.below(2) == 0 ? "\n" : "# note 1:2\n";
    text += fmt::format("{}{}qid:{}", random.below(5), blank(), random.below(4));
    size_t id = 0;
    for (size_t k = random.below(12); k > 0; --k) {
      id += 1 + (random.below(4) == 0 ? random.below(300) : 0);
      text += fmt::format("{}{}:{}", blank(), id, random_number(random));
    }
    if (random.below(4) == 0) text += " #docid = x";
    text += random.below(8) == 0 ? "\r\n" : "\n";
  }
  const std::vector<SlowRow> slow = slow_parse(text);
  const Dataset fast = parse_letor(text, "file", {}, Context(1 + static_cast<int>(random.below(3))));
  RC_ASSERT(fast.documents() == slow.size());
  for (size_t q = 0; q < fast.queries().size(); ++q)
    for (size_t i = fast.queries().begin(q); i < fast.queries().end(q); ++i) {
      const SlowRow& row = slow[fast.source_rows().empty() ? i : fast.source_rows()[i]];
      RC_ASSERT(row.qid == fast.queries().id(q));
      RC_ASSERT(row.label == fast.labels()[i]);
      for (size_t j = 0; j < fast.features(); ++j) {
        const float expected = row.values.contains(j + 1) ? row.values.at(j + 1) : 0.0F;
        RC_ASSERT(std::bit_cast<uint32_t>(fast.row(i)[j]) == std::bit_cast<uint32_t>(expected + 0.0F));
      }
    }
}

TEST(Decimal, ShortPathIsCorrectlyRounded) {
  Random random(11);
  size_t taken = 0;
  for (size_t k = 0; k < 600000; ++k) {
    // Half of them beside the middle of two floats, where rounding twice would go wrong.
    char text[64] = {};
    if (k % 2 == 0) {
      const auto bits = static_cast<uint32_t>(0x38000000U + random.below(0x12000000U));
      const double middle = (static_cast<double>(std::bit_cast<float>(bits)) +
                             static_cast<double>(std::bit_cast<float>(bits + 1))) /
                            2;
      *fmt::format_to(text, "{:.{}f} ", middle, 1 + random.below(8)) = '\0';
    } else {
      *fmt::format_to(text, "{}.{:0{}} ", random.below(100000000), random.below(100), 2 + random.below(6)) =
          '\0';
    }
    float fast = 0;
    const char* end = decimal::parse_short(text, fast);
    if (end == nullptr) continue;
    ++taken;
    float slow = 0;
    ASSERT_EQ(fast_float::from_chars(text, text + std::strlen(text), slow).ptr, end) << text;
    ASSERT_EQ(std::bit_cast<uint32_t>(fast), std::bit_cast<uint32_t>(slow)) << text;
  }
  EXPECT_GT(taken, 570000U);
}

TEST(LetorReader, ExtremeValues) {
  const Dataset data =
      parse("0 qid:1 1:1e-45 2:3.4028235e38 3:-3.4028235e38 4:1.17549435e-38 5:-0 6:1e-50\n");
  EXPECT_THAT(data.row(0), ElementsAre(1e-45F, 3.4028235e38F, -3.4028235e38F, 1.17549435e-38F, 0, 0));
  EXPECT_FALSE(std::signbit(data.row(0)[4]));
}

RC_GTEST_PROP(LetorWriter, WhatIsWrittenReadsBackTheSame, (uint64_t seed, bool dense)) {
  Random random(seed);
  const size_t d = 1 + random.below(12);
  const size_t queries = 1 + random.below(6);
  std::vector<float> features;
  std::vector<int32_t> labels;
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  NameTable names;
  for (size_t q = 0; q < queries; ++q) {
    const size_t length = 1 + random.below(5);
    offsets.push_back(offsets.back() + length);
    ids.push_back(fmt::format("q{}", q));
    for (size_t i = 0; i < length; ++i) {
      labels.push_back(static_cast<int32_t>(random.below(5)));
      names.add(random.below(3) == 0 ? "" : fmt::format("doc-{}", random.below(1000)));
      for (size_t j = 0; j < d; ++j) {
        float x = 0;
        switch (random.below(5)) {
          case 0:
            x = std::bit_cast<float>(static_cast<uint32_t>(random.next()));
            break;
          case 1:
            x = static_cast<float>(random.below(100000));
            break;
          case 2:
            x = static_cast<float>(random.normal() * 1000);
            break;
          case 3:
            x = static_cast<float>(static_cast<double>(random.below(10000000)) / 1e6);
            break;
          default:
            break;
        }
        features.push_back(std::isnan(x)   ? std::numeric_limits<float>::quiet_NaN()
                           : std::isinf(x) ? 0.0F
                                           : x + 0.0F);
      }
    }
  }
  const Dataset data(features, d, {labels, QueryIndex(offsets, ids), names});
  const test::ScratchDirectory scratch;
  write_letor(data, scratch / "data.txt", dense);
  const Dataset read = read_letor(scratch / "data.txt", {}, Context(1));
  RC_ASSERT(read.fingerprint() == data.fingerprint());
  for (size_t i = 0; i < data.documents(); ++i)
    RC_ASSERT((read.names().size() == 0 ? std::string_view() : read.names()[i]) == data.names()[i]);
}

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
  const test::ScratchDirectory scratch;
  for (const Expected& set : sets) {
    std::vector<std::filesystem::path> files;
    std::string text;
    for (const std::string& file : set.files) {
      files.push_back(test::shared_data() / set.folder / file);
      std::ifstream in(files.back());
      text += std::string(std::istreambuf_iterator<char>(in), {});
    }
    const Dataset data = read_letor(files, {}, Context(1));
    EXPECT_EQ(data.documents(), set.documents) << set.folder;
    EXPECT_EQ(data.queries().size(), set.queries) << set.folder;
    EXPECT_EQ(data.features(), set.features) << set.folder;
    EXPECT_EQ(data.max_label(), set.max_label) << set.folder;
    EXPECT_EQ(read_letor(files, {}, Context(4)).fingerprint(), data.fingerprint()) << set.folder;
    const std::vector<SlowRow> slow = slow_parse(text);
    ASSERT_EQ(slow.size(), data.documents());
    for (size_t i = 0; i < slow.size(); ++i)
      for (const auto& [id, value] : slow[data.source_rows().empty() ? i : data.source_rows()[i]].values)
        ASSERT_EQ(data.row(i)[id - 1], value) << set.folder << " document " << i << " feature " << id;
    for (const bool dense : {true, false}) {
      write_letor(data, scratch / "copy.txt", dense);
      EXPECT_EQ(read_letor(scratch / "copy.txt", {}, Context(2)).fingerprint(), data.fingerprint());
    }
  }
}

TEST(LetorReader, WeightsBesideTheData) {
  const test::ScratchDirectory scratch;
  const std::string text = "1 qid:a 1:1\n0 qid:b 1:2\n2 qid:a 1:3\n";
  const auto read = [&](const std::string& name) { return read_letor(scratch / name, {}, Context(1)); };
  write(scratch / "d.txt", text);
  const Dataset plain = read("d.txt");
  EXPECT_TRUE(plain.weights().empty());
  // They follow their documents when queries are brought together.
  write(scratch / "d.txt.weight", "0.5\r\n 2 \n1e-3\n\n");
  const Dataset weighted = read("d.txt");
  EXPECT_THAT(weighted.weights(), ElementsAre(0.5F, 1e-3F, 2.0F));
  EXPECT_NE(weighted.fingerprint(), plain.fingerprint());
  EXPECT_THAT(weighted.select_queries(std::vector<size_t>{1}).weights(), ElementsAre(2.0F));
  EXPECT_THAT(query_weights(weighted.queries(), weighted.weights()),
              ElementsAre(testing::DoubleNear(0.2505, 1e-9), 2.0));
  // Ones are as good as none.
  write(scratch / "d.txt.weight", "1\n1.0\n1\n");
  EXPECT_EQ(read("d.txt").fingerprint(), plain.fingerprint());
  EXPECT_TRUE(read("d.txt").weights().empty());
  // Compressed beside compressed, under either name.
  for (const char* name : {"e.txt.gz.weight", "e.txt.gz.weight.gz", "e.txt.weight", "e.txt.weight.gz"}) {
    write(scratch / "e.txt.gz", gzip(text));
    const std::string weights = "3\n4\n5\n";
    write(scratch / name, std::string(name).ends_with(".gz") ? gzip(weights) : weights);
    EXPECT_EQ(weight_file_of(scratch / "e.txt.gz"), scratch / name);
    EXPECT_THAT(read("e.txt.gz").weights(), ElementsAre(3.0F, 5.0F, 4.0F)) << name;
    std::filesystem::remove(scratch / name);
  }
  // A file without weights counts 1 beside one with them.
  write(scratch / "f.txt", "0 qid:c 1:1\n");
  write(scratch / "d.txt.weight", "2\n2\n2\n");
  const std::vector<std::filesystem::path> both = {scratch / "f.txt", scratch / "d.txt", scratch / "f.txt"};
  EXPECT_THAT(read_letor(both, {}, Context(1)).weights(), ElementsAre(1.0F, 1.0F, 2.0F, 2.0F, 2.0F));
}

TEST(LetorReader, WeightsThatAreNone) {
  const test::ScratchDirectory scratch;
  write(scratch / "d.txt", "1 qid:a 1:1\n0 qid:a 1:2\n");
  const auto error = [&](std::string_view weights) {
    write(scratch / "d.txt.weight", weights);
    return error_of([&] { read_letor(scratch / "d.txt", {}, Context(1)); });
  };
  EXPECT_THAT(error("1\n"), HasSubstr("d.txt.weight: 1 weights, expected 2"));
  EXPECT_THAT(error("1\nx\n"), HasSubstr("d.txt.weight:2: weight 'x', expected one number a line"));
  EXPECT_THAT(error("1\n-1\n"), HasSubstr("d.txt.weight:2: weight '-1'"));
  EXPECT_THAT(error("nan\n1\n"), HasSubstr("d.txt.weight:1: weight 'nan'"));
  EXPECT_THAT(error("1 2\n1\n"), HasSubstr("d.txt.weight:1: weight '1 2'"));
  EXPECT_THAT(error("inf\n1\n"), HasSubstr("from 0 to 1e9"));
  EXPECT_THAT(error("0\n0\n"), HasSubstr("every weight is 0"));
  EXPECT_EQ(error("0\n2\n"), "no error");
}

}  // namespace
}  // namespace tunemix
