// The scoring service without its network: bundles by name that are loaded again when their files change,
// answers to requests, and counters of what was done.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/serve/ranking_request.h"
#include "tunemix/export/bundle.h"

namespace tunemix::serve {

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields = {};  // of its head, beside the usual ones
};
Reply error_reply(int status, std::string_view sentence);

// What was done with the requests for one bundle.
struct Counters {
  static constexpr std::array<int, 7> kCodes = {200, 400, 404, 413, 415, 500, 503};
  static constexpr std::array<double, 11> kSeconds = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02,
                                                      0.05,   0.1,   0.2,   0.5,   1};

  std::array<std::atomic<uint64_t>, kCodes.size()> codes{};
  std::array<std::atomic<uint64_t>, kSeconds.size() + 1> latency{};  // answers within kSeconds; the last: all
  std::atomic<uint64_t> microseconds = 0;
  std::atomic<uint64_t> documents = 0;
  std::atomic<uint64_t> reloads = 0;
  std::atomic<uint64_t> failed_reloads = 0;

  void count(int status, double seconds);
};

class Service {
 public:
  struct Source {
    std::string name;
    std::filesystem::path file;
  };
  // Loads all bundles. Throws InputError where one cannot be; `most_bytes`: of a bundle's file, and unpacked.
  Service(std::vector<Source> sources, RequestLimits limits, size_t most_bytes);

  const RequestLimits& limits() const { return limits_; }
  std::vector<std::string> names() const;

  // Ranks what the body asks for. `name`: of a bundle; may be empty where there is only one.
  Reply rank(std::string_view name, std::string_view content_type, std::string_view body);
  // A request that was refused before its body could be read.
  Reply refuse(std::string_view name, int status, std::string_view sentence);
  Reply health(bool with_bundles) const;
  Reply metrics() const;

  // Loads the bundles whose files have changed; requests go on with the old one meanwhile, and after it where
  // the new one cannot be loaded. Returns a line for each, for the log.
  std::vector<std::string> reload_changed();

 private:
  struct Stamp {
    int64_t modified = 0;
    uint64_t size = 0;
    uint64_t inode = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Served {
    Source source;
    Stamp stamp;  // of the file that was last looked at
    Counters counters;
    mutable std::mutex mutex;
    std::shared_ptr<const Bundle> bundle;

    std::shared_ptr<const Bundle> current() const {
      const std::lock_guard lock(mutex);
      return bundle;
    }
  };

  static Stamp stamp_of(const std::filesystem::path& file);
  std::shared_ptr<const Bundle> load(const std::filesystem::path& file) const;
  Served* find(std::string_view name);

  std::vector<std::unique_ptr<Served>> served_;
  RequestLimits limits_;
  size_t most_bytes_;
  Counters unknown_;  // requests for no bundle
};

}  // namespace tunemix::serve
