#include <algorithm>
#include <iostream>
#include <numeric>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/facts.h"
#include "pipeline/run/terminal.h"
#include "pipeline/store/json_text.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/text.h"
#include "tunemix/export/bundle.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

// The features that a score only rises or only falls with.
void add_monotone(nlohmann::ordered_json& json, std::span<const int8_t> directions,
                  const FeatureNames& names) {
  for (size_t j = 0; j < directions.size(); ++j)
    if (directions[j] != 0)
      json["monotone"][names.label(j)] = directions[j] > 0 ? "increasing" : "decreasing";
}

// Of the ensemble: those of all its models. Their calibrations never fall, and neither does a sum of them.
std::vector<int8_t> common_monotone(const Bundle& bundle) {
  std::vector<int8_t> result;
  for (const BundleModel& model : bundle.models()) {
    std::vector<int8_t> own = model.learned.model->monotone();
    own.resize(bundle.info().features, 0);  // standardised ones have the directions of their features
    if (result.empty()) result = own;
    for (size_t j = 0; j < result.size(); ++j)
      if (result[j] != own[j]) result[j] = 0;
  }
  return result;
}

// Whose ensemble it is, how it is put together, and its members by falling weight.
nlohmann::ordered_json describe_bundle(const Bundle& bundle) {
  const Mixture& mixture = bundle.mixture();
  nlohmann::ordered_json json = describe_bundle_info(bundle.info());
  json["models"] = bundle.models().size();
  add_monotone(json, common_monotone(bundle), bundle.info().feature_names);
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
  for (const Categories::Feature& feature : bundle.info().categories.features())
    for (const Categories::Value& value : feature.values)
      json["categories"].push_back({{"feature", feature.number + 1},
                                    {"value", value.name},
                                    {"mean", value.mean},
                                    {"count", value.count}});
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
  add_monotone(json, model.monotone(), {});
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

std::string cell(const nlohmann::ordered_json& value) {
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return printable(json_text(value, -1));
}

constexpr size_t kMostRows = 10;
constexpr size_t kMostItems = 20;

void print_rest(size_t all, size_t shown) {
  if (all > shown) std::cout << fmt::format("  ... and {} more; --json has all\n", all - shown);
}

// A list of objects of the same keys: a column each, as wide as it needs.
void print_rows(const std::string& name, const nlohmann::ordered_json& rows) {
  const size_t shown = std::min(rows.size(), kMostRows);
  std::vector<std::vector<std::string>> lines(shown + 1);
  for (const auto& [key, value] : rows[0].items()) lines[0].push_back(printable(key));
  for (size_t r = 0; r < shown; ++r)
    for (const auto& [key, value] : rows[r].items()) lines[r + 1].push_back(cell(value));
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines)
    for (size_t c = 0; c < std::min(line.size(), widths.size()); ++c)
      widths[c] = std::max(widths[c], line[c].size());
  std::cout << '\n' << printable(name) << '\n';
  for (const auto& line : lines) {
    std::string text = " ";
    for (size_t c = 0; c < line.size(); ++c)
      text += c + 1 < line.size() ? fmt::format(" {:<{}} ", line[c], widths[c]) : " " + line[c];
    std::cout << text << '\n';
  }
  print_rest(rows.size(), shown);
}

// Keys and plain values first, one a line; then a table for each list of rows.
void print_human(const nlohmann::ordered_json& json) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::vector<std::pair<std::string, const nlohmann::ordered_json*>> tables;
  const auto visit = [&](const auto& self, const nlohmann::ordered_json& object,
                         const std::string& prefix) -> void {
    for (const auto& [key, value] : object.items()) {
      if (value.is_object()) {
        self(self, value, prefix + key + ".");
      } else if (value.is_array() && !value.empty() && value[0].is_object()) {
        tables.emplace_back(prefix + key, &value);
      } else if (value.is_array()) {
        std::vector<std::string> items;
        for (size_t i = 0; i < std::min(value.size(), kMostItems); ++i) items.push_back(cell(value[i]));
        if (value.size() > kMostItems) items.push_back(fmt::format("... {} in all", value.size()));
        lines.emplace_back(printable(prefix + key), items.empty() ? "-" : join(items, ", "));
      } else {
        lines.emplace_back(printable(prefix + key), cell(value));
      }
    }
  };
  visit(visit, json, "");
  size_t width = 0;
  for (const auto& [key, value] : lines) width = std::max(width, key.size());
  for (const auto& [key, value] : lines) std::cout << fmt::format("{:<{}}  {}\n", key, width, value);
  for (const auto& [name, rows] : tables) print_rows(name, *rows);
}

}  // namespace

void add_inspect_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("inspect", "Tell what a model, bundle or other file of tunemix is");
  struct Arguments {
    std::filesystem::path file;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("file", arguments->file, "File that tunemix wrote")->required();
  command->add_flag("--json", arguments->json, "Print everything as JSON, for programs");
  command->footer("Example: tunemix inspect m.tmx");
  command->callback([arguments, &program] {
    program.action = [arguments] {
      const nlohmann::ordered_json json = inspect(arguments->file);
      if (arguments->json)
        std::cout << json_text(json, -1) << '\n';
      else
        print_human(json);
      return 0;
    };
  });
}

}  // namespace tunemix
