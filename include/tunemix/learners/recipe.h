// The recommended recipe: what an experiment trains and calibrates when its config does not say.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace tunemix {

struct Recipe {
  static constexpr size_t kAny = std::numeric_limits<size_t>::max();
  size_t documents = kAny;  // for training data of at most so many
  std::string yaml;         // sections of a config: data, learners, calibrate
};

// Ascending by documents; the last is for any number.
const std::vector<Recipe>& recommended_recipes();
const Recipe& recommended_recipe(size_t documents);

}  // namespace tunemix
