// What the head of an HTTP request asks for, or why it is refused: decided before any of its body is read.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/serve/access.h"
#include "pipeline/serve/service.h"

namespace tunemix::serve {

using Head = boost::beast::http::request_header<>;

struct Asked {
  enum class What { kRank, kHealth, kMetrics };
  What what = What::kHealth;
  std::string bundle;           // to rank with; may be empty where there is only one
  bool may_see_all = false;     // the request shows a token, or none is needed
  bool waits_for_word = false;  // the client sends its body once it is told to
};

struct Verdict {
  std::optional<Reply> refusal;
  bool close = false;  // what follows the head cannot be trusted, or is not read
  Asked asked;
};

// `length`: of the body, where it is told; `chunked`: it comes in chunks.
Verdict judge(const Head& head, std::optional<uint64_t> length, bool chunked, const Tokens& tokens,
              Service& service);

}  // namespace tunemix::serve
