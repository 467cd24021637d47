#include "pipeline/serve/access.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <boost/beast/core/string.hpp>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"

namespace tunemix::serve {
namespace {

namespace ssl = boost::asio::ssl;

constexpr size_t kMostTokenBytes = 1 << 16;  // of the file
constexpr size_t kMostPemBytes = 1 << 20;
constexpr std::string_view kScheme = "Bearer ";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Tokens::Tokens(const std::filesystem::path& file) {
  const std::vector<uint8_t> bytes = read_regular_file(file, kMostTokenBytes);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view token = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (token.empty()) continue;
    for (const char c : token)
      if (c <= ' ' || c > '~')
        throw_input("{}:{}: a token has a character that is not printable ASCII; expected one token a line",
                    file.string(), number);
    digests_.push_back(digest(token));
  }
  if (digests_.empty()) throw_input("{}: it has no token; expected one a line", file.string());
}

Tokens::Digest Tokens::digest(std::string_view token) {
  Digest digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

bool Tokens::accept(std::string_view authorization) const {
  if (digests_.empty()) return true;
  if (authorization.size() < kScheme.size() ||
      !boost::beast::iequals({authorization.data(), kScheme.size()}, {kScheme.data(), kScheme.size()}))
    return false;
  const Digest given = digest(trimmed(authorization.substr(kScheme.size())));
  bool found = false;
  for (const Digest& known : digests_)  // all of them, wherever the right one is
    found = (CRYPTO_memcmp(known.data(), given.data(), known.size()) == 0) || found;
  return found;
}

std::unique_ptr<ssl::context> tls_context(const std::filesystem::path& certificate,
                                          const std::filesystem::path& key) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 |
                       ssl::context::no_compression);
  // A key with a password would have OpenSSL ask for it at the terminal.
  context->set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); });
  boost::system::error_code error;
  context->use_certificate_chain(boost::asio::buffer(read_regular_file(certificate, kMostPemBytes)), error);
  if (error)
    throw_input("{}: not a certificate chain ({}); expected PEM", certificate.string(), error.message());
  context->use_private_key(boost::asio::buffer(read_regular_file(key, kMostPemBytes)), ssl::context::pem,
                           error);
  if (error)
    throw_input("{}: not the private key of {} ({}); expected PEM without a password", key.string(),
                certificate.string(), error.message());
  return context;
}

}  // namespace tunemix::serve
