#include "pipeline/serve/request_head.h"

#include <boost/beast/core/string.hpp>
#include <charconv>

namespace tunemix::serve {
namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;

constexpr size_t kMostFields = 100;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Why the head, or the body's length that follows from it, cannot be trusted; empty: it can.
std::string_view malformed(const Head& head, bool has_body) {
  size_t fields = 0;
  for ([[maybe_unused]] const auto& field : head) ++fields;
  if (fields > kMostFields) return "the request has more than 100 fields in its head";
  const size_t hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() == 11)) return "the request has no Host, or several";
  if (const size_t encodings = head.count(http::field::transfer_encoding); encodings > 0) {
    if (head.version() != 11 || encodings > 1 || !iequals(head[http::field::transfer_encoding], "chunked"))
      return "the Transfer-Encoding is not known; expected \"chunked\", or a Content-Length";
  }
  const http::verb method = head.method();
  if (has_body && (method == http::verb::get || method == http::verb::head || method == http::verb::trace))
    return "a request of this method has no body";
  return {};
}

// The path of a target in any of its forms, without its query and with its escapes replaced.
std::optional<std::string> path_of(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (target.starts_with(scheme)) {
      target.remove_prefix(std::min(target.find('/', scheme.size()), target.size()));
      break;
    }
  target = target.substr(0, target.find_first_of("?#"));
  std::string path;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] != '%') {
      path.push_back(target[i]);
      continue;
    }
    uint8_t code = 0;
    const char* const digits = target.data() + i + 1;
    if (i + 2 >= target.size() || std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2)
      return std::nullopt;
    path.push_back(static_cast<char>(code));
    i += 2;
  }
  return path;
}

struct Place {
  Asked::What what;
  std::string_view methods;
};

std::optional<Place> place_of(std::string_view path) {
  if (path == "/health") return Place{Asked::What::kHealth, "GET, HEAD"};
  if (path == "/metrics") return Place{Asked::What::kMetrics, "GET, HEAD"};
  constexpr std::string_view kRank = "/rank/";
  const bool named =
      path.starts_with(kRank) && path.size() > kRank.size() && path.find('/', kRank.size()) == path.npos;
  if (named || path == kRank.substr(0, kRank.size() - 1)) return Place{Asked::What::kRank, "POST"};
  return std::nullopt;
}

bool offers(std::string_view methods, const Head& head) {
  return head.method() != http::verb::unknown &&
         methods.find(view(head.method_string())) != std::string_view::npos;
}

}  // namespace

Verdict judge(const Head& head, std::optional<uint64_t> length, bool chunked, const Tokens& tokens,
              Service& service) {
  const bool has_body = chunked || length.value_or(0) > 0;
  Verdict verdict;
  const auto refuse = [&](Reply reply, bool close) {
    verdict.refusal = std::move(reply);
    verdict.close = close || has_body;
    return std::move(verdict);
  };
  if (const std::string_view why = malformed(head, has_body); !why.empty())
    return refuse(error_reply(400, why), true);
  const std::optional<std::string> path = path_of(view(head.target()));
  if (!path) return refuse(error_reply(400, "the address of the request has a wrong escape"), false);
  const std::optional<Place> place = place_of(*path);
  Asked& asked = verdict.asked;
  asked.may_see_all = tokens.accept(view(head[http::field::authorization]));
  if (!asked.may_see_all && !(place && place->what == Asked::What::kHealth)) {
    Reply reply = error_reply(401, "expected the field \"Authorization: Bearer TOKEN\" with a valid token");
    reply.fields.emplace_back("WWW-Authenticate", "Bearer");
    return refuse(std::move(reply), false);
  }
  if (!place)
    return refuse(
        error_reply(404, "there is nothing here; there are POST /rank/NAME, GET /health and GET /metrics"),
        false);
  if (!offers(place->methods, head)) {
    Reply reply =
        error_reply(405, fmt::format("this method is not offered here; expected {}", place->methods));
    reply.fields.emplace_back("Allow", place->methods);
    return refuse(std::move(reply), false);
  }
  asked.what = place->what;
  if (asked.what != Asked::What::kRank) return verdict;
  asked.bundle = path->substr(std::min(path->size(), std::string_view("/rank/").size()));
  const size_t most = service.limits().bytes;
  if (length.value_or(0) > most)
    return refuse(service.refuse(asked.bundle, 413, fmt::format("the request is longer than {} bytes", most)),
                  true);
  const auto encoding = head[http::field::content_encoding];
  if (!encoding.empty() && !iequals(encoding, "identity"))
    return refuse(
        service.refuse(asked.bundle, 415, "the encoding of the request is not known; expected none"), false);
  if (const auto expect = head[http::field::expect]; !expect.empty()) {
    if (!iequals(expect, "100-continue"))
      return refuse(error_reply(417, "the request expects something that is not known"), false);
    asked.waits_for_word = has_body && head.version() == 11;
  }
  return verdict;
}

}  // namespace tunemix::serve
