// What is known of each member before mixing: its quality on validation, and which members rank alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunemix/metric/selection.h"
#include "tunemix/mix/mixer.h"

namespace tunemix::mixing {

// What each query counts in sums over queries, 1 on the average; empty where all count the same.
std::vector<double> relative_weights(const ValidationData& validation);

// The queries in so many runs of about equal length: first query of each, and their number at the end.
std::vector<size_t> part_bounds(size_t queries, int parts);

struct Qualities {
  // Of every member: over all queries first, then, where there are several parts, over the queries outside
  // each.
  std::vector<std::vector<double>> omega;
  // Equal for members that order the documents of every query alike, with the same ties, in all likelihood
  // for no others.
  std::vector<uint64_t> fingerprints;
};

// Throws InputError for scores that are not finite.
Qualities member_qualities(std::span<const Member> members, const MemberSource& source,
                           const ValidationData& validation, const SelectionName& metric,
                           std::span<const size_t> bounds, const Context& context);

// For each member the first in `order` that orders the documents of every query as it does, with the same
// ties; mostly itself.
std::vector<size_t> first_alike(std::span<const size_t> order, std::span<const uint64_t> fingerprints,
                                const MemberSource& source, const QueryIndex& queries,
                                const Context& context);

}  // namespace tunemix::mixing
