// Hostile clients of the service, good ones beside them: a few in the tests, 10^5 with TUNEMIX_CAMPAIGN=all.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "tests/campaigns/campaign.h"
#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

TEST(ServeCampaign, HostileRequestsCostNobodyElseAnything) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer keeps memory that is given back";
#endif
#endif
  const std::string count = whole_campaign() ? "100000" : "2000";
  const std::string seed = std::to_string(number_from("TUNEMIX_SEED", 1));
  const Workspace at;
  at.good("run tiny.yaml --quiet");
  at.good("synth --preset quickstart --queries 20 --seed 7 --out data.txt");
  at.good("predict --bundle runs/tiny/bundle-fold1.tmx --data data.txt --out scores.txt");
  Process server = at.start("serve --bundle a=runs/tiny/bundle-fold1.tmx --listen 127.0.0.1:0");
  const std::string port = at.served_port();
  ASSERT_NE(port, "");
  const std::string client = "cd '" + at.path().string() +
                             "' && python3 '" TUNEMIX_SOURCE_DIR "/tests/campaigns/serve_campaign.py' " +
                             port + " " + std::to_string(server.pid()) + " a data.txt scores.txt " + count +
                             " " + seed + " > client.txt 2>&1";
  EXPECT_EQ(std::system(client.c_str()), 0) << slurp(at / "client.txt");
  std::printf("%s", slurp(at / "client.txt").c_str());
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

// After its start every so many-th allocation of the service fails, whatever it does: it goes on, and every
// answer that it gives is right.
TEST(ServeCampaign, AllocationsThatFailCostTheConnectionAlone) {
  const Workspace at;
  at.good("run tiny.yaml --quiet");
  at.good("synth --preset quickstart --queries 20 --seed 7 --out data.txt");
  at.good("predict --bundle runs/tiny/bundle-fold1.tmx --data data.txt --out scores.txt");
  const std::string preload = "LD_PRELOAD='" TUNEMIX_ALLOCATION_FAULTS "' FAULT_COUNT=count ";
  const std::string serve =
      "serve --bundle a=runs/tiny/bundle-fold1.tmx --listen 127.0.0.1:0 --threads 2 --reload-seconds 0.1";
  {
    Process counted = at.start(serve, preload);
    ASSERT_NE(at.served_port(), "");
    counted.kill(SIGTERM);
    ASSERT_EQ(counted.wait().code, 0);
  }
  const std::string first = std::to_string(std::stoul(slurp(at / "count")) + 100);
  for (const std::string every : {"7", "31", "211", "1009"}) {
    Process server = at.start(serve, preload + "FAULT_AT=" + first + " FAULT_EVERY=" + every);
    const std::string port = at.served_port();
    ASSERT_NE(port, "");
    const std::string client = "cd '" + at.path().string() +
                               "' && python3 '" TUNEMIX_SOURCE_DIR "/tests/integration/serve_attacks.py' " +
                               port + " " + std::to_string(server.pid()) +
                               " a data.txt scores.txt starve > client.txt 2>&1";
    EXPECT_EQ(std::system(client.c_str()), 0) << every << slurp(at / "client.txt");
    std::printf("every %s: %s", every.c_str(), slurp(at / "client.txt").c_str());
    server.kill(SIGTERM);
    const Result result = server.wait();
    EXPECT_EQ(result.code, 0) << every << result.err;
  }
}

}  // namespace
}  // namespace tunemix::test
