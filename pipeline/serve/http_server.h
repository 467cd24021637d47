// The scoring service behind HTTP/1.1, in the clear or by TLS.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "pipeline/serve/access.h"
#include "pipeline/serve/service.h"

namespace tunemix::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                // 0: any that is free
  size_t connections = 512;       // requests to rank that are under way at once; more are refused
  size_t held = size_t{1} << 28;  // bytes of requests and answers that are held at once
  int threads = 1;                // that rank
  double reload_seconds = 1;      // how often the files are looked at
  Tokens tokens;
  std::filesystem::path certificate;  // empty: in the clear
  std::filesystem::path key;
  bool insecure = false;  // other machines may ask although tokens or TLS are missing

  bool encrypted() const { return !certificate.empty(); }
};

// "HOST:PORT" or "[IPV6]:PORT"; throws InputError.
void parse_listen(const std::string& text, HttpOptions& options);

// Answers until `stop` is set; then takes no more requests, answers those under way, and gives slow clients a
// few seconds. `on_ready` is told the port, `on_log` what happens. Throws InputError where the address cannot
// be used. Does not wait for a bundle that is being loaded at the end: it ends the program then.
void serve_http(Service& service, const HttpOptions& options, const std::atomic<bool>& stop,
                const std::function<void(int)>& on_ready,
                const std::function<void(const std::string&)>& on_log);

}  // namespace tunemix::serve
