// Hostile clients of the service, good ones beside them: a few in the tests, 10^5 with TUNEMIX_CAMPAIGN=all.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

TEST(ServeCampaign, HostileRequestsCostNobodyElseAnything) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer keeps memory that is given back";
#endif
#endif
  const char* const set = std::getenv("TUNEMIX_CAMPAIGN");
  const char* const seed = std::getenv("TUNEMIX_SEED");
  const std::string count = set != nullptr && std::string(set) == "all" ? "100000" : "2000";
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
                             " " + (seed == nullptr ? "1" : seed) + " > client.txt 2>&1";
  EXPECT_EQ(std::system(client.c_str()), 0) << slurp(at / "client.txt");
  std::printf("%s", slurp(at / "client.txt").c_str());
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

}  // namespace
}  // namespace tunemix::test
