#include "mix/grid.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "mix/chunk_run.h"
#include "mix/learned.h"

namespace tunemix::mixing {
namespace {

constexpr size_t kChunk = 512;  // documents
constexpr size_t kKeptBytes = size_t{1}
                              << 28;  // sums of cells that are kept from the first pass to the second

// First pass: every family alone, candidates for the masses of models, and mixtures whose weights do not
// depend on either. Second pass: the mixtures whose masses come from the first.
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
      const std::vector<Masses> learned = learn();
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
  using Masses = std::vector<std::vector<double>>;   // by part, then by all: of models

  // A mixture that has nothing but members of one family, or one model, to weigh.
  static bool is_alone(const Selection& selection) {
    return selection.blocks.size() == 1 && selection.models.empty();
  }

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
    prepare_candidates();
    context_.pool().run(chunks_.size(), [&](size_t index) {
      context_.check_stop();
      const Weights& weights = weights_for(chunks_[index]);
      std::unique_ptr<ChunkRun> run = make_run(chunks_[index]);
      for (size_t b = 0; b < in_.layout.blocks.size(); ++b)
        if (measured_[b]) judge(*run, in_.layout.blocks[b], weights.blocks[b], &of_blocks_[index][b * cs_]);
      for (size_t s = 0; s < several_.size(); ++s)
        if (!measures_)
          judge(*run, at(several_[s]).cells, weights.selections[several_[s].variant][several_[s].t],
                &of_several_[index][s * cs_]);
        else if (!candidates_[s].empty())
          judge_candidates(*run, chunks_[index], s);
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

  void prepare_candidates() {
    candidates_.resize(several_.size());
    values_.resize(several_.size());
    for (size_t s = 0; s < several_.size(); ++s) {
      std::vector<double> promise;  // of each model: its best member
      for (const size_t b : at(several_[s]).models) {
        promise.push_back(0);
        for (const size_t cell : in_.layout.blocks[b])
          promise.back() = std::max(promise.back(), in_.weights[0].cells[cell].best);
      }
      candidates_[s] = make_candidates(promise);
      values_[s].resize(queries() * candidates_[s].size());
    }
  }

  void judge_candidates(ChunkRun& run, const Chunk& chunk, size_t s) {
    const size_t j = cs_ / 2;
    const size_t stride = run.stride();
    const std::vector<size_t>& models = at(several_[s]).models;
    std::vector<double> of_model(models.size() * stride), mixed(stride);
    for (size_t g = 0; g < models.size(); ++g) {
      const Block& cells = in_.layout.blocks[models[g]];
      const double* factors = &weights_for(chunk).blocks[models[g]][j * cells.size()];
      run.sum_cells(cells, factors, j, &of_model[g * stride]);
    }
    const std::vector<Candidate>& candidates = candidates_[s];
    for (size_t k = 0; k < candidates.size(); ++k) {
      const double* first = &of_model[candidates[k].first * stride];
      const double* second = &of_model[candidates[k].second * stride];
      for (size_t i = 0; i < stride; ++i) mixed[i] = 0.5 * first[i] + 0.5 * second[i];
      const std::span<const double> of_queries = run.per_query(mixed.data());
      for (size_t q = 0; q < of_queries.size(); ++q)
        values_[s][(chunk.first_query + q) * candidates.size() + k] = of_queries[q];
    }
  }

  // Of several_; empty where no masses are learned.
  std::vector<Masses> learn() const {
    std::vector<Masses> result(several_.size());
    for (size_t s = 0; s < several_.size(); ++s)
      if (!candidates_[s].empty())
        result[s] =
            learn_masses(at(several_[s]).models.size(), candidates_[s], values_[s], in_.bounds, context_);
    return result;
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
        const std::vector<double> masses = masses_outside(part, selection.blocks, j);
        for (size_t k = 0; k < masses.size(); ++k) add(selection.blocks[k], (1 - share) * masses[k]);
        for (size_t g = 0; g < selection.models.size(); ++g)
          add(selection.models[g], share * learned[s][part][g]);
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
  std::vector<double> query_weights_;               // 1 on the average; empty: 1
  std::vector<std::vector<Candidate>> candidates_;  // of several_
  std::vector<std::vector<double>> values_;         // of several_: query x candidate
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
