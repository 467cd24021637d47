#include "tunemix/learn/learner.h"

#include <algorithm>

#include "learn/fill_missing.h"
#include "tunemix/core/text.h"
#include "tunemix/learn/composed_model.h"
#include "tunemix/learn/monotone.h"

namespace tunemix {
namespace {

// Stands before the type of a learner whose model is composed.
constexpr const char* kComposed = "(composed)";

}  // namespace

std::string Point::name() const {
  if (length == 0) return label;
  return label.empty() ? fmt::format("T={}", length) : fmt::format("T={} {}", length, label);
}

PlainModel Model::plain(size_t /*point*/) const {
  throw_input("its scores are no sums of trees or of weighted features");
}

const std::string& setting(const Settings& settings, std::string_view key) {
  for (const auto& [name, value] : settings)
    if (name == key) return value;
  throw InternalError("a learner asks for an option that it does not have");
}

const OptionInfo* LearnerEntry::length_option() const {
  for (const OptionInfo& option : options)
    if (option.role == OptionRole::kLength) return &option;
  return nullptr;
}

const OptionInfo& LearnerEntry::option(std::string_view key) const {
  std::vector<std::string> names;
  for (const OptionInfo& option : options) {
    if (option.name == key) return option;
    names.push_back(option.name);
  }
  throw_input("{} has no option '{}'{}; expected one of: {}", type, key, did_you_mean(key, names),
              join(names, ", "));
}

bool LearnerEntry::is_monotone(const Settings& settings) const {
  return std::any_of(options.begin(), options.end(), [&](const OptionInfo& option) {
    return option.role == OptionRole::kFeatures && setting(settings, option.name) != option.default_value;
  });
}

Settings LearnerEntry::for_columns(Settings settings, const FeatureNames& names,
                                   std::span<const uint32_t> source) const {
  for (auto& [key, value] : settings) {
    if (option(key).role != OptionRole::kFeatures) continue;
    Monotone of_columns;
    for (const auto& [feature, direction] : numbered(parse_monotone(value), names)) {
      const size_t before = of_columns.size();
      for (size_t c = 0; c < source.size(); ++c)
        if (fmt::format("{}", source[c] + 1) == feature)
          of_columns.emplace_back(fmt::format("{}", c + 1), direction);
      if (of_columns.size() == before)
        throw_input("{} names feature {}, which the learner does not see", key, feature);
    }
    value = to_text(of_columns);
  }
  return settings;
}

Settings LearnerEntry::complete(const Settings& given) const {
  Settings settings;
  for (const OptionInfo& option : options) settings.emplace_back(option.name, option.default_value);
  for (const auto& [key, value] : given) {
    option(key);
    for (auto& [name, current] : settings)
      if (name == key) current = canonical(key, value);
  }
  return settings;
}

std::vector<int64_t> default_lengths(int64_t length) {
  std::vector<int64_t> result;
  for (int64_t decade = 10; decade < length; decade *= 10)
    for (const int64_t t : {decade, 2 * decade, 5 * decade})
      if (t < length) result.push_back(t);
  result.push_back(length);
  return result;
}

void Registry::add(LearnerEntry entry) {
  for (const auto& other : entries_)
    require(other->type != entry.type &&
                (entry.external || (other->family != entry.family && other->row != entry.row)),
            "two learners share a type, a family or a row");
  if (!entry.title)
    entry.title = [type = entry.type, options = entry.options](const Settings& settings) {
      std::string title = type;
      for (const OptionInfo& option : options)
        if ((option.role == OptionRole::kGrid || option.role == OptionRole::kFeatures) &&
            setting(settings, option.name) != option.default_value)
          title += fmt::format(" {}={}", option.name, setting(settings, option.name));
      return title;
    };
  if (!entry.points)
    entry.points = [](const Settings&, std::span<const int64_t> lengths) {
      std::vector<Point> points;
      for (const int64_t length : lengths) points.push_back({length, ""});
      if (points.empty()) points.emplace_back();
      return points;
    };
  if (entry.start && !entry.takes_missing) fill_missing(entry);
  entries_.push_back(std::make_unique<const LearnerEntry>(std::move(entry)));
}

const LearnerEntry* Registry::find(std::string_view type) const {
  for (const auto& entry : entries_)
    if (entry->type == type) return entry.get();
  return nullptr;
}

const LearnerEntry& Registry::expect(std::string_view type) const {
  if (const LearnerEntry* entry = find(type)) return *entry;
  std::vector<std::string> types;
  for (const auto& entry : entries_) types.push_back(entry->type);
  throw_input("unknown learner '{}'{}; expected one of: {}", type, did_you_mean(type, types),
              join(types, ", "));
}

void LearnedModel::save(BinaryWriter& out) const {
  if (dynamic_cast<const ComposedModel*>(model.get()) != nullptr) out.put(std::string_view(kComposed));
  out.put(learner->type);
  out.put(learner->version);
  model->save(out);
}

LearnedModel LearnedModel::load(BinaryReader& in, const Registry& registry) {
  std::string type = in.get_string();
  const bool composed = type == kComposed;
  if (composed) type = in.get_string();
  const auto version = in.get<uint32_t>();
  const LearnerEntry* learner = registry.find(type);
  if (learner == nullptr) in.fail(fmt::format("a model of '{}', a learner that is not known here", type));
  if (version != learner->version)
    in.fail(fmt::format("a model of {} of version {}; this program has version {}", type, version,
                        learner->version));
  std::unique_ptr<Model> model =
      composed ? std::make_unique<ComposedModel>(in, learner->load) : learner->load(in);
  if (model->points().empty()) in.fail("it has no points");
  return {learner, std::move(model)};
}

void LearnedModel::save(const std::filesystem::path& path) const {
  BinaryWriter out;
  save(out);
  write_artifact(path, kKind, kVersion, out.bytes());
}

LearnedModel LearnedModel::load(const std::filesystem::path& path, const Registry& registry) {
  const Artifact artifact = read_artifact(path, kKind, kVersion);
  BinaryReader in(artifact.payload, path.string());
  LearnedModel result = load(in, registry);
  in.expect_end();
  return result;
}

}  // namespace tunemix
