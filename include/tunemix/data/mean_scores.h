// The mean of the scores of several models: the bags of one learner.
#pragma once

#include "tunemix/data/score_matrix.h"

namespace tunemix {

// Matrices are added in their order, then divided by their number, so that a mean is the same bits
// everywhere.
void add_scores(ScoreMatrix& sum, const ScoreMatrix& scores);
void divide_scores(ScoreMatrix& sum, size_t count);

}  // namespace tunemix
