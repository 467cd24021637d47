#include "pipeline/serve/http_server.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
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

// The methods of an address; nullptr: there is nothing.
const char* methods_of(std::string_view path) {
  if (path == "/health" || path == "/metrics") return "GET, HEAD";
  constexpr std::string_view kRank = "/rank";
  const bool ranks = path == kRank || (path.starts_with("/rank/") && path.size() > kRank.size() + 1 &&
                                       path.find('/', kRank.size() + 1) == std::string_view::npos);
  return ranks ? "POST" : nullptr;
}

// What the library itself refuses has no body yet.
void explain(const httplib::Request& request, httplib::Response& response) {
  if (!response.body.empty()) return;
  const char* methods = methods_of(request.path);
  const bool other_method =
      methods != nullptr && std::string_view(methods).find(request.method) == std::string_view::npos;
  if (other_method && (response.status == 404 || response.status == 400)) {
    response.set_header("Allow", methods);
    send(response, error_reply(405, fmt::format("this method is not offered here; expected {}", methods)));
    return;
  }
  const char* sentence = "the request is malformed";
  if (response.status == 404)
    sentence = "there is nothing here; there are POST /rank/NAME, GET /health and GET /metrics";
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

using Clock = std::chrono::steady_clock;

constexpr auto kIdle = std::chrono::seconds(5);  // a connection that says nothing gives its place to another
constexpr auto kIdleInCrowd = std::chrono::seconds(1);  // the same, where others wait for a place
constexpr auto kPatience = std::chrono::seconds(120);   // for a client's bytes of one request, all in all
constexpr auto kGrace = std::chrono::seconds(5);        // for requests under way when the server ends

// How many connections have a worker, and how many are still without one.
struct Crowd {
  std::atomic<size_t> served{0};
  std::atomic<size_t> waiting{0};
};

class Workers : public httplib::TaskQueue {
 public:
  Workers(size_t count, Crowd& crowd) : pool_(count), crowd_(crowd) {}
  void enqueue(std::function<void()> task) override {
    ++crowd_.waiting;
    pool_.enqueue([this, task = std::move(task)] {
      ++crowd_.served;
      --crowd_.waiting;
      task();
      --crowd_.served;
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  httplib::ThreadPool pool_;
  Crowd& crowd_;
};

// The bytes of a connection. Nothing waits for a client longer than the limits above.
class Connection : public httplib::Stream {
 public:
  // `end`: when the server ends, in ticks of the clock.
  Connection(socket_t socket, const std::atomic<Clock::rep>& end) : socket_(socket), end_(end) {}
  ~Connection() override {
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool has_bytes(std::chrono::milliseconds wait) const { return begin_ < size_ || ready(POLLIN, wait); }
  void begin_request() { patience_ = kPatience; }

  bool is_readable() const override { return has_bytes(kIdle); }
  bool is_writable() const override { return ready(POLLOUT, kIdle); }
  ssize_t read(char* to, size_t size) override {
    if (begin_ == size_) {
      if (!wait(POLLIN)) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return got;
      begin_ = 0;
      size_ = static_cast<size_t>(got);
    }
    const size_t count = std::min(size, size_ - begin_);
    std::copy_n(buffer_.data() + begin_, count, to);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    if (!wait(POLLOUT)) return -1;
    return ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}  // nobody asks for them
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool ready(short events, std::chrono::milliseconds wait) const {
    pollfd descriptor{socket_, events, 0};
    return ::poll(&descriptor, 1, static_cast<int>(wait.count())) > 0;
  }
  bool wait(short events) {
    const auto begin = Clock::now();
    const auto within = std::min<Clock::duration>(kIdle, patience_);
    for (auto now = begin; now - begin <= within && now.time_since_epoch().count() < end_.load();
         now = Clock::now()) {
      if (!ready(events, std::chrono::milliseconds(50))) continue;
      patience_ -= Clock::now() - begin;
      return true;
    }
    return false;
  }

  socket_t socket_;
  const std::atomic<Clock::rep>& end_;
  Clock::duration patience_{};
  std::array<char, 4096> buffer_{};
  size_t begin_ = 0;
  size_t size_ = 0;
};

// A server whose connections end soon after their places are wanted, or the server ends: the library itself
// gives them all of their time. A client that goes on asking is told with its next answer.
class RankingServer : public httplib::Server {
 public:
  explicit RankingServer(size_t connections) : places_(connections) {
    new_task_queue = [this, connections] { return new Workers(connections, crowd_); };
    // Only of an address that nobody listens on: the library would share it with another server.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
  }
  void end() {
    end_ = (Clock::now() + kGrace).time_since_epoch().count();
    ending_ = true;
    stop();
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, end_);
    while (has_request(connection)) {
      connection.begin_request();
      const bool last = ending_ || crowded();  // the answer says so
      bool closed = false;
      if (!process_request(connection, last, closed, nullptr)) return false;
      if (closed || last) break;
    }
    return true;
  }
  bool has_request(const Connection& connection) const {
    const auto begin = Clock::now();
    while (!ending_) {
      if (connection.has_bytes(std::chrono::milliseconds(20))) return true;
      const auto idle = Clock::now() - begin;
      if (idle > (crowded() ? kIdleInCrowd : kIdle)) return false;
    }
    return false;
  }

  // Whether connections wait although all places are taken; one that was just opened has a place at once.
  bool crowded() const { return crowd_.waiting > 0 && crowd_.served >= places_; }

  size_t places_;
  Crowd crowd_;
  std::atomic<bool> ending_ = false;
  std::atomic<Clock::rep> end_ = std::numeric_limits<Clock::rep>::max();
};

// The thread that waits for connections; the caller's is free to watch the files.
class Listener {
 public:
  explicit Listener(RankingServer& server) : server_(server), thread_(1) {
    thread_.enqueue([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
  }
  ~Listener() {
    // A server that is stopped before it runs would run on.
    while (!server_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server_.end();
    thread_.shutdown();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  bool ended() const { return ended_; }

 private:
  RankingServer& server_;
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
  RankingServer server(options.connections);
  server.set_payload_max_length(service.limits().bytes);
  server.set_keep_alive_max_count(1000000);
  server.set_keep_alive_timeout(kIdle.count());
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
