// How the rows of a run compare on the test queries: by pairs, with an oracle, and by what they put first.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "pipeline/stages/evaluate.h"
#include "pipeline/stages/mix.h"

namespace tunemix {

// "rows": every row's `ndcg`, `err` and `best`, the share of queries on which none is better; "oracle":
// `ndcg` and `err` of choosing the best row for each query (Yahoo overview, 6.1); "pairs": for the rows of
// whole families `a`, `b`, the two-sided `p` of the paired t-test over all test queries (table 8) and
// Kendall's `tau` of their rankings, the mean over queries.
nlohmann::ordered_json compare_rows(const EvaluationResult& evaluation, const std::vector<FoldInfo>& folds,
                                    const std::vector<const std::vector<MixRow>*>& rows);

// Kendall's tau-b of two scores of the same documents; nothing where either is constant.
std::optional<double> kendall_tau(std::span<const float> a, std::span<const float> b);

}  // namespace tunemix
