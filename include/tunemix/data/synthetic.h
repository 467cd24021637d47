// Graded ranking data that looks like the real thing: counts, heavy tails, many zeros, features of the query,
// noisy labels, and relevance that no linear model can express.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// What the features mean depends on nothing but their number and that of the useful ones, so data of
// different seeds can serve as train, validation and test splits of one problem.
struct SyntheticOptions {
  size_t queries = 150;
  size_t features = 25;
  size_t useful = 0;         // features that tell something of their document, a random choice; 0: all
  int labels = 5;            // 2 to 5
  double mean_length = 20;   // documents a query; lengths are log-normal
  double label_noise = 1.5;  // deviation of what no feature shows; what they do show has about 1.5
  uint64_t seed = 1;
};

std::vector<std::string> synthetic_presets();              // quickstart, mslr10k
SyntheticOptions synthetic_preset(std::string_view name);  // throws InputError

// The same on any number of threads.
Dataset make_synthetic(const SyntheticOptions& options, const Context& context);
// Writes the same documents as LETOR text, a few queries at a time; returns how many documents.
size_t write_synthetic(const SyntheticOptions& options, const std::filesystem::path& file,
                       const Context& context);

}  // namespace tunemix
