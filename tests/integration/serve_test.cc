// The scoring service, by a client that knows HTTP and one that does not.
#include <gmock/gmock.h>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;

class ServeTest : public testing::Test {
 protected:
  ServeTest() {
    at_.good("run tiny.yaml --quiet");
    at_.good("synth --preset quickstart --queries 20 --seed 7 --out data.txt");
    fs::copy_file(at_ / "runs/tiny/bundle-fold2.tmx", at_ / "b.tmx");
    // Of a all features but the last have names, of b none.
    std::string names;
    for (int j = 1; j < 25; ++j) names += std::to_string(j) + ": merkmal größe " + std::to_string(j) + "\n";
    at_.write("names.txt", names);
    at_.good("run tiny.yaml --quiet data.feature_names=names.txt");
    fs::copy_file(at_ / "runs/tiny/bundle-fold1.tmx", at_ / "a.tmx");
    at_.good("predict --bundle a.tmx --data data.txt --out scores.txt");
  }

  std::string port() const { return at_.served_port(); }
  // What tests/integration/NAME says to a client's arguments; "all well\n" where it found nothing.
  std::string client(const std::string& name, const std::string& arguments) const {
    shell("python3 -W ignore '" TUNEMIX_SOURCE_DIR "/tests/integration/" + name + "' " + arguments +
          " > client.txt 2>&1");
    return slurp(at_ / "client.txt");
  }
  std::string attack(const std::string& port, const Process& server, const std::string& which) const {
    return client("serve_attacks.py",
                  port + " " + std::to_string(server.pid()) + " a data.txt scores.txt " + which);
  }
  int shell(const std::string& command) const {
    return std::system(("cd '" + at_.path().string() + "' && { " + command + "\n}").c_str());
  }

  Workspace at_;
};

TEST_F(ServeTest, AnswersAClientAndEndsWell) {
  Process server = at_.start(
      "serve --bundle a.tmx --bundle b=b.tmx --listen 127.0.0.1:0 --max-documents 1000 --max-bytes 2000000 "
      "--reload-seconds 0.1");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(client("serve_client.py", at + " a.tmx b.tmx data.txt scores.txt"), "all well\n");
  server.kill(SIGTERM);
  const Result result = server.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("serving a, b on http://127.0.0.1:"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("b.tmx was loaded again"), HasSubstr("the bundle before it stays"),
                                HasSubstr("stopped")));
}

// Clients that keep their connections and ask again and again, that keep them and are silent, and that send a
// request so slowly that it never ends.
constexpr const char* kHolders = R"(
import http.client, socket, sys, threading, time
port, busy, silent, slow = map(int, sys.argv[1:5])
def connect():
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/health")
    assert connection.getresponse().read()
    return connection
def ask(connection):
    while True:
        connection.request("GET", "/health")
        connection.getresponse().read()
        time.sleep(0.05)
for connection in [connect() for _ in range(busy)]:
    threading.Thread(target=ask, args=[connection], daemon=True).start()
held = [connect() for _ in range(silent)]
trickle = [socket.create_connection(("127.0.0.1", port)) for _ in range(slow)]
for one in trickle:
    one.sendall(b"POST /rank/a HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n")
print("held", flush=True)
while trickle:
    for one in trickle:
        try:
            one.sendall(b" ")
        except OSError:
            sys.exit(0)
    time.sleep(0.1)
time.sleep(100)
)";

const std::string kUntilHeld =
    "for i in $(seq 300); do grep -q held held.txt && break; sleep 0.1; done; grep -q held held.txt";

TEST_F(ServeTest, HealthIsToldAlthoughAllPlacesAreHeld) {
  at_.write("hold.py", kHolders);
  Process server = at_.start("serve --bundle a.tmx --listen 127.0.0.1:0 --connections 3");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(shell("python3 hold.py " + at + " 3 0 0 > held.txt 2> lost.txt & hold=$!; " + kUntilHeld +
                  " && curl -s -m 30 http://127.0.0.1:" + at +
                  "/health > health.txt; code=$?; kill $hold; exit $code"),
            0)
      << slurp(at_ / "lost.txt");
  EXPECT_THAT(slurp(at_ / "health.txt"), HasSubstr("\"status\":\"ok\""));
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

TEST_F(ServeTest, EndsAlthoughClientsAreSlow) {
  at_.write("hold.py", kHolders);
  Process server = at_.start("serve --bundle a.tmx --listen 127.0.0.1:0");
  const std::string at = port();
  ASSERT_NE(at, "");
  ASSERT_EQ(shell("(timeout 100 python3 hold.py " + at + " 0 2 3 > held.txt 2>&1; echo $? >> held.txt) & " +
                  kUntilHeld),
            0);
  server.kill(SIGTERM);
  const Result result = server.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stopped"));
  // It was the server that ended first: its clients saw it go.
  for (int wait = 0; wait < 100 && slurp(at_ / "held.txt") == "held\n"; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(slurp(at_ / "held.txt"), "held\n0\n");
}

TEST_F(ServeTest, RequestsAreToldFromEachOther) {
  Process server = at_.start("serve --bundle a.tmx --listen 127.0.0.1:0");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(attack(at, server, "framing"), "all well\n");
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

// Without credentials, in 1.5 GB of address space.
TEST_F(ServeTest, NoClientExhaustsTheMemory) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer takes more addresses";
#endif
#endif
  Process server = at_.start("serve --bundle a.tmx --listen 127.0.0.1:0", "ulimit -v 1500000;");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(attack(at, server, "memory"), "all well\n");
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

TEST_F(ServeTest, SlowClientsHoldNobodyUp) {
  Process server = at_.start("serve --bundle a.tmx --listen 127.0.0.1:0 --connections 40");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(attack(at, server, "slow"), "all well\n");
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

TEST_F(ServeTest, TheSlowestGivesWay) {
  Process server = at_.start(
      "serve --bundle a.tmx --listen 127.0.0.1:0 --connections 40 --max-bytes 1000000 --max-held 8000000");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(attack(at, server, "crowd"), "all well\n");
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

// The system allows fewer open files than there may be connections.
TEST_F(ServeTest, TheSlowestGivesWayWhereNoFileIsFree) {
  Process server =
      at_.start("serve --bundle a.tmx --listen 127.0.0.1:0 --max-bytes 1000000", "ulimit -n 50;");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(attack(at, server, "crowd"), "all well\n");
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

TEST_F(ServeTest, OnlyRegularFilesWithinTheLimitAreLoaded) {
  ASSERT_EQ(shell("mkfifo pipe; truncate -s 20G huge; cp a.tmx good.tmx; ln -s good.tmx link.tmx"), 0);
  for (const std::string bad : {"/dev/zero", "pipe", "huge"})
    EXPECT_EQ(at_.run("serve --bundle x=" + bad).code, 2) << bad;
  EXPECT_EQ(at_.run("serve --bundle a.tmx --max-bundle-bytes 100").code, 2);
  Process server = at_.start("serve --bundle a=link.tmx --listen 127.0.0.1:0 --reload-seconds 0.1");
  const std::string at = port();
  ASSERT_NE(at, "");
  int failed = 0;
  for (const std::string bad : {"/dev/zero", "pipe", "huge"}) {
    const std::string counted = "tunemix_reloads_total.*failed.* " + std::to_string(++failed);
    EXPECT_EQ(shell("ln -sfn " + bad + " link.tmx; for i in $(seq 300); do curl -s -m 5 http://127.0.0.1:" +
                    at + "/metrics | grep -q '" + counted + "' && exit 0; sleep 0.1; done; exit 1"),
              0)
        << bad;
  }
  EXPECT_EQ(attack(at, server, "framing"), "all well\n");
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
}

// For want of open files; the file is the same afterwards.
TEST_F(ServeTest, ALoadThatTheMachineFailedIsTriedAgain) {
  Process server = at_.start("serve --bundle a.tmx --listen 127.0.0.1:0 --reload-seconds 0.1");
  ASSERT_NE(port(), "");
  const std::string pid = std::to_string(server.pid());
  EXPECT_EQ(
      shell("prlimit --pid " + pid +
            " --nofile=1:1024 && touch a.tmx && "
            "for i in $(seq 300); do grep -q 'Too many open files' err.* && break; sleep 0.1; done; "
            "prlimit --pid " +
            pid +
            " --nofile=1024:1024 && "
            "for i in $(seq 300); do grep -q 'was loaded again' err.* && exit 0; sleep 0.1; done; exit 1"),
      0);
  server.kill(SIGTERM);
  const Result result = server.wait();
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("Too many open files"));
}

TEST_F(ServeTest, AsksForATokenAndSpeaksTls) {
  at_.write("tokens", "first-token\r\n\n second-token \n");
  ASSERT_EQ(shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
                  "-subj /CN=localhost -addext subjectAltName=DNS:localhost 2> openssl.txt"),
            0)
      << slurp(at_ / "openssl.txt");
  Process server = at_.start(
      "serve --bundle a.tmx --listen 0.0.0.0:0 --token tokens --tls-cert cert.pem --tls-key key.pem");
  const std::string at = port();
  ASSERT_NE(at, "");
  EXPECT_EQ(client("serve_tls.py", at + " cert.pem data.txt scores.txt"), "all well\n");
  server.kill(SIGTERM);
  const Result result = server.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("serving a on https://0.0.0.0:"));
}

TEST_F(ServeTest, AnAddressIsForOneServer) {
  Process server = at_.start("serve --bundle a.tmx --listen 127.0.0.1:0");
  const std::string at = port();
  ASSERT_NE(at, "");
  const Result second = at_.run("serve --quiet --bundle b.tmx --listen 127.0.0.1:" + at);
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("cannot listen on 127.0.0.1:" + at));
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait().code, 0);
  // After its end the address is free at once. An address is what it stands for, however it is written.
  Process third = at_.start("serve --bundle b.tmx --listen 2130706433:" + at);
  EXPECT_EQ(shell("for i in $(seq 300); do curl -s -m 5 http://127.0.0.1:" + at +
                  "/health > health.txt && exit 0; sleep 0.1; done; exit 1"),
            0);
  third.kill(SIGTERM);
  EXPECT_EQ(third.wait().code, 0);
}

TEST_F(ServeTest, WrongStartsAreRefused) {
  ASSERT_EQ(shell("openssl req -x509 -newkey rsa:2048 -passout pass:secret -keyout locked.pem -out cert.pem "
                  "-subj /CN=localhost 2> openssl.txt"),
            0)
      << slurp(at_ / "openssl.txt");
  const std::string packed = std::to_string(fs::file_size(at_ / "a.tmx"));
  for (const auto& [arguments, words] : std::vector<std::pair<std::string, std::string>>{
           {"--bundle none.tmx", "none.tmx"},
           {"--bundle data.txt", "data.txt"},
           {"--bundle a.tmx --bundle a=b.tmx", "two bundles are called 'a'"},
           {"--bundle 'x y=a.tmx'", "is no name"},
           {"--bundle a.tmx --listen 8080", "expected HOST:PORT"},
           {"--bundle a.tmx --listen 192.0.2.1:0 --insecure", "cannot listen"},
           {"--bundle a.tmx --listen 0.0.0.0:0", "needs --token and --tls-cert"},
           {"--bundle a.tmx --tls-cert cert.pem --tls-key locked.pem", "expected PEM without a password"},
           {"--bundle a.tmx --tls-cert /dev/zero --tls-key locked.pem", "/dev/zero: a device or a pipe"},
           {"--bundle a.tmx --max-bundle-bytes " + packed, "a.tmx: it unpacks to "},
           {"--bundle a.tmx --listen 0.0.0.0:0 --token scores.txt", "needs --token and --tls-cert"},
           {"--bundle a.tmx --tls-cert data.txt", "go together"},
           {"--bundle a.tmx --tls-cert none.pem --tls-key data.txt", "none.pem: cannot open"},
           {"--bundle a.tmx --tls-cert data.txt --tls-key data.txt", "data.txt: not a certificate"},
           {"--bundle a.tmx --token none", "none: cannot open"},
           {"--bundle a.tmx --token /dev/null", "/dev/null: a device or a pipe"},
           {"--bundle a.tmx --token a.tmx", "expected one token a line"}}) {
    const Result result = at_.run("serve --quiet " + arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_THAT(result.err, HasSubstr(words)) << arguments;
  }
}

// More text than is read at once, from a pipe: the same scores as of a whole, and rows apart still have
// theirs.
TEST_F(ServeTest, PredictReadsQueryByQuery) {
  at_.good("synth --preset quickstart --queries 2500 --seed 8 --out many.txt");
  ASSERT_GT(fs::file_size(at_ / "many.txt"), 17U << 19);
  for (const std::string format : {"scores", "trec", "tsv"}) {
    const std::string predict = "predict --bundle a.tmx --format " + format;
    const std::string whole = at_.good(predict + " --data many.txt --whole").out;
    EXPECT_TRUE(at_.good(predict + " --data many.txt").out == whole) << format;
    EXPECT_TRUE(at_.run(predict + " --data -", "cat many.txt |").out == whole) << format;
  }
  ASSERT_EQ(shell("(tail -n +2 many.txt; head -n 1 many.txt) > apart.txt"), 0);
  const std::string predict = "predict --bundle a.tmx ";
  at_.good(predict + "--data apart.txt --out apart.scores");
  at_.good(predict + "--data apart.txt --whole --out whole.scores");
  EXPECT_EQ(slurp(at_ / "apart.scores"), slurp(at_ / "whole.scores"));
  const Result result = at_.run(predict + "--data -", "cat apart.txt |");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("not adjacent"));
  at_.write("long.txt", "0 qid:1 1:1 25:1\n0 qid:1 1:2 26:1\n");
  EXPECT_EQ(at_.run(predict + "--data long.txt").code, 2);
}

// Memory is that of some megabytes of text, whatever the length of the data.
TEST_F(ServeTest, PredictOfLongDataTakesNoMoreMemory) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer keeps memory that is given back";
#endif
#endif
  at_.good("synth --preset quickstart --queries 5000 --seed 8 --out one.txt");
  ASSERT_EQ(shell("for k in 1 2 3 4; do sed \"s/qid:/qid:$k/\" one.txt; done > four.txt"), 0);
  const auto peak = [&](const std::string& file) {
    const Result result = at_.run("predict --bundle a.tmx --threads 1 --out long.scores --data " + file);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.peak_bytes;
  };
  const int64_t more = static_cast<int64_t>(fs::file_size(at_ / "four.txt") - fs::file_size(at_ / "one.txt"));
  ASSERT_GT(more, 40 << 20);
  const int64_t one = peak("one.txt");
  EXPECT_GT(one, 1 << 20);
  EXPECT_LT(peak("four.txt"), one + more / 4);
}

}  // namespace
}  // namespace tunemix::test
