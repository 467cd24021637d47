#include "tunemix/data/clicks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "tunemix/core/error.h"
#include "tunemix/data/text_file.h"

namespace tunemix {
namespace {

constexpr size_t kMostRanks = 10000;
// Probabilities stay inside (0, 1): at the ends expectation maximisation cannot move.
constexpr double kLeast = 1e-9;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(" \r"); at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \r", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = std::min(text.find_first_not_of(" \r", end), text.size());
  }
  return words;
}

// One line of the log.
struct Session {
  std::string_view query;
  std::vector<std::string_view> documents;
  std::vector<bool> clicked;
};

Session parse_session(std::string_view line, std::string_view name, size_t number) {
  const size_t first = line.find('\t');
  const size_t second = first == std::string_view::npos ? first : line.find('\t', first + 1);
  if (first == std::string_view::npos)
    throw_input("{}:{}: one column, expected QUERY, DOCUMENTS and CLICKED RANKS, separated by tabs", name,
                number);
  if (second != std::string_view::npos && line.find('\t', second + 1) != std::string_view::npos)
    throw_input("{}:{}: more than three columns; documents and ranks are separated by blanks, not tabs", name,
                number);
  Session session;
  const std::vector<std::string_view> query = words_of(line.substr(0, first));
  if (query.size() != 1)
    throw_input("{}:{}: the query is '{}', expected one word without blanks", name, number,
                line.substr(0, std::min<size_t>(first, 40)));
  session.query = query[0];
  session.documents =
      words_of(line.substr(first + 1, second == std::string_view::npos ? second : second - first - 1));
  if (session.documents.empty()) throw_input("{}:{}: no documents, expected at least one", name, number);
  if (session.documents.size() > kMostRanks)
    throw_input("{}:{}: {} documents, expected at most {}", name, number, session.documents.size(),
                kMostRanks);
  std::vector<std::string_view> sorted = session.documents;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw_input("{}:{}: document '{}' is shown twice, expected each once", name, number, *twice);
  session.clicked.assign(session.documents.size(), false);
  if (second == std::string_view::npos) return session;
  for (const std::string_view word : words_of(line.substr(second + 1))) {
    size_t rank = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), rank);
    if (error != std::errc() || stop != word.data() + word.size() || rank < 1 ||
        rank > session.documents.size())
      throw_input("{}:{}: clicked rank '{}', expected whole numbers from 1 to {}, the documents shown", name,
                  number, word.substr(0, 40), session.documents.size());
    session.clicked[rank - 1] = true;
  }
  return session;
}

// Sessions added up by names.
class Counter {
 public:
  void add(const Session& session) {
    const auto [it, fresh] = query_of_.try_emplace(std::string(session.query), counts_.queries.size());
    if (fresh) {
      counts_.queries.push_back({std::string(session.query), {}});
      documents_.emplace_back();
    }
    auto& documents = documents_[it->second];
    for (size_t rank = 0; rank < session.documents.size(); ++rank) {
      auto& [times, clicks] = documents[std::string(session.documents[rank])][static_cast<uint32_t>(rank)];
      times += 1;
      clicks += session.clicked[rank] ? 1 : 0;
      counts_.clicks += session.clicked[rank] ? 1 : 0;
    }
    counts_.ranks = std::max(counts_.ranks, session.documents.size());
    ++counts_.sessions;
  }

  ClickCounts finish() {
    for (size_t q = 0; q < documents_.size(); ++q)
      for (const auto& [name, ranks] : documents_[q]) {
        ClickCounts::Document document{name, {}};
        for (const auto& [rank, seen] : ranks) document.shown.push_back({rank, seen.first, seen.second});
        counts_.queries[q].documents.push_back(std::move(document));
      }
    return std::move(counts_);
  }

 private:
  ClickCounts counts_;
  std::unordered_map<std::string, size_t> query_of_;
  std::vector<std::map<std::string, std::map<uint32_t, std::pair<double, double>>>> documents_;
};

// Sums by rank of one block of queries.
struct RankSums {
  std::vector<double> examined;
  std::vector<double> shown;
  double attracted = 0;
  double documents = 0;
  double log_likelihood = 0;
  double change = 0;
};

// The label whose probability to stop at is nearest.
int32_t grade_of(double probability, int grades) {
  const double scale = std::ldexp(1.0, grades - 1) - 1;
  int32_t best = 0;
  for (int32_t l = 1; l < grades; ++l) {
    const auto off = [&](int32_t label) {
      return std::abs((std::ldexp(1.0, label) - 1) / scale - probability);
    };
    if (off(l) < off(best)) best = l;
  }
  return best;
}

// Rows of a data set by query and document.
class FeatureRows {
 public:
  explicit FeatureRows(const Dataset& data) : data_(data) {
    if (!data.names().any())
      throw InputError(
          "the features name no documents; expected '# docid = NAME' at the end of each line, as in the log");
    for (size_t q = 0; q < data.queries().size(); ++q)
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
        rows_.try_emplace(key(data.queries().id(q), data.names()[i]), i);
  }
  const float* find(const std::string& query, const std::string& document) const {
    auto it = rows_.find(key(query, document));
    if (it == rows_.end()) it = rows_.find(key("*", document));
    return it == rows_.end() ? nullptr : data_.row(it->second).data();
  }

 private:
  static std::string key(std::string_view query, std::string_view document) {
    return std::string(query) + '\t' + std::string(document);
  }
  const Dataset& data_;
  std::unordered_map<std::string, size_t> rows_;
};

}  // namespace

ClickCounts parse_clicks(std::string_view text, std::string_view name) {
  Counter counter;
  size_t number = 0;
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) continue;
    counter.add(parse_session(line, name, number));
    any = true;
  }
  if (!any) throw_input("{}: no sessions, expected at least one line with one", name);
  return counter.finish();
}

ClickCounts read_clicks(const std::filesystem::path& file) {
  return parse_clicks(read_any_text(file), file == "-" ? "standard input" : file.string());
}

ClickModel fit_click_model(const ClickCounts& counts, const ClickModelOptions& options,
                           const Context& context) {
  constexpr size_t kBlock = 64;  // queries that are summed at a time
  if (counts.clicks == 0)
    throw_input("none of the {} sessions has a click, so that there is nothing to learn from them",
                counts.sessions);
  ClickModel model;
  const size_t queries = counts.queries.size();
  // A start at which neither factor explains everything: examination falls, attraction is the share of
  // clicks.
  for (size_t r = 0; r < counts.ranks; ++r)
    model.examination.push_back(1 / std::sqrt(static_cast<double>(r) + 1));
  for (const ClickCounts::Query& query : counts.queries) {
    auto& attraction = model.attraction.emplace_back();
    for (const ClickCounts::Document& document : query.documents) {
      double times = 0, clicks = 0;
      for (const ClickCounts::Shown& shown : document.shown) {
        times += shown.times;
        clicks += shown.clicks;
      }
      attraction.push_back(std::clamp((clicks + 0.5) / (times + 1), kLeast, 1 - kLeast));
    }
    model.examined.emplace_back(query.documents.size(), 0.0);
  }
  const size_t blocks = (queries + kBlock - 1) / kBlock;
  double mean = 0.1;
  for (int step = 0; step < options.iterations && !model.converged; ++step) {
    context.check_stop();
    std::vector<RankSums> sums(blocks);
    // Each block owns its queries; what they share is added up in order below.
    parallel_blocks(context.pool(), queries, kBlock, [&](size_t begin, size_t end) {
      RankSums& sum = sums[begin / kBlock];
      sum.examined.assign(counts.ranks, 0.0);
      sum.shown.assign(counts.ranks, 0.0);
      for (size_t q = begin; q < end; ++q)
        for (size_t d = 0; d < counts.queries[q].documents.size(); ++d) {
          double& attraction = model.attraction[q][d];
          double attracted = 0, times = 0, looked = 0;
          for (const ClickCounts::Shown& shown : counts.queries[q].documents[d].shown) {
            const double gamma = model.examination[shown.rank];
            const double skips = shown.times - shown.clicks;
            const double none = std::max(kLeast, 1 - gamma * attraction);
            // A click needs both; without one either may have been missing.
            const double examined = shown.clicks + skips * gamma * (1 - attraction) / none;
            attracted += shown.clicks + skips * attraction * (1 - gamma) / none;
            times += shown.times;
            looked += examined;
            sum.examined[shown.rank] += examined;
            sum.shown[shown.rank] += shown.times;
            sum.log_likelihood +=
                shown.clicks * std::log(std::max(kLeast, gamma * attraction)) + skips * std::log(none);
          }
          const double next =
              std::clamp((attracted + options.prior * mean) / (times + options.prior), kLeast, 1 - kLeast);
          sum.change = std::max(sum.change, std::abs(next - attraction));
          attraction = next;
          model.examined[q][d] = looked;
          sum.attracted += next;
          sum.documents += 1;
        }
    });
    RankSums all;
    all.examined.assign(counts.ranks, 0.0);
    all.shown.assign(counts.ranks, 0.0);
    for (const RankSums& sum : sums) {
      for (size_t r = 0; r < counts.ranks; ++r) {
        all.examined[r] += sum.examined[r];
        all.shown[r] += sum.shown[r];
      }
      all.attracted += sum.attracted;
      all.documents += sum.documents;
      all.log_likelihood += sum.log_likelihood;
      all.change = std::max(all.change, sum.change);
    }
    mean = all.attracted / all.documents;
    // Only the product of both is seen: everybody looks at the first rank.
    for (size_t r = 1; r < counts.ranks; ++r) {
      const double next = std::clamp(all.examined[r] / all.shown[r], kLeast, 1 - kLeast);
      all.change = std::max(all.change, std::abs(next - model.examination[r]));
      model.examination[r] = next;
    }
    model.log_likelihood = all.log_likelihood;
    model.iterations = step + 1;
    model.converged = all.change < options.tolerance;
  }
  return model;
}

Dataset grade_clicks(const ClickCounts& counts, const ClickModel& model, const ClickGradeOptions& options,
                     const Dataset* features, size_t& missing) {
  double top = options.top;
  for (size_t q = 0; q < counts.queries.size() && options.top == 0; ++q)
    top = std::max(top, *std::max_element(model.attraction[q].begin(), model.attraction[q].end()));
  std::optional<FeatureRows> rows;
  if (features != nullptr) rows.emplace(*features);
  const size_t width = features == nullptr ? 0 : features->features();
  std::vector<float> values;
  Documents about;
  missing = 0;
  for (size_t q = 0; q < counts.queries.size(); ++q) {
    const ClickCounts::Query& query = counts.queries[q];
    for (size_t d = 0; d < query.documents.size(); ++d) {
      const float* row = rows ? rows->find(query.id, query.documents[d].name) : nullptr;
      if (rows && row == nullptr) {
        ++missing;
        continue;
      }
      if (row != nullptr) values.insert(values.end(), row, row + width);
      about.labels.push_back(grade_of(std::min(1.0, model.attraction[q][d] / top), options.grades));
      const double examined = model.examined[q][d];
      about.weights.push_back(static_cast<float>(examined / (examined + options.prior)));
      about.names.add(query.documents[d].name);
    }
    if (const size_t found = about.size() - about.queries.documents(); found > 0)
      about.queries.add(query.id, found);
  }
  if (about.size() == 0)
    throw InputError("no document of the log has features; do their queries and names agree?");
  return Dataset(FloatBuffer(values), width, std::move(about));
}

}  // namespace tunemix
