// Parses a run of whole LETOR lines into dense rows.
#pragma once

#include <string>
#include <string_view>

#include "data/rows.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {

enum class QueryIds { kRequired, kNone };

struct ParsedLines {
  size_t lines = 0;   // up to the bad one if there is one
  std::string error;  // of the last line read: "what, what was expected"; empty when all is well
};

// `text` ends with a newline and is followed by kTextPadding readable bytes (line_batches.h); `block` is
// cleared first.
ParsedLines parse_lines(std::string_view text, const LetorOptions& options, QueryIds ids, RowBlock& block);

// Whether the second word of the first document line is a qid; true when there is no such line.
bool first_line_has_qid(std::string_view text);

}  // namespace tunemix
