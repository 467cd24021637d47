#include "pipeline/serve/http_server.h"

#include <httplib.h>

#include <charconv>
#include <chrono>
#include <thread>

namespace tunemix::serve {
namespace {

void send(httplib::Response& response, const Reply& reply) {
  response.status = reply.status;
  response.set_content(reply.body, reply.type);
}

// Reads all of a body, so that the connection can go on, and keeps no more than the limit.
void rank(Service& service, const std::string& name, const httplib::Request& request,
          httplib::Response& response, const httplib::ContentReader& reader) {
  const size_t most = service.limits().bytes;
  constexpr size_t kPatience = 16;  // so many times the limit are read and dropped; then the client is left
  std::string body;
  size_t seen = 0;
  bool read = false;
  if (request.is_multipart_form_data()) {
    read = reader([](const httplib::MultipartFormData&) { return true; },
                  [](const char*, size_t) { return true; });
  } else {
    read = reader([&](const char* data, size_t size) {
      seen += size;
      if (seen <= most) body.append(data, size);
      return seen / kPatience <= most;
    });
  }
  if (seen > most || response.status == 413)
    send(response, service.refuse(name, 413, fmt::format("the request is longer than {} bytes", most)));
  else if (!read)
    send(response, service.refuse(name, 400, "the body of the request could not be read"));
  else
    send(response, service.rank(name, request.get_header_value("Content-Type"), body));
}

// What the library itself refuses has no body yet.
void explain(const httplib::Request& request, httplib::Response& response) {
  if (!response.body.empty()) return;
  const char* sentence = "the request is malformed";
  if (response.status == 404)
    sentence = request.method == "GET" || request.method == "POST"
                   ? "there is nothing here; there are POST /rank/NAME, GET /health and GET /metrics"
                   : "this method is not offered; there are POST /rank/NAME, GET /health and GET /metrics";
  else if (response.status == 413)
    sentence = "the request is too long";
  else if (response.status == 414)
    sentence = "the address of the request is too long";
  else if (response.status == 415)
    sentence = "the encoding of the request is not known";
  else if (response.status >= 500)
    sentence = "the request could not be answered";
  send(response, error_reply(response.status, sentence));
}

void add_routes(httplib::Server& server, Service& service) {
  server.Post("/rank",
              [&](const httplib::Request& request, httplib::Response& response,
                  const httplib::ContentReader& reader) { rank(service, "", request, response, reader); });
  server.Post("/rank/([^/]+)", [&](const httplib::Request& request, httplib::Response& response,
                                   const httplib::ContentReader& reader) {
    rank(service, request.matches[1].str(), request, response, reader);
  });
  server.Get("/health",
             [&](const httplib::Request&, httplib::Response& response) { send(response, service.health()); });
  server.Get("/metrics", [&](const httplib::Request&, httplib::Response& response) {
    send(response, service.metrics());
  });
  server.set_error_handler(
      [](const httplib::Request& request, httplib::Response& response) { explain(request, response); });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        send(response, error_reply(500, "the request could not be answered"));
      });
}

// The thread that waits for connections; the caller's is free to watch the files.
class Listener {
 public:
  explicit Listener(httplib::Server& server) : server_(server), thread_(1) {
    thread_.enqueue([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
  }
  ~Listener() {
    // A server that is stopped before it runs would run on.
    while (!server_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server_.stop();
    thread_.shutdown();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  bool ended() const { return ended_; }

 private:
  httplib::Server& server_;
  std::atomic<bool> ended_ = false;
  httplib::ThreadPool thread_;
};

}  // namespace

void parse_listen(const std::string& text, HttpOptions& options) {
  const size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (host.empty() || error != std::errc() || end != port.data() + port.size() || options.port < 0 ||
      options.port > 65535)
    throw_input("--listen is '{}'; expected HOST:PORT, as 127.0.0.1:8080", text);
  options.host = host;
}

void serve_http(Service& service, const HttpOptions& options, const std::atomic<bool>& stop,
                const std::function<void(int)>& on_ready,
                const std::function<void(const std::string&)>& on_log) {
  constexpr time_t kIdleSeconds = 5;  // a connection that says nothing gives its place to another
  httplib::Server server;
  server.new_task_queue = [&] { return new httplib::ThreadPool(options.connections); };
  server.set_payload_max_length(service.limits().bytes);
  server.set_keep_alive_max_count(1000000);
  server.set_keep_alive_timeout(kIdleSeconds);
  server.set_read_timeout(kIdleSeconds);
  server.set_write_timeout(kIdleSeconds);
  server.set_tcp_nodelay(true);
  add_routes(server, service);
  int port = options.port;
  const bool bound = port == 0 ? (port = server.bind_to_any_port(options.host)) > 0
                               : server.bind_to_port(options.host, port);
  if (!bound)
    throw_input("cannot listen on {}:{}; the address is taken, not of this machine, or not allowed",
                options.host, options.port);
  const Listener listener(server);
  on_ready(port);
  double waited = 0;
  while (!stop.load() && !listener.ended()) {
    constexpr double kTick = 0.1;
    std::this_thread::sleep_for(std::chrono::duration<double>(kTick));
    waited += kTick;
    if (waited < options.reload_seconds) continue;
    waited = 0;
    for (const std::string& line : service.reload_changed()) on_log(line);
  }
  if (!stop.load()) throw RunError("the server ended by itself: the network refused to go on");
}

}  // namespace tunemix::serve
