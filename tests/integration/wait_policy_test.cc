// How long idle threads wait awake: set by the program, unless the user has.
#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

// The name and the environment that a running program was started with; it waits for its data meanwhile.
std::string started_with(const Workspace& at, const std::string& variables) {
  const std::string script = "cd '" + at.path().string() +
                             "' && rm -f data && mkfifo data && (env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY " +
                             variables +
                             " '" TUNEMIX_PROGRAM
                             "' eval --data data --scores data 2>/dev/null & p=$!; "
                             "i=0; while [ $i -lt 200 ] && [ \"$(cat /proc/$p/comm)\" != tunemix ]; do sleep "
                             ".05; i=$((i+1)); done; sleep .5; "
                             "{ cat /proc/$p/comm; tr '\\0' '\\n' < /proc/$p/environ; } > seen; kill -9 $p)";
  EXPECT_EQ(std::system(script.c_str()), 0);
  return slurp(at / "seen");
}

bool has_line(const std::string& text, const std::string& start) {
  return text.starts_with(start) || text.find("\n" + start) != std::string::npos;
}

TEST(WaitPolicy, IsSetByTheProgram) {
  const Workspace at;
  const std::string seen = started_with(at, "");
  EXPECT_TRUE(has_line(seen, "tunemix\n")) << seen;
  EXPECT_TRUE(has_line(seen, "GOMP_SPINCOUNT=")) << seen;
}

TEST(WaitPolicy, OfTheUserStays) {
  const Workspace at;
  EXPECT_FALSE(has_line(started_with(at, "OMP_WAIT_POLICY=passive"), "GOMP_SPINCOUNT="));
  EXPECT_TRUE(has_line(started_with(at, "GOMP_SPINCOUNT=77"), "GOMP_SPINCOUNT=77\n"));
}

}  // namespace
}  // namespace tunemix::test
