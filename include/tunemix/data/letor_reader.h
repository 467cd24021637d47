// Reads LETOR / SVM-light ranking files: `label qid:ID f:v f:v ... # comment`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// What becomes of a value `nan`: it is a missing value, or an error.
enum class MissingValues { kLearn, kRefuse };

struct LetorOptions {
  size_t num_features = 0;         // 0: the largest feature id seen; else ids above it are an error
  size_t least_features = 0;       // data of fewer features gets so many, the last ones 0
  size_t max_feature_id = 100000;  // a larger id is refused as absurd, in any case
  int num_labels = 0;              // 0: any label from 0 to max_label; else labels are 0..num_labels-1
  int max_label = 31;
  MissingValues missing = MissingValues::kLearn;
  bool unlabelled = false;   // accept label -1 (read as 0): data for prediction
  bool labels_only = false;  // features are checked and dropped: the data set has none
};

// Several files are one data set; `-` is standard input. `.gz` and `.zst` are read as they are; a
// `FILE.query` beside a file without qids holds LightGBM's group sizes. Rows of a query that are not adjacent
// are grouped stably, with one warning. Comments `#1: name` before the first document name the features.
// Throws InputError "file:line: what, what was expected".
Dataset read_letor(std::span<const std::filesystem::path> files, const LetorOptions& options,
                   const Context& context);
Dataset read_letor(const std::filesystem::path& file, const LetorOptions& options, const Context& context);
// The names of features in the head of a file, without reading the rest of it.
FeatureNames read_header_names(const std::filesystem::path& file);
// The same data from text in memory; `name` stands for the file in messages.
Dataset parse_letor(std::string_view text, std::string_view name, const LetorOptions& options,
                    const Context& context);

// The data can only be read as a whole.
class NotInParts : public InputError {
 public:
  using InputError::InputError;
};

// Reads the same files part by part, so that data of any size takes little memory.
class LetorParts {
 public:
  LetorParts(std::vector<std::filesystem::path> files, const LetorOptions& options, const Context& context);
  ~LetorParts();
  LetorParts(const LetorParts&) = delete;
  LetorParts& operator=(const LetorParts&) = delete;

  // The next whole queries, some megabytes of text; nothing at the end. Throws NotInParts where the rows of a
  // query are not adjacent.
  std::optional<Dataset> next();
  // The largest feature id so far.
  size_t widest() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes the data set as LETOR text, the names of its features first: features that are 0 are left out unless
// `dense`.
void write_letor(const Dataset& data, const std::filesystem::path& file, bool dense = true);
// Writes the weights of its documents, one a line.
void write_weights(const Dataset& data, const std::filesystem::path& file);

}  // namespace tunemix
