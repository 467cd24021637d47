// A run directory as a later command finds it: what its manifest names, read from the store beside it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/stages/evaluate.h"
#include "pipeline/stages/fold_data.h"
#include "tunemix/core/context.h"

namespace tunemix {

struct FinishedRun {
  std::string name;
  std::string tool;     // that the values of the queries are of
  std::string err_max;  // as its config says
  EvaluationResult evaluation;
  std::vector<SplitInfo> tests;  // of each fold
  std::vector<int> labels;       // of each fold: K

  // The rows that there are, in the order of the results.
  std::vector<std::string> rows() const;
  // Throws InputError with the nearest name; nothing stands for the full mixture.
  std::string row_or_main(const std::string& row) const;
  const QueryValues& values(const std::string& row, size_t fold) const;
};

// `run`: a run directory, or the name of one under `runs`. Throws InputError where there is none or it has
// not been evaluated.
FinishedRun open_run(const std::filesystem::path& run, const std::filesystem::path& runs,
                     const Context& context);

}  // namespace tunemix
