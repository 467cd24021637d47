// Which connection of the service gives way to another.
#include "pipeline/serve/clients.h"

#include <gtest/gtest.h>

#include <thread>

namespace tunemix::serve {
namespace {

class FakeClient : public Client {
 public:
  FakeClient(Clients& clients, Waits what) : clients_(clients) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // none is as old as another
    wait(what);
    clients_.add(*this);
  }
  ~FakeClient() override { clients_.remove(*this); }
  void close() override { closed = true; }

  bool closed = false;

 private:
  Clients& clients_;
};

// A request may be on its way to it, while the other has not sent all of its own.
TEST(Clients, ASlowOneGivesWayBeforeOneThatHasJustCome) {
  Clients clients(4, 1000, 2);
  FakeClient slow(clients, Client::Waits::kForClient);
  FakeClient just_come(clients, Client::Waits::kForNextRequest);
  FakeClient next(clients, Client::Waits::kForNextRequest);
  EXPECT_TRUE(slow.closed);
  EXPECT_FALSE(just_come.closed);
  EXPECT_EQ(clients.gave_way(), 1U);
}

TEST(Clients, ASilentOneGivesWayBeforeASlowOne) {
  Clients clients(4, 1000, 2);
  FakeClient slow(clients, Client::Waits::kForClient);
  FakeClient silent(clients, Client::Waits::kForNextRequest);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  FakeClient next(clients, Client::Waits::kForNextRequest);
  EXPECT_TRUE(silent.closed);
  EXPECT_FALSE(slow.closed);
}

TEST(Clients, OneThatWaitsForUsIsNeverClosed) {
  Clients clients(4, 1000, 1);
  FakeClient ours(clients, Client::Waits::kForUs);
  FakeClient next(clients, Client::Waits::kForNextRequest);
  EXPECT_FALSE(ours.closed);
  clients.make_room();
  EXPECT_TRUE(next.closed);
}

}  // namespace
}  // namespace tunemix::serve
