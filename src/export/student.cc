#include "tunemix/export/student.h"

#include <limits>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

// The score as it is.
Calibrator identity() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  PolynomialMap map;
  map.low = {-kInfinity};
  map.high = {kInfinity};
  map.mean = {0};
  map.scale = {1};
  map.coefficients = {1};
  return {CalibrationSpec::rbc(Regressor::kLinear, RbcTarget::kRaw), 1, {0, 1}, std::move(map), {}};
}

}  // namespace

Bundle bundle_of_model(BundleInfo info, const LearnedModel& learned, const std::string& title) {
  require(learned.model->columns() == 1, "a student has one score a document");
  const std::vector<Point> points = learned.model->points();
  const size_t last[] = {points.size() - 1};
  Member member;
  member.family = learned.learner->family;
  member.kind = CalibrationKind::kRbc;
  member.checkpoint = points.back().length;
  member.model = title;
  member.calibration = identity().spec().name();
  std::vector<BundleModel> models;
  models.push_back({{learned.learner, learned.model->keep(last)}, Standardize::kNone});
  const int64_t checkpoint = member.checkpoint;
  return Bundle(std::move(info), std::move(models), {{{0}, 0, identity()}},
                Mixture({std::move(member)}, {1.0}, Normalize::kNone, 0, checkpoint));
}

}  // namespace tunemix
