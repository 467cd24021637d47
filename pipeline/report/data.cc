#include "pipeline/report/data.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

template <typename Item, typename Describe>
Json list_json(const std::vector<Item>& items, const Describe& describe) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(describe(item));
  return list;
}

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json length_json(int64_t iterations) { return iterations > 0 ? Json(iterations) : Json(); }

Json comparison_json(const RowComparison& comparison) {
  const Json rows = list_json(comparison.rows, [](const RowComparison::Row& row) -> Json {
    return {{"row", row.row}, {"ndcg", row.ndcg}, {"err", row.err}, {"best", row.best}};
  });
  const Json pairs = list_json(comparison.pairs, [](const RowComparison::Pair& pair) -> Json {
    return {{"a", pair.a}, {"b", pair.b}, {"p", pair.p}, {"tau", pair.tau}};
  });
  return {{"rows", rows},
          {"pairs", pairs},
          {"oracle", {{"ndcg", comparison.oracle_ndcg}, {"err", comparison.oracle_err}}},
          {"tool", comparison.tool}};
}

Json member_json(const ReportMember& member) {
  return {{"fold", member.fold},
          {"family", member.family},
          {"kind", member.kind},
          {"calibration", member.calibration},
          {"model", member.model},
          {"iterations", length_json(member.iterations)},
          {"quality", member.quality},
          {"weight", member.weight},
          {"variance_share", member.variance_share}};
}

Json reliability_json(const ReliabilityCurve& curve) {
  const Reliability& of = curve.reliability;
  const Json bins = list_json(of.bins, [](const ReliabilityBin& bin) -> Json {
    return {{"predicted", bin.predicted}, {"observed", bin.observed}, {"count", bin.documents}};
  });
  return {{"fold", curve.fold},
          {"member", curve.member},
          {"curve", bins},
          {"grades", of.expected_error.has_value()},
          {"log_loss", optional_number(of.log_loss)},
          {"ece", optional_number(of.expected_error)}};
}

Json importance_json(const FeatureLosses& importance) {
  const Json features = list_json(importance.features, [](const FeatureLosses::Feature& feature) -> Json {
    return {{"name", feature.name}, {"loss", feature.loss}, {"stderr", feature.standard_error}};
  });
  return {{"ensemble", importance.ensemble},
          {"data", importance.data},
          {"ndcg", importance.ndcg},
          {"stderr", importance.standard_error},
          {"queries", importance.queries},
          {"repeats", importance.repeats},
          {"features", features}};
}

}  // namespace

Json report_json(const ReportData& data) {
  Json json = {{"name", data.results.name}, {"version", data.version}, {"seed", data.results.seed}};
  json["warnings"] = data.results.warnings;
  json.update(evaluation_json(data.results.evaluation, "quality"));
  if (data.comparison) json["comparison"] = comparison_json(*data.comparison);
  json["learning"] = list_json(data.learning, [](const LearningPoint& point) -> Json {
    return {{"row", point.row}, {"iterations", point.iterations}, {"quality", point.quality}};
  });
  json["labels"] = data.labels;
  json["data"] = list_json(data.data, [](const SplitSummary& split) -> Json {
    return {{"fold", split.fold},
            {"split", split.split},
            {"documents", split.documents},
            {"queries", split.queries},
            {"features", split.features},
            {"labels", split.labels},
            {"empty_queries", split.empty_queries}};
  });
  json["members"] = list_json(data.members, member_json);
  json["families"] = list_json(data.families, [](const FamilyShare& family) -> Json {
    return {{"fold", family.fold},
            {"family", family.family},
            {"row", family.row},
            {"members", family.members},
            {"mass", family.mass}};
  });
  json["left_out"] = data.left_out;
  json["reliability"] = list_json(data.reliability, reliability_json);
  json["surface"] = list_json(data.surface, [](const SurfacePoint& point) -> Json {
    return {{"fold", point.fold},
            {"row", point.row},
            {"c", point.c},
            {"iterations", length_json(point.iterations)},
            {"quality", point.quality}};
  });
  json["notes"] = data.notes;
  json["bandit"] = list_json(data.bandit, [](const BanditPoint& point) -> Json {
    return {{"model", point.model},
            {"round", point.round},
            {"feature", point.feature},
            {"probability", point.probability}};
  });
  json["features"] = list_json(data.features, [](const FeatureUse& feature) -> Json {
    return {{"model", feature.model}, {"feature", feature.feature}, {"use", feature.use}};
  });
  json["timing"] = list_json(data.results.timing, [](const StageTiming& timing) -> Json {
    return {{"stage", timing.stage},
            {"seconds", timing.seconds},
            {"jobs", timing.jobs},
            {"cached", timing.cached}};
  });
  if (data.importance) json["importance"] = importance_json(*data.importance);
  json["config"] = data.config;
  return json;
}

}  // namespace tunemix
