#include "tunemix/core/binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <limits>

#include "tests/support.h"

namespace tunemix {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

Bytes file_bytes(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  return {text.begin(), text.end()};
}

void overwrite(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.good());
}

Bytes sample_payload() {
  Bytes payload;
  for (int i = 0; i < 60; ++i) payload.push_back(static_cast<uint8_t>(i * i % 251));
  return payload;
}

enum class Shade : uint8_t { kDark = 3 };

TEST(Binary, ValuesRoundTrip) {
  BinaryWriter out;
  out.put(true);
  out.put<int8_t>(-5);
  out.put(std::numeric_limits<uint64_t>::max());
  out.put(-0.0F);
  out.put(std::numeric_limits<double>::denorm_min());
  out.put(Shade::kDark);
  out.put(std::string_view("with\0a NUL", 10));
  out.put(std::string_view());
  out.put(std::vector<float>{1.5F, -2});
  out.put(std::vector<int64_t>{});
  BinaryReader in(out.bytes(), "here");
  EXPECT_TRUE(in.get<bool>());
  EXPECT_EQ(in.get<int8_t>(), -5);
  EXPECT_EQ(in.get<uint64_t>(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(std::signbit(in.get<float>()));
  EXPECT_EQ(in.get<double>(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(in.get<Shade>(), Shade::kDark);
  EXPECT_EQ(in.get_string(), std::string("with\0a NUL", 10));
  EXPECT_EQ(in.get_string(), "");
  EXPECT_EQ(in.get_vector<float>(), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(in.get_vector<int64_t>(), std::vector<int64_t>{});
  in.expect_end();
}

TEST(Binary, EveryPrefixIsRefused) {
  BinaryWriter out;
  out.put<uint32_t>(7);
  out.put(std::string_view("abc"));
  out.put(std::vector<double>{1, 2});
  const auto read = [](std::span<const uint8_t> bytes) {
    BinaryReader in(bytes, "model.tmx");
    in.get<uint32_t>();
    in.get_string();
    in.get_vector<double>();
    in.expect_end();
  };
  read(out.bytes());
  for (size_t size = 0; size < out.bytes().size(); ++size)
    EXPECT_THAT(message_of([&] { read(out.bytes().first(size)); }), HasSubstr("model.tmx: damaged file: "))
        << size;
  Bytes longer(out.bytes().begin(), out.bytes().end());
  longer.push_back(0);
  EXPECT_EQ(message_of([&] { read(longer); }), "model.tmx: damaged file: there is more data than expected");
}

TEST(Binary, AnAbsurdLengthAllocatesNothing) {
  BinaryWriter out;
  out.put(std::numeric_limits<uint64_t>::max() / 2);
  const auto refusal = "x: damaged file: a length runs past the end";
  EXPECT_EQ(message_of([&] { BinaryReader(out.bytes(), "x").get_vector<double>(); }), refusal);
  EXPECT_EQ(message_of([&] { BinaryReader(out.bytes(), "x").get_string(); }), refusal);
}

class ArtifactFile : public testing::TestWithParam<Compression> {
 protected:
  const test::ScratchDirectory scratch_;
  const std::filesystem::path path_ = scratch_ / "thing.tmx";
};

TEST_P(ArtifactFile, RoundTrips) {
  for (const Bytes& payload : {sample_payload(), Bytes{}}) {
    write_artifact(path_, "thing", 3, payload, GetParam());
    const Artifact any = read_artifact(path_);
    EXPECT_EQ(any.kind, "thing");
    EXPECT_EQ(any.version, 3U);
    EXPECT_EQ(any.payload, payload);
    EXPECT_EQ(read_artifact(path_, "thing", 3).payload, payload);
    EXPECT_EQ(read_artifact(path_, "thing", 9).version, 3U);
  }
  EXPECT_EQ(test::entries(scratch_.path()), 1U) << "a temporary file is left";
}

TEST_P(ArtifactFile, RefusesAnotherKindAndANewerVersion) {
  write_artifact(path_, "thing", 3, sample_payload(), GetParam());
  EXPECT_EQ(message_of([&] { read_artifact(path_, "bundle", 3); }),
            path_.string() + ": holds 'thing'; expected 'bundle'");
  EXPECT_EQ(message_of([&] { read_artifact(path_, "thing", 2); }),
            path_.string() + ": thing of version 3; this program reads up to version 2");
}

TEST_P(ArtifactFile, RefusesEveryTruncation) {
  write_artifact(path_, "thing", 3, sample_payload(), GetParam());
  const Bytes whole = file_bytes(path_);
  for (size_t size = 0; size < whole.size(); ++size) {
    overwrite(path_, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_THAT(message_of([&] { read_artifact(path_); }), HasSubstr("thing.tmx: ")) << size;
  }
  Bytes longer = whole;
  longer.push_back(0);
  overwrite(path_, longer);
  EXPECT_THAT(message_of([&] { read_artifact(path_); }), HasSubstr("its length is not what its header says"));
}

TEST_P(ArtifactFile, RefusesEveryFlippedByte) {
  write_artifact(path_, "thing", 3, sample_payload(), GetParam());
  const Bytes whole = file_bytes(path_);
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int flip : {0x01, 0x80}) {
      Bytes damaged = whole;
      damaged[at] = static_cast<uint8_t>(damaged[at] ^ flip);
      overwrite(path_, damaged);
      EXPECT_THAT(message_of([&] { read_artifact(path_); }), HasSubstr("thing.tmx: ")) << at;
    }
}

INSTANTIATE_TEST_SUITE_P(Compressions, ArtifactFile, testing::Values(Compression::kNone, Compression::kZstd),
                         [](const auto& p) { return p.param == Compression::kNone ? "None" : "Zstd"; });

TEST(Artifact, NamesAFileThatIsNoArtifactOrIsMissing) {
  const test::ScratchDirectory scratch;
  EXPECT_THAT(message_of([&] { read_artifact(scratch / "none"); }), HasSubstr("none: cannot open the file"));
  EXPECT_THAT(message_of([&] { read_artifact(scratch.path()); }), HasSubstr(": cannot open the file"));
  EXPECT_THAT(message_of([&] { read_text_file(scratch / "none"); }), HasSubstr("none: cannot open the file"));
  write_file_atomically(scratch / "text", std::string_view("0 qid:1 1:2\n"));
  EXPECT_THAT(message_of([&] { read_artifact(scratch / "text"); }), HasSubstr("text: not a TuneMix file"));
}

TEST(WriteFileAtomically, ReplacesTheFileAndLeavesNoOther) {
  const test::ScratchDirectory scratch;
  for (const std::string_view text : {"first", "second", ""}) {
    write_file_atomically(scratch / "file", text);
    EXPECT_EQ(read_text_file(scratch / "file"), text);
  }
  EXPECT_EQ(test::entries(scratch.path()), 1U);
}

// While it lives, no file may grow beyond `bytes`: the disk is full, as it were.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit old_{};
};

TEST(WriteFileAtomically, AFailureKeepsTheOldFile) {
  const test::ScratchDirectory scratch;
  write_file_atomically(scratch / "file", std::string_view("old"));
  {
    const FileSizeLimit limit(1000);
    EXPECT_THROW(write_file_atomically(scratch / "file", std::string(5000, 'x')), RunError);
  }
  EXPECT_EQ(read_text_file(scratch / "file"), "old");
  EXPECT_EQ(test::entries(scratch.path()), 1U) << "a temporary file is left";
}

TEST(WriteFileAtomically, FailsWhereThereIsNoPlace) {
  const test::ScratchDirectory scratch;
  std::filesystem::create_directories(scratch / "taken" / "inside");
  EXPECT_THROW(write_file_atomically(scratch / "taken", std::string_view("x")), RunError);
  EXPECT_THROW(write_file_atomically(scratch / "no" / "file", std::string_view("x")), RunError);
  EXPECT_TRUE(std::filesystem::is_directory(scratch / "taken"));
  EXPECT_EQ(test::entries(scratch.path()), 1U);
}

}  // namespace
}  // namespace tunemix
