// Which format a file is read as.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>

#include "data/rows.h"
#include "tunemix/core/context.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {

// The least number of features of what is read.
inline size_t least_width(const LetorOptions& options) {
  return std::max(options.num_features, options.least_features);
}

// `-` is standard input. The options outlive it.
std::unique_ptr<RowSource> open_rows(const std::filesystem::path& file, const LetorOptions& options,
                                     const Context& context);

}  // namespace tunemix
