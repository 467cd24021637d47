#include "tunemix/data/score_matrix.h"

#include "tunemix/core/error.h"

namespace tunemix {

void ScoreMatrix::expect_data(const Hash128& fingerprint) const {
  if (data_ != fingerprint)
    throw_input("scores of model {} belong to other data: fingerprint {}, expected {}", model_, data_.hex(),
                fingerprint.hex());
}

}  // namespace tunemix
