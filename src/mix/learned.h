// Masses that are learned: what is best together, as the mean over bootstrap samples of the queries, so that
// luck with some of them counts little (spec, section 5).
#pragma once

#include <span>
#include <vector>

#include "tunemix/core/context.h"

namespace tunemix::mixing {

// Two units (mixtures of some members) with half of the mass each, or one with all of it.
struct Candidate {
  size_t first;
  size_t second;  // the same where it is one
};

constexpr size_t kMostUnits = 31;  // that are tried together: 496 candidates

// Every unit alone, and every two.
std::vector<Candidate> make_candidates(size_t units);

// For the queries outside each part and then for all (with one part, both are all): the masses of the units,
// means over samples of those candidates that are best on the sample. `values`: by query, then candidate, the
// quality as it counts in the sum over queries.
std::vector<std::vector<double>> learn_masses(size_t units, std::span<const Candidate> candidates,
                                              std::span<const double> values, std::span<const size_t> bounds,
                                              const Context& context);

// How much of the final masses is learned; the rest is known before. n^2 / (n^2 + 120^2) for n queries of the
// same weight: of twelve a thirtieth, of seventy a half. `weights` of queries; empty: 1.
double learned_share(size_t queries, std::span<const double> weights);

}  // namespace tunemix::mixing
