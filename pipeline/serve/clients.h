// The connections of a server: how many may be open, what they hold, and which gives way to another.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>

namespace tunemix::serve {

using Clock = std::chrono::steady_clock;

// All of it is used by the thread of the network alone.
class Client {
 public:
  // Whom the connection waits for. Those that wait for us are never closed.
  enum class Waits { kForNextRequest, kForClient, kForUs };

  virtual ~Client() = default;
  virtual void close() = 0;  // what is under way ends with an error

 protected:
  void wait(Waits what) {
    waits_ = what;
    since_ = Clock::now();
  }
  bool is_silent() const { return waits_ == Waits::kForNextRequest; }

 private:
  friend class Clients;
  Waits waits_ = Waits::kForClient;
  Clock::time_point since_ = Clock::now();
  size_t held_ = 0;     // bytes
  bool ranks_ = false;  // a request to rank is under way
};

class Clients {
 public:
  // Requests to rank at once, bytes, and open connections: more than requests, so that somebody can still ask
  // how the server is.
  Clients(size_t requests, size_t bytes, size_t open)
      : most_requests_(requests), most_bytes_(bytes), most_open_(open) {}

  // Where too many are open, the one that has kept us waiting longest is closed, those first that have been
  // silent for a while.
  void add(Client& client);
  void remove(Client& client);
  void make_room();     // as if too many were open
  void close_silent();  // those without a request under way
  void close_all();     // but those that wait for us

  // Takes a place for a request, and `bytes` for it; false: no place is free. Bytes that another client holds
  // while it keeps us waiting are taken from it.
  bool begin_request(Client& client);
  bool hold(Client& client, size_t bytes);
  void release(Client& client);  // its bytes
  void end_request(Client& client);

  size_t open() const { return all_.size(); }
  size_t held() const { return held_; }
  uint64_t gave_way() const { return gave_way_; }

 private:
  Client* longest_waiting(const Client* but, bool holding) const;
  void close(Client& client);

  std::list<Client*> all_;
  size_t most_requests_;
  size_t most_bytes_;
  size_t most_open_;
  size_t requests_ = 0;
  size_t held_ = 0;
  uint64_t gave_way_ = 0;
};

}  // namespace tunemix::serve
