#include "pipeline/commands/model_point.h"

#include "tunemix/core/error.h"
#include "tunemix/core/text.h"

namespace tunemix {

size_t point_number(const Model& model, const std::string& wanted) {
  const std::vector<Point> points = model.points();
  if (wanted.empty()) return points.size() - 1;
  std::vector<std::string> names;
  for (size_t p = 0; p < points.size(); ++p) {
    if (points[p].name() == wanted) return p;
    names.push_back(points[p].name());
  }
  throw_input("--point is '{}'; the model has: {}", wanted, join(names, ", "));
}

}  // namespace tunemix
