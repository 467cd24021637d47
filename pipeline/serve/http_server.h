// The scoring service behind HTTP/1.1.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "pipeline/serve/service.h"

namespace tunemix::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;            // 0: any that is free
  size_t connections = 64;    // that are served at once; others wait
  double reload_seconds = 1;  // how often the files are looked at
};

// "HOST:PORT" or "[IPV6]:PORT"; throws InputError.
void parse_listen(const std::string& text, HttpOptions& options);

// The end waits a few seconds at most for clients that are slow. Connections without a request under way are
// closed where others wait for a place.
// Answers until `stop` is set; then takes no more requests, and returns once those under way are answered.
// `on_ready` is told the port, `on_log` what happens. Throws InputError where the address cannot be used.
void serve_http(Service& service, const HttpOptions& options, const std::atomic<bool>& stop,
                const std::function<void(int)>& on_ready,
                const std::function<void(const std::string&)>& on_log);

}  // namespace tunemix::serve
