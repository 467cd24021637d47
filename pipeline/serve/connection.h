// One connection: reads requests and writes answers, one after the other. Everything here runs on the thread
// of the network but the ranking itself. Nothing waits for a client without an end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include "pipeline/serve/clients.h"
#include "pipeline/serve/http_server.h"
#include "pipeline/serve/request_head.h"

namespace tunemix::serve {

// So many to rank and some more, as far as the system allows open files.
size_t allowed_connections(size_t requests);

// What connections share.
struct Shared {
  Shared(Service& its_service, const HttpOptions& its_options)
      : service(its_service),
        options(its_options),
        clients(its_options.connections, its_options.held, allowed_connections(its_options.connections)) {}

  Service& service;
  const HttpOptions& options;
  boost::asio::io_context network{1};
  Clients clients;
  boost::asio::thread_pool rankers{static_cast<size_t>(options.threads)};
  bool ending = false;
  uint64_t slow = 0;       // connections that were closed as the client took too long
  uint64_t malformed = 0;  // that were closed as requests could not be told from each other
};

// Stream: boost::beast::tcp_stream, or an ssl_stream of it.
template <typename Stream>
class Connection final : public Client, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Shared& shared, Stream stream) : shared_(shared), stream_(std::move(stream)) {
    shared_.clients.add(*this);
  }
  ~Connection() override { shared_.clients.remove(*this); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    error_code ignored;
    bottom().socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    if constexpr (kEncrypted) {
      wait_for_client(kPatience);
      stream_.async_handshake(boost::asio::ssl::stream_base::server, [self = self()](error_code error) {
        error ? self->left(error) : self->next();
      });
    } else {
      next();
    }
  }
  void close() override {
    error_code ignored;
    bottom().socket().close(ignored);
  }

 private:
  using error_code = boost::beast::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;
  static constexpr bool kEncrypted = !std::is_same_v<Stream, boost::beast::tcp_stream>;

  static constexpr unsigned kVersion = 11;  // HTTP/1.1
  static constexpr size_t kHeadBytes = size_t{8} << 10;
  static constexpr size_t kPiece = 2 * kHeadBytes;             // that is read at once
  static constexpr auto kIdle = std::chrono::seconds(60);      // between requests
  static constexpr auto kPatience = std::chrono::seconds(5);   // for a head, and for a body to get going
  static constexpr double kLeastRate = 16384;                  // bytes a second, of a longer body or answer
  static constexpr auto kFarewell = std::chrono::seconds(2);   // for a client to read why it is left
  static constexpr size_t kFarewellBytes = size_t{256} << 20;  // that it may still send meanwhile

  auto self() { return this->shared_from_this(); }
  boost::beast::tcp_stream& bottom() { return boost::beast::get_lowest_layer(stream_); }

  static Clock::duration time_for(size_t bytes) {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(bytes) / kLeastRate));
  }
  static std::string longer_than(size_t most) {
    return fmt::format("the request is longer than {} bytes", most);
  }
  void wait_for_client(Clock::duration patience) {
    wait(Waits::kForClient);
    bottom().expires_after(patience);
  }

  void next() {
    if (shared_.ending) return;
    parser_.emplace();
    parser_->header_limit(kHeadBytes);
    parser_->body_limit(std::numeric_limits<uint64_t>::max());  // counted here
    if (buffer_.size() > 0) return read_head();
    wait(Waits::kForNextRequest);
    bottom().expires_after(kIdle);
    stream_.async_read_some(buffer_.prepare(kHeadBytes), [self = self()](error_code error, size_t bytes) {
      if (error) return self->left(error);
      self->buffer_.commit(bytes);
      self->read_head();
    });
  }

  void read_head() {
    wait_for_client(kPatience);
    boost::beast::http::async_read_header(
        stream_, buffer_, *parser_,
        [self = self()](error_code error, size_t) { error ? self->misread(error) : self->judge_head(); });
  }

  void judge_head() {
    Service& service = shared_.service;
    const auto& head = parser_->get().base();
    std::optional<uint64_t> length;
    if (const auto told = parser_->content_length()) length = *told;
    Verdict verdict = judge(head, length, parser_->chunked(), shared_.options.tokens, service);
    asked_ = std::move(verdict.asked);
    if (verdict.refusal) return answer(std::move(*verdict.refusal), verdict.close);
    switch (asked_.what) {
      case Asked::What::kHealth:
        return answer(service.health(asked_.may_see_all), false);
      case Asked::What::kMetrics: {
        Reply reply = service.metrics();
        reply.body += network_metrics();
        return answer(std::move(reply), false);
      }
      case Asked::What::kRank:
        return begin_body();
    }
  }

  std::string network_metrics() const {
    return fmt::format(
        "# HELP tunemix_connections Connections that are open.\n# TYPE tunemix_connections gauge\n"
        "tunemix_connections {}\n"
        "# HELP tunemix_held_bytes Requests and answers in memory.\n# TYPE tunemix_held_bytes gauge\n"
        "tunemix_held_bytes {}\n"
        "# HELP tunemix_connections_closed_total Connections that the server ended, by reason.\n"
        "# TYPE tunemix_connections_closed_total counter\n"
        "tunemix_connections_closed_total{{reason=\"slow\"}} {}\n"
        "tunemix_connections_closed_total{{reason=\"malformed\"}} {}\n"
        "tunemix_connections_closed_total{{reason=\"crowd\"}} {}\n",
        shared_.clients.open(), shared_.clients.held(), shared_.slow, shared_.malformed,
        shared_.clients.gave_way());
  }

  void begin_body() {
    if (!shared_.clients.begin_request(*this)) return refuse_busy();
    wait_for_client(kPatience);
    body_until_ = Clock::now() + kPatience;
    if (!asked_.waits_for_word) return read_body();
    namespace http = boost::beast::http;
    response_ = Response(http::status::continue_, kVersion);
    http::async_write(stream_, response_, [self = self()](error_code error, size_t) {
      error ? self->left(error) : self->read_body();
    });
  }

  // Piece by piece; every byte earns time for those after it.
  void read_body() {
    if (parser_->is_done()) return rank();
    const size_t before = body_.size();
    body_.resize(before + kPiece);
    auto& to = parser_->get().body();
    to.data = body_.data() + before;
    to.size = kPiece;
    to.more = true;
    bottom().expires_at(body_until_);
    boost::beast::http::async_read_some(stream_, buffer_, *parser_,
                                        [self = self(), before](error_code error, size_t) {
                                          const size_t got = kPiece - self->parser_->get().body().size;
                                          self->body_.resize(before + got);
                                          if (error && error != boost::beast::http::error::need_buffer)
                                            return self->misread(error);
                                          self->count(got);
                                        });
  }
  void count(size_t got) {
    const size_t most = shared_.service.limits().bytes;
    if (body_.size() > most)
      return answer(shared_.service.refuse(asked_.bundle, 413, longer_than(most)), true);
    if (!shared_.clients.hold(*this, got)) return refuse_busy();
    body_until_ += time_for(got);
    read_body();
  }

  void refuse_busy() {
    Reply reply = shared_.service.refuse(asked_.bundle, 503, "too much is under way; ask again");
    reply.fields.emplace_back("Retry-After", "1");
    answer(std::move(reply), true);
  }

  // By another thread, which gives the answer back to this one.
  void rank() {
    wait(Waits::kForUs);
    bottom().expires_never();
    const auto type = parser_->get()[boost::beast::http::field::content_type];
    kept_ = self();
    try {
      boost::asio::post(shared_.rankers, [this, type = std::string(type.data(), type.size()),
                                          guard = boost::asio::make_work_guard(shared_.network)] {
        try {
          reply_ = shared_.service.rank(asked_.bundle, type, body_);
        } catch (const std::exception&) {
          reply_ = {};
          reply_.status = 0;
        }
        give_back();
      });
    } catch (...) {
      kept_.reset();
      throw;
    }
  }
  // Tries until there is memory for it: nobody else would end this request.
  void give_back() noexcept {
    while (true) try {
        return boost::asio::post(shared_.network, [this] {
          const auto self = std::move(kept_);
          if (reply_.status > 0) answer(std::move(reply_), false);
        });
      } catch (const std::exception&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
  }

  // `unread`: something may follow that is not read as a request.
  void answer(Reply reply, bool unread) {
    namespace http = boost::beast::http;
    std::string().swap(body_);
    shared_.clients.release(*this);
    const bool head = parser_->is_header_done();
    const bool last = unread || shared_.ending || !head || !parser_->keep_alive();
    const size_t size = reply.body.size();
    response_ = Response(http::int_to_status(static_cast<unsigned>(reply.status)), kVersion);
    response_.set(http::field::content_type, reply.type);
    for (const auto& [name, value] : reply.fields) response_.set(name, value);
    response_.keep_alive(!last);
    response_.content_length(size);
    if (!head || parser_->get().method() != http::verb::head) response_.body() = std::move(reply.body);
    if (!shared_.clients.hold(*this, size)) return;  // nobody else can be asked to wait
    wait_for_client(kPatience + time_for(size));
    http::async_write(stream_, response_, [self = self(), last, unread](error_code error, size_t) {
      self->response_ = {};
      self->shared_.clients.end_request(*self);
      if (error) return self->left(error);
      last ? self->part(unread) : self->next();
    });
  }

  // The client gets time to read why it is left: what it still sends would otherwise reset the connection.
  void part(bool unread) {
    wait_for_client(kFarewell);
    if constexpr (kEncrypted) {
      stream_.async_shutdown([self = self(), unread](error_code) {
        if (unread) self->drain(0);
      });
    } else {
      error_code ignored;
      bottom().socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
      if (unread) drain(0);
    }
  }
  void drain(size_t drained) {
    buffer_.clear();
    bottom().async_read_some(buffer_.prepare(kPiece),
                             [self = self(), drained](error_code error, size_t bytes) {
                               if (!error && drained + bytes < kFarewellBytes) self->drain(drained + bytes);
                             });
  }

  void misread(error_code error) {
    namespace http = boost::beast::http;
    static const auto& kCategory = http::make_error_code(http::error::bad_method).category();
    if (error.category() != kCategory || error == http::error::end_of_stream ||
        error == http::error::partial_message)
      return left(error);
    ++shared_.malformed;
    const bool too_long = error == http::error::header_limit || error == http::error::buffer_overflow;
    if (!too_long || parser_->is_header_done())
      return answer(error_reply(400, "the request is not HTTP/1.1: " + error.message()), true);
    answer(parser_->get().target().empty()
               ? error_reply(414, "the address of the request is too long")
               : error_reply(431, fmt::format("the head of the request is longer than {} bytes", kHeadBytes)),
           true);
  }

  void left(error_code error) {
    if (error == boost::beast::error::timeout && !is_silent()) ++shared_.slow;
  }

  Shared& shared_;
  Stream stream_;
  boost::beast::flat_static_buffer<kPiece> buffer_;
  std::optional<Parser> parser_;
  Asked asked_;
  std::string body_;
  Clock::time_point body_until_;
  Reply reply_;
  Response response_;
  std::shared_ptr<Connection> kept_;  // while another thread ranks
};

}  // namespace tunemix::serve
