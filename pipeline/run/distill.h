// Teaches one small model of raw features to score as an ensemble does.
#pragma once

#include <span>

#include "tunemix/export/bundle.h"

namespace tunemix {

struct DistillOptions {
  int leaves = 32;
  int iterations = 0;  // trees; 0: 300, but 600 from 50 000 documents on
  double shrinkage = 0.1;
  int min_documents = 0;  // fewest documents of a leaf; 0: a 500th of all, but from 20 to 200
};

// `scores`: of the teacher, one for each document. They are learnt by their differences within queries, since
// an ensemble's say nothing else. The student's bundle says what it was taught by and on.
Bundle distill(const Bundle& teacher, const Dataset& data, std::span<const float> scores,
               const std::vector<std::string>& files, const DistillOptions& options, const Context& context);

}  // namespace tunemix
