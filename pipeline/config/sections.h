// The readers of the config's larger sections.
#pragma once

#include "pipeline/config/config.h"
#include "pipeline/config/yaml_reader.h"

namespace tunemix {

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b);

// `recipe`: what the recipe says of the data, where the section says nothing.
void read_data(const YamlSection& section, const YamlSection& recipe, DataConfig& data, ResolvedLog& log);
// Whether a fold has `test`.
enum class TestFiles { kExpect, kMayMiss, kRefuse };
// `{train: FILES, valid: FILES, test: FILES}`.
FoldFiles read_fold_files(const YamlSection& fold, TestFiles test, ResolvedLog& log);
// The same, or `valid: {from: train, ...}`.
FoldFiles read_data_fold(const YamlSection& fold, TestFiles test, ResolvedLog& log);

// What the features are called, as far as it is known before the data is read, and where that is said.
struct KnownNames {
  FeatureNames names;
  std::string source;
};
KnownNames known_names(const DataConfig& data);

// Appends the learners of one entry under `learners`: all points of its grid.
void read_learner(const YamlSection& section, const DataConfig& data, std::vector<LearnerSpec>& learners,
                  ResolvedLog& log);
// Throws InputError where two learners share a point, naming both places.
void expect_distinct(const std::vector<LearnerSpec>& learners);

}  // namespace tunemix
