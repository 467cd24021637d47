// What a client asks the scoring service to rank: queries with documents, as JSON or as LETOR text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "tunemix/core/error.h"
#include "tunemix/data/dataset.h"
#include "tunemix/export/bundle.h"

namespace tunemix::serve {

struct RequestLimits {
  size_t bytes = size_t{16} << 20;   // of a body, unpacked
  size_t documents = 10000;          // of a request
  size_t values = size_t{16} << 20;  // documents times features, zeros included
};

// What a bundle needs to know of documents.
struct BundleInput {
  size_t features = 0;
  const FeatureNames& names;
  std::map<std::string, size_t> scores = {};  // from elsewhere: how many numbers a document has
  std::vector<size_t> categorical = {};       // features whose values may be words

  static BundleInput of(const Bundle& bundle);
};

// The request is beyond a limit.
class TooLarge : public InputError {
 public:
  using InputError::InputError;
};

struct RankingRequest {
  Dataset data;
  GivenScores scores = {};  // that the bundle asks for
};

// Both throw InputError for what is malformed, with one sentence, and TooLarge.
//
// JSON: {"queries": [{"qid": "q1", "documents": [{"id": "d1", "features": [0.5, 0, ...]}, ...]}, ...]}, or
// one query alone: {"qid": "q1", "documents": [...]}. Features are a list of all, or an object of those that
// are not 0 by number or name: {"1": 0.5, "bm25": 3}; digits are a number, and null is a missing value. "qid"
// and "id" may be left out.
// Values of categorical features may be words: {"brand": "acme"}.
// Where the bundle mixes scores from elsewhere, every document has them: "scores": {"bm25": 3.1}, or a list
// of K numbers for a classifier's. LETOR text has no place for them.
RankingRequest parse_json_request(std::string_view body, const BundleInput& expected,
                                  const RequestLimits& limits);
RankingRequest parse_letor_request(std::string_view body, const BundleInput& expected,
                                   const RequestLimits& limits);

}  // namespace tunemix::serve
