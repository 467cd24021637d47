// Nothing but core/file.cc and core/file_lock.cc opens a file to be written, so that what holds there holds
// everywhere: no device, pipe or link that a user names is replaced, no file is ever half there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace tunemix {
namespace {

namespace fs = std::filesystem;

// Words that open a file to be written, or make one in another way.
const std::regex kOpens(
    R"re(\b(std::)?(basic_)?(w?ofstream|w?fstream|w?filebuf)\b(?!>)|\bfreopen\b|\bfdopen\b|\btmpfile\b|\bmkstemps?\b)re"
    R"re(|\bmkostemps?\b|\bcreat(64)?\s*\(|\bfopen(64)?\s*\([^;]*"[rb]*[wa+]|\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b)re"
    R"re(|\bcopy_file\b|\bresize_file\b|(::|\s)truncate\s*\(|\bcopy_options\b|\bmknod(at)?\s*\()re");
const std::regex kPythonOpens(
    R"re(\bopen\s*\([^)]*["'][rbt]*[wax+][rbt+]*["']|\bwrite_(text|bytes)\s*\(|\bos\.open\s*\(|\bshutil\.(copy|move))re"
    R"re(|\bNamedTemporaryFile\b|\bmkstemp\b|\.(to_csv|to_pickle|tofile|savez?_?txt|savez)\s*\(|\bnp\.save\s*\()re");

bool opens(const std::string& line, bool python) {
  // Most lines are done with before the slow search.
  constexpr auto kParts = std::to_array<const char*>(
      {"stream", "filebuf", "open", "O_", "tmpfile", "mk", "creat", "copy_", "resize_file", "truncate"});
  if (!python && std::none_of(kParts.begin(), kParts.end(),
                              [&](const char* part) { return line.find(part) != std::string::npos; }))
    return false;
  return std::regex_search(line, python ? kPythonOpens : kOpens);
}

TEST(OutputPlaces, OnlyCoreOpensFilesToWrite) {
  const fs::path root = TUNEMIX_SOURCE_DIR;
  const std::set<std::string> allowed = {
      "src/core/file.cc", "src/core/file_lock.cc",
      "python/examples/execute.py",  // a tool for the authors of the example, not in the package
  };
  size_t files = 0;
  std::set<std::string> used;
  for (const char* folder : {"src", "include", "pipeline", "python/src", "python/tunemix", "python/examples"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cc" && ending != ".h" && ending != ".py") continue;
      ++files;
      const std::string name = fs::relative(entry.path(), root).string();
      std::ifstream in(entry.path());
      std::string line;
      for (size_t number = 1; std::getline(in, line); ++number) {
        if (!opens(line, ending == ".py")) continue;
        used.insert(name);
        EXPECT_TRUE(allowed.contains(name))
            << name << ":" << number << " opens a file to write it: " << line
            << "\nuse OutputFile for what a user names, AtomicFile or open_log for files of the program";
      }
    }
  EXPECT_GT(files, 200U);
  EXPECT_EQ(used, allowed) << "the list names what is not there";
}

TEST(OutputPlaces, TheWordsAreFound) {
  for (const char* line :
       {"  std::ofstream out(path);", "std::fstream f;", "  FILE* f = fopen(name, \"wb\");",
        "fopen(x, \"r+\")", "::open(path.c_str(), O_WRONLY | O_CLOEXEC)", "open(p, O_RDWR)",
        "  creat(p, 0644);", "fs::copy_file(a, b);", "mkstemp(name)", "std::basic_ofstream<char> x;"})
    EXPECT_TRUE(opens(line, false)) << line;
  for (const char* line : {"std::ifstream in(path);", "#include <fstream>", "fopen(name, \"rb\")",
                           "::open(path, O_RDONLY | O_CLOEXEC)", "// creates (a file)"})
    EXPECT_FALSE(opens(line, false)) << line;
  for (const char* line : {"with open(path, \"wb\") as file:", "open(p, 'a')", "path.write_text(x)",
                           "frame.to_csv(path)", "os.open(p, flags)"})
    EXPECT_TRUE(opens(line, true)) << line;
  for (const char* line : {"with open(path) as file:", "open(path, \"rb\")", "self._core.save(path)"})
    EXPECT_FALSE(opens(line, true)) << line;
}

}  // namespace
}  // namespace tunemix
