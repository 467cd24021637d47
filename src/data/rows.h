// Rows of documents as the reader of a format hands them on. Whatever makes data sets of files knows rows
// only; a format is a RowSource.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/data/documents.h"
#include "tunemix/data/feature_names.h"
#include "tunemix/data/float_buffer.h"

namespace tunemix {

struct RowBlock {
  struct Query {
    std::string_view id;  // in memory of the source, until its next call
    size_t first_row;
  };

  size_t rows = 0;
  size_t stride = 0;   // floats from one row to the next; those above max_id are 0
  size_t max_id = 0;   // the largest feature number, from 1
  FloatBuffer values;  // where only labels are wanted, no more than a row in the making
  std::vector<int32_t> labels;
  std::vector<Query> queries;  // where the id differs from the row before; none without ids
  NameTable names;             // one per row from the first row that has one; see first_named
  size_t first_named = 0;
};

// The rows of one file, in order.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // The next rows, valid until the next call; no blocks at the end. A block is best as wide as `width`, the
  // widest so far. Throws InputError that names file and place.
  virtual std::span<const RowBlock> next(size_t width) = 0;
  virtual const std::string& name() const = 0;  // of the file, in messages
  virtual std::string place() const = 0;        // with how far it has been read
  // What follows is known after the first call of next().
  virtual bool has_queries() const = 0;  // rows come with the ids of queries
  virtual FeatureNames feature_names() const = 0;
};

}  // namespace tunemix
