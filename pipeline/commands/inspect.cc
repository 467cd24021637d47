#include <algorithm>
#include <iostream>
#include <numeric>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/facts.h"
#include "tunemix/core/binary.h"
#include "tunemix/export/bundle.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

// Whose ensemble it is, how it is put together, and its members by falling weight.
nlohmann::ordered_json describe_bundle(const Bundle& bundle) {
  const Mixture& mixture = bundle.mixture();
  nlohmann::ordered_json json = describe_bundle_info(bundle.info());
  json["models"] = bundle.models().size();
  json["normalize"] = mixture.normalize() == Normalize::kQuery ? "query" : "none";
  json["c"] = mixture.c();
  json["iterations"] = mixture.checkpoint();
  std::vector<size_t> order(mixture.members().size());
  for (size_t m = 0; m < order.size(); ++m) {
    order[m] = m;
  }
  for (const FamilyMass& family : mixture.families()) json["mass"][family.family] = family.mass;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return mixture.weights()[a] > mixture.weights()[b]; });
  for (const size_t m : order)
    json["members"].push_back({{"weight", mixture.weights()[m]}, {"name", mixture.members()[m].name()}});
  return json;
}

nlohmann::ordered_json describe_model(const LearnedModel& learned) {
  const Model& model = *learned.model;
  nlohmann::ordered_json json = {{"learner", learned.learner->type},
                                 {"features", model.features()},
                                 {"columns", model.columns()},
                                 {"points", nlohmann::ordered_json::array()}};
  for (const Point& point : model.points())
    if (!point.name().empty()) json["points"].push_back(point.name());
  add_facts(json, model.facts());
  const std::vector<double> importance = model.importance();
  std::vector<size_t> order(importance.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return importance[a] > importance[b]; });
  for (const size_t j : order)
    if (importance[j] > 0) json["importance"].push_back({{"feature", j + 1}, {"share", importance[j]}});
  for (const FeatureShares& sample : model.attention())
    json["attention"].push_back({{"round", sample.round}, {"shares", sample.shares}});
  return json;
}

nlohmann::ordered_json inspect(const std::filesystem::path& file) {
  const Artifact artifact = read_artifact(file);
  nlohmann::ordered_json json;
  json["file"] = file.string();
  json["kind"] = artifact.kind;
  json["version"] = artifact.version;
  json["payload_bytes"] = artifact.payload.size();
  if (artifact.kind == LearnedModel::kKind) json.update(describe_model(LearnedModel::load(file, registry())));
  if (artifact.kind == Bundle::kKind) json.update(describe_bundle(Bundle::load(file, registry())));
  return json;
}

// Control characters as \\xNN: a file's own text must not reach the terminal.
std::string printable(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return result;
}

// Bytes that are not UTF-8 are replaced rather than refused.
std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// One line a key; of long lists the first few.
void print_human(const nlohmann::ordered_json& json, const std::string& prefix) {
  constexpr size_t kMost = 10;
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      print_human(value, prefix + key + ".");
    } else if (value.is_array() && value.size() > kMost) {
      nlohmann::ordered_json head = nlohmann::ordered_json::array();
      for (size_t k = 0; k < kMost; ++k) head.push_back(value[k]);
      std::cout << prefix << key << ": " << dumped(head) << " and " << value.size() - kMost << " more\n";
    } else {
      std::cout << prefix << key << ": "
                << (value.is_string() ? printable(value.get<std::string>()) : dumped(value)) << '\n';
    }
  }
}

}  // namespace

void add_inspect_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("inspect", "Tell what an artifact or model is");
  struct Arguments {
    std::filesystem::path file;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("file", arguments->file, "File that tunemix wrote")->required();
  command->add_flag("--json", arguments->json, "Print everything as JSON");
  command->footer("Example: tunemix inspect m.tmx");
  command->callback([arguments, &program] {
    program.action = [arguments] {
      const nlohmann::ordered_json json = inspect(arguments->file);
      if (arguments->json)
        std::cout << dumped(json) << '\n';
      else
        print_human(json, "");
      return 0;
    };
  });
}

}  // namespace tunemix
