// How the rows of a run compare on the test queries: by pairs, with an oracle, and by what they put first.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pipeline/report/data.h"
#include "pipeline/stages/evaluate.h"
#include "pipeline/stages/mix.h"

namespace tunemix {

// "No better row", the oracle (Yahoo overview, 6.1) and the pairs (table 8) are of the queries of all folds.
RowComparison compare_rows(const EvaluationResult& evaluation, const std::vector<FoldInfo>& folds,
                           const std::vector<const std::vector<MixRow>*>& rows);

// Kendall's tau-b of two scores of the same documents; nothing where either is constant.
std::optional<double> kendall_tau(std::span<const float> a, std::span<const float> b);

}  // namespace tunemix
