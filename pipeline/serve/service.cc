#include "pipeline/serve/service.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tunemix/core/file.h"
#include "tunemix/core/large_artifact.h"
#include "tunemix/core/text.h"
#include "tunemix/core/timer.h"
#include "tunemix/export/writers.h"
#include "tunemix/learners/registry.h"

namespace tunemix::serve {
namespace {

using Buffer = fmt::memory_buffer;

template <typename... Args>
void print(Buffer& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ranking_text(const std::string& name, const Dataset& data, std::span<const float> scores) {
  const bool named = data.names().size() == data.documents();
  Buffer out;
  print(out, R"({{"bundle":{},"queries":[)", json_text(name));
  for (size_t q = 0; q < data.queries().size(); ++q) {
    const size_t begin = data.queries().begin(q);
    const std::span<const float> own = scores.subspan(begin, data.queries().length(q));
    const std::vector<uint32_t> order = rank_documents(own);
    std::vector<size_t> rank(order.size());
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i + 1;
    print(out, R"({}{{"qid":{},"documents":[)", q > 0 ? "," : "", json_text(data.queries().id(q)));
    for (size_t i = 0; i < own.size(); ++i) {
      out.push_back(i > 0 ? ',' : ' ');
      out.push_back('{');
      if (named && !data.names()[begin + i].empty())
        print(out, R"("id":{},)", json_text(data.names()[begin + i]));
      print(out, R"("score":{},"rank":{}}})", own[i], rank[i]);
    }
    print(out, "]}}");
  }
  print(out, "]}}\n");
  return fmt::to_string(out);
}

// Of a Content-Type, without its parameters: "application/json".
std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}
bool is_json(std::string_view content_type) { return media_type(content_type) == "application/json"; }
bool is_letor(std::string_view content_type) { return media_type(content_type) == "text/plain"; }

// Resident bytes of this process.
uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void print_counters(Buffer& out, const std::string& label, const Counters& counters) {
  for (size_t c = 0; c < Counters::kCodes.size(); ++c)
    print(out, "tunemix_requests_total{{bundle={},code=\"{}\"}} {}\n", label, Counters::kCodes[c],
          counters.codes[c].load());
}

}  // namespace

Reply error_reply(int status, std::string_view sentence) {
  return {status, "application/json", fmt::format("{{\"error\":{}}}\n", json_text(sentence))};
}

void Counters::count(int status, double seconds) {
  const auto* at = std::find(kCodes.begin(), kCodes.end(), status);
  ++codes[static_cast<size_t>((at == kCodes.end() ? kCodes.end() - 1 : at) - kCodes.begin())];
  if (status != 200) return;
  for (size_t b = 0; b < kSeconds.size(); ++b)
    if (seconds <= kSeconds[b]) ++latency[b];
  ++latency[kSeconds.size()];
  microseconds += static_cast<uint64_t>(seconds * 1e6);
}

Service::Service(std::vector<Source> sources, RequestLimits limits, size_t most_bytes)
    : limits_(limits), most_bytes_(most_bytes) {
  for (Source& source : sources) {
    if (find(source.name) != nullptr)
      throw_input("two bundles are called '{}'; name them: --bundle NAME=FILE", source.name);
    auto served = std::make_unique<Served>();
    served->stamp = stamp_of(source.file);
    served->bundle = load(source.file);
    served->source = std::move(source);
    served_.push_back(std::move(served));
  }
}

std::shared_ptr<const Bundle> Service::load(const std::filesystem::path& file) const {
  const std::vector<uint8_t> bytes = read_regular_file(file, most_bytes_);
  if (const uint64_t size = payload_size(bytes, file.string()); size > most_bytes_)
    throw_input("{}: it unpacks to {} bytes; expected at most {}", file.string(), size, most_bytes_);
  return std::make_shared<const Bundle>(Bundle::parse(bytes, file.string(), registry()));
}

std::vector<std::string> Service::names() const {
  std::vector<std::string> names;
  for (const auto& served : served_) names.push_back(served->source.name);
  return names;
}

Service::Served* Service::find(std::string_view name) {
  if (name.empty() && served_.size() == 1) return served_.front().get();
  for (const auto& served : served_)
    if (served->source.name == name) return served.get();
  return nullptr;
}

Reply Service::rank(std::string_view name, std::string_view content_type, std::string_view body) {
  const Timer timer;
  Served* served = find(name);
  Reply reply;
  if (served == nullptr) {
    reply = name.empty()
                ? error_reply(404, "there are several bundles; post to /rank/NAME, NAME one of: " +
                                       join(names(), ", "))
                : error_reply(404, "there is no bundle of that name; there are: " + join(names(), ", "));
  } else if (!is_json(content_type) && !is_letor(content_type)) {
    reply = error_reply(415, "expected the Content-Type application/json, or text/plain for LETOR lines");
  } else {
    const std::shared_ptr<const Bundle> bundle = served->current();
    try {
      const BundleInput expected = BundleInput::of(*bundle);
      const RankingRequest request = is_json(content_type) ? parse_json_request(body, expected, limits_)
                                                           : parse_letor_request(body, expected, limits_);
      const Context context(1);
      const std::vector<float> scores = bundle->predict(request.data, context, request.scores);
      reply.body = ranking_text(served->source.name, request.data, scores);
      served->counters.documents += request.data.documents();
    } catch (const TooLarge& error) {
      reply = error_reply(413, error.what());
    } catch (const InputError& error) {
      reply = error_reply(400, error.what());
    } catch (const std::exception&) {
      reply = error_reply(500, "the request could not be answered");
    }
  }
  (served == nullptr ? unknown_ : served->counters).count(reply.status, timer.seconds());
  return reply;
}

Reply Service::refuse(std::string_view name, int status, std::string_view sentence) {
  Served* served = find(name);
  (served == nullptr ? unknown_ : served->counters).count(status, 0);
  return error_reply(status, sentence);
}

Reply Service::health(bool with_bundles) const {
  if (!with_bundles) return {200, "application/json", "{\"status\":\"ok\"}\n"};
  // No tree of JSON, whose destructor would need memory.
  Buffer out;
  print(out, R"({{"status":"ok","bundles":[)");
  for (const auto& served : served_) {
    const std::shared_ptr<const Bundle> bundle = served->current();
    const BundleInfo& info = bundle->info();
    print(out, R"({}{{"name":{},"experiment":{},"row":{},"features":{},"members":{}}})",
          served == served_.front() ? "" : ",", json_text(served->source.name), json_text(info.name),
          json_text(info.row), info.features, bundle->members().size());
  }
  print(out, "]}}\n");
  return {200, "application/json", fmt::to_string(out)};
}

Reply Service::metrics() const {
  Buffer out;
  print(out,
        "# HELP tunemix_requests_total Requests by bundle and status.\n# TYPE tunemix_requests_total "
        "counter\n");
  for (const auto& served : served_) print_counters(out, json_text(served->source.name), served->counters);
  print_counters(out, "\"\"", unknown_);
  print(
      out,
      "# HELP tunemix_documents_total Documents that were ranked.\n# TYPE tunemix_documents_total counter\n");
  for (const auto& served : served_)
    print(out, "tunemix_documents_total{{bundle={}}} {}\n", json_text(served->source.name),
          served->counters.documents.load());
  print(out,
        "# HELP tunemix_request_seconds Time to answer, without the network.\n"
        "# TYPE tunemix_request_seconds histogram\n");
  for (const auto& served : served_) {
    const Counters& counters = served->counters;
    const std::string label = json_text(served->source.name);
    for (size_t b = 0; b < Counters::kSeconds.size(); ++b)
      print(out, "tunemix_request_seconds_bucket{{bundle={},le=\"{}\"}} {}\n", label, Counters::kSeconds[b],
            counters.latency[b].load());
    const uint64_t all = counters.latency.back().load();
    print(out, "tunemix_request_seconds_bucket{{bundle={},le=\"+Inf\"}} {}\n", label, all);
    print(out, "tunemix_request_seconds_sum{{bundle={}}} {}\n", label,
          static_cast<double>(counters.microseconds.load()) * 1e-6);
    print(out, "tunemix_request_seconds_count{{bundle={}}} {}\n", label, all);
  }
  print(out,
        "# HELP tunemix_reloads_total Changed bundle files, by whether they could be loaded.\n"
        "# TYPE tunemix_reloads_total counter\n");
  for (const auto& served : served_) {
    const std::string label = json_text(served->source.name);
    print(out, "tunemix_reloads_total{{bundle={},result=\"loaded\"}} {}\n", label,
          served->counters.reloads.load());
    print(out, "tunemix_reloads_total{{bundle={},result=\"failed\"}} {}\n", label,
          served->counters.failed_reloads.load());
  }
  print(out,
        "# HELP process_resident_memory_bytes Resident memory.\n"
        "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes {}\n",
        resident_bytes());
  return {200, "text/plain; version=0.0.4", fmt::to_string(out)};
}

Service::Stamp Service::stamp_of(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return {};
  return {static_cast<int64_t>(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec,
          static_cast<uint64_t>(info.st_size), static_cast<uint64_t>(info.st_ino)};
}

std::vector<std::string> Service::reload_changed() {
  std::vector<std::string> lines;
  for (const auto& served : served_) {
    const Stamp stamp = stamp_of(served->source.file);
    // A file that is away is about to be replaced, or the server outlives it: the bundle in memory stays.
    if (stamp == served->stamp || stamp == Stamp{}) continue;
    try {
      std::shared_ptr<const Bundle> bundle = load(served->source.file);
      served->stamp = stamp;
      {
        const std::lock_guard lock(served->mutex);
        served->bundle.swap(bundle);
      }
      ++served->counters.reloads;
      lines.push_back(
          fmt::format("{}: {} was loaded again", served->source.name, served->source.file.string()));
    } catch (const std::exception& error) {
      // Where the machine has failed, by memory or open files, the same file is tried again.
      if (dynamic_cast<const InputError*>(&error) != nullptr) served->stamp = stamp;
      ++served->counters.failed_reloads;
      lines.push_back(fmt::format("{}: the changed file cannot be loaded, the bundle before it stays: {}",
                                  served->source.name, error.what()));
    }
  }
  return lines;
}

}  // namespace tunemix::serve
