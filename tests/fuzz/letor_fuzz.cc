// The LETOR reader on any bytes: it accepts or throws InputError, and what it accepts is written and read
// back to the same content. With clang this is a libFuzzer target; otherwise the driver mutates the corpus.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "tests/fuzz/driver.h"
#include "tests/support.h"
#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/data/letor_reader.h"

namespace {

using namespace tunemix;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "letor_fuzz: %s\n", what);
  std::abort();
}

// Returns whether the text was accepted.
bool run_one(std::string_view text) {
  static const Context context(1);
  static const test::ScratchDirectory scratch;
  LetorOptions options;
  options.max_feature_id = 2000;  // keeps rows small
  try {
    const Dataset data = parse_letor(text, "fuzz", options, context);
    check(data.documents() > 0, "a data set without documents");
    for (const bool dense : {true, false}) {
      write_letor(data, scratch / "copy.txt", dense);
      check(read_letor(scratch / "copy.txt", options, context).fingerprint() == data.fingerprint(),
            "the written file reads back differently");
    }
    return true;
  } catch (const InputError& error) {
    check(std::string_view(error.what()).starts_with("fuzz:"), "an error that does not name the place");
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  run_one({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef TUNEMIX_LIBFUZZER
int main(int argc, char** argv) {
  using tunemix::fuzz::Bytes;
  tunemix::fuzz::prefer_memory();
  tunemix::fuzz::Target target{"letor",
                               {},
                               [](const Bytes& bytes) {
                                 if (!run_one(tunemix::fuzz::text_of(bytes))) throw InputError("refused");
                               },
                               {"qid:", ":", "\n", "\r\n", " ", "\t", "#", "e", "-", "+", ".", "nan", "inf",
                                "0", "1e39", "9999999999", "docid = ", "2:", "16777217"}};
  for (const auto& entry : std::filesystem::directory_iterator(TUNEMIX_SOURCE_DIR "/tests/fuzz/corpus"))
    if (Bytes bytes = tunemix::read_file(entry.path()); run_one(tunemix::fuzz::text_of(bytes)))
      target.seeds.push_back(std::move(bytes));
  return tunemix::fuzz::run(argc, argv, std::span(&target, 1));
}
#endif
