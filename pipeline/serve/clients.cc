#include "pipeline/serve/clients.h"

namespace tunemix::serve {

namespace {

constexpr auto kSettled = std::chrono::seconds(1);  // a request may be on its way to a younger connection

}  // namespace

void Clients::add(Client& client) {
  if (all_.size() >= most_open_) make_room();
  all_.push_back(&client);
}

void Clients::remove(Client& client) {
  end_request(client);
  all_.remove(&client);
}

void Clients::make_room() {
  if (Client* const last = longest_waiting(nullptr, false)) {
    ++gave_way_;
    close(*last);
  }
}

Client* Clients::longest_waiting(const Client* but, bool holding) const {
  Client* longest = nullptr;
  const Clock::time_point settled = Clock::now() - kSettled;
  const auto is_idle = [&](const Client& client) { return client.is_silent() && client.since_ <= settled; };
  const auto waits_longer = [&](const Client& a, const Client& b) {
    return is_idle(a) != is_idle(b) ? is_idle(a) : a.since_ < b.since_;
  };
  for (Client* const client : all_) {
    if (client == but || client->waits_ == Client::Waits::kForUs || (holding && client->held_ == 0)) continue;
    if (longest == nullptr || waits_longer(*client, *longest)) longest = client;
  }
  return longest;
}

void Clients::close(Client& client) {
  end_request(client);
  client.wait(Client::Waits::kForUs);  // not to be chosen again until it is gone
  client.close();
}

void Clients::close_silent() {
  for (Client* const client : all_)
    if (client->is_silent()) close(*client);
}

void Clients::close_all() {
  for (Client* const client : all_)
    if (client->waits_ != Client::Waits::kForUs) close(*client);
}

bool Clients::begin_request(Client& client) {
  if (requests_ >= most_requests_) return false;
  ++requests_;
  client.ranks_ = true;
  return true;
}

bool Clients::hold(Client& client, size_t bytes) {
  while (held_ + bytes > most_bytes_) {
    Client* const other = longest_waiting(&client, true);
    if (other == nullptr) return false;
    ++gave_way_;
    close(*other);
  }
  held_ += bytes;
  client.held_ += bytes;
  return true;
}

void Clients::release(Client& client) {
  held_ -= client.held_;
  client.held_ = 0;
}

void Clients::end_request(Client& client) {
  release(client);
  requests_ -= client.ranks_ ? 1 : 0;
  client.ranks_ = false;
}

}  // namespace tunemix::serve
