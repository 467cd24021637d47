// What is said of finished mixtures: their validation scores and quality, and what each member adds.
#pragma once

#include <span>
#include <vector>

#include "tunemix/metric/selection.h"
#include "tunemix/mix/mixer.h"

namespace tunemix::mixing {

// Fills in the validation scores, their quality, and the members' diagnostics.
void complete(std::vector<MixResult>& results, const MemberSource& source, const ValidationData& validation,
              std::span<const double> omega, const SelectionName& metric, const Context& context);

}  // namespace tunemix::mixing
