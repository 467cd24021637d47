// A sum of weak rankers: steps at a threshold of a feature, or features themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tunemix/learn/learner.h"

namespace tunemix::weak {

// weight * [x >= threshold]; where the scale is not 0, weight * scale * x.
struct WeakRanker {
  uint32_t feature = 0;
  float threshold = 0;
  double scale = 0;
  double weight = 0;

  double operator()(float x) const {
    return weight * (scale != 0 ? scale * static_cast<double>(x) : (x >= threshold ? 1.0 : 0.0));
  }
};

void save(BinaryWriter& out, std::span<const WeakRanker> rankers);
// Throws InputError for a feature that is not below `features`.
std::vector<WeakRanker> load_rankers(BinaryReader& in, size_t features);

class WeakRankerModel : public Model {
 public:
  // A length beyond the last ranker stands for all of them.
  WeakRankerModel(std::string type, size_t features, std::vector<int64_t> lengths,
                  std::vector<WeakRanker> rankers);

  size_t features() const override { return features_; }
  size_t columns() const override { return 1; }
  std::vector<Point> points() const override;
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override;
  std::unique_ptr<Model> keep(std::span<const size_t> points) const override;
  Facts facts() const override;
  std::vector<double> importance() const override;
  PlainModel plain(size_t point) const override;
  void save(BinaryWriter& out) const override;
  static std::unique_ptr<Model> load(BinaryReader& in);

  const std::vector<WeakRanker>& rankers() const { return rankers_; }

 private:
  size_t rounds(size_t point) const {
    return std::min(rankers_.size(), static_cast<size_t>(lengths_[point]));
  }

  std::string type_;
  size_t features_;
  std::vector<int64_t> lengths_;  // of the points
  std::vector<WeakRanker> rankers_;
};

}  // namespace tunemix::weak
