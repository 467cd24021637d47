// Models put together from others, for any learner: on some of the features or their shares, of grouped
// labels, or of K-1 problems "label above l". They take and give what a plain model of the same data would.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tunemix/data/feature_cdf.h"
#include "tunemix/data/feature_fill.h"
#include "tunemix/learn/label_groups.h"
#include "tunemix/learn/learner.h"

namespace tunemix {

// What a learner was given instead of the features as they are.
struct FeatureMap {
  size_t inputs = 0;                               // features that come in
  std::vector<uint32_t> columns;                   // those kept, ascending from 0
  std::optional<FeatureCdf> cdf;                   // of the kept ones
  std::optional<FeatureFill> fill = std::nullopt;  // of what they have become

  static FeatureMap filling(FeatureFill fill);  // and nothing else
  bool fills_only() const { return fill && !cdf && columns.size() == inputs; }
  size_t outputs() const { return fill ? fill->columns() : columns.size(); }
  // Of the features that come in, the one that a feature going out is made of.
  uint32_t source(size_t output) const;
  Dataset apply(const Dataset& data, const Context& context) const;
};

// One problem of two classes, "label above l", at each point of its model: P(above | x) is the logistic
// function of slope * (f_1(x) - f_0(x)) + offset.
struct OrdinalProblem {
  struct Chance {
    double slope = 1;
    double offset = 0;
  };
  std::unique_ptr<const Model> model;  // null where training had one class only: the offsets say it all
  std::vector<Chance> chances;         // by point
};

class ComposedModel final : public Model {
 public:
  // A model of grouped labels: each label has its group's score.
  ComposedModel(std::unique_ptr<const Model> model, LabelGroups groups);
  // Problem l of K-1 (of the groups' number less one): label above l. Scores are log-odds of class
  // probabilities, the differences of P(label > l), made to fall with l (pooling violators).
  ComposedModel(std::vector<OrdinalProblem> problems, std::optional<LabelGroups> groups);
  // A model of mapped features, which scores data before the map.
  ComposedModel(std::unique_ptr<const Model> model, FeatureMap map);
  ComposedModel(BinaryReader& in, const std::function<std::unique_ptr<Model>(BinaryReader&)>& load_part);

  size_t features() const override;
  size_t columns() const override;
  std::vector<Point> points() const override { return points_; }
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override;
  double range(size_t point) const override;
  std::unique_ptr<Model> keep(std::span<const size_t> points) const override;
  Facts facts() const override;
  std::vector<double> importance() const override;
  std::vector<FeatureShares> attention() const override;
  std::vector<int8_t> monotone() const override;
  PlainModel plain(size_t point) const override;
  // The model that was put together with something else; not of ordinal problems.
  const Model& part() const { return *parts_.at(0).model; }
  void save(BinaryWriter& out) const override;

 private:
  struct Part {
    std::shared_ptr<const Model> model;
    std::vector<OrdinalProblem::Chance> chances;
  };
  ComposedModel() = default;
  // Composed `depth` times already.
  void load(BinaryReader& in, const std::function<std::unique_ptr<Model>(BinaryReader&)>& load_part,
            int depth);
  size_t inner_features() const;
  std::vector<ScoreMatrix> inner_scores(const Dataset& data, std::span<const size_t> points,
                                        const Context& context) const;
  std::vector<ScoreMatrix> ordinal_scores(const Dataset& data, std::span<const size_t> points,
                                          const Context& context) const;

  bool ordinal_ = false;
  std::vector<Part> parts_;  // one, but for ordinal ones
  std::vector<Point> points_;
  std::optional<LabelGroups> groups_;
  std::optional<FeatureMap> map_;
};

// slope and offset of the logistic regression of `above` on the margins (Platt 1999, with his targets). A
// weight of 2 is the document twice; no weights: 1.
OrdinalProblem::Chance fit_chance(std::span<const double> margins, const std::vector<bool>& above,
                                  std::span<const float> weights = {});

// P(label > l) for l = 0..K-2 into p(label = l) for l = 0..K-1.
void class_probabilities(std::span<const double> above, std::span<double> classes);

}  // namespace tunemix
