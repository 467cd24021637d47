// Puts the rows of files together into a data set.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/rows.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

class RowAssembler {
 public:
  // `width`: the least number of features; a data set without features has none at all.
  RowAssembler(size_t width, bool with_features, const Context& context)
      : context_(&context), with_features_(with_features), width_(with_features ? width : 0) {}

  // All rows of a file. `group_file`, `weight_file`: where the sizes of its queries and the weights of its
  // documents may be; empty for none.
  void read(RowSource& source, const std::filesystem::path& group_file,
            const std::filesystem::path& weight_file);
  // The next rows of a file; false at its end.
  bool add(RowSource& source);

  size_t rows() const { return rows_; }
  size_t widest() const { return widest_; }  // the largest feature number, from 1
  // A query whose rows are not adjacent; empty while there is none.
  const std::string& apart() const { return apart_; }

  // Rows of a query that are not adjacent are grouped stably, with a warning.
  Dataset finish();
  // The rows before the last query, whose rows stay; nothing where there is no other.
  std::optional<Dataset> take_finished_queries();

 private:
  struct Segment {  // adjacent rows of one query
    size_t query;
    size_t rows;
  };

  void place(const RowBlock& block, size_t first_row);
  void widen(size_t width);
  void append_rows(const RowBlock& block);
  void add_segment(std::string_view id, size_t rows);
  void add_groups(const std::string& name, const std::filesystem::path& file, size_t before);
  void add_feature_names(FeatureNames names, const std::string& file);
  std::vector<uint32_t> grouped_order() const;
  void permute_rows(std::span<const uint32_t> order);
  RowAssembler split_last_query();

  const Context* context_;
  bool with_features_;
  FloatBuffer features_;
  size_t width_;
  size_t rows_ = 0;
  std::vector<int32_t> labels_;
  std::vector<float> weights_;  // empty while no file has any
  NameTable names_;
  FeatureNames feature_names_;
  std::string named_by_;  // the file that named the features
  std::vector<Segment> segments_;
  std::vector<std::string> query_ids_;
  std::unordered_map<std::string, size_t> query_of_;
  std::string apart_;
  size_t widest_ = 0;
  bool any_qids_ = false;
  bool any_groups_ = false;
};

}  // namespace tunemix
