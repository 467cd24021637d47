// Parses a run of whole LETOR lines into dense rows; the reader puts the runs together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/data/dataset.h"
#include "tunemix/data/float_buffer.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {

// Bytes that must be readable after the text of a run.
inline constexpr size_t kTextPadding = 64;

struct LetorRun {
  struct Query {
    std::string_view id;  // in the parsed text
    size_t first_row;
  };

  size_t rows = 0;
  size_t stride = 0;  // floats from one row to the next; those above max_id are 0
  size_t max_id = 0;
  FloatBuffer values;  // with labels_only, no more than a row in the making
  std::vector<int32_t> labels;
  std::vector<Query> queries;  // where the qid differs from the row before; none without qids
  NameTable names;             // one per row from the first row that has one; see first_named
  size_t first_named = 0;
  size_t lines = 0;   // lines read, up to the bad one if there is one
  std::string error;  // of the last line read: "what, what was expected"; empty when all is well
};

enum class QueryIds { kRequired, kNone };

// `text` ends with a newline and is followed by kTextPadding readable bytes; `run` is cleared first.
void parse_lines(std::string_view text, const LetorOptions& options, QueryIds ids, LetorRun& run);

// Whether the second word of the first document line is a qid; true when there is no such line.
bool first_line_has_qid(std::string_view text);

}  // namespace tunemix
