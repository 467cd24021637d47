// Who may ask: bearer tokens, and the certificate that the server shows.
#pragma once

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace tunemix::serve {

class Tokens {
 public:
  Tokens() = default;  // everybody may ask
  // One token a line, so that an old and a new one can be valid side by side. Throws InputError.
  explicit Tokens(const std::filesystem::path& file);

  bool empty() const { return digests_.empty(); }
  // Whether a request with this Authorization field may be answered. Takes the same time for any wrong token.
  bool accept(std::string_view authorization) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest digest(std::string_view token);

  std::vector<Digest> digests_;
};

// A server's TLS 1.2 or 1.3 with this certificate chain and key (PEM). Throws InputError.
std::unique_ptr<boost::asio::ssl::context> tls_context(const std::filesystem::path& certificate,
                                                       const std::filesystem::path& key);

}  // namespace tunemix::serve
