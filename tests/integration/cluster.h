// A real Slurm of two nodes for tests: munged, slurmctld and two slurmd on loopback with everything below one
// folder, started by hand and stopped again.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/integration/workspace.h"

namespace tunemix::test {

inline bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 600; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

inline int free_port() {
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

class Cluster {
 public:
  Cluster(const fs::path& folder, const std::string& settings) : folder_(folder) {
    for (const char* name : {"state", "spool"}) fs::create_directories(folder_ / name);
    std::ofstream(folder_ / "munge.key") << std::string(128, 'k');
    fs::permissions(folder_ / "munge.key", fs::perms::owner_read);
    std::ofstream(folder_ / "slurm.conf") << config(settings);
    ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
    const std::string f = folder_.string();
    start("munged", {"-F", "--force", "--socket=" + socket(), "--key-file=" + f + "/munge.key",
                     "--pid-file=" + f + "/munged.pid", "--log-file=" + f + "/munged.log",
                     "--seed-file=" + f + "/munged.seed"});
    if (!eventually([&] { return fs::exists(socket()); })) return;
    start("slurmctld", {"-D", "-L", f + "/slurmctld.log"});
    for (const char* node : {"node1", "node2"})
      nodes_[node] = start("slurmd", {"-D", "-N", node, "-L", f + "/slurmd-" + node + ".log"}, node);
    up_ = eventually([&] { return ask("sinfo --noheader --format='%D %T'") == "2 idle\n"; });
  }
  ~Cluster() {
    if (up_) {
      ask("scancel --user=root");
      eventually([&] { return ask("squeue --noheader").empty(); });
    }
    for (auto pid = pids_.rbegin(); pid != pids_.rend(); ++pid) stop(*pid, SIGTERM);
    ::unsetenv("SLURM_CONF");
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  bool up() const { return up_; }
  std::string logs() const {
    std::string all;
    for (const char* name : {"munged.out", "slurmctld.out", "slurmd-node1.out", "slurmd-node2.out",
                             "slurmctld.log", "slurmd-node1.log", "slurmd-node2.log"})
      all += slurp(folder_ / name);
    return all;
  }
  // A node loses its power: its daemon and what that runs die at once, and the scheduler finds out by itself.
  void kill_node(const std::string& node) {
    stop(nodes_.at(node), SIGKILL);
    std::istringstream jobs(ask("squeue --noheader --nodelist=" + node + " --format=%A"));
    for (std::string job; jobs >> job;) {
      ask("pkill -KILL --full 'slurmstepd: .*" + job + "\\.'");
      for (const auto& process : fs::directory_iterator("/proc"))
        if (slurp(process.path() / "environ").find("SLURM_JOB_ID=" + job + '\0') != std::string::npos)
          ::kill(std::stoi(process.path().filename()), SIGKILL);
    }
    std::erase(pids_, nodes_.at(node));
  }
  static std::string ask(const std::string& command) {
    FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
    std::string out;
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
    ::pclose(pipe);
    return out;
  }
  // Nothing starts while the partition is down, so that tasks can be looked at before they run.
  static void set_partition(const std::string& state) {
    ask("scontrol update PartitionName=main State=" + state);
  }
  // The tasks that are pending or run: "12_0", "12_1", ...
  static std::vector<std::string> tasks() {
    std::istringstream lines(ask("squeue --noheader --array --format='%i'"));
    std::vector<std::string> ids;
    std::string id;
    while (lines >> id) ids.push_back(id);
    return ids;
  }
  static bool has_tasks(size_t count) {
    return eventually([&] { return tasks().size() == count; });
  }

 private:
  std::string socket() const { return (folder_ / "munge.socket").string(); }
  std::string config(const std::string& settings) const {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    const std::string name = std::string(host).substr(0, std::string(host).find('.'));
    const std::string f = folder_.string();
    return fmt::format(
        "ClusterName=test\nSlurmctldHost={0}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n"
        "AuthType=auth/munge\nAuthInfo=socket={1}\nSlurmctldPort={2}\n"
        "StateSaveLocation={4}/state\nSlurmdSpoolDir={4}/spool/%n\n"
        "SlurmctldPidFile={4}/slurmctld.pid\nSlurmdPidFile={4}/slurmd-%n.pid\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n"
        "ReturnToService=2\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
        "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
        "SchedulerType=sched/builtin\n"
        "SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0\n"
        "PriorityType=priority/basic\n{6}KillWait=2\nCompleteWait=0\n"
        "NodeName=DEFAULT CPUs=1 RealMemory=500 Features=fast State=UNKNOWN\n"
        "NodeName=node1 NodeHostname={0} NodeAddr=127.0.0.1 Port={3}\n"
        "NodeName=node2 NodeHostname={0} NodeAddr=127.0.0.1 Port={5}\n"
        "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        name, socket(), free_port(), free_port(), f, free_port(), settings);
  }
  pid_t start(const std::string& program, std::vector<std::string> arguments, const std::string& node = "") {
    const std::string out = (folder_ / (program + (node.empty() ? "" : "-" + node) + ".out")).string();
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
    return pid;
  }

  static void stop(pid_t pid, int signal) {
    ::kill(pid, signal);
    if (eventually([&] { return ::waitpid(pid, nullptr, WNOHANG) != 0; })) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  fs::path folder_;
  std::vector<pid_t> pids_;
  std::map<std::string, pid_t> nodes_;
  bool up_ = false;
};

inline bool installed(const std::string& program) {
  return !Cluster::ask("PATH=$PATH:/usr/sbin:/sbin command -v " + program).empty();
}

}  // namespace tunemix::test
