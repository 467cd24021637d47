#include "tunemix/data/mean_scores.h"

#include "tunemix/core/error.h"

namespace tunemix {

void add_scores(ScoreMatrix& sum, const ScoreMatrix& scores) {
  require(sum.columns() == scores.columns() && sum.documents() == scores.documents(),
          "the sum of score matrices of different sizes");
  for (size_t i = 0; i < sum.values().size(); ++i) sum.values()[i] += scores.values()[i];
}

void divide_scores(ScoreMatrix& sum, size_t count) {
  for (float& value : sum.values()) value /= static_cast<float>(count);
}

}  // namespace tunemix
