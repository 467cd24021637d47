// Rankings in the formats of other tools: challenge submissions, TREC runs with matching qrels, plain scores.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/data/dataset.h"

namespace tunemix {

// kYahoo: a line a query in file order, the 1-based rank of each of its documents. kTrec: `qid Q0 docno rank
// score tag`. kQrels: `qid 0 docno label`. kScores: one score a line in file order. kRankLib: `qid index
// score`. kTsv: with a header.
enum class ExportFormat { kYahoo, kTrec, kQrels, kScores, kRankLib, kTsv };

ExportFormat parse_export_format(std::string_view name);  // throws InputError with the nearest name
const std::vector<std::string>& export_format_names();

// Scored documents; views that must outlive the call.
struct ScoredDocuments {
  const QueryIndex& queries;
  std::span<const int32_t> labels;  // may be empty: unlabelled
  const NameTable& names;
  std::span<const uint32_t> source_rows;  // empty: documents are in file order
  std::span<const float> scores;
};

// The documents of a query from best to worst, as numbers within the query; equal scores in file order.
std::vector<uint32_t> rank_documents(std::span<const float> scores);

// The names of the documents where each has one that is unique within its query, else `qid-number` for all.
std::vector<std::string> document_ids(const QueryIndex& queries, const NameTable& names,
                                      bool may_be_named = true);

// Of documents that are written part by part.
struct ExportPart {
  bool first = true;  // what stands before the first document is written
  bool named = true;  // documents may go by their names
};
// Whether each document has a name that is unique within its query.
bool all_named(const QueryIndex& queries, const NameTable& names);

std::string export_text(ExportFormat format, const ScoredDocuments& documents, std::string_view tag,
                        const ExportPart& part = {});

}  // namespace tunemix
