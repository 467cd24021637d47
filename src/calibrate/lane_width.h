// How many documents calibrations and mixtures take at a time; arrays are padded to whole runs of them.
#pragma once

#include <cstddef>

namespace tunemix::lanes {

constexpr size_t kWidth = 8;

constexpr size_t padded(size_t documents) { return (documents + kWidth - 1) / kWidth * kWidth; }

}  // namespace tunemix::lanes
