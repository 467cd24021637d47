// The quality of every mixture of the grid over c and T, cross-validated over parts of the queries, and the
// masses of families and models (spec, section 5).
#pragma once

#include <span>
#include <vector>

#include "mix/quality.h"
#include "mix/weights.h"

namespace tunemix::mixing {

// The computation, with n validation queries in parts 1..P (one part: every "outside" below is all queries).
//
// omega_m(p)      member m's quality over the queries outside part p.
// F_f,p(c, T)     mixture of family f alone with weights proportional to exp(c omega_m(p)).
// Omega_f(c, T)   sum over parts p of the quality of F_f,p on p's queries, over n; also the value of the
//                 family's own grid at (c, T).
// Omega_f,p(c, T) the same sum over the parts other than p, over their number of queries.
//
// The mixture of several families is judged on part p as the sum over f of mass_f,p F_f,p, mass_f,p
// proportional to exp(2 sqrt(n) Omega_f,p(c, T)): neither its weights nor its masses are measured on the
// queries of part p. (These still help to weigh the members inside F_f,p' for another part p', as in any
// stacking by one set of folds; keeping them out of that too would take P times the work.) The mixture chosen
// in the end has weights by all queries and masses proportional to exp(2 sqrt(n) Omega_f(c, T)).
//
// Where masses are learned, let W_p(c, T) be that mixture of families, and G_g,p(c, T) to model g what F_f,p
// is to a family. W_p, the F_f,p and the G_g,p are units: candidates, mixtures of two of them, are judged
// query by query on part p, with c in the middle of the grid, and learn_masses() finds the units' masses by
// the queries outside part p. Of the mixture that is judged on p a share learned_share() is the units with
// these masses, the rest W_p.
struct GridInput {
  const Layout& layout;
  std::span<const Weights> weights;  // by all queries, then, with several parts, by those outside each
  std::span<const double> cs;
  std::span<const size_t> bounds;  // of the parts
  const MemberSource& source;
  const ValidationData& validation;
  const MixOptions& options;
  const SelectionName& metric;
};

struct GridValues {
  // By variant and T, for each c. Empty where there was no choice.
  std::vector<std::vector<std::vector<double>>> quality;
  // By variant and T, c x cells: the cells' factors in the final mixture.
  std::vector<std::vector<std::vector<double>>> factors;
};

GridValues evaluate_grid(const GridInput& input, const Context& context);

}  // namespace tunemix::mixing
