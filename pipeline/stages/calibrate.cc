#include "pipeline/stages/calibrate.h"

#include <algorithm>
#include <cmath>

#include "tunemix/data/mean_scores.h"

namespace tunemix {

std::vector<CalibrationSpec> calibration_specs(const CalibrateConfig& config, size_t columns, int labels) {
  std::vector<CalibrationSpec> specs;
  if (columns == static_cast<size_t>(labels))
    for (const std::string& target : config.cpc) specs.push_back(CalibrationSpec::parse("cpc." + target));
  for (const std::string& regressor : config.regressors)
    for (const std::string& target : config.targets)
      specs.push_back(CalibrationSpec::rbc(parse_regressor(regressor), parse_rbc_target(target)));
  return specs;
}

LearnerScores mean_over_bags(const Plan& plan, const CalibrateJob& job, const FoldInfo& info,
                             const BagScores& scores_of) {
  const QueryIndex& queries = info.train.queries;
  const std::span<const TrainJob> bags = plan.bags_of(job);
  std::vector<size_t> times(queries.size(), 0);  // that a query was left out
  std::vector<std::vector<size_t>> left_out;     // by bag
  for (const TrainJob& bag : bags) {
    left_out.push_back(bag_split(plan.config, queries, job.fold, bag.bag).calibration);
    for (const size_t q : left_out.back()) ++times[q];
  }
  LearnerScores result;
  std::vector<size_t> begin(queries.size());  // row of a query's first document
  size_t documents = 0;
  for (size_t q = 0; q < queries.size(); ++q) {
    if (times[q] == 0) continue;
    begin[q] = documents;
    documents += queries.length(q);
    result.queries.push_back(q);
  }
  for (size_t b = 0; b < bags.size(); ++b) {
    TrainResult scores = scores_of(bags[b]);
    for (size_t p = 0; p < scores.points.size(); ++p) {
      PointScores& of_bag = scores.points[p];
      const ScoreMatrix& own = of_bag.left_out;
      if (b == 0) {
        result.points.push_back({of_bag.point, of_bag.range,
                                 ScoreMatrix(documents, own.columns(), own.model()), std::move(of_bag.valid),
                                 std::move(of_bag.test)});
      } else {
        result.points[p].range += of_bag.range;
        add_scores(result.points[p].valid, of_bag.valid);
        add_scores(result.points[p].test, of_bag.test);
      }
      size_t row = 0;
      for (const size_t q : left_out[b])
        for (size_t i = 0; i < queries.length(q); ++i, ++row)
          for (size_t k = 0; k < own.columns(); ++k)
            result.points[p].left_out.row(begin[q] + i)[k] += own.row(row)[k];
    }
  }
  for (PointScores& point : result.points) {
    point.range /= static_cast<double>(bags.size());
    divide_scores(point.valid, bags.size());
    divide_scores(point.test, bags.size());
    for (const size_t q : result.queries)
      for (size_t i = begin[q]; i < begin[q] + queries.length(q); ++i)
        for (float& score : point.left_out.row(i)) score /= static_cast<float>(times[q]);
  }
  return result;
}

std::vector<float> with_out_of_fold(std::span<const float> valid, const LearnerScores& scores,
                                    const std::vector<CalibratedModel>& members, const QueryIndex& train,
                                    std::span<const size_t> queries, const Context& context) {
  std::vector<size_t> rows;  // of the documents of the queries
  size_t row = 0;
  for (const size_t q : scores.queries)
    for (size_t i = 0; i < train.length(q); ++i, ++row)
      if (std::binary_search(queries.begin(), queries.end(), q)) rows.push_back(row);
  std::vector<float> result;
  std::vector<float> all(row);
  for (size_t m = 0; m < members.size(); ++m) {
    const size_t size = valid.size() / members.size();
    result.insert(result.end(), valid.begin() + m * size, valid.begin() + (m + 1) * size);
    members[m].calibrator.apply(scores.points[members[m].point].left_out, all, context);
    for (const size_t i : rows) result.push_back(all[i]);
  }
  return result;
}

void run_calibrate_job(const Plan& plan, const CalibrateJob& job, const FoldInfo& info,
                       const BagScores& scores_of, const ArtifactStore& store, const Context& context) {
  const LearnerScores scores = mean_over_bags(plan, job, info, scores_of);
  const size_t columns = scores.points.empty() ? 0 : scores.points[0].valid.columns();
  std::vector<CalibrationSpec> specs = calibration_specs(plan.config.calibrate, columns, info.labels);
  // Of scores that only rise or fall with a feature no calibration is a member that may turn them round.
  const bool monotone = plan.learner(job).learner->is_monotone(plan.learner(job).settings);
  if (monotone)
    std::erase_if(specs, [](const CalibrationSpec& spec) {
      return spec.regressor != Regressor::kLinear && spec.regressor != Regressor::kLogistic;
    });
  if (specs.empty())
    context.warn(
        fmt::format("{}: no calibration fits scores of one column (calibrate.rbc is empty); it has no "
                    "members",
                    job.name));
  if (columns > 1 && plan.config.data.calibration_parts == 0)
    throw_input(
        "{}: its scores have {} columns, and data.calibration.parts is 0; write 2 parts or more, which "
        "their calibration is fitted on",
        job.name, columns);
  const std::vector<double> grades = fold_grades(plan.config, info.labels);
  const Documents calibration = info.train.select_queries(scores.queries);

  BinaryWriter members;
  const size_t valid_size = info.valid.labels.size();
  const size_t test_size = info.test.labels.size();
  std::vector<float> valid(scores.points.size() * specs.size() * valid_size);
  std::vector<float> test(scores.points.size() * specs.size() * test_size);
  size_t at = 0;
  for (size_t m = 0; m < scores.points.size(); ++m) {
    context.check_stop();
    const PointScores& model = scores.points[m];
    model.valid.expect_data(info.valid.fingerprint);
    model.test.expect_data(info.test.fingerprint);
    const CalibrationInput input{model.left_out, calibration.labels, calibration.queries,
                                 grades,         model.range,        calibration.weights};
    const uint64_t seed = derive_seed(plan.job_seed(job), "calibrate/" + model.point.name());
    for (const Calibrator& calibrator : fit_calibrators(specs, input, CalibrationOptions{}, seed, context)) {
      if (monotone && !calibrator.never_falls()) continue;
      for (const std::string& warning : calibrator.report().warnings)
        context.log(LogLevel::kDebug, fmt::format("{}: {}: {}", job.name, calibrator.spec().name(), warning));
      calibrator.apply(model.valid, std::span(valid).subspan(at * valid_size, valid_size), context);
      calibrator.apply(model.test, std::span(test).subspan(at * test_size, test_size), context);
      members.put<uint64_t>(m);
      members.put(model.point.length);
      members.put(model.point.label);
      calibrator.save(members);
      ++at;
    }
  }
  valid.resize(at * valid_size);
  test.resize(at * test_size);
  BinaryWriter head;
  head.put<uint64_t>(at);
  std::vector<uint8_t> table(head.bytes().begin(), head.bytes().end());
  table.insert(table.end(), members.bytes().begin(), members.bytes().end());
  // Scores do not compress; the table of members comes last, since it tells that all is there.
  BinaryWriter out;
  out.put(valid);
  store.save(kMemberValidKind, job.key, kMembersVersion, out.bytes(), Compression::kNone);
  out = BinaryWriter();
  out.put(test);
  store.save(kMemberTestKind, job.key, kMembersVersion, out.bytes(), Compression::kNone);
  store.save(kMembersKind, job.key, kMembersVersion, table);
}

std::optional<std::vector<CalibratedModel>> load_members(const Plan& plan, const CalibrateJob& job,
                                                         const FoldInfo& info, const ArtifactStore& store,
                                                         const Context& context) {
  return store.load_as(
      kMembersKind, job.key, kMembersVersion, context,
      [&](std::span<const uint8_t> payload) { return parse_members(payload, plan, job, info); });
}

std::vector<CalibratedModel> parse_members(std::span<const uint8_t> payload, const Plan& plan,
                                           const CalibrateJob& job, const FoldInfo& info) {
  BinaryReader in(payload, "the members of " + job.name);
  const std::vector<Point> points = plan.learner(job).points();
  std::vector<CalibratedModel> members;
  const size_t count = in.get_count(1);
  for (size_t i = 0; i < count; ++i) {
    const auto number = in.get<uint64_t>();
    Point point;
    point.length = in.get<int64_t>();
    point.label = in.get_string();
    if (number >= points.size() || point != points[number]) in.fail("a member is of no point of its model");
    members.push_back({number, std::move(point), Calibrator::load(in)});
    const size_t columns = members.back().calibrator.columns();
    if (columns != members[0].calibrator.columns() ||
        (columns != 1 && columns != static_cast<size_t>(info.labels)))
      in.fail("a calibration does not fit the labels");
  }
  in.expect_end();
  return members;
}

std::vector<float> parse_member_scores(std::span<const uint8_t> payload, const CalibrateJob& job,
                                       size_t members, size_t documents) {
  BinaryReader in(payload, "the member scores of " + job.name);
  std::vector<float> scores = in.get_vector<float>();
  in.expect_end();
  if (scores.size() != members * documents) in.fail("expected one score for each document");
  if (!std::all_of(scores.begin(), scores.end(), [](float v) { return std::isfinite(v); }))
    in.fail("a score is not a finite number");
  return scores;
}

std::optional<std::vector<float>> load_member_scores(const char* kind, const CalibrateJob& job,
                                                     size_t members, size_t documents,
                                                     const ArtifactStore& store, const Context& context) {
  return store.load_as(kind, job.key, kMembersVersion, context, [&](std::span<const uint8_t> payload) {
    return parse_member_scores(payload, job, members, documents);
  });
}

}  // namespace tunemix
