#include "tunemix/export/bundle.h"

#include <algorithm>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

// Documents that are scored at once: bounds the memory of members x documents.
constexpr size_t kDocumentsAtOnce = 20000;

void save_info(BinaryWriter& out, const BundleInfo& info) {
  out.put(info.name);
  out.put(info.row);
  out.put(info.fold);
  out.put(info.key);
  out.put(info.features);
  out.put(info.labels);
  out.put(info.standardize);
}

BundleInfo load_info(BinaryReader& in) {
  BundleInfo info;
  info.name = in.get_string();
  info.row = in.get_string();
  info.fold = in.get<uint32_t>();
  info.key = in.get_string();
  info.features = in.get<uint64_t>();
  info.labels = in.get<uint32_t>();
  info.standardize = in.get<Standardize>();
  return info;
}

// The scores of one model for all the lengths that members ask of it, by length.
std::vector<ScoreMatrix> score_model(const BundleModel& model, const std::vector<int>& lengths,
                                     const Dataset& data, const Context& context) {
  if (const auto* boosted = std::get_if<AdaBoostModel>(&model)) return boosted->score(data, lengths, context);
  return {std::get<SvmModel>(model).score(data, context)};
}

}  // namespace

Bundle::Bundle(BundleInfo info, std::vector<BundleModel> models, std::vector<BundleMember> members,
               Mixture mixture)
    : info_(std::move(info)),
      models_(std::move(models)),
      members_(std::move(members)),
      mixture_(std::move(mixture)) {
  require(members_.size() == mixture_.members().size(), "a bundle's members do not fit its mixture");
  for (const BundleMember& member : members_)
    require(member.model < models_.size(), "a member without a model");
}

std::vector<float> Bundle::predict(const Dataset& data, const Context& context) const {
  if (data.features() != info_.features)
    throw_input("the data has {} features; the ensemble '{}' was trained on {}", data.features(), info_.name,
                info_.features);
  std::vector<float> scores;
  const QueryIndex& queries = data.queries();
  for (size_t first = 0; first < queries.size();) {
    context.check_stop();
    std::vector<size_t> part;
    for (size_t documents = 0; first < queries.size() && (part.empty() || documents < kDocumentsAtOnce);
         ++first) {
      part.push_back(first);
      documents += queries.length(first);
    }
    const std::vector<float> some = predict_part(data.select_queries(part), context);
    scores.insert(scores.end(), some.begin(), some.end());
  }
  return scores;
}

std::vector<float> Bundle::predict_part(const Dataset& raw, const Context& context) const {
  const Dataset data = standardize(raw, info_.standardize, context);
  const size_t n = data.documents();
  std::vector<float> member_scores(members_.size() * n);
  for (uint32_t m = 0; m < models_.size(); ++m) {
    std::vector<int> lengths;
    for (const BundleMember& member : members_)
      if (member.model == m) lengths.push_back(member.rounds);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    const std::vector<ScoreMatrix> scores = score_model(models_[m], lengths, data, context);
    context.pool().run(members_.size(), [&](size_t i) {
      if (members_[i].model != m) return;
      const auto at = std::lower_bound(lengths.begin(), lengths.end(), members_[i].rounds) - lengths.begin();
      members_[i].calibrator.apply(scores[static_cast<size_t>(at)],
                                   std::span(member_scores).subspan(i * n, n), context);
    });
  }
  std::vector<float> result(n);
  mixture_.apply([&](size_t member) { return std::span(member_scores).subspan(member * n, n); },
                 data.queries(), result, context);
  return result;
}

void Bundle::save(const std::filesystem::path& path) const {
  BinaryWriter out;
  save_info(out, info_);
  out.put<uint64_t>(models_.size());
  for (const BundleModel& model : models_) {
    out.put<uint8_t>(static_cast<uint8_t>(model.index()));
    std::visit([&](const auto& m) { m.save(out); }, model);
  }
  out.put<uint64_t>(members_.size());
  for (const BundleMember& member : members_) {
    out.put(member.model);
    out.put(member.rounds);
    member.calibrator.save(out);
  }
  mixture_.save(out);
  write_artifact(path, kKind, kVersion, out.bytes());
}

Bundle Bundle::load(const std::filesystem::path& path) {
  const Artifact artifact = read_artifact(path, kKind, kVersion);
  BinaryReader in(artifact.payload, path.string());
  BundleInfo info = load_info(in);
  std::vector<BundleModel> models;
  const size_t model_count = in.get_count(1);
  for (size_t i = 0; i < model_count; ++i) {
    const auto type = in.get<uint8_t>();
    if (type == 0)
      models.emplace_back(AdaBoostModel::load(in));
    else if (type == 1)
      models.emplace_back(SvmModel::load(in));
    else
      in.fail("a model of an unknown type");
  }
  std::vector<BundleMember> members;
  const size_t member_count = in.get_count(1);
  for (size_t i = 0; i < member_count; ++i) {
    const auto model = in.get<uint32_t>();
    const auto rounds = in.get<int32_t>();
    if (model >= models.size()) in.fail("a member without a model");
    members.push_back({model, rounds, Calibrator::load(in)});
  }
  Mixture mixture = Mixture::load(in);
  in.expect_end();
  if (mixture.members().size() != members.size()) in.fail("its members do not fit its mixture");
  return Bundle(std::move(info), std::move(models), std::move(members), std::move(mixture));
}

BundleInfo read_bundle_info(const std::filesystem::path& path) {
  const Artifact artifact = read_artifact(path, Bundle::kKind, Bundle::kVersion);
  BinaryReader in(artifact.payload, path.string());
  return load_info(in);
}

}  // namespace tunemix
