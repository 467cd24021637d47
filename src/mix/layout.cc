#include "mix/layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace tunemix::mixing {
namespace {

// The lengths T for which a member stands in the mixture: from <= T < until.
struct Lengths {
  int64_t from = 0;
  int64_t until = std::numeric_limits<int64_t>::max();
};

// A run (family, model) gives the points of its largest length up to T, or of its smallest where none is
// that small; so each of its lengths stands until the next one does, and the first from the beginning.
std::vector<Lengths> standing_lengths(std::span<const Member> members) {
  std::map<std::pair<std::string_view, std::string_view>, std::set<int64_t>> runs;
  const auto run_of = [](const Member& m) {
    return std::pair<std::string_view, std::string_view>(m.family, m.model);
  };
  for (const Member& member : members)
    if (member.checkpoint > 0) runs[run_of(member)].insert(member.checkpoint);
  std::vector<Lengths> result(members.size());
  for (size_t m = 0; m < members.size(); ++m) {
    if (members[m].checkpoint == 0) continue;
    const std::set<int64_t>& lengths = runs[run_of(members[m])];
    const auto own = lengths.find(members[m].checkpoint);
    if (own != lengths.begin()) result[m].from = *own;
    if (std::next(own) != lengths.end()) result[m].until = *std::next(own);
  }
  return result;
}

// The lengths that a variant chooses from; {0} where there is nothing to choose.
std::vector<int64_t> length_grid(std::span<const Member> members, std::span<const size_t> taken,
                                 const MixOptions& options, const std::string& name) {
  std::set<int64_t> found;
  for (const size_t m : taken)
    if (members[m].checkpoint > 0) found.insert(members[m].checkpoint);
  if (found.empty() || options.checkpoints == Checkpoints::kAll) return {0};
  if (options.choice == MixChoice::kGrid) return {found.begin(), found.end()};
  if (options.fixed_checkpoint == 0) return {*found.rbegin()};
  if (!found.contains(options.fixed_checkpoint))
    throw_input("{}: no member has checkpoint {}; expected one of: {}", name, options.fixed_checkpoint,
                fmt::join(found, ", "));
  return {options.fixed_checkpoint};
}

}  // namespace

std::vector<size_t> canonical_order(std::span<const Member> members) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return members[i] < members[j]; });
  for (size_t i = 1; i < order.size(); ++i)
    if (members[order[i]] == members[order[i - 1]])
      throw_input("member '{}' occurs twice; expected every member once", members[order[i]].name());
  return order;
}

Layout make_layout(std::span<const Member> members, std::span<const size_t> order,
                   std::span<const size_t> first_alike, std::span<const Variant> variants,
                   const MixOptions& options) {
  Layout layout;
  const std::vector<Lengths> lengths = standing_lengths(members);
  std::vector<std::vector<size_t>> kept;                     // members of each selection
  std::vector<std::vector<uint32_t>> found(members.size());  // selections that each member stands in
  std::vector<bool> learns;                                  // selections whose models have masses
  for (const Variant& variant : variants) {
    std::vector<Selection>& selections = layout.selections.emplace_back();
    if (variant.one_best) continue;
    std::vector<size_t> taken;
    for (const size_t m : order)
      if (variant.takes(members[m])) taken.push_back(m);
    std::vector<bool> seen(members.size());
    for (const int64_t length : length_grid(members, taken, options, variant.name)) {
      Selection& selection = selections.emplace_back(Selection{length, {}, {}, {}, 0});
      std::vector<size_t>& own = kept.emplace_back();
      learns.push_back(options.families == Families::kLearned && taken.size() == members.size());
      for (const size_t m : taken) {
        if (length > 0 && (length < lengths[m].from || length >= lengths[m].until)) continue;
        // Copies are left out here, not among all members: the earlier one need not stand in this mixture.
        if (seen[first_alike[m]]) {
          ++selection.left_out;
          continue;
        }
        seen[first_alike[m]] = true;
        found[m].push_back(static_cast<uint32_t>(kept.size()));
        own.push_back(m);
      }
      for (const size_t m : own) seen[first_alike[m]] = false;
    }
  }

  std::map<std::tuple<std::string_view, CalibrationKind, int64_t, std::string_view, std::vector<uint32_t>>,
           size_t>
      cells;
  const bool by_model = options.families == Families::kLearned;
  std::vector<size_t> cell_of(members.size());
  std::string_view family;
  for (const size_t m : order) {
    if (found[m].empty()) continue;
    if (layout.families == 0 || members[m].family != family) ++layout.families;
    family = members[m].family;
    const std::string_view model = by_model ? std::string_view(members[m].model) : std::string_view();
    const auto [at, added] = cells.try_emplace(
        {family, members[m].kind, members[m].checkpoint, model, std::move(found[m])}, layout.cells.size());
    if (added) layout.cells.push_back({layout.families - 1, {}});
    cell_of[m] = at->second;
    layout.cells[at->second].members.push_back(m);
  }

  std::map<Block, size_t> blocks;
  const auto number_of = [&](const Block& block) {
    const auto [at, added] = blocks.try_emplace(block, layout.blocks.size());
    if (added) layout.blocks.push_back(block);
    return at->second;
  };
  size_t number = 0;
  for (std::vector<Selection>& selections : layout.selections)
    for (Selection& selection : selections) {
      std::map<size_t, std::set<size_t>> families;
      std::map<std::pair<std::string_view, std::string_view>, std::set<size_t>> models;
      for (const size_t m : kept[number]) {
        families[layout.cells[cell_of[m]].family].insert(cell_of[m]);
        if (learns[number]) models[{members[m].family, members[m].model}].insert(cell_of[m]);
      }
      ++number;
      for (const auto& [of_family, own] : families) {
        selection.cells.insert(selection.cells.end(), own.begin(), own.end());
        selection.blocks.push_back(number_of({own.begin(), own.end()}));
      }
      if (models.size() > 1)
        for (const auto& [model, own] : models)
          selection.models.push_back(number_of({own.begin(), own.end()}));
    }
  return layout;
}

}  // namespace tunemix::mixing
