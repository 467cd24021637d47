// Graded ranking data that looks like the real thing: counts, heavy tails, many zeros, features of the query,
// noisy labels, and relevance that no linear model can express. There are two structures, so that what is
// chosen on one can be judged on the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

enum class SyntheticStructure {
  kFields,  // features show one quality of a document each; relevance is a weighted sum with a few
            // conjunctions
  kTopics,  // relevance is a product of topics of query and document beyond a threshold; a third of the
            // features is noise
};

// What the features mean depends on the structure, their number, that of the useful ones and the problem, and
// not on the seed: data of different seeds can serve as train, validation and test splits of one problem.
struct SyntheticOptions {
  SyntheticStructure structure = SyntheticStructure::kFields;
  size_t queries = 150;
  size_t features = 25;
  size_t useful =
      0;  // features that tell something of their document, a random choice; 0: all that the structure has
  int labels = 5;            // 2 to 5
  double mean_length = 20;   // documents a query; lengths are log-normal
  double label_noise = 1.5;  // deviation of what no feature shows; what they do show has about 1.5
  uint64_t seed = 1;
  uint64_t problem = 0;  // another one has features of other kinds and other weights
};

std::vector<std::string> synthetic_presets();              // quickstart, mslr10k, web2
SyntheticOptions synthetic_preset(std::string_view name);  // throws InputError

// The same on any number of threads.
Dataset make_synthetic(const SyntheticOptions& options, const Context& context);
// Writes the same documents as LETOR text, a few queries at a time; returns how many documents.
size_t write_synthetic(const SyntheticOptions& options, const std::filesystem::path& file,
                       const Context& context);

}  // namespace tunemix
