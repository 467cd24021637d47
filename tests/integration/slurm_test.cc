// The Slurm engine against a real Slurm of one node, started here by hand and stopped again.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 200; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int port = 0;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    port = ntohs(address.sin_port);
  ::close(fd);
  return port;
}

// munged, slurmctld and slurmd on loopback with everything below one folder.
class Cluster {
 public:
  explicit Cluster(const fs::path& folder) : folder_(folder) {
    for (const char* name : {"state", "spool"}) fs::create_directories(folder_ / name);
    std::ofstream(folder_ / "munge.key") << std::string(128, 'k');
    fs::permissions(folder_ / "munge.key", fs::perms::owner_read);
    std::ofstream(folder_ / "slurm.conf") << config();
    ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
    const std::string f = folder_.string();
    start("munged", {"-F", "--force", "--socket=" + socket(), "--key-file=" + f + "/munge.key",
                     "--pid-file=" + f + "/munged.pid", "--log-file=" + f + "/munged.log",
                     "--seed-file=" + f + "/munged.seed"});
    if (!eventually([&] { return fs::exists(socket()); })) return;
    start("slurmctld", {"-D", "-L", f + "/slurmctld.log"});
    start("slurmd", {"-D", "-L", f + "/slurmd.log"});
    up_ = eventually([&] { return ask("sinfo --noheader --format=%T") == "idle\n"; });
  }
  ~Cluster() {
    if (up_) {
      ask("scancel --user=root");
      eventually([&] { return ask("squeue --noheader").empty(); });
    }
    for (auto pid = pids_.rbegin(); pid != pids_.rend(); ++pid) {
      ::kill(*pid, SIGTERM);
      if (eventually([&] { return ::waitpid(*pid, nullptr, WNOHANG) != 0; })) continue;
      ::kill(*pid, SIGKILL);
      ::waitpid(*pid, nullptr, 0);
    }
    ::unsetenv("SLURM_CONF");
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  bool up() const { return up_; }
  std::string logs() const {
    return slurp(folder_ / "munged.out") + slurp(folder_ / "slurmctld.out") + slurp(folder_ / "slurmd.out") +
           slurp(folder_ / "slurmctld.log") + slurp(folder_ / "slurmd.log");
  }
  static std::string ask(const std::string& command) {
    FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
    std::string out;
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
    ::pclose(pipe);
    return out;
  }
  // Nothing starts while the partition is down, so that tasks can be cancelled before they run.
  static void set_partition(const std::string& state) {
    ask("scontrol update PartitionName=main State=" + state);
  }
  // The first column of `squeue --array`: "12_0", "12_1", ...
  static std::vector<std::string> tasks() {
    std::istringstream lines(ask("squeue --noheader --array --format='%i'"));
    std::vector<std::string> ids;
    std::string id;
    while (lines >> id) ids.push_back(id);
    return ids;
  }

 private:
  std::string socket() const { return (folder_ / "munge.socket").string(); }
  std::string config() const {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    const std::string name = std::string(host).substr(0, std::string(host).find('.'));
    const std::string f = folder_.string();
    return fmt::format(
        "ClusterName=test\nSlurmctldHost={0}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n"
        "AuthType=auth/munge\nAuthInfo=socket={1}\nSlurmctldPort={2}\nSlurmdPort={3}\n"
        "StateSaveLocation={4}/state\nSlurmdSpoolDir={4}/spool\n"
        "SlurmctldPidFile={4}/slurmctld.pid\nSlurmdPidFile={4}/slurmd.pid\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n"
        "ReturnToService=2\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
        "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
        "SchedulerType=sched/builtin\n"
        "SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0\n"
        "PriorityType=priority/basic\nMaxArraySize=1001\nKillWait=2\nCompleteWait=0\n"
        "NodeName={0} NodeAddr=127.0.0.1 CPUs={5} RealMemory=500 State=UNKNOWN\n"
        "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        name, socket(), free_port(), free_port(), f, std::max(1U, std::thread::hardware_concurrency()));
  }
  void start(const std::string& program, std::vector<std::string> arguments) {
    const std::string out = (folder_ / (program + ".out")).string();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no daemon outlives a test that crashes
      const int fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      ::dup2(fd, 1);
      ::dup2(fd, 2);
      std::vector<char*> argv;
      std::string name = program;
      argv.push_back(name.data());
      for (std::string& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      ::setenv("PATH", (std::string(std::getenv("PATH")) + ":/usr/sbin:/sbin").c_str(), 1);
      ::execvp(name.c_str(), argv.data());
      ::_exit(99);
    }
    pids_.push_back(pid);
  }

  fs::path folder_;
  std::vector<pid_t> pids_;
  bool up_ = false;
};

bool installed(const std::string& program) {
  return !Cluster::ask("PATH=$PATH:/usr/sbin:/sbin command -v " + program).empty();
}

class SlurmTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch"})
      if (!installed(program)) GTEST_SKIP() << program << " is not installed";
    if (::geteuid() != 0) GTEST_SKIP() << "Slurm's daemons need root";
    cluster_.emplace(at_ / "slurm");
    if (!cluster_->up()) GTEST_SKIP() << "Slurm does not start here:\n" << cluster_->logs();
    at_.good("run tiny.yaml --runs local");
  }
  std::string run_ =
      "run tiny.yaml --runs 'on slurm' --engine slurm engine.slurm.poll_seconds=1 "
      "engine.slurm.memory_mb=100 ";
  Workspace at_;
  std::optional<Cluster> cluster_;
};

TEST_F(SlurmTest, GivesTheBytesOfALocalRunAndSubmitsFailedTasksAgain) {
  Cluster::set_partition("DOWN");
  Process run = at_.start(run_);
  ASSERT_TRUE(eventually([] { return Cluster::tasks().size() == 6; })) << cluster_->logs();
  Cluster::ask("scancel " + Cluster::tasks()[2]);
  Cluster::set_partition("UP");
  const Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err << cluster_->logs();
  EXPECT_THAT(result.err, AllOf(HasSubstr("6 tasks submitted to Slurm"),
                                HasSubstr("1 Slurm tasks failed; submitted again"),
                                HasSubstr("1 tasks submitted to Slurm"), HasSubstr("train      6 computed")));
  expect_same(outcome(at_ / "on slurm/tiny"), outcome(at_ / "local/tiny"));
  expect_same(artifacts(at_ / "on slurm"), artifacts(at_ / "local"));
  size_t logs = 0;
  for (const auto& entry : fs::directory_iterator(at_ / "on slurm/tiny/logs"))
    logs += entry.path().filename().string().starts_with("slurm-") ? 1 : 0;
  EXPECT_EQ(logs, 6U);
  // Done jobs are not submitted; forced ones are.
  EXPECT_EQ(at_.good(run_).err.find("submitted"), std::string::npos);
  EXPECT_THAT(at_.good(run_ + "--only train --force").err, HasSubstr("6 tasks submitted to Slurm"));
  expect_same(artifacts(at_ / "on slurm"), artifacts(at_ / "local"));
}

TEST_F(SlurmTest, SaysWhatFailedAndCancelsWhenInterrupted) {
  Cluster::set_partition("DOWN");
  Process run = at_.start(run_ + "engine.slurm.retries=0");
  ASSERT_TRUE(eventually([] { return Cluster::tasks().size() == 6; })) << cluster_->logs();
  Cluster::ask("scancel --user=root");
  Result result = run.wait();
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("6 Slurm tasks failed after 1 tries; their output is in on slurm/tiny/logs"));

  Process interrupted = at_.start(run_);
  ASSERT_TRUE(eventually([] { return Cluster::tasks().size() == 6; })) << cluster_->logs();
  interrupted.kill(SIGINT);
  result = interrupted.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("kept: data 2 of 2, train 0 of 6"));
  EXPECT_TRUE(eventually([] { return Cluster::tasks().empty(); }));

  result = at_.run(run_ + "engine.slurm.partition=none");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("sbatch refused the jobs"));
  result = at_.run(run_, "PATH=/nowhere");
  EXPECT_EQ(result.code, 1);
}

}  // namespace
}  // namespace tunemix::test
