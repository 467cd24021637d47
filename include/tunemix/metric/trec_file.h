// TREC's files: judgements (qrels) and the ranking of a system (run), read as trec_eval reads them.
#pragma once

#include <filesystem>
#include <vector>

#include "tunemix/data/dataset.h"

namespace tunemix {

// Queries that are judged and of which the run has no document: left out, as trec_eval does, or kept, as its
// option -c does.
enum class MissingQueries { kLeaveOut, kKeep };

struct TrecRun {
  Dataset data;                // a query's documents: those of the run in its order, then those only judged
  std::vector<double> scores;  // of each document; kNotRanked of those that the run leaves out
  size_t unjudged_documents = 0;  // ranked and not judged: label 0
  size_t unranked_documents = 0;  // judged and not ranked
  size_t unjudged_queries = 0;    // of the run, not in the qrels: left out
  size_t missing_queries = 0;     // of the qrels, not in the run
};

// qrels: `qid iteration docno label`; run: `qid Q0 docno rank score tag`, of which the rank and the tag mean
// nothing. Negative labels are 0. Plain or compressed, `-` is standard input. Throws InputError "file:line:
// what, what was expected".
TrecRun read_trec(const std::filesystem::path& qrels, const std::filesystem::path& run,
                  MissingQueries missing);

}  // namespace tunemix
