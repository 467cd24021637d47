#include "tunemix/mix/mixer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mix/diagnostics.h"
#include "mix/grid.h"
#include "mix/layout.h"
#include "mix/quality.h"
#include "mix/weights.h"

namespace tunemix {
namespace {

using mixing::Layout;
using mixing::Selection;
using mixing::Weights;

std::vector<double> c_grid(const MixOptions& options) {
  if (options.choice == MixChoice::kFixed) return {options.fixed_c};
  if (!(options.c_step > 0) || !(options.c_to >= options.c_from) || !(options.c_from >= 0))
    throw_input("the grid of c goes from {} to {} by {}; expected 0 <= from <= to and a positive step",
                options.c_from, options.c_to, options.c_step);
  const double steps = std::floor((options.c_to - options.c_from) / options.c_step + 1e-9);
  if (steps > 10000) throw_input("the grid of c has {:.0f} steps; expected at most 10000", steps);
  std::vector<double> grid;
  for (size_t i = 0; i <= static_cast<size_t>(steps); ++i)
    grid.push_back(options.c_from + static_cast<double>(i) * options.c_step);
  return grid;
}

MixResult make_one_best(const Variant& variant, std::span<const Member> members,
                        std::span<const size_t> order, std::span<const double> omega) {
  size_t best = members.size();
  for (const size_t m : order)
    if (variant.takes(members[m]) && (best == members.size() || omega[m] > omega[best])) best = m;
  MixResult result;
  result.variant = variant;
  result.sources = {best};
  // Its scores as they are: there is nothing to bring to one scale.
  result.mixture = Mixture({members[best]}, {1.0}, Normalize::kNone, 0, members[best].checkpoint);
  return result;
}

// Everything that a choice is made from.
struct Choices {
  std::span<const Member> members;
  std::span<const double> cs;
  const Layout& layout;
  const Weights& weights;  // by all queries
  const mixing::GridValues& values;
};

// Every point of a variant's grid: by T, then by c.
std::vector<GridPoint> grid_points(const Choices& from, size_t variant) {
  std::vector<GridPoint> grid;
  const std::vector<Selection>& selections = from.layout.selections[variant];
  for (size_t t = 0; t < selections.size(); ++t)
    for (size_t j = 0; j < from.cs.size(); ++j)
      grid.push_back({from.cs[j], selections[t].checkpoint,
                      from.values.quality.empty() ? 0 : from.values.quality[variant][t][j]});
  return grid;
}

// Ties go to the smaller c, then to the smaller T.
size_t best_point(std::span<const GridPoint> grid) {
  size_t best = 0;
  for (size_t p = 1; p < grid.size(); ++p) {
    const bool earlier =
        std::pair(grid[p].c, grid[p].checkpoint) < std::pair(grid[best].c, grid[best].checkpoint);
    if (grid[p].quality > grid[best].quality || (grid[p].quality == grid[best].quality && earlier)) best = p;
  }
  return best;
}

struct Weighted {
  size_t member;
  double weight;
};

// The members of a mixture with their weights, in the canonical order.
std::vector<Weighted> weigh_members(const Choices& from, size_t variant, size_t t, size_t j) {
  const Layout& layout = from.layout;
  const Selection& selection = layout.selections[variant][t];
  std::vector<Weighted> result;
  const auto add = [&](size_t cell, double factor) {
    const std::vector<size_t>& members = layout.cells[cell].members;
    for (size_t i = 0; i < members.size(); ++i)
      result.push_back({members[i], factor * from.weights.cells[cell].members[i * from.cs.size() + j]});
  };
  const std::vector<double>& factors = from.values.factors[variant][t];
  for (size_t i = 0; i < selection.cells.size(); ++i)
    add(selection.cells[i], factors[j * selection.cells.size() + i]);
  std::sort(result.begin(), result.end(), [&](const Weighted& a, const Weighted& b) {
    return from.members[a.member] < from.members[b.member];
  });
  return result;
}

MixResult choose(const Choices& from, const Variant& variant, size_t v, Normalize normalize) {
  MixResult result;
  result.variant = variant;
  result.grid = grid_points(from, v);
  const size_t best = best_point(result.grid);
  result.chosen_by = result.grid[best].quality;
  const size_t t = best / from.cs.size();
  std::vector<Member> members;
  std::vector<double> weights;
  for (const auto& [member, weight] : weigh_members(from, v, t, best % from.cs.size())) {
    result.sources.push_back(member);
    members.push_back(from.members[member]);
    weights.push_back(weight);
  }
  result.left_out = from.layout.selections[v][t].left_out;
  result.mixture = Mixture(std::move(members), std::move(weights), normalize, result.grid[best].c,
                           result.grid[best].checkpoint);
  return result;
}

constexpr double kLight = 0.005;

// The mixture without its light members; nothing where there are none or no others.
std::optional<MixResult> without_light(const MixResult& from) {
  const std::vector<double>& all = from.mixture.weights();
  double rest = 0;
  for (const double weight : all) rest += weight < kLight ? 0 : weight;
  MixResult result = from;
  result.sources.clear();
  std::vector<Member> members;
  std::vector<double> weights;
  for (size_t m = 0; m < all.size(); ++m) {
    if (all[m] < kLight) continue;
    result.sources.push_back(from.sources[m]);
    members.push_back(from.mixture.members()[m]);
    weights.push_back(all[m] / rest);
  }
  if (members.empty() || members.size() == all.size()) return std::nullopt;
  result.mixture = Mixture(std::move(members), std::move(weights), from.mixture.normalize(), from.mixture.c(),
                           from.mixture.checkpoint());
  return result;
}

// Where validation does not fall by it.
template <typename Complete>
void leave_out_light(std::vector<MixResult>& results, Complete complete) {
  std::vector<MixResult> lighter;
  std::vector<size_t> places;
  for (size_t v = 0; v < results.size(); ++v)
    if (std::optional<MixResult> found = without_light(results[v])) {
      lighter.push_back(std::move(*found));
      places.push_back(v);
    }
  complete(lighter);
  for (size_t i = 0; i < places.size(); ++i)
    if (lighter[i].validation >= results[places[i]].validation) results[places[i]] = std::move(lighter[i]);
}

}  // namespace

std::vector<double> member_quality(std::span<const Member> members, const MemberSource& source,
                                   const ValidationData& validation, std::string_view metric,
                                   const Context& context) {
  const std::vector<size_t> bounds{0, validation.queries.size()};
  return std::move(
      mixing::member_qualities(members, source, validation, SelectionName::parse(metric), bounds, context)
          .omega[0]);
}

std::vector<MixResult> mix(std::span<const Member> members, const MemberSource& source,
                           const ValidationData& validation, std::span<const Variant> variants,
                           const MixOptions& options, const Context& context) {
  if (members.empty()) throw_input("there is nothing to mix; expected at least one calibrated model");
  if (validation.queries.documents() == 0)
    throw_input("the validation split has no documents; c and T cannot be chosen");
  for (const Variant& variant : variants)
    if (std::none_of(members.begin(), members.end(), [&](const Member& m) { return variant.takes(m); }))
      throw_input("mixture {} has no members", variant.name);
  const SelectionName metric = SelectionName::parse(options.metric);
  const std::vector<double> cs = c_grid(options);
  const std::vector<size_t> order = mixing::canonical_order(members);
  const std::vector<size_t> bounds = mixing::part_bounds(validation.queries.size(), options.parts);
  const mixing::Qualities qualities =
      mixing::member_qualities(members, source, validation, metric, bounds, context);
  const std::vector<size_t> first_alike =
      mixing::first_alike(order, qualities.fingerprints, source, validation.queries, context);
  const Layout layout = mixing::make_layout(members, order, first_alike, variants, options);
  std::vector<Weights> weights(qualities.omega.size());
  context.pool().run(weights.size(), [&](size_t q) {
    weights[q] = mixing::make_weights(layout, qualities.omega[q], cs, options.families);
  });
  const mixing::GridValues values =
      mixing::evaluate_grid({layout, weights, cs, bounds, source, validation, options, metric}, context);

  const Choices choices{members, cs, layout, weights[0], values};
  std::vector<MixResult> results;
  for (size_t v = 0; v < variants.size(); ++v)
    results.push_back(variants[v].one_best ? make_one_best(variants[v], members, order, qualities.omega[0])
                                           : choose(choices, variants[v], v, options.normalize));
  const auto complete = [&](std::vector<MixResult>& mixtures) {
    mixing::complete(mixtures, source, validation, qualities.omega[0], metric, context);
  };
  complete(results);
  if (options.families == Families::kLearned) leave_out_light(results, complete);
  for (MixResult& result : results) {
    // Without a choice no grid was evaluated.
    if (result.grid.size() == 1) result.grid[0].quality = result.validation;
    if (result.grid.size() <= 1) result.chosen_by = result.validation;
  }
  return results;
}

}  // namespace tunemix
