// Scores that are a weighted sum of scaled features, or come from one hidden layer of such sums.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learners/ranking_data.h"
#include "tunemix/learn/learner.h"

namespace tunemix::linear {

// Parameters in one array. Without hidden units: a weight for each feature, then the intercept. With them:
// the weights of each unit for the features, the units' intercepts, the units' weights in the score.
struct Shape {
  size_t features = 0;
  size_t hidden = 0;

  size_t units() const { return hidden == 0 ? 1 : hidden; }
  size_t intercepts() const { return units() * features; }
  size_t outputs() const { return intercepts() + units(); }
  size_t size() const { return outputs() + hidden; }
};

// The same function as parameters for raw features.
std::vector<double> unscale(const Shape& shape, const Scaling& scaling, std::span<const double> parameters);
// The score of a raw row by unscaled parameters; `activations` (hidden of them) are left for a gradient.
double score_row(const Shape& shape, const double* unscaled, const float* row, double* activations);

class LinearModel : public Model {
 public:
  struct Solution {
    Point point;
    std::vector<double> parameters;  // for scaled features
  };
  LinearModel(std::string type, Shape shape, Scaling scaling, std::vector<Solution> solutions);

  size_t features() const override { return shape_.features; }
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

  const Shape& shape() const { return shape_; }
  const Scaling& scaling() const { return scaling_; }
  const std::vector<Solution>& solutions() const { return solutions_; }

 private:
  std::string type_;
  Shape shape_;
  Scaling scaling_;
  std::vector<Solution> solutions_;
};

// What a learner of linear models is called and where it comes from, and its training, from start to end.
struct LinearEntry {
  std::string type, row, doc, citation;
};
LearnerEntry linear_entry(const LinearEntry& about,
                          const std::function<LinearModel(const TrainingRequest&, const Context&)>& train);

// The points of a path: "C=0.1", ...
std::vector<Point> path_points(const std::string& option, std::span<const double> values);

}  // namespace tunemix::linear
