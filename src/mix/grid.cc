#include "mix/grid.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "mix/chunk_run.h"
#include "mix/learned.h"
#include "mix/sums.h"

namespace tunemix::mixing {
namespace {

constexpr size_t kChunk = 512;  // documents
constexpr size_t kKeptBytes = size_t{1}
                              << 28;  // sums of cells that are kept from the first pass to the second

// First pass: every family alone, and mixtures whose weights do not depend on how good the families are.
// Second pass: the mixtures whose masses come from the first. Masses are learned between the two.
class Evaluation {
 public:
  Evaluation(const GridInput& input, const Context& context)
      : in_(input),
        context_(context),
        cs_(input.cs.size()),
        measures_(input.weights[0].selections.empty()),
        measured_(input.layout.blocks.size(), false),
        query_weights_(relative_weights(input.validation)) {
    for (size_t v = 0; v < in_.layout.selections.size(); ++v) {
      const std::vector<Selection>& selections = in_.layout.selections[v];
      choice_ |= selections.size() * cs_ > 1;
      for (size_t t = 0; t < selections.size(); ++t) {
        const bool alone = is_alone(selections[t]);
        if (!alone) several_.push_back({v, t});
        if (alone || (measures_ && selections[t].blocks.size() > 1))
          for (const size_t b : selections[t].blocks) measured_[b] = true;
      }
    }
  }

  GridValues run() {
    GridValues values;
    const bool needs_masses = measures_ && !several_.empty();
    std::vector<Factors> factors(parts() + 1);  // by part, then by all
    if (choice_ || needs_masses) {
      chunks_ = make_chunks(in_.validation.queries, kChunk, in_.bounds);
      runs_.resize(chunks_.size());
      size_t bytes = 0;
      for (const Chunk& chunk : chunks_) bytes += ChunkRun::bytes(in_.layout, chunk, cs_);
      keep_ = needs_masses && choice_ && bytes <= kKeptBytes;
      first_pass();
    }
    if (needs_masses) {
      std::vector<Masses> learned;
      for (size_t s = 0; s < several_.size(); ++s) learned.push_back(learn(s));
      for (size_t p = 0; p <= parts(); ++p) factors[p] = factors_outside(p, learned);
      if (choice_) second_pass(factors);
    }
    gather(values, factors.back());
    return values;
  }

 private:
  struct Place {
    size_t variant, t;
  };
  using Factors = std::vector<std::vector<double>>;  // of several_: c x cells
  using Masses = std::vector<std::vector<double>>;   // by part, then by all
  // What learned masses are of, beside the mixture of families.
  struct Units {
    std::vector<size_t> blocks;             // the families first; empty where no masses are learned
    std::vector<std::vector<double>> sums;  // of the documents, with c in the middle
  };

  // A mixture that has nothing but members of one family, or one model, to weigh.
  static bool is_alone(const Selection& selection) {
    return selection.blocks.size() == 1 && selection.models.empty();
  }

  size_t middle() const { return cs_ / 2; }
  size_t parts() const { return in_.bounds.size() - 1; }
  size_t queries() const { return in_.bounds.back(); }
  double weight_between(size_t first, size_t last) const {
    if (query_weights_.empty()) return static_cast<double>(last - first);
    return std::accumulate(query_weights_.begin() + static_cast<ptrdiff_t>(first),
                           query_weights_.begin() + static_cast<ptrdiff_t>(last), 0.0);
  }
  size_t part_of(const Chunk& chunk) const {
    return static_cast<size_t>(std::upper_bound(in_.bounds.begin(), in_.bounds.end(), chunk.first_query) -
                               in_.bounds.begin()) -
           1;
  }
  // A part is judged with weights by the others. Part number parts() is none: by all queries.
  const Weights& weights_outside(size_t part) const {
    return in_.weights.size() > 1 && part < parts() ? in_.weights[1 + part] : in_.weights[0];
  }
  const Weights& weights_for(const Chunk& chunk) const { return weights_outside(part_of(chunk)); }
  const Selection& at(const Place& place) const { return in_.layout.selections[place.variant][place.t]; }

  std::unique_ptr<ChunkRun> make_run(const Chunk& chunk) const {
    return std::make_unique<ChunkRun>(in_.layout, weights_for(chunk), in_.source, in_.validation, chunk, cs_,
                                      in_.options.normalize, in_.metric, query_weights_);
  }

  void first_pass() {
    of_blocks_.assign(chunks_.size(), std::vector<double>(in_.layout.blocks.size() * cs_));
    of_several_.assign(chunks_.size(), std::vector<double>(several_.size() * cs_));
    choose_units();
    context_.pool().run(chunks_.size(), [&](size_t index) {
      context_.check_stop();
      const Weights& weights = weights_for(chunks_[index]);
      std::unique_ptr<ChunkRun> run = make_run(chunks_[index]);
      for (size_t b = 0; b < in_.layout.blocks.size(); ++b)
        if (measured_[b]) judge(*run, in_.layout.blocks[b], weights.blocks[b], &of_blocks_[index][b * cs_]);
      for (size_t s = 0; s < several_.size() && !measures_; ++s)
        judge(*run, at(several_[s]).cells, weights.selections[several_[s].variant][several_[s].t],
              &of_several_[index][s * cs_]);
      sum_units(*run, chunks_[index]);
      if (keep_) runs_[index] = std::move(run);
    });
    of_part_.assign(parts(), std::vector<double>(in_.layout.blocks.size() * cs_));
    of_all_.assign(in_.layout.blocks.size() * cs_, 0.0);
    for (size_t index = 0; index < chunks_.size(); ++index)
      for (size_t i = 0; i < of_all_.size(); ++i) {
        of_part_[part_of(chunks_[index])][i] += of_blocks_[index][i];
        of_all_[i] += of_blocks_[index][i];
      }
  }

  // For each c. Factors: c x cells.
  void judge(ChunkRun& run, std::span<const size_t> cells, const std::vector<double>& factors,
             double* out) const {
    std::vector<double> mixed(run.stride());
    for (size_t j = 0; j < cs_; ++j) {
      run.sum_cells(cells, &factors[j * cells.size()], j, mixed.data());
      out[j] = run.evaluate(mixed.data());
    }
  }

  // Families, then the models that are not all of one, the most promising first.
  void choose_units() {
    units_.resize(several_.size());
    for (size_t s = 0; s < several_.size(); ++s) {
      const Selection& selection = at(several_[s]);
      if (selection.models.empty()) continue;
      units_[s].blocks = selection.blocks;
      std::vector<std::pair<double, size_t>> models;  // less the best omega, block
      for (const size_t b : selection.models) {
        if (std::find(selection.blocks.begin(), selection.blocks.end(), b) != selection.blocks.end())
          continue;
        double best = 0;
        for (const size_t cell : in_.layout.blocks[b]) best = std::max(best, in_.weights[0].cells[cell].best);
        models.emplace_back(-best, b);
      }
      std::stable_sort(models.begin(), models.end(),
                       [](const auto& x, const auto& y) { return x.first < y.first; });
      for (const auto& [less_best, b] : models)
        if (units_[s].blocks.size() + 1 < kMostUnits) units_[s].blocks.push_back(b);
      units_[s].sums.resize(units_[s].blocks.size(), std::vector<double>(in_.validation.queries.documents()));
    }
  }

  void sum_units(const ChunkRun& run, const Chunk& chunk) {
    std::vector<double> sum(run.stride());
    const size_t j = middle();
    for (Units& units : units_)
      for (size_t u = 0; u < units.blocks.size(); ++u) {
        const Block& cells = in_.layout.blocks[units.blocks[u]];
        const std::vector<double>& factors = weights_for(chunk).blocks[units.blocks[u]];
        run.sum_cells(cells, &factors[j * cells.size()], j, sum.data());
        std::copy_n(sum.begin(), chunk.documents(), units.sums[u].data() + chunk.begin);
      }
  }

  // By part, then by all: the masses of the mixture of families and of the units.
  Masses learn(size_t s) const {
    const Units& units = units_[s];
    if (units.blocks.empty()) return {};
    const std::vector<Candidate> candidates = make_candidates(1 + units.blocks.size());
    std::vector<double> values(queries() * candidates.size());
    context_.pool().run(chunks_.size(), [&](size_t index) {
      context_.check_stop();
      const Chunk& chunk = chunks_[index];
      std::vector<double> whole(chunk.documents()), mixed(chunk.documents());
      const std::vector<size_t>& blocks = at(several_[s]).blocks;
      const std::vector<double> masses = masses_outside(part_of(chunk), blocks, middle());
      for (size_t f = 0; f < blocks.size(); ++f)
        sum_kernels().add(masses[f], units.sums[f].data() + chunk.begin, whole.size(), whole.data());
      ChunkMetric metric(in_.validation, chunk, in_.options.normalize, in_.metric, query_weights_);
      for (size_t k = 0; k < candidates.size(); ++k) {
        const auto sum_of = [&](size_t unit) {
          return unit == 0 ? whole.data() : units.sums[unit - 1].data() + chunk.begin;
        };
        const double* first = sum_of(candidates[k].first);
        const double* second = sum_of(candidates[k].second);
        for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = 0.5 * first[i] + 0.5 * second[i];
        const std::span<const double> of_queries = metric.per_query(mixed.data());
        for (size_t q = 0; q < of_queries.size(); ++q)
          values[(chunk.first_query + q) * candidates.size() + k] = of_queries[q];
      }
    });
    return learn_masses(1 + units.blocks.size(), candidates, values, in_.bounds, context_);
  }

  std::vector<double> masses_outside(size_t part, const std::vector<size_t>& blocks, size_t j) const {
    if (blocks.size() == 1) return {1.0};
    const bool outside = part < parts() && parts() > 1;
    const double count = static_cast<double>(queries()) -
                         (outside ? weight_between(in_.bounds[part], in_.bounds[part + 1]) : 0);
    std::vector<double> qualities;
    for (const size_t b : blocks) {
      const size_t i = b * cs_ + j;
      qualities.push_back((of_all_[i] - (outside ? of_part_[part][i] : 0)) / std::max(count, 1e-9));
    }
    return family_masses(qualities, queries());
  }

  Factors factors_outside(size_t part, std::span<const Masses> learned) const {
    const Weights& weights = weights_outside(part);
    Factors result;
    std::vector<double> of_cell(in_.layout.cells.size());
    for (size_t s = 0; s < several_.size(); ++s) {
      const Selection& selection = at(several_[s]);
      std::vector<double>& own = result.emplace_back();
      const double share = learned[s].empty() ? 0 : learned_share(queries(), query_weights_);
      for (size_t j = 0; j < cs_; ++j) {
        for (const size_t cell : selection.cells) of_cell[cell] = 0;
        const auto add = [&](size_t block, double mass) {
          const Block& cells = in_.layout.blocks[block];
          for (size_t i = 0; i < cells.size(); ++i)
            of_cell[cells[i]] += mass * weights.blocks[block][j * cells.size() + i];
        };
        const double of_whole = share == 0 ? 1 : 1 - share + share * learned[s][part][0];
        const std::vector<double> masses = masses_outside(part, selection.blocks, j);
        for (size_t k = 0; k < masses.size(); ++k) add(selection.blocks[k], of_whole * masses[k]);
        for (size_t u = 0; u < units_[s].blocks.size(); ++u)
          add(units_[s].blocks[u], share * learned[s][part][1 + u]);
        for (const size_t cell : selection.cells) own.push_back(of_cell[cell]);
      }
    }
    return result;
  }

  void second_pass(std::span<const Factors> factors) {
    context_.pool().run(chunks_.size(), [&](size_t index) {
      context_.check_stop();
      std::unique_ptr<ChunkRun> run = keep_ ? std::move(runs_[index]) : make_run(chunks_[index]);
      for (size_t s = 0; s < several_.size(); ++s)
        judge(*run, at(several_[s]).cells, factors[part_of(chunks_[index])][s], &of_several_[index][s * cs_]);
    });
  }

  // `factors`: of several_ where masses were measured.
  void gather(GridValues& values, const Factors& factors) const {
    size_t s = 0;
    for (size_t v = 0; v < in_.layout.selections.size(); ++v) {
      auto& quality = values.quality.emplace_back();
      auto& of_variant = values.factors.emplace_back();
      for (size_t t = 0; t < in_.layout.selections[v].size(); ++t) {
        const Selection& selection = in_.layout.selections[v][t];
        const bool alone = is_alone(selection);
        if (!measures_)
          of_variant.push_back(in_.weights[0].selections[v][t]);
        else
          of_variant.push_back(alone ? in_.weights[0].blocks[selection.blocks[0]] : factors[s]);
        std::vector<double>& sums = quality.emplace_back(cs_, 0.0);
        if (alone && choice_) std::copy_n(&of_all_[selection.blocks[0] * cs_], cs_, sums.begin());
        for (const std::vector<double>& chunk : of_several_)
          for (size_t j = 0; !alone && j < cs_; ++j) sums[j] += chunk[s * cs_ + j];
        for (double& sum : sums) sum /= static_cast<double>(queries());
        if (!alone) ++s;
      }
    }
    if (!choice_) values.quality.clear();
  }

  const GridInput& in_;
  const Context& context_;
  size_t cs_;
  bool measures_;  // masses come from what was measured
  bool choice_ = false;
  bool keep_ = false;
  std::vector<bool> measured_;  // blocks whose quality alone is needed
  std::vector<Place> several_;  // mixtures of several families or models
  std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<ChunkRun>> runs_;
  std::vector<double> query_weights_;  // 1 on the average; empty: 1
  std::vector<Units> units_;           // of several_
  // Weighted sums of the queries' quality.
  std::vector<std::vector<double>> of_blocks_;   // chunk: block x c
  std::vector<std::vector<double>> of_several_;  // chunk: several_ x c
  std::vector<std::vector<double>> of_part_;     // part: block x c
  std::vector<double> of_all_;                   // block x c
};

}  // namespace

GridValues evaluate_grid(const GridInput& input, const Context& context) {
  return Evaluation(input, context).run();
}

}  // namespace tunemix::mixing
