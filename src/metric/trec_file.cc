#include "tunemix/metric/trec_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <unordered_map>

#include "metric/number.h"
#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/text_file.h"
#include "tunemix/metric/evaluator.h"

namespace tunemix {
namespace {

constexpr size_t kMostWords = 7;  // one more than a line may have

struct Document {
  std::string_view name;
  double score = kNotRanked;
  int32_t label = -1;  // not judged
};

struct Query {
  std::string_view id;
  bool judged = false;
  bool ranked = false;
  std::vector<Document> documents;
  std::unordered_map<std::string_view, size_t> places;  // of each name in `documents`

  // The document of this name, which is added where it is new.
  Document& find(std::string_view name) {
    const auto [place, added] = places.try_emplace(name, documents.size());
    if (added) documents.push_back({.name = name});
    return documents[place->second];
  }
};

struct Queries {
  std::vector<Query> all;
  std::unordered_map<std::string_view, size_t> places;

  Query& find(std::string_view id) {
    const auto [place, added] = places.try_emplace(id, all.size());
    if (added) all.push_back({.id = id, .judged = false, .ranked = false, .documents = {}, .places = {}});
    return all[place->second];
  }
};

struct File {
  explicit File(const std::filesystem::path& path)
      : name(path == "-" ? "standard input" : path.string()), text(read(path)) {}
  static std::string read(const std::filesystem::path& path) {
    if (path != "-") expect_readable(path);
    return read_any_text(path);
  }

  // Calls body(words, line number) for each line that is not blank.
  template <typename Body>
  void for_each_line(size_t fewest, size_t most, std::string_view expected, Body body) const {
    size_t number = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = std::string_view(text).substr(at, end - at);
      at = end + 1;
      ++number;
      std::array<std::string_view, kMostWords> words;
      size_t count = 0;
      while (count < kMostWords) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (line.empty()) break;
        words[count] = line.substr(0, line.find_first_of(" \t\r"));
        line.remove_prefix(words[count++].size());
      }
      if (count == 0) continue;
      if (count < fewest || count > most)
        throw_input("{}:{}: {}{} words, expected '{}'", name, number, count == kMostWords ? "at least " : "",
                    count, expected);
      body(words, number);
    }
  }

  std::string name;
  std::string text;
};

void add_qrels(const File& file, Queries& queries) {
  const int largest = LetorOptions().max_label;
  file.for_each_line(4, 4, "qid iteration docno label", [&](const auto& words, size_t line) {
    int32_t label = 0;
    const char* end = words[3].data() + words[3].size();
    const auto result = std::from_chars(words[3].data(), end, label);
    if (result.ec != std::errc() || result.ptr != end || label > largest)
      throw_input("{}:{}: label '{}', expected a whole number of at most {}", file.name, line,
                  words[3].substr(0, 60), largest);
    Query& query = queries.find(words[0]);
    query.judged = true;
    Document& document = query.find(words[2]);
    if (document.label >= 0)
      throw_input("{}:{}: document '{}' is judged twice for query '{}'", file.name, line, words[2], words[0]);
    document.label = std::max(label, 0);
  });
}

void add_run(const File& file, Queries& queries) {
  file.for_each_line(5, 6, "qid Q0 docno rank score tag", [&](const auto& words, size_t line) {
    double score = 0;
    if (!parse_finite(words[4], score))
      throw_input("{}:{}: score '{}', expected one finite number", file.name, line, words[4].substr(0, 60));
    Query& query = queries.find(words[0]);
    query.ranked = true;
    Document& document = query.find(words[2]);
    if (document.score != kNotRanked)
      throw_input("{}:{}: document '{}' is ranked twice for query '{}'", file.name, line, words[2], words[0]);
    document.score = score;
  });
}

}  // namespace

TrecRun read_trec(const std::filesystem::path& qrels, const std::filesystem::path& run,
                  MissingQueries missing) {
  const File judgements(qrels);
  const File ranking(run);
  Queries queries;
  add_run(ranking, queries);
  add_qrels(judgements, queries);

  Documents about;
  std::vector<double> scores;
  size_t unjudged_documents = 0;
  size_t unranked_documents = 0;
  size_t unjudged_queries = 0;
  size_t missing_queries = 0;
  for (const Query& query : queries.all) {
    unjudged_queries += query.judged ? 0 : 1;
    missing_queries += query.ranked ? 0 : 1;
    if (!query.judged || (!query.ranked && missing == MissingQueries::kLeaveOut)) continue;
    for (const Document& document : query.documents) {
      unjudged_documents += document.label < 0 ? 1 : 0;
      unranked_documents += document.score == kNotRanked ? 1 : 0;
      about.labels.push_back(std::max(document.label, 0));
      scores.push_back(document.score);
      about.names.add(document.name);
    }
    about.queries.add(std::string(query.id), query.documents.size());
  }
  if (about.queries.size() == 0)
    throw_input("{} and {} have no query in common; expected the same qids in both", judgements.name,
                ranking.name);
  return {.data = Dataset(FloatBuffer(), 0, std::move(about)),
          .scores = std::move(scores),
          .unjudged_documents = unjudged_documents,
          .unranked_documents = unranked_documents,
          .unjudged_queries = unjudged_queries,
          .missing_queries = missing_queries};
}

}  // namespace tunemix
