// The LETOR reader on any bytes: it accepts or throws InputError, and what it accepts is written and read
// back to the same content. With clang this is a libFuzzer target; otherwise a small driver mutates the
// corpus:
//   letor_fuzz CORPUS_DIRECTORY [SECONDS] [SEED]
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support.h"
#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/core/timer.h"
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
namespace {

std::string mutate(std::string text, const std::vector<std::string>& corpus, Random& random) {
  static constexpr std::string_view kPieces[] = {
      "qid:", ":",   "\n",  "\r\n", " ",    "\t",         "#",        "e",  "-",       "+",
      ".",    "nan", "inf", "0",    "1e39", "9999999999", "docid = ", "2:", "16777217"};
  for (size_t edits = 1 + random.below(4); edits > 0; --edits) {
    const size_t at = random.below(text.size() + 1);
    switch (random.below(5)) {
      case 0:
        text.insert(at, kPieces[random.below(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, random.below(8));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 3:
        text.insert(at, text.substr(random.below(text.size() + 1), random.below(40)));
        break;
      default: {
        const std::string& other = corpus[random.below(corpus.size())];
        text = text.substr(0, at) + other.substr(random.below(other.size() + 1));
      }
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: letor_fuzz CORPUS_DIRECTORY [SECONDS] [SEED]\n");
    return 2;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
  tunemix::Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  std::vector<std::string> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    run_one(corpus.back());
  }
  check(!corpus.empty(), "the corpus is empty");
  size_t runs = 0;
  size_t accepted = 0;
  for (const tunemix::Timer timer; timer.seconds() < seconds; ++runs)
    accepted += run_one(mutate(corpus[random.below(corpus.size())], corpus, random));
  std::printf("%zu inputs, %zu accepted\n", runs, accepted);
  check(runs < 100 || (accepted > 0 && accepted < runs),
        "mutants should be accepted now and then, and refused");
  return 0;
}
#endif
