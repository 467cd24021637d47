#include "tunemix/mix/mixer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "calibrate/lanes.h"
#include "mix/chunks.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using lanes::Part;
using mixing::Chunk;

constexpr size_t kChunk = 512;  // documents
constexpr size_t kBatch = 32;   // members held at a time

size_t padded(size_t n) { return (n + lanes::kWidth - 1) / lanes::kWidth * lanes::kWidth; }

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

// Members that are always summed together: of one family, kind and checkpoint. Every mixture of the grid is a
// sum of cells, so the cells are summed once for each c.
struct Cell {
  std::string family;
  CalibrationKind kind;
  int64_t checkpoint;
  std::vector<size_t> members;  // numbers in the input, in the canonical order
  double best = 0;              // highest omega
  std::vector<double> mass;     // for each c: sum of exp(c (omega - best))
  std::vector<double> weights;  // members x c
};

std::vector<size_t> canonical_order(std::span<const Member> members) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return members[i] < members[j]; });
  for (size_t i = 1; i < order.size(); ++i)
    if (members[order[i]] == members[order[i - 1]])
      throw_input("member '{}' occurs twice; expected every member once", members[order[i]].name());
  return order;
}

std::vector<Cell> make_cells(std::span<const Member> members, std::span<const size_t> order,
                             std::span<const double> omega, std::span<const double> cs) {
  std::vector<Cell> cells;
  for (const size_t m : order) {
    const Member& member = members[m];
    if (cells.empty() || cells.back().family != member.family || cells.back().kind != member.kind ||
        cells.back().checkpoint != member.checkpoint)
      cells.push_back({member.family, member.kind, member.checkpoint, {}, 0, {}, {}});
    cells.back().members.push_back(m);
  }
  for (Cell& cell : cells) {
    for (const size_t m : cell.members) cell.best = std::max(cell.best, omega[m]);
    cell.mass.assign(cs.size(), 0);
    for (const size_t m : cell.members)
      for (size_t j = 0; j < cs.size(); ++j) {
        cell.weights.push_back(std::exp(cs[j] * (omega[m] - cell.best)));
        cell.mass[j] += cell.weights.back();
      }
  }
  return cells;
}

// One mixture of the grid: score = sum over cells of factor * (the cell's sum for c number j).
struct Plan {
  size_t c;
  int64_t checkpoint;
  std::vector<std::pair<size_t, double>> factors;  // cell, factor
};

// All mixtures under one set of qualities.
struct Grid {
  std::vector<Cell> cells;
  std::vector<std::vector<Plan>> plans;  // by variant
};

// The factor of each cell so that the weights of the members sum to 1 under `families`.
std::vector<double> cell_factors(const std::vector<Cell>& cells, std::span<const size_t> chosen, double c,
                                 size_t j, Families families) {
  std::map<std::string, double> best, mass;
  const auto group = [&](size_t cell) {
    return families == Families::kEqual ? cells[cell].family : std::string();
  };
  for (const size_t i : chosen) {
    const auto [at, added] = best.try_emplace(group(i), cells[i].best);
    if (!added) at->second = std::max(at->second, cells[i].best);
  }
  std::vector<double> factors;
  for (const size_t i : chosen) {
    factors.push_back(std::exp(c * (cells[i].best - best[group(i)])));
    mass[group(i)] += factors.back() * cells[i].mass[j];
  }
  for (size_t i = 0; i < chosen.size(); ++i)
    factors[i] /= mass[group(chosen[i])] * static_cast<double>(mass.size());
  return factors;
}

// The checkpoints that a variant chooses from; {0} where there is nothing to choose.
std::vector<int64_t> checkpoint_grid(const std::vector<Cell>& cells, std::span<const size_t> taken,
                                     const MixOptions& options, const std::string& name) {
  std::set<int64_t> found;
  for (const size_t i : taken)
    if (cells[i].checkpoint > 0) found.insert(cells[i].checkpoint);
  if (found.empty() || options.checkpoints == Checkpoints::kAll) return {0};
  if (options.choice == MixChoice::kGrid) return {found.begin(), found.end()};
  if (options.fixed_checkpoint == 0) return {*found.rbegin()};
  if (!found.contains(options.fixed_checkpoint))
    throw_input("{}: no member has checkpoint {}; expected one of: {}", name, options.fixed_checkpoint,
                fmt::join(found, ", "));
  return {options.fixed_checkpoint};
}

std::vector<Plan> make_plans(const std::vector<Cell>& cells, const Variant& variant,
                             std::span<const Member> members, std::span<const double> cs,
                             const MixOptions& options) {
  std::vector<size_t> taken;
  for (size_t i = 0; i < cells.size(); ++i)
    if (variant.takes(members[cells[i].members[0]])) taken.push_back(i);
  std::vector<Plan> plans;
  for (const int64_t checkpoint : checkpoint_grid(cells, taken, options, variant.name)) {
    std::vector<size_t> chosen;
    for (const size_t i : taken)
      if (checkpoint == 0 || cells[i].checkpoint == 0 || cells[i].checkpoint == checkpoint)
        chosen.push_back(i);
    for (size_t j = 0; j < cs.size(); ++j) {
      Plan plan{j, checkpoint, {}};
      const std::vector<double> factors = cell_factors(cells, chosen, cs[j], j, options.families);
      for (size_t i = 0; i < chosen.size(); ++i) plan.factors.emplace_back(chosen[i], factors[i]);
      plans.push_back(std::move(plan));
    }
  }
  return plans;
}

// sums[j] += sum over the batch of weights[m][j] * scores[m], for C values of c at once.
template <size_t C>
void add_batch(const double* scores, size_t stride, const double* weights, size_t cs, size_t members,
               double* sums) {
  for (size_t i = 0; i < stride; i += lanes::kPartWidth) {
    Part acc[C];
    for (size_t j = 0; j < C; ++j) acc[j] = lanes::load_part(sums + j * stride + i);
    for (size_t m = 0; m < members; ++m) {
      const Part s = lanes::load_part(scores + m * stride + i);
      for (size_t j = 0; j < C; ++j) acc[j] += weights[m * cs + j] * s;
    }
    for (size_t j = 0; j < C; ++j) lanes::store_part(sums + j * stride + i, acc[j]);
  }
}

QueryIndex sub_index(const QueryIndex& queries, const Chunk& chunk) {
  std::vector<size_t> offsets{0};
  std::vector<std::string> ids;
  for (size_t q = chunk.first_query; q < chunk.last_query; ++q) {
    offsets.push_back(queries.end(q) - chunk.begin);
    ids.push_back(queries.id(q));
  }
  return {std::move(offsets), std::move(ids)};
}

// Sums the cells of one chunk for every c, then adds up the queries' NDCG of every plan.
class ChunkRun {
 public:
  ChunkRun(const std::vector<Cell>& cells, const MemberSource& source, const ValidationData& validation,
           const Chunk& chunk, size_t cs, const MixOptions& options)
      : chunk_(chunk),
        normalize_(options.normalize),
        stride_(padded(chunk.documents())),
        cs_(cs),
        sums_(cells.size()),
        metric_(sub_index(validation.queries, chunk),
                validation.labels.subspan(chunk.begin, chunk.documents()), validation.grades,
                static_cast<size_t>(options.k)) {
    std::vector<double> batch(kBatch * stride_);
    for (size_t cell = 0; cell < cells.size(); ++cell) {
      sums_[cell].assign(cs * stride_, 0.0);
      const std::vector<size_t>& members = cells[cell].members;
      for (size_t at = 0; at < members.size(); at += kBatch) {
        const size_t count = std::min(kBatch, members.size() - at);
        for (size_t m = 0; m < count; ++m)
          mixing::prepare_scores(source(members[at + m]), validation.queries, chunk, options.normalize,
                                 &batch[m * stride_]);
        add(batch.data(), &cells[cell].weights[at * cs], count, sums_[cell].data());
      }
    }
  }

  // Sum of the queries' NDCG.
  double evaluate(const Plan& plan) {
    mixed_.assign(stride_, 0.0);
    for (const auto& [cell, factor] : plan.factors) {
      const double* sums = sums_[cell].data() + plan.c * stride_;
      for (size_t i = 0; i < stride_; ++i) mixed_[i] += factor * sums[i];
    }
    scores_.resize(chunk_.documents());
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] = mixing::finish_score(mixed_[i], normalize_);
    per_query_.resize(metric_.queries());
    metric_.per_query(scores_, per_query_);
    return std::accumulate(per_query_.begin(), per_query_.end(), 0.0);
  }

 private:
  void add(const double* scores, const double* weights, size_t members, double* sums) const {
    size_t j = 0;
    for (; j + 8 <= cs_; j += 8) add_batch<8>(scores, stride_, weights + j, cs_, members, sums + j * stride_);
    for (; j < cs_; ++j) add_batch<1>(scores, stride_, weights + j, cs_, members, sums + j * stride_);
  }

  Chunk chunk_;
  Normalize normalize_;
  size_t stride_;
  size_t cs_;
  std::vector<std::vector<double>> sums_;  // cell: c x stride
  SelectionMetric metric_;
  std::vector<double> mixed_;
  std::vector<float> scores_;
  std::vector<double> per_query_;
};

// The mixture of a plan with the weight of each member.
MixResult make_result(const Variant& variant, const std::vector<Cell>& cells, const Plan& plan,
                      std::span<const Member> members, std::span<const double> cs, Normalize normalize) {
  MixResult result;
  result.variant = variant;
  std::vector<Member> chosen;
  std::vector<double> weights;
  for (const auto& [cell, factor] : plan.factors)
    for (size_t i = 0; i < cells[cell].members.size(); ++i) {
      const size_t m = cells[cell].members[i];
      result.sources.push_back(m);
      chosen.push_back(members[m]);
      weights.push_back(factor * cells[cell].weights[i * cs.size() + plan.c]);
    }
  result.mixture = Mixture(std::move(chosen), std::move(weights), normalize, cs[plan.c], plan.checkpoint);
  return result;
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

// The members of one chunk as they enter the sums. Standardised ones are kept: many mixtures have them.
class PreparedChunk {
 public:
  PreparedChunk(const MemberSource& source, const QueryIndex& queries, const Chunk& chunk)
      : source_(source), queries_(queries), chunk_(chunk), plain_(chunk.documents()) {}

  // Valid until the next call.
  const std::vector<double>& member(size_t number, Normalize normalize) {
    if (normalize == Normalize::kNone) {
      mixing::prepare_scores(source_(number), queries_, chunk_, normalize, plain_.data());
      return plain_;
    }
    if (standardised_.size() <= number) standardised_.resize(number + 1);
    std::vector<double>& prepared = standardised_[number];
    if (prepared.empty()) {
      prepared.resize(chunk_.documents());
      mixing::prepare_scores(source_(number), queries_, chunk_, normalize, prepared.data());
    }
    return prepared;
  }

 private:
  const MemberSource& source_;
  const QueryIndex& queries_;
  const Chunk& chunk_;
  std::vector<double> plain_;
  std::vector<std::vector<double>> standardised_;  // by number; empty where it was not asked for
};

// Calls seen(number of the chunk, chunk, its members, result, scores) with the scores of each result in turn.
template <typename Seen>
void for_each_mixed(std::span<const MixResult> results, const MemberSource& source, const QueryIndex& queries,
                    const Context& context, Seen seen) {
  const std::vector<Chunk> chunks = mixing::make_chunks(queries, kChunk);
  context.pool().run(chunks.size(), [&](size_t index) {
    context.check_stop();
    const Chunk& chunk = chunks[index];
    PreparedChunk members(source, queries, chunk);
    std::vector<double> sums(chunk.documents());
    std::vector<float> scores(chunk.documents());
    for (size_t v = 0; v < results.size(); ++v) {
      const Mixture& mixture = results[v].mixture;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (size_t m = 0; m < mixture.weights().size(); ++m) {
        const std::vector<double>& own = members.member(results[v].sources[m], mixture.normalize());
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += mixture.weights()[m] * own[i];
      }
      for (size_t i = 0; i < sums.size(); ++i) scores[i] = mixing::finish_score(sums[i], mixture.normalize());
      seen(index, chunk, members, v, std::span<const float>(scores));
    }
  });
}

// Of one chunk: what the covariances of the members with the mixture are added up from.
struct Moments {
  double documents = 0;
  double mean = 0;  // of the mixture
  double squares = 0;
  struct OfMember {
    double sum = 0;
    double product = 0;  // with the mixture less its mean
  };
  std::vector<OfMember> members;
};

Moments moments_of(std::span<const float> mixed, const MixResult& result, PreparedChunk& members) {
  Moments moments;
  moments.documents = static_cast<double>(mixed.size());
  for (const float score : mixed) moments.mean += score;
  moments.mean /= moments.documents;
  for (const float score : mixed) moments.squares += (score - moments.mean) * (score - moments.mean);
  for (const size_t source : result.sources) {
    const std::vector<double>& own = members.member(source, result.mixture.normalize());
    Moments::OfMember& of_member = moments.members.emplace_back();
    for (size_t i = 0; i < own.size(); ++i) {
      of_member.sum += own[i];
      of_member.product += own[i] * (mixed[i] - moments.mean);
    }
  }
  return moments;
}

std::vector<MemberDiagnostics> diagnose(const MixResult& result, std::span<const double> omega,
                                        std::span<const Moments> chunks) {
  double documents = 0;
  double mean = 0;
  for (const Moments& chunk : chunks) {
    documents += chunk.documents;
    mean += chunk.mean * chunk.documents;
  }
  mean /= documents;
  double variance = 0;
  std::vector<double> covariance(result.sources.size(), 0.0);
  for (const Moments& chunk : chunks) {
    const double shift = chunk.mean - mean;
    variance += chunk.squares + chunk.documents * shift * shift;
    for (size_t m = 0; m < covariance.size(); ++m)
      covariance[m] += chunk.members[m].product + shift * chunk.members[m].sum;
  }
  std::vector<MemberDiagnostics> diagnostics;
  for (size_t m = 0; m < covariance.size(); ++m) {
    const double weight = result.mixture.weights()[m];
    diagnostics.push_back(
        {omega[result.sources[m]], weight, variance > 0 ? weight * covariance[m] / variance : 0});
  }
  return diagnostics;
}

// Fills in the validation scores, their NDCG, and the members' diagnostics.
void complete(std::vector<MixResult>& results, const MemberSource& source, const ValidationData& validation,
              std::span<const double> omega, int k, const Context& context) {
  const size_t chunks = mixing::make_chunks(validation.queries, kChunk).size();
  std::vector<std::vector<Moments>> moments(results.size(), std::vector<Moments>(chunks));
  for (MixResult& result : results) result.scores.resize(validation.queries.documents());
  for_each_mixed(
      results, source, validation.queries, context,
      [&](size_t index, const Chunk& chunk, PreparedChunk& members, size_t v, std::span<const float> scores) {
        std::copy(scores.begin(), scores.end(), results[v].scores.data() + chunk.begin);
        moments[v][index] = moments_of(scores, results[v], members);
      });
  const SelectionMetric metric(validation.queries, validation.labels, validation.grades,
                               static_cast<size_t>(k));
  for (size_t v = 0; v < results.size(); ++v) {
    results[v].validation = metric(results[v].scores);
    results[v].diagnostics = diagnose(results[v], omega, moments[v]);
  }
}

// The queries in so many runs of about equal length: first query of each, and their number at the end.
std::vector<size_t> part_bounds(size_t queries, int parts) {
  const size_t count = std::clamp<size_t>(static_cast<size_t>(parts), 1, queries);
  std::vector<size_t> bounds;
  for (size_t p = 0; p <= count; ++p) bounds.push_back(p * queries / count);
  return bounds;
}

// NDCG@k of every member: over all queries first, then, where there are several parts, over the queries
// outside each.
std::vector<std::vector<double>> part_qualities(std::span<const Member> members, const MemberSource& source,
                                                const ValidationData& validation, int k,
                                                const std::vector<size_t>& bounds, const Context& context) {
  const SelectionMetric metric(validation.queries, validation.labels, validation.grades,
                               static_cast<size_t>(k));
  const size_t parts = bounds.size() > 2 ? bounds.size() - 1 : 0;
  std::vector<std::vector<double>> omega(1 + parts, std::vector<double>(members.size()));
  context.pool().run(members.size(), [&](size_t m) {
    context.check_stop();
    const std::span<const float> scores = source(m);
    for (size_t i = 0; i < scores.size(); ++i)
      if (!std::isfinite(scores[i]))
        throw_input("the score of validation document {} by member '{}' is {}; expected a finite number",
                    i + 1, members[m].name(), scores[i]);
    std::vector<double> ndcg(metric.queries());
    metric.per_query(scores, ndcg);
    const double all = std::accumulate(ndcg.begin(), ndcg.end(), 0.0);
    const auto count = static_cast<double>(ndcg.size());
    omega[0][m] = all / count;
    for (size_t p = 0; p < parts; ++p) {
      const auto first = ndcg.begin() + static_cast<ptrdiff_t>(bounds[p]);
      const auto last = ndcg.begin() + static_cast<ptrdiff_t>(bounds[p + 1]);
      omega[1 + p][m] =
          (all - std::accumulate(first, last, 0.0)) / (count - static_cast<double>(last - first));
    }
  });
  return omega;
}

std::string row_prefix(const std::string& family) {
  if (family == "boosting") return "AB";
  std::string upper = family;
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

}  // namespace

bool Variant::takes(const Member& member) const {
  return (family.empty() || family == member.family) && (!kind || *kind == member.kind);
}

std::vector<Variant> standard_variants(std::span<const Member> members) {
  std::map<std::string, std::set<CalibrationKind>> families;
  for (const Member& member : members) families[member.family].insert(member.kind);
  std::vector<Variant> variants;
  for (const auto& [family, kinds] : families) {
    const std::string prefix = row_prefix(family);
    variants.push_back({prefix + "+EXP", family, std::nullopt, false});
    if (kinds.contains(CalibrationKind::kCpc))
      variants.push_back({prefix + "+EXP.CPC", family, CalibrationKind::kCpc, false});
    if (kinds.contains(CalibrationKind::kRbc))
      variants.push_back({prefix + "+EXP.RBC", family, CalibrationKind::kRbc, false});
    variants.push_back({prefix + "+OneBest", family, std::nullopt, true});
  }
  if (families.size() > 1) {
    variants.push_back({"ALL+EXP", "", std::nullopt, false});
    variants.push_back({"ALL+OneBest", "", std::nullopt, true});
  }
  return variants;
}

std::vector<double> member_quality(std::span<const Member> members, const MemberSource& source,
                                   const ValidationData& validation, int k, const Context& context) {
  return part_qualities(members, source, validation, k, {0, validation.queries.size()}, context)[0];
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
  const std::vector<double> cs = c_grid(options);
  const std::vector<size_t> order = canonical_order(members);
  const std::vector<size_t> bounds = part_bounds(validation.queries.size(), options.parts);
  const std::vector<std::vector<double>> qualities =
      part_qualities(members, source, validation, options.k, bounds, context);
  const std::vector<double>& omega = qualities[0];
  // With several parts the mixture that a part is judged by has its weights from the others.
  std::vector<Grid> grids(qualities.size());
  context.pool().run(grids.size(), [&](size_t q) {
    Grid& grid = grids[q];
    grid.cells = make_cells(members, order, qualities[q], cs);
    grid.plans.resize(variants.size());
    for (size_t v = 0; v < variants.size(); ++v)
      if (!variants[v].one_best) grid.plans[v] = make_plans(grid.cells, variants[v], members, cs, options);
  });
  const std::vector<Cell>& cells = grids[0].cells;
  const std::vector<std::vector<Plan>>& plans = grids[0].plans;

  const bool needs_grid =
      std::any_of(plans.begin(), plans.end(), [](const std::vector<Plan>& p) { return p.size() > 1; });
  std::vector<Chunk> chunks;
  if (needs_grid) chunks = mixing::make_chunks(validation.queries, kChunk, bounds);
  std::vector<std::vector<std::vector<double>>> partial(chunks.size());  // chunk, variant, plan
  context.pool().run(chunks.size(), [&](size_t index) {
    context.check_stop();
    const size_t part = static_cast<size_t>(
        std::upper_bound(bounds.begin(), bounds.end(), chunks[index].first_query) - bounds.begin());
    const Grid& grid = grids.size() > 1 ? grids[part] : grids[0];
    ChunkRun run(grid.cells, source, validation, chunks[index], cs.size(), options);
    for (const std::vector<Plan>& of_variant : grid.plans) {
      std::vector<double>& out = partial[index].emplace_back();
      for (const Plan& plan : of_variant) out.push_back(run.evaluate(plan));
    }
  });

  std::vector<MixResult> results;
  for (size_t v = 0; v < variants.size(); ++v) {
    if (variants[v].one_best) {
      results.push_back(make_one_best(variants[v], members, order, omega));
    } else {
      std::vector<GridPoint> grid;
      for (size_t p = 0; p < plans[v].size(); ++p) {
        double sum = 0;
        for (const auto& chunk : partial) sum += chunk[v][p];
        grid.push_back({cs[plans[v][p].c], plans[v][p].checkpoint,
                        sum / static_cast<double>(validation.queries.size())});
      }
      // Ties go to the smaller c, then to the smaller T.
      size_t best = 0;
      for (size_t p = 1; p < grid.size(); ++p) {
        const bool earlier =
            std::pair(grid[p].c, grid[p].checkpoint) < std::pair(grid[best].c, grid[best].checkpoint);
        if (grid[p].ndcg > grid[best].ndcg || (grid[p].ndcg == grid[best].ndcg && earlier)) best = p;
      }
      results.push_back(make_result(variants[v], cells, plans[v][best], members, cs, options.normalize));
      results.back().chosen_by = grid[best].ndcg;
      results.back().grid = std::move(grid);
    }
  }
  complete(results, source, validation, omega, options.k, context);
  for (MixResult& result : results) {
    // Without a choice no grid was evaluated.
    if (result.grid.size() == 1) result.grid[0].ndcg = result.validation;
    if (result.grid.size() <= 1) result.chosen_by = result.validation;
  }
  return results;
}

std::vector<std::vector<float>> apply_all(std::span<const MixResult> results, const MemberSource& source,
                                          const QueryIndex& queries, const Context& context) {
  std::vector<std::vector<float>> out(results.size(), std::vector<float>(queries.documents()));
  for_each_mixed(results, source, queries, context,
                 [&](size_t, const Chunk& chunk, PreparedChunk&, size_t v, std::span<const float> scores) {
                   std::copy(scores.begin(), scores.end(), out[v].data() + chunk.begin);
                 });
  return out;
}

}  // namespace tunemix
