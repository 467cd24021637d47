// The rows of a LETOR file: `label qid:ID f:v f:v ... # comment`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/letor_parser.h"
#include "data/line_batches.h"
#include "data/rows.h"
#include "tunemix/core/context.h"

namespace tunemix {

class LetorRows : public RowSource {
 public:
  // `grouped`: the sizes of its queries are in a file beside it, unless it has qids.
  LetorRows(std::unique_ptr<TextSource> text, std::string name, bool grouped, const LetorOptions& options,
            const Context& context, size_t batch_bytes = kBatchBytes);

  std::span<const RowBlock> next(size_t width) override;
  const std::string& name() const override { return name_; }
  std::string place() const override;
  bool has_queries() const override { return ids_ == QueryIds::kRequired; }
  FeatureNames feature_names() const override { return feature_names_; }

 private:
  std::string_view next_lines();

  std::unique_ptr<TextSource> text_;
  std::string name_;
  bool grouped_;
  const LetorOptions& options_;
  const Context& context_;
  LineBatches batches_;
  QueryIds ids_ = QueryIds::kRequired;
  FeatureNames feature_names_;
  std::vector<RowBlock> blocks_;  // reused from batch to batch
  std::vector<ParsedLines> parsed_;
  bool first_ = true;
  size_t lines_ = 0;
};

}  // namespace tunemix
