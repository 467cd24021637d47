#include "mix/grid.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "mix/chunk_run.h"

namespace tunemix::mixing {
namespace {

constexpr size_t kChunk = 512;  // documents
constexpr size_t kKeptBytes = size_t{1}
                              << 28;  // sums of cells that are kept from the first pass to the second

// First pass: every family alone, and mixtures whose weights do not depend on how good the families are.
// Second pass: mixtures of weighted families, whose masses come from the first.
class Evaluation {
 public:
  Evaluation(const GridInput& input, const Context& context)
      : in_(input),
        context_(context),
        cs_(input.cs.size()),
        weighted_(input.options.families == Families::kWeighted),
        measured_(input.layout.blocks.size(), false),
        query_weights_(relative_weights(input.validation)) {
    for (size_t v = 0; v < in_.layout.selections.size(); ++v) {
      const std::vector<Selection>& selections = in_.layout.selections[v];
      choice_ |= selections.size() * cs_ > 1;
      for (size_t t = 0; t < selections.size(); ++t) {
        const bool alone = selections[t].blocks.size() == 1;
        if (!alone) several_.push_back({v, t});
        if (alone || weighted_)
          for (const size_t b : selections[t].blocks) measured_[b] = true;
      }
    }
  }

  GridValues run() {
    GridValues values;
    const bool needs_masses = weighted_ && !several_.empty();
    if (!choice_ && !needs_masses) return values;
    chunks_ = make_chunks(in_.validation.queries, kChunk, in_.bounds);
    runs_.resize(chunks_.size());
    size_t bytes = 0;
    for (const Chunk& chunk : chunks_) bytes += ChunkRun::bytes(in_.layout, chunk, cs_);
    keep_ = needs_masses && choice_ && bytes <= kKeptBytes;

    first_pass();
    std::vector<std::vector<double>> masses(parts() + 1);  // by part, then by all: of several_, c x blocks
    if (needs_masses) {
      for (size_t p = 0; p <= parts(); ++p) masses[p] = masses_outside(p);
      if (choice_) second_pass(masses);
    }
    gather(values, masses.back());
    return values;
  }

 private:
  struct Place {
    size_t variant, t;
  };

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
  // A part is judged with weights by the others.
  const Weights& weights_for(const Chunk& chunk) const {
    return in_.weights.size() > 1 ? in_.weights[1 + part_of(chunk)] : in_.weights[0];
  }
  const Selection& at(const Place& place) const { return in_.layout.selections[place.variant][place.t]; }

  std::unique_ptr<ChunkRun> make_run(const Chunk& chunk) const {
    return std::make_unique<ChunkRun>(in_.layout, weights_for(chunk), in_.source, in_.validation, chunk, cs_,
                                      in_.options.normalize, in_.metric, query_weights_);
  }

  void first_pass() {
    of_blocks_.assign(chunks_.size(), std::vector<double>(in_.layout.blocks.size() * cs_));
    of_several_.assign(chunks_.size(), std::vector<double>(several_.size() * cs_));
    context_.pool().run(chunks_.size(), [&](size_t index) {
      context_.check_stop();
      const Weights& weights = weights_for(chunks_[index]);
      std::unique_ptr<ChunkRun> run = make_run(chunks_[index]);
      std::vector<double> mixed(run->stride());
      const auto evaluate = [&](std::span<const size_t> cells, const std::vector<double>& factors,
                                double* out) {
        for (size_t j = 0; j < cs_; ++j) {
          run->sum_cells(cells, &factors[j * cells.size()], j, mixed.data());
          out[j] = run->evaluate(mixed.data());
        }
      };
      for (size_t b = 0; b < in_.layout.blocks.size(); ++b)
        if (measured_[b])
          evaluate(in_.layout.blocks[b].cells, weights.blocks[b], &of_blocks_[index][b * cs_]);
      if (!weighted_)
        for (size_t s = 0; s < several_.size(); ++s)
          evaluate(at(several_[s]).cells, weights.selections[several_[s].variant][several_[s].t],
                   &of_several_[index][s * cs_]);
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

  // For each mixture of several families, c x blocks. Part number parts() is none: by all queries.
  std::vector<double> masses_outside(size_t part) const {
    const bool outside = part < parts() && parts() > 1;
    const double count = static_cast<double>(queries()) -
                         (outside ? weight_between(in_.bounds[part], in_.bounds[part + 1]) : 0);
    std::vector<double> result;
    for (const Place& place : several_)
      for (size_t j = 0; j < cs_; ++j) {
        std::vector<double> qualities;
        for (const size_t b : at(place).blocks) {
          const size_t i = b * cs_ + j;
          qualities.push_back((of_all_[i] - (outside ? of_part_[part][i] : 0)) / std::max(count, 1e-9));
        }
        const std::vector<double> masses = family_masses(qualities, queries());
        result.insert(result.end(), masses.begin(), masses.end());
      }
    return result;
  }

  void second_pass(std::span<const std::vector<double>> masses) {
    std::vector<bool> needed(in_.layout.blocks.size(), false);
    for (const Place& place : several_)
      for (const size_t b : at(place).blocks) needed[b] = true;
    context_.pool().run(chunks_.size(), [&](size_t index) {
      context_.check_stop();
      const Weights& weights = weights_for(chunks_[index]);
      std::unique_ptr<ChunkRun> run = keep_ ? std::move(runs_[index]) : make_run(chunks_[index]);
      const size_t stride = run->stride();
      std::vector<double> of_block(needed.size() * stride), mixed(stride);
      for (size_t j = 0; j < cs_; ++j) {
        for (size_t b = 0; b < needed.size(); ++b) {
          const std::vector<size_t>& cells = in_.layout.blocks[b].cells;
          if (needed[b])
            run->sum_cells(cells, &weights.blocks[b][j * cells.size()], j, &of_block[b * stride]);
        }
        const double* mass = masses[part_of(chunks_[index])].data();
        for (size_t s = 0; s < several_.size(); ++s) {
          const std::vector<size_t>& blocks = at(several_[s]).blocks;
          std::fill(mixed.begin(), mixed.end(), 0.0);
          for (size_t k = 0; k < blocks.size(); ++k) {
            const double* own = &of_block[blocks[k] * stride];
            const double factor = mass[j * blocks.size() + k];
            for (size_t i = 0; i < stride; ++i) mixed[i] += factor * own[i];
          }
          of_several_[index][s * cs_ + j] = run->evaluate(mixed.data());
          mass += blocks.size() * cs_;
        }
      }
    });
  }

  void gather(GridValues& values, std::span<const double> masses) const {
    size_t s = 0;
    size_t used = 0;
    for (const std::vector<Selection>& selections : in_.layout.selections) {
      auto& quality = values.quality.emplace_back();
      auto& of_variant = values.masses.emplace_back();
      for (const Selection& selection : selections) {
        std::vector<double>& sums = quality.emplace_back(cs_, 0.0);
        std::vector<double>& own = of_variant.emplace_back();
        if (selection.blocks.size() == 1) {
          std::copy_n(&of_all_[selection.blocks[0] * cs_], cs_, sums.begin());
          own.assign(cs_, 1.0);
        } else {
          for (const std::vector<double>& chunk : of_several_)
            for (size_t j = 0; j < cs_; ++j) sums[j] += chunk[s * cs_ + j];
          ++s;
          if (weighted_) {
            const size_t size = cs_ * selection.blocks.size();
            own.assign(masses.begin() + used, masses.begin() + used + size);
            used += size;
          }
        }
        for (double& sum : sums) sum /= static_cast<double>(queries());
      }
    }
    if (!weighted_) values.masses.clear();
  }

  const GridInput& in_;
  const Context& context_;
  size_t cs_;
  bool weighted_;
  bool choice_ = false;
  bool keep_ = false;
  std::vector<bool> measured_;  // blocks whose quality alone is needed
  std::vector<Place> several_;  // mixtures of several families
  std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<ChunkRun>> runs_;
  std::vector<double> query_weights_;  // 1 on the average; empty: 1
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
