#include "learners/weak_rankers/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunemix/core/hash.h"

namespace tunemix::weak {
namespace {

constexpr size_t kMostFeatures = 100000000;  // of which data can be read
constexpr size_t kBlock = 256;               // documents that stay in the cache for all rankers

}  // namespace

void save(BinaryWriter& out, std::span<const WeakRanker> rankers) {
  out.put<uint64_t>(rankers.size());
  for (const WeakRanker& ranker : rankers) {
    out.put(ranker.feature);
    out.put(ranker.threshold);
    out.put(ranker.scale);
    out.put(ranker.weight);
  }
}

std::vector<WeakRanker> load_rankers(BinaryReader& in, size_t features) {
  std::vector<WeakRanker> rankers(in.get_count(sizeof(uint32_t) + sizeof(float) + 2 * sizeof(double)));
  for (WeakRanker& ranker : rankers) {
    ranker.feature = in.get<uint32_t>();
    ranker.threshold = in.get<float>();
    ranker.scale = in.get<double>();
    ranker.weight = in.get<double>();
    if (ranker.feature >= features) in.fail("a ranker of a feature that is not there");
    if (!std::isfinite(ranker.weight) || !std::isfinite(ranker.scale))
      in.fail("a weight is not a finite number");
  }
  return rankers;
}

WeakRankerModel::WeakRankerModel(std::string type, size_t features, std::vector<int64_t> lengths,
                                 std::vector<WeakRanker> rankers)
    : type_(std::move(type)),
      features_(features),
      lengths_(std::move(lengths)),
      rankers_(std::move(rankers)) {
  require(std::is_sorted(lengths_.begin(), lengths_.end()), "lengths that do not ascend");
}

std::vector<Point> WeakRankerModel::points() const {
  std::vector<Point> points;
  for (const int64_t length : lengths_) points.push_back({length, ""});
  return points;
}

std::vector<ScoreMatrix> WeakRankerModel::score(const Dataset& data, std::span<const size_t> points,
                                                const Context& context) const {
  if (data.features() != features_)
    throw_input("the data has {} features; the {} model expects {}", data.features(), type_, features_);
  std::vector<size_t> order(points.size());  // from short to long, so that each goes on where the last ended
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return points[a] < points[b]; });
  std::vector<ScoreMatrix> result;
  for (const size_t p : points) {
    Hasher hasher;
    for (size_t t = 0; t < rounds(p); ++t)
      hasher.number(rankers_[t].feature)
          .values(std::span<const float>(&rankers_[t].threshold, 1))
          .values(std::span<const double>(&rankers_[t].scale, 1))
          .values(std::span<const double>(&rankers_[t].weight, 1));
    result.emplace_back(data.documents(), 1, type_ + "-" + hasher.digest().hex().substr(0, 16));
  }
  parallel_blocks(context.pool(), data.documents(), kBlock, [&](size_t begin, size_t end) {
    std::vector<double> sums(end - begin, 0.0);
    size_t t = 0;
    for (const size_t at : order) {
      for (; t < rounds(points[at]); ++t)
        for (size_t i = begin; i < end; ++i) sums[i - begin] += rankers_[t](data.row(i)[rankers_[t].feature]);
      for (size_t i = begin; i < end; ++i) result[at].values()[i] = static_cast<float>(sums[i - begin]);
    }
  });
  return result;
}

std::unique_ptr<Model> WeakRankerModel::keep(std::span<const size_t> points) const {
  std::vector<int64_t> lengths;
  for (const size_t p : points) lengths.push_back(lengths_[p]);
  const size_t needed = rounds(points.back());
  return std::make_unique<WeakRankerModel>(
      type_, features_, std::move(lengths),
      std::vector<WeakRanker>(rankers_.begin(), rankers_.begin() + static_cast<std::ptrdiff_t>(needed)));
}

Facts WeakRankerModel::facts() const { return {{"rounds", static_cast<int64_t>(rankers_.size())}}; }

std::vector<double> WeakRankerModel::importance() const {
  std::vector<double> shares(features_, 0.0);
  double sum = 0;
  for (const WeakRanker& ranker : rankers_) {
    shares[ranker.feature] += std::abs(ranker.weight);
    sum += std::abs(ranker.weight);
  }
  if (!(sum > 0)) return {};
  for (double& share : shares) share /= sum;
  return shares;
}

PlainModel WeakRankerModel::plain(size_t point) const {
  PlainModel plain;
  plain.features = features_;
  plain.start = {0.0};
  for (size_t t = 0; t < rounds(point); ++t) {
    const WeakRanker& ranker = rankers_[t];
    if (ranker.scale != 0) {
      plain.weights.resize(features_, 0.0);
      plain.weights[ranker.feature] += ranker.weight * ranker.scale;
    } else if (std::isfinite(ranker.threshold)) {
      PlainTree& step = plain.trees.emplace_back();
      step.nodes = {{ranker.feature, ranker.threshold, 1, 2, 0}, {0, 0, -1, -1, 0}, {0, 0, -1, -1, 1}};
      step.values = {0.0, ranker.weight};
    } else if (ranker.threshold < 0) {
      plain.start[0] += ranker.weight;  // every value is above
    }
  }
  return plain;
}

void WeakRankerModel::save(BinaryWriter& out) const {
  out.put(std::string_view(type_));
  out.put<uint64_t>(features_);
  out.put(lengths_);
  weak::save(out, rankers_);
}

std::unique_ptr<Model> WeakRankerModel::load(BinaryReader& in) {
  std::string type = in.get_string();
  const size_t features = in.get<uint64_t>();
  if (features > kMostFeatures) in.fail("it has more features than there can be");
  auto lengths = in.get_vector<int64_t>();
  if (lengths.empty() || !std::is_sorted(lengths.begin(), lengths.end()) || lengths.front() < 0)
    in.fail("its lengths do not ascend");
  std::vector<WeakRanker> rankers = load_rankers(in, features);
  return std::make_unique<WeakRankerModel>(std::move(type), features, std::move(lengths), std::move(rankers));
}

}  // namespace tunemix::weak
