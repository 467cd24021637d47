#include "pipeline/serve/http_server.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "pipeline/serve/connection.h"

namespace tunemix::serve {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using boost::beast::tcp_stream;

constexpr auto kGrace = std::chrono::seconds(5);  // for requests under way when the server ends

// Accepts connections, on the thread of the network.
class Listener {
 public:
  Listener(Shared& shared, const HttpOptions& options)
      : shared_(shared), acceptor_(shared.network), pause_(shared.network) {
    if (options.encrypted()) tls_ = tls_context(options.certificate, options.key);
    try {
      const Tcp::endpoint at =
          *Tcp::resolver(shared.network).resolve(options.host, std::to_string(options.port)).begin();
      // By what the name stands for: anything may be called 127.example.
      if (!at.address().is_loopback() && !options.insecure &&
          (!options.encrypted() || options.tokens.empty()))
        throw_input(
            "--listen {}:{}: an address other than loopback needs --token and --tls-cert with --tls-key; or "
            "--insecure, where a proxy or the network sees to both",
            options.host, options.port);
      acceptor_.open(at.protocol());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(at);
      acceptor_.listen(asio::socket_base::max_listen_connections);
    } catch (const boost::system::system_error& error) {
      throw_input("cannot listen on {}:{}: {}", options.host, options.port, error.code().message());
    }
  }
  int port() const { return acceptor_.local_endpoint().port(); }

  // Until end(): what a connection fails at, memory included, ends that connection alone.
  void run() {
    while (true) {
      try {
        if (!waiting_ && !shared_.ending) accept();
        shared_.network.run();
        return;
      } catch (const std::exception&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }
  void end() {
    shared_.ending = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    shared_.clients.close_silent();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, Tcp::socket socket) {
      waiting_ = false;
      if (shared_.ending) return;
      if (error) return rest();  // no descriptor is free, or the client has gone already
      accept();
      if (tls_ != nullptr)
        std::make_shared<Connection<boost::beast::ssl_stream<tcp_stream>>>(
            shared_, boost::beast::ssl_stream<tcp_stream>(tcp_stream(std::move(socket)), *tls_))
            ->start();
      else
        std::make_shared<Connection<tcp_stream>>(shared_, tcp_stream(std::move(socket)))->start();
    });
    waiting_ = true;
  }
  void rest() {
    shared_.clients.make_room();
    pause_.expires_after(std::chrono::milliseconds(20));
    pause_.async_wait([this](boost::system::error_code) {
      waiting_ = false;
      if (!shared_.ending) accept();
    });
    waiting_ = true;
  }

  Shared& shared_;
  Tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::unique_ptr<asio::ssl::context> tls_;
  bool waiting_ = false;  // for a connection, or for the end of a pause
};

// Loads changed bundles beside everything else.
class Reloader {
 public:
  Reloader(Service& service, const std::function<void(const std::string&)>& on_log)
      : service_(service), on_log_(on_log) {}

  bool busy() const { return busy_; }
  void start() {
    if (busy_.exchange(true)) return;
    try {
      asio::post(thread_, [this] {
        try {
          for (const std::string& line : service_.reload_changed()) on_log_(line);
        } catch (const std::exception&) {  // no memory for the message
        }
        busy_ = false;
      });
    } catch (const std::exception&) {
      busy_ = false;
    }
  }

 private:
  Service& service_;
  const std::function<void(const std::string&)>& on_log_;
  std::atomic<bool> busy_ = false;
  asio::thread_pool thread_{1};
};

// Has `work` done by the thread of the network.
template <typename Work>
void ask(Shared& shared, Work work) {
  while (true) try {
      return asio::post(shared.network, work);
    } catch (const std::exception&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

size_t allowed_connections(size_t requests) {
  constexpr size_t kSpare = 16;
  constexpr size_t kOthers = 32;  // bundles, logs and the like
  const size_t wanted = requests + kSpare;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, wanted + kOthers));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return std::min<rlim_t>(wanted, std::max<rlim_t>(limit.rlim_cur, kOthers + 1) - kOthers);
}

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
  constexpr auto kTick = std::chrono::milliseconds(50);
  // Large requests give their memory back to the system at once, whatever was large before.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_ARENA_MAX, 2);
  Shared shared(service, options);
  Listener listener(shared, options);
  Reloader reloader(service, on_log);
  std::atomic<bool> ended = false;
  std::thread network([&] {
    listener.run();
    ended = true;
  });
  on_ready(listener.port());
  const auto reload_every = std::chrono::duration<double>(options.reload_seconds);
  for (auto last = Clock::now(); !stop.load(); std::this_thread::sleep_for(kTick)) {
    if (Clock::now() - last < reload_every) continue;
    last = Clock::now();
    reloader.start();
  }
  ask(shared, [&] { listener.end(); });
  for (const auto end = Clock::now() + kGrace; !ended.load() && Clock::now() < end;)
    std::this_thread::sleep_for(kTick);
  ask(shared, [&] { shared.clients.close_all(); });
  network.join();
  shared.rankers.join();
  on_log("stopped");
  if (reloader.busy()) std::_Exit(0);  // nothing here is worth waiting for the rest of a file
}

}  // namespace tunemix::serve
