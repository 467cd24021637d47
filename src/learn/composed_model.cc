#include "tunemix/learn/composed_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunemix/data/derived.h"

namespace tunemix {
namespace {

constexpr double kLeastChance = 1e-4;  // of a class: keeps log-odds finite
constexpr size_t kBlock = 1024;        // documents
constexpr int kMostDepth = 3;          // features chosen, labels grouped, missing values filled in

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double log_odds(double p) {
  const double q = std::clamp(p, kLeastChance, 1 - kLeastChance);
  return std::log(q / (1 - q));
}

}  // namespace

Dataset FeatureMap::apply(const Dataset& data, const Context& context) const {
  if (data.features() != inputs)
    throw_input("the data has {} features; the model was trained on {}", data.features(), inputs);
  Dataset result = columns.size() == inputs ? data : select_features(data, columns, context);
  if (cdf) result = cdf->apply(result, context);
  return fill ? fill->apply(result, context) : result;
}

FeatureMap FeatureMap::filling(FeatureFill fill) {
  FeatureMap map{fill.features(), std::vector<uint32_t>(fill.features()), std::nullopt};
  std::iota(map.columns.begin(), map.columns.end(), 0U);
  map.fill = std::move(fill);
  return map;
}

uint32_t FeatureMap::source(size_t output) const {
  return columns[output < columns.size() ? output : fill->indicators()[output - columns.size()]];
}

OrdinalProblem::Chance fit_chance(std::span<const double> margins, const std::vector<bool>& above,
                                  std::span<const float> weights) {
  require(margins.size() == above.size() && (weights.empty() || weights.size() == above.size()),
          "one margin a document");
  const auto weight = [&](size_t i) { return weights.empty() ? 1.0 : static_cast<double>(weights[i]); };
  double positive = 0;
  double negative = 0;
  for (size_t i = 0; i < above.size(); ++i) (above[i] ? positive : negative) += weight(i);
  const double high = (positive + 1) / (positive + 2);
  const double low = 1 / (negative + 2);
  OrdinalProblem::Chance chance{0, std::log((positive + 1) / (negative + 1))};
  const auto loss = [&](const OrdinalProblem::Chance& at) {
    double sum = 0;
    for (size_t i = 0; i < margins.size(); ++i) {
      const double z = at.slope * margins[i] + at.offset;
      const double target = above[i] ? high : low;
      // -(t log p + (1 - t) log(1 - p)) without overflow.
      sum += weight(i) * (std::max(z, 0.0) - z * target + std::log1p(std::exp(-std::abs(z))));
    }
    return sum;
  };
  double value = loss(chance);
  for (int step = 0; step < 100; ++step) {
    double g0 = 0, g1 = 0, h00 = 1e-9, h01 = 0, h11 = 1e-9;
    for (size_t i = 0; i < margins.size(); ++i) {
      const double p = logistic(chance.slope * margins[i] + chance.offset);
      const double off = weight(i) * (p - (above[i] ? high : low));
      const double curvature = weight(i) * p * (1 - p);
      g0 += off * margins[i];
      g1 += off;
      h00 += curvature * margins[i] * margins[i];
      h01 += curvature * margins[i];
      h11 += curvature;
    }
    const double determinant = h00 * h11 - h01 * h01;
    if (!(determinant > 0)) break;
    const double by_slope = (h11 * g0 - h01 * g1) / determinant;
    const double by_offset = (h00 * g1 - h01 * g0) / determinant;
    double length = 1;
    bool better = false;
    for (int halving = 0; halving < 30 && !better; ++halving, length /= 2) {
      const OrdinalProblem::Chance next{chance.slope - length * by_slope, chance.offset - length * by_offset};
      const double there = loss(next);
      if (!(there < value)) continue;
      better = true;
      const bool done = value - there < 1e-12 * (1 + value);
      chance = next;
      value = there;
      if (done) return chance;
    }
    if (!better) break;
  }
  return chance;
}

void class_probabilities(std::span<const double> above, std::span<double> classes) {
  require(classes.size() == above.size() + 1, "one class more than there are problems");
  // Neighbours in the wrong order share their mean, until all fall.
  constexpr size_t kMost = 32;
  double mean[kMost];
  size_t size[kMost];
  size_t blocks = 0;
  require(above.size() <= kMost, "too many problems");
  for (const double p : above) {
    mean[blocks] = p;
    size[blocks++] = 1;
    while (blocks > 1 && mean[blocks - 2] < mean[blocks - 1]) {
      const auto left = static_cast<double>(size[blocks - 2]);
      const auto right = static_cast<double>(size[blocks - 1]);
      mean[blocks - 2] = (left * mean[blocks - 2] + right * mean[blocks - 1]) / (left + right);
      size[blocks - 2] += size[blocks - 1];
      --blocks;
    }
  }
  double last = 1;
  size_t l = 0;
  for (size_t block = 0; block < blocks; ++block)
    for (size_t i = 0; i < size[block]; ++i) {
      classes[l++] = last - mean[block];
      last = mean[block];
    }
  classes[l] = last;
}

ComposedModel::ComposedModel(std::unique_ptr<const Model> model, LabelGroups groups)
    : points_(model->points()), groups_(std::move(groups)) {
  require(model->columns() == 1 || model->columns() == groups_->size(), "a model of other groups");
  parts_.push_back({std::move(model), {}});
}

ComposedModel::ComposedModel(std::vector<OrdinalProblem> problems, std::optional<LabelGroups> groups)
    : ordinal_(true), groups_(std::move(groups)) {
  for (OrdinalProblem& problem : problems) {
    if (problem.model != nullptr) points_ = problem.model->points();
    parts_.push_back({std::move(problem.model), std::move(problem.chances)});
  }
  require(!points_.empty(), "an ordinal model without a problem");
  for (const Part& part : parts_) {
    require(part.chances.size() == points_.size(), "a problem without the chances of its points");
    require(part.model == nullptr || (part.model->columns() == 2 && part.model->points() == points_),
            "a problem that is not of two classes");
  }
}

ComposedModel::ComposedModel(std::unique_ptr<const Model> model, FeatureMap map)
    : points_(model->points()), map_(std::move(map)) {
  require(model->features() == map_->outputs(), "a model of other features");
  parts_.push_back({std::move(model), {}});
}

size_t ComposedModel::inner_features() const {
  for (const Part& part : parts_)
    if (part.model != nullptr) return part.model->features();
  throw InternalError("a composed model without a part");
}

size_t ComposedModel::features() const { return map_ ? map_->inputs : inner_features(); }

size_t ComposedModel::columns() const {
  const size_t inner = ordinal_ ? parts_.size() + 1 : parts_[0].model->columns();
  return groups_ && inner > 1 ? groups_->labels() : inner;
}

double ComposedModel::range(size_t point) const {
  return ordinal_ ? log_odds(1) : parts_[0].model->range(point);
}

std::vector<ScoreMatrix> ComposedModel::score(const Dataset& data, std::span<const size_t> points,
                                              const Context& context) const {
  if (map_) return inner_scores(map_->apply(data, context), points, context);
  return inner_scores(data, points, context);
}

std::vector<ScoreMatrix> ComposedModel::inner_scores(const Dataset& data, std::span<const size_t> points,
                                                     const Context& context) const {
  std::vector<ScoreMatrix> scores =
      ordinal_ ? ordinal_scores(data, points, context) : parts_[0].model->score(data, points, context);
  if (!groups_ || scores.empty() || scores[0].columns() == 1) return scores;
  std::vector<ScoreMatrix> result;
  for (const ScoreMatrix& of_groups : scores) {
    ScoreMatrix& wide = result.emplace_back(data.documents(), groups_->labels(), of_groups.model());
    for (size_t i = 0; i < data.documents(); ++i)
      for (size_t l = 0; l < groups_->labels(); ++l) wide.row(i)[l] = of_groups.row(i)[groups_->group(l)];
  }
  return result;
}

std::vector<ScoreMatrix> ComposedModel::ordinal_scores(const Dataset& data, std::span<const size_t> points,
                                                       const Context& context) const {
  std::vector<std::vector<ScoreMatrix>> parts;
  std::string id = "ordinal";
  for (const Part& part : parts_) {
    parts.emplace_back();
    if (part.model == nullptr) continue;
    parts.back() = part.model->score(data, points, context);
    if (!parts.back().empty()) id += " " + parts.back()[0].model();
  }
  std::vector<ScoreMatrix> result;
  for (size_t p = 0; p < points.size(); ++p) {
    ScoreMatrix& scores = result.emplace_back(data.documents(), parts_.size() + 1, id);
    parallel_blocks(context.pool(), data.documents(), kBlock, [&](size_t begin, size_t end) {
      std::vector<double> above(parts_.size());
      std::vector<double> classes(parts_.size() + 1);
      for (size_t i = begin; i < end; ++i) {
        for (size_t l = 0; l < parts_.size(); ++l) {
          const OrdinalProblem::Chance& chance = parts_[l].chances[points[p]];
          double margin = 0;
          if (parts_[l].model != nullptr) {
            const std::span<const float> f = parts[l][p].row(i);
            margin = static_cast<double>(f[1]) - static_cast<double>(f[0]);
          }
          above[l] = logistic(chance.slope * margin + chance.offset);
        }
        class_probabilities(above, classes);
        for (size_t l = 0; l < classes.size(); ++l)
          scores.row(i)[l] = static_cast<float>(log_odds(classes[l]));
      }
    });
  }
  return result;
}

std::unique_ptr<Model> ComposedModel::keep(std::span<const size_t> points) const {
  std::unique_ptr<ComposedModel> kept(new ComposedModel());
  kept->ordinal_ = ordinal_;
  kept->groups_ = groups_;
  kept->map_ = map_;
  for (const size_t point : points) kept->points_.push_back(points_.at(point));
  for (const Part& part : parts_) {
    Part some;
    if (part.model != nullptr) some.model = part.model->keep(points);
    for (const size_t point : points)
      if (ordinal_) some.chances.push_back(part.chances.at(point));
    kept->parts_.push_back(std::move(some));
  }
  return kept;
}

Facts ComposedModel::facts() const {
  Facts facts;
  if (map_ && !map_->fills_only()) {
    facts.push_back({"map.given", static_cast<int64_t>(map_->inputs)});
    facts.push_back({"map.used", static_cast<int64_t>(map_->columns.size())});
    facts.push_back({"map.cdf", map_->cdf ? "true" : "false"});
  }
  if (map_ && map_->fill && !map_->fill->indicators().empty()) {
    std::vector<double> missing;  // by number from 1
    for (const uint32_t j : map_->fill->indicators()) missing.push_back(1.0 + map_->columns[j]);
    facts.push_back({"map.missing", std::move(missing)});
  }
  if (groups_) facts.push_back({"label_groups", groups_->text()});
  if (ordinal_) facts.push_back({"classes", "ordinal"});
  for (size_t l = 0; l < parts_.size(); ++l) {
    if (parts_[l].model == nullptr) continue;
    for (Fact& fact : parts_[l].model->facts())
      facts.push_back({ordinal_ ? fmt::format("above_{}.{}", l, fact.name) : fact.name, fact.value});
  }
  return facts;
}

std::vector<double> ComposedModel::importance() const {
  std::vector<double> mean(inner_features(), 0.0);
  double told = 0;
  for (const Part& part : parts_) {
    if (part.model == nullptr) continue;
    const std::vector<double> own = part.model->importance();
    if (own.size() != mean.size()) continue;
    ++told;
    for (size_t j = 0; j < own.size(); ++j) mean[j] += own[j];
  }
  if (told == 0) return {};
  for (double& share : mean) share /= told;
  if (!map_) return mean;
  std::vector<double> all(map_->inputs, 0.0);
  for (size_t j = 0; j < mean.size(); ++j) all[map_->source(j)] += mean[j];
  return all;
}

std::vector<FeatureShares> ComposedModel::attention() const {
  if (ordinal_) return {};  // each problem has a bandit of its own
  std::vector<FeatureShares> samples = parts_[0].model->attention();
  if (!map_) return samples;
  for (FeatureShares& sample : samples) {
    std::vector<float> all(map_->inputs, 0.0F);
    for (size_t j = 0; j < sample.shares.size(); ++j) all[map_->source(j)] += sample.shares[j];
    sample.shares = std::move(all);
  }
  return samples;
}

// A feature of several columns keeps the direction that all of them have: shares and columns rise with it.
std::vector<int8_t> ComposedModel::monotone() const {
  if (ordinal_) return {};
  std::vector<int8_t> inner = part().monotone();
  if (!map_ || inner.empty()) return inner;
  std::vector<int8_t> all(map_->inputs, 0);
  std::vector<uint8_t> seen(map_->inputs, 0);
  for (size_t j = 0; j < inner.size(); ++j) {
    const uint32_t source = map_->source(j);
    all[source] = seen[source] == 0 || all[source] == inner[j] ? inner[j] : int8_t{0};
    seen[source] = 1;
  }
  return all;
}

PlainModel ComposedModel::plain(size_t point) const {
  if (!map_ || !map_->fills_only()) return Model::plain(point);
  if (!map_->fill->indicators().empty())
    throw_input(
        "training had missing values, of feature {} for one, and the score has a weight for each of these "
        "features being missing, for which other programs have no place",
        map_->fill->indicators()[0] + 1);
  return part().plain(point);
}

// Parts are plain models of one learner or composed ones: LearnedModel tells the outermost apart.
void ComposedModel::save(BinaryWriter& out) const {
  out.put<uint8_t>(ordinal_ ? 1 : 0);
  out.put(groups_ ? groups_->text() : std::string());
  out.put<uint8_t>(map_ ? 1 : 0);
  if (map_) {
    out.put<uint64_t>(map_->inputs);
    out.put(map_->columns);
    out.put<uint8_t>(map_->cdf ? 1 : 0);
    if (map_->cdf) map_->cdf->save(out);
    out.put<uint8_t>(map_->fill ? 1 : 0);
    if (map_->fill) map_->fill->save(out);
  }
  out.put<uint64_t>(points_.size());
  for (const Point& point : points_) {
    out.put(point.length);
    out.put(point.label);
  }
  out.put<uint64_t>(parts_.size());
  for (const Part& part : parts_) {
    std::vector<double> numbers;
    for (const OrdinalProblem::Chance& chance : part.chances) {
      numbers.push_back(chance.slope);
      numbers.push_back(chance.offset);
    }
    out.put(numbers);
    const bool composed = dynamic_cast<const ComposedModel*>(part.model.get()) != nullptr;
    out.put<uint8_t>(part.model == nullptr ? 0 : composed ? 2 : 1);
    if (part.model != nullptr) part.model->save(out);
  }
}

ComposedModel::ComposedModel(BinaryReader& in,
                             const std::function<std::unique_ptr<Model>(BinaryReader&)>& load_part) {
  load(in, load_part, 1);
}

void ComposedModel::load(BinaryReader& in,
                         const std::function<std::unique_ptr<Model>(BinaryReader&)>& load_part, int depth) {
  ordinal_ = in.get<uint8_t>() != 0;
  if (const std::string groups = in.get_string(); !groups.empty()) groups_ = LabelGroups::parse(groups);
  if (in.get<uint8_t>() != 0) {
    map_.emplace();
    map_->inputs = in.get<uint64_t>();
    map_->columns = in.get_vector<uint32_t>();
    if (map_->columns.empty() || map_->columns.back() >= map_->inputs ||
        std::adjacent_find(map_->columns.begin(), map_->columns.end(), std::greater_equal<>()) !=
            map_->columns.end())
      in.fail("its features do not ascend");
    if (in.get<uint8_t>() != 0) map_->cdf = FeatureCdf::load(in);
    if (map_->cdf && map_->cdf->features() != map_->columns.size())
      in.fail("the shares are of other features");
    if (in.get<uint8_t>() != 0) map_->fill = FeatureFill::load(in);
    if (map_->fill && map_->fill->features() != map_->columns.size())
      in.fail("the medians are of other features");
  }
  const size_t points = in.get_count(1);
  for (size_t p = 0; p < points; ++p) {
    Point& point = points_.emplace_back();
    point.length = in.get<int64_t>();
    point.label = in.get_string();
  }
  const size_t parts = in.get_count(1);
  for (size_t l = 0; l < parts; ++l) {
    Part& part = parts_.emplace_back();
    const auto numbers = in.get_vector<double>();
    if (numbers.size() != (ordinal_ ? 2 * points : 0)) in.fail("the chances do not fit the points");
    for (size_t p = 0; p < numbers.size(); p += 2) {
      if (!std::isfinite(numbers[p]) || !std::isfinite(numbers[p + 1])) in.fail("a chance is no number");
      part.chances.push_back({numbers[p], numbers[p + 1]});
    }
    const auto kind = in.get<uint8_t>();
    if (kind == 1) part.model = load_part(in);
    if (kind == 2 && depth == kMostDepth) in.fail("its parts are composed too often");
    if (kind == 2) {
      std::unique_ptr<ComposedModel> inner(new ComposedModel());
      inner->load(in, load_part, depth + 1);
      part.model = std::move(inner);
    }
    if (kind > 2 || (kind == 0 && !ordinal_)) in.fail("a part of the model is missing");
    if (part.model == nullptr) continue;
    if (part.model->points() != points_) in.fail("its parts have other points");
    if (part.model->features() != (map_ ? map_->outputs() : inner_features()))
      in.fail("its parts have other features");
    if (ordinal_ && part.model->columns() != 2) in.fail("a problem that is not of two classes");
  }
  const bool any =
      std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.model != nullptr; });
  if (!any || points == 0 || (!ordinal_ && parts != 1) || parts > 31) in.fail("it has no parts");
  const size_t inner = ordinal_ ? parts + 1 : parts_[0].model->columns();
  if (groups_ && inner != groups_->size() && inner != 1) in.fail("its groups do not fit its labels");
}

}  // namespace tunemix
