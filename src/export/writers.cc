#include "tunemix/export/writers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "export/buffer.h"
#include "tunemix/core/error.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

std::span<const float> scores_of(const ScoredDocuments& d, size_t query) {
  return d.scores.subspan(d.queries.begin(query), d.queries.length(query));
}

void write_yahoo(Buffer& out, const ScoredDocuments& d) {
  for (size_t q = 0; q < d.queries.size(); ++q) {
    const std::vector<uint32_t> order = rank_documents(scores_of(d, q));
    std::vector<size_t> rank(order.size());
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i + 1;
    print(out, "{}\n", fmt::join(rank, " "));
  }
}

// The order that our `trec` preset evaluates: tied documents by name, descending; those without one in file
// order.
std::vector<uint32_t> rank_for_trec(const ScoredDocuments& d, size_t query) {
  const auto scores = scores_of(d, query);
  std::vector<uint32_t> order = rank_documents(scores);
  if (d.names.size() != d.queries.documents()) return order;
  const size_t begin = d.queries.begin(query);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : d.names[begin + a] > d.names[begin + b];
  });
  return order;
}

// trec_eval sorts by single-precision score: each score written is below the one before, so that its order is
// ours.
void write_trec(Buffer& out, const ScoredDocuments& d, std::string_view tag, const ExportPart& part) {
  const std::vector<std::string> ids = document_ids(d.queries, d.names, part.named);
  for (size_t q = 0; q < d.queries.size(); ++q) {
    const auto scores = scores_of(d, q);
    const std::vector<uint32_t> order = rank_for_trec(d, q);
    float last = std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < order.size(); ++i) {
      float score = scores[order[i]];
      if (score >= last) score = std::nextafter(last, -std::numeric_limits<float>::infinity());
      last = score;
      print(out, "{} Q0 {} {} {} {}\n", d.queries.id(q), ids[d.queries.begin(q) + order[i]], i + 1, score,
            tag);
    }
  }
}

void write_qrels(Buffer& out, const ScoredDocuments& d) {
  if (d.labels.empty()) throw_input("qrels need labels; this data has none");
  const std::vector<std::string> ids = document_ids(d.queries, d.names);
  for (size_t q = 0; q < d.queries.size(); ++q)
    for (size_t i = d.queries.begin(q); i < d.queries.end(q); ++i)
      print(out, "{} 0 {} {}\n", d.queries.id(q), ids[i], d.labels[i]);
}

void write_scores(Buffer& out, const ScoredDocuments& d) {
  std::vector<float> in_file_order(d.scores.begin(), d.scores.end());
  for (size_t i = 0; i < d.source_rows.size(); ++i) in_file_order[d.source_rows[i]] = d.scores[i];
  for (const float score : in_file_order) print(out, "{}\n", score);
}

void write_ranklib(Buffer& out, const ScoredDocuments& d) {
  for (size_t q = 0; q < d.queries.size(); ++q)
    for (size_t i = 0; i < d.queries.length(q); ++i)
      print(out, "{}\t{}\t{}\n", d.queries.id(q), i, d.scores[d.queries.begin(q) + i]);
}

void write_tsv(Buffer& out, const ScoredDocuments& d, const ExportPart& part) {
  const std::vector<std::string> ids = document_ids(d.queries, d.names, part.named);
  if (part.first) print(out, "qid\tdocument\trank\tscore{}\n", d.labels.empty() ? "" : "\tlabel");
  for (size_t q = 0; q < d.queries.size(); ++q) {
    const auto scores = scores_of(d, q);
    const std::vector<uint32_t> order = rank_documents(scores);
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t document = d.queries.begin(q) + order[i];
      print(out, "{}\t{}\t{}\t{}", d.queries.id(q), ids[document], i + 1, scores[order[i]]);
      if (!d.labels.empty()) print(out, "\t{}", d.labels[document]);
      out.push_back('\n');
    }
  }
}

}  // namespace

const std::vector<std::string>& export_format_names() {
  static const std::vector<std::string> names = {"yahoo", "trec", "qrels", "scores", "ranklib", "tsv"};
  return names;
}

ExportFormat parse_export_format(std::string_view name) {
  const auto& names = export_format_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end())
    throw_input("format is '{}'; expected one of: {}{}", name, join(names, ", "), did_you_mean(name, names));
  return static_cast<ExportFormat>(it - names.begin());
}

std::vector<uint32_t> rank_documents(std::span<const float> scores) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), uint32_t{0});
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  return order;
}

bool all_named(const QueryIndex& queries, const NameTable& names) {
  if (names.size() != queries.documents()) return false;
  for (size_t q = 0; q < queries.size(); ++q) {
    std::unordered_set<std::string_view> seen;
    for (size_t i = queries.begin(q); i < queries.end(q); ++i)
      if (names[i].empty() || !seen.insert(names[i]).second) return false;
  }
  return true;
}

std::vector<std::string> document_ids(const QueryIndex& queries, const NameTable& names, bool may_be_named) {
  const bool named = may_be_named && all_named(queries, names);
  std::vector<std::string> ids(queries.documents());
  for (size_t q = 0; q < queries.size(); ++q)
    for (size_t i = queries.begin(q); i < queries.end(q); ++i)
      ids[i] = named ? std::string(names[i]) : fmt::format("{}-{}", queries.id(q), i - queries.begin(q));
  return ids;
}

std::string export_text(ExportFormat format, const ScoredDocuments& documents, std::string_view tag,
                        const ExportPart& part) {
  require(documents.scores.size() == documents.queries.documents(), "scores do not fit the documents");
  for (const float score : documents.scores)
    if (!std::isfinite(score)) throw_input("a score is not a finite number; nothing was exported");
  Buffer out;
  switch (format) {
    case ExportFormat::kYahoo:
      write_yahoo(out, documents);
      break;
    case ExportFormat::kTrec:
      write_trec(out, documents, tag, part);
      break;
    case ExportFormat::kQrels:
      write_qrels(out, documents);
      break;
    case ExportFormat::kScores:
      write_scores(out, documents);
      break;
    case ExportFormat::kRankLib:
      write_ranklib(out, documents);
      break;
    case ExportFormat::kTsv:
      write_tsv(out, documents, part);
      break;
  }
  return {out.data(), out.size()};
}

}  // namespace tunemix
