#include "tunemix/export/bundle.h"

#include <algorithm>
#include <cmath>

#include "tunemix/core/error.h"
#include "tunemix/data/mean_scores.h"

namespace tunemix {
namespace {

// Documents that are scored at once: members x documents stay near the processor.
constexpr size_t kDocumentsAtOnce = 1024;

void save_info(BinaryWriter& out, const BundleInfo& info) {
  out.put(info.name);
  out.put(info.row);
  out.put(info.fold);
  out.put(info.key);
  out.put(info.features);
  out.put(info.labels);
  info.feature_names.save(out);
  out.put<uint64_t>(info.trained_on.size());
  for (const std::string& file : info.trained_on) out.put(file);
  out.put(info.queries);
  out.put(info.documents);
  out.put(info.expected.measure);
  out.put(info.expected.data);
  out.put(info.expected.value);
  out.put<uint8_t>(info.expected.error.has_value());
  out.put(info.expected.error.value_or(0));
  info.categories.save(out);
}

BundleInfo load_info(BinaryReader& in, uint32_t version) {
  if (version < Bundle::kVersion) in.fail("a bundle of an old version that is no longer read");
  BundleInfo info;
  info.name = in.get_string();
  info.row = in.get_string();
  info.fold = in.get<uint32_t>();
  info.key = in.get_string();
  info.features = in.get<uint64_t>();
  info.labels = in.get<uint32_t>();
  info.feature_names = FeatureNames::load(in);
  if (info.feature_names.size() > info.features) in.fail("it names more features than there are");
  const size_t files = in.get_count(sizeof(uint64_t));
  for (size_t i = 0; i < files; ++i) info.trained_on.push_back(in.get_string());
  info.queries = in.get<uint64_t>();
  info.documents = in.get<uint64_t>();
  info.expected.measure = in.get_string();
  info.expected.data = in.get_string();
  info.expected.value = in.get<double>();
  const bool has_error = in.get<uint8_t>() != 0;
  const auto error = in.get<double>();
  if (has_error) info.expected.error = error;
  if (!std::isfinite(info.expected.value) || !std::isfinite(error)) in.fail("what it expects is no number");
  if (version < 4) return info;
  info.categories = Categories::load(in);
  for (const Categories::Feature& feature : info.categories.features())
    if (feature.number >= info.features) in.fail("a categorical feature is not there");
  return info;
}

// Data whose head names its features must not have them in another order.
void expect_same_names(const FeatureNames& data, const BundleInfo& info) {
  if (data.empty() || data == info.feature_names) return;
  for (size_t j = 0; j < data.size(); ++j)
    if (!data[j].empty() && !info.feature_names[j].empty() && data[j] != info.feature_names[j])
      throw_input("the data calls feature {} '{}'; the ensemble '{}' was trained on data that calls it '{}'",
                  j + 1, data[j], info.name, info.feature_names[j]);
}

// The documents begin..end of scores.
ScoreMatrix rows_of(const ScoreMatrix& scores, size_t begin, size_t end) {
  ScoreMatrix result(end - begin, scores.columns(), scores.model());
  std::copy_n(scores.values().begin() + static_cast<std::ptrdiff_t>(begin * scores.columns()),
              result.values().size(), result.values().begin());
  return result;
}

}  // namespace

Bundle::Bundle(BundleInfo info, std::vector<BundleModel> models, std::vector<BundleMember> members,
               Mixture mixture)
    : info_(std::move(info)),
      models_(std::move(models)),
      members_(std::move(members)),
      mixture_(std::move(mixture)) {
  require(members_.size() == mixture_.members().size(), "a bundle's members do not fit its mixture");
  for (size_t i = 0; i < members_.size(); ++i) {
    const std::vector<uint32_t>& bags = members_[i].models;
    require(!bags.empty() && *std::max_element(bags.begin(), bags.end()) < models_.size(),
            "a member without a model");
    auto work = std::find_if(work_.begin(), work_.end(), [&](const Work& w) { return w.models == bags; });
    if (work == work_.end()) work = work_.insert(work_.end(), Work{bags, {}, {}, {}});
    work->members.push_back(i);
    work->points.push_back(members_[i].point);
  }
  for (Work& work : work_) {
    std::sort(work.points.begin(), work.points.end());
    work.points.erase(std::unique(work.points.begin(), work.points.end()), work.points.end());
    for (const size_t i : work.members)
      work.of_point.push_back(static_cast<size_t>(
          std::lower_bound(work.points.begin(), work.points.end(), members_[i].point) - work.points.begin()));
  }
}

std::map<std::string, size_t> Bundle::external_scores() const {
  std::map<std::string, size_t> scores;
  for (const BundleModel& model : models_)
    if (std::string name = model.learned.model->external_scores(); !name.empty())
      scores.emplace(std::move(name), model.learned.model->columns());
  return scores;
}

std::vector<float> Bundle::predict(const Dataset& data, const Context& context,
                                   const GivenScores& given) const {
  if (data.features() != info_.features)
    throw_input("the data has {} features; the ensemble '{}' was trained on {}", data.features(), info_.name,
                info_.features);
  expect_same_names(data.feature_names(), info_);
  info_.categories.expect_words(data);
  for (const auto& [name, columns] : external_scores()) {
    const auto it = given.find(name);
    if (it == given.end())
      throw_input("the ensemble '{}' mixes the scores '{}', which have to be given for these documents",
                  info_.name, name);
    if (it->second.documents() != data.documents() || it->second.columns() != columns)
      throw_input("the scores '{}' are {} lines of {}; expected {} lines of {}", name, it->second.documents(),
                  it->second.columns(), data.documents(), columns);
  }
  if (data.documents() == 0) return {};
  // Parts of whole queries; no result depends on where they end. What has one member needs none.
  const QueryIndex& queries = data.queries();
  std::vector<size_t> first = {0};  // query of each part
  for (size_t q = 1; q < queries.size() && members_.size() > 1; ++q)
    if (queries.begin(q) - queries.begin(first.back()) >= kDocumentsAtOnce) first.push_back(q);
  first.push_back(queries.size());
  std::vector<float> scores(data.documents());
  std::vector<std::vector<float>> scratch(static_cast<size_t>(context.threads()));
  context.pool().run_with_thread(first.size() - 1, [&](size_t p, int thread) {
    context.check_stop();
    std::vector<float>& members = scratch[static_cast<size_t>(thread)];
    if (first.size() == 2) return predict_part(data, given, members, scores, context);
    std::vector<size_t> part;
    for (size_t q = first[p]; q < first[p + 1]; ++q) part.push_back(q);
    const size_t begin = queries.begin(part.front());
    const size_t end = queries.end(part.back());
    GivenScores given_part;
    for (const auto& [name, all] : given) given_part.emplace(name, rows_of(all, begin, end));
    predict_part(data.select_queries(part), given_part, members,
                 std::span(scores).subspan(begin, end - begin), context);
  });
  return scores;
}

void Bundle::predict_part(const Dataset& documents, const GivenScores& given,
                          std::vector<float>& member_scores, std::span<float> out,
                          const Context& context) const {
  const Dataset raw = info_.categories.apply(documents);
  const size_t n = raw.documents();
  std::map<Standardize, Dataset> prepared;
  member_scores.resize(std::max(member_scores.size(), members_.size() * n));
  const auto of_member = [&](size_t member) { return std::span(member_scores).subspan(member * n, n); };
  const auto scores_of = [&](const BundleModel& model, const std::vector<size_t>& points) {
    if (const std::string name = model.learned.model->external_scores(); !name.empty())
      return std::vector{given.at(name)};
    const Dataset* data = &raw;
    if (model.standardize != Standardize::kNone) {
      auto found = prepared.find(model.standardize);
      if (found == prepared.end())
        found = prepared.emplace(model.standardize, standardize(raw, model.standardize, context)).first;
      data = &found->second;
      if (!model.learned.learner->reads_columns) data->make(context.pool());
    }
    return model.learned.model->score(*data, points, context);
  };
  for (const Work& work : work_) {
    std::vector<ScoreMatrix> scores = scores_of(models_[work.models[0]], work.points);
    for (size_t bag = 1; bag < work.models.size(); ++bag) {
      const std::vector<ScoreMatrix> more = scores_of(models_[work.models[bag]], work.points);
      for (size_t p = 0; p < scores.size(); ++p) add_scores(scores[p], more[p]);
    }
    for (ScoreMatrix& mean : scores) divide_scores(mean, work.models.size());
    context.pool().run(work.members.size(), [&](size_t i) {
      members_[work.members[i]].calibrator.apply(scores[work.of_point[i]], of_member(work.members[i]),
                                                 context);
    });
  }
  mixture_.apply(of_member, raw.queries(), out, context);
}

std::vector<uint8_t> Bundle::file_bytes() const {
  BinaryWriter out;
  save_info(out, info_);
  out.put<uint64_t>(models_.size());
  for (const BundleModel& model : models_) {
    out.put(model.standardize);
    model.learned.save(out);
  }
  out.put<uint64_t>(members_.size());
  for (const BundleMember& member : members_) {
    out.put(member.models);
    out.put(member.point);
    member.calibrator.save(out);
  }
  mixture_.save(out);
  return artifact_bytes(kKind, kVersion, out.bytes());
}

void Bundle::save(const std::filesystem::path& path) const { write_user_file(path, file_bytes()); }

Bundle Bundle::load(const std::filesystem::path& path, const Registry& registry) {
  return parse(read_file(path), path.string(), registry);
}

Bundle Bundle::parse(std::span<const uint8_t> file, const std::string& name, const Registry& registry) {
  const Artifact artifact = parse_artifact(file, name);
  expect_artifact(artifact, name, kKind, kVersion);
  BinaryReader in(artifact.payload, name);
  BundleInfo info = load_info(in, artifact.version);
  std::vector<BundleModel> models;
  const size_t model_count = in.get_count(1);
  for (size_t i = 0; i < model_count; ++i) {
    const auto mode = in.get<Standardize>();
    if (mode > Standardize::kContext || mode == Standardize::kCdf)
      in.fail("features are standardised in an unknown way");
    models.push_back({LearnedModel::load(in, registry), mode});
    const Model& model = *models.back().learned.model;
    const size_t width = viewed_features(mode, info.width());
    if (model.external_scores().empty() ? model.features() != width : model.points().size() != 1)
      in.fail("a model that does not fit its features");
  }
  std::map<std::string, size_t> columns;
  for (const BundleModel& model : models)
    if (const std::string given = model.learned.model->external_scores();
        !given.empty() && columns.emplace(given, model.learned.model->columns()).first->second !=
                              model.learned.model->columns())
      in.fail("two members of one name have scores of different lengths");
  std::vector<BundleMember> members;
  const size_t member_count = in.get_count(1);
  for (size_t i = 0; i < member_count; ++i) {
    auto bags = in.get_vector<uint32_t>();
    const auto point = in.get<uint32_t>();
    if (bags.empty()) in.fail("a member without a model");
    members.push_back({std::move(bags), point, Calibrator::load(in)});
    for (const uint32_t bag : members.back().models) {
      if (bag >= models.size()) in.fail("a member without a model");
      const Model& model = *models[bag].learned.model;
      if (point >= model.points().size()) in.fail("a member without a point of its model");
      if (members.back().calibrator.columns() != model.columns())
        in.fail("a calibration that does not fit its model");
    }
  }
  if (members.empty()) in.fail("it has no members");
  Mixture mixture = Mixture::load(in);
  in.expect_end();
  if (mixture.members().size() != members.size()) in.fail("its members do not fit its mixture");
  return Bundle(std::move(info), std::move(models), std::move(members), std::move(mixture));
}

BundleInfo read_bundle_info(const std::filesystem::path& path) {
  const Artifact artifact = read_artifact(path, Bundle::kKind, Bundle::kVersion);
  BinaryReader in(artifact.payload, path.string());
  return load_info(in, artifact.version);
}

}  // namespace tunemix
