// What a client asks the scoring service to rank: queries with documents, as JSON or as LETOR text.
#pragma once

#include <cstddef>
#include <string_view>

#include "tunemix/core/error.h"
#include "tunemix/data/dataset.h"

namespace tunemix::serve {

struct RequestLimits {
  size_t bytes = size_t{16} << 20;   // of a body, unpacked
  size_t documents = 10000;          // of a request
  size_t values = size_t{16} << 20;  // documents times features, zeros included
};

// The request is beyond a limit.
class TooLarge : public InputError {
 public:
  using InputError::InputError;
};

// Both throw InputError for what is malformed, with one sentence, and TooLarge. `features`: of the bundle,
// and `names`: what it calls them.
//
// JSON: {"queries": [{"qid": "q1", "documents": [{"id": "d1", "features": [0.5, 0, ...]}, ...]}, ...]}, or
// one query alone: {"qid": "q1", "documents": [...]}. Features are a list of all, or an object of those that
// are not 0 by number or name: {"1": 0.5, "bm25": 3}; digits are a number. "qid" and "id" may be left out.
Dataset parse_json_request(std::string_view body, size_t features, const FeatureNames& names,
                           const RequestLimits& limits);
Dataset parse_letor_request(std::string_view body, size_t features, const RequestLimits& limits);

}  // namespace tunemix::serve
