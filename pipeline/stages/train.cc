#include "pipeline/stages/train.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunemix/data/derived.h"
#include "tunemix/learn/composed_model.h"
#include "tunemix/metric/score_file.h"

namespace tunemix {
namespace {

// A killed job loses at most the training of so many seconds.
constexpr double kSecondsBetweenStates = 10;
// Features whose shares over time are kept for the report.
constexpr size_t kShownFeatures = 12;
// Log-odds of what training always or never saw.
constexpr double kCertain = 7;

std::vector<size_t> all_queries(const QueryIndex& queries) {
  std::vector<size_t> numbers(queries.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

void put(BinaryWriter& out, const ScoreMatrix& scores) {
  out.put<uint64_t>(scores.columns());
  out.put(scores.data().high);
  out.put(scores.data().low);
  out.put(scores.model());
  out.put_span(scores.values());
}

ScoreMatrix get_scores(BinaryReader& in) {
  const auto columns = in.get<uint64_t>();
  Hash128 data;
  data.high = in.get<uint64_t>();
  data.low = in.get<uint64_t>();
  const std::string model = in.get_string();
  const auto values = in.get_vector<float>();
  if (columns == 0 || columns > 64 || values.size() % columns != 0)
    in.fail("a score matrix without rows or columns");
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
    in.fail("a score is not a finite number");
  ScoreMatrix scores(values.size() / columns, columns, model);
  scores.set_data(data);
  std::copy(values.begin(), values.end(), scores.values().begin());
  return scores;
}

// Shares over time of the features that are looked at most in the end.
std::vector<TrainResult::AttentionPoint> attention_of(const Model& model) {
  std::vector<TrainResult::AttentionPoint> result;
  const std::vector<FeatureShares> samples = model.attention();
  if (samples.empty()) return result;
  const std::vector<float>& last = samples.back().shares;
  std::vector<uint32_t> order(last.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return last[a] > last[b]; });
  order.resize(std::min(order.size(), kShownFeatures));
  for (const FeatureShares& sample : samples)
    for (const uint32_t j : order) result.push_back({sample.round, j, sample.shares[j]});
  return result;
}

// Trains to the end, taking up what an interrupted or shorter run of the job has left, and saving its own
// state as it goes.
std::unique_ptr<Model> train_model(const LearnerEntry& learner, const TrainingRequest& request,
                                   const TrainJob& job, const ArtifactStore* store, const Context& context) {
  std::unique_ptr<Trainer> trainer;
  const bool keeps_state = learner.resumable && store != nullptr;
  if (keeps_state)
    if (const auto state = store->load(kTrainingKind, job.training_key, kTrainingVersion, context)) try {
        BinaryReader in(*state, "the training state of " + job.name);
        trainer = learner.resume(request, in, context);
        in.expect_end();
        context.log(LogLevel::kDebug, fmt::format("{}: goes on from a saved training", job.name));
      } catch (const InputError& error) {
        context.warn(fmt::format("{}; training starts again", error.what()));
        trainer.reset();
      }
  if (trainer == nullptr) trainer = learner.start(request, context);
  for (bool complete = false; !complete;) {
    context.check_stop();
    complete = trainer->step(kSecondsBetweenStates);
    if (!keeps_state) continue;
    BinaryWriter out;
    trainer->save_state(out);
    store->save(kTrainingKind, job.training_key, kTrainingVersion, out.bytes());
  }
  return trainer->model();
}

// The model of a learner whose entry says so: trained on copies of queries, on grouped labels, or as one
// problem for each label but the last.
std::unique_ptr<Model> train_derived(const LearnerSpec& spec, const Plan& plan, const TrainJob& job,
                                     const FoldInfo& info, const Dataset& train, FeatureSpan standardized,
                                     const Dataset& calibration, const Dataset& valid,
                                     const ArtifactStore& store, const Context& context) {
  const LearnerEntry& learner = *spec.learner;
  const std::vector<double> grades = fold_grades(plan.config, info.labels);
  const auto taught = [&](std::span<const int32_t> labels) {
    return spec.labels ? spec.labels->map(labels) : std::vector<int32_t>(labels.begin(), labels.end());
  };
  const Dataset documents =
      spec.copies > 0 ? with_copies(train, spec.copies, spec.leave_out,
                                    Random(plan.config.seed, fmt::format("copies/{}/{}", job.fold, job.bag)))
                      : train;
  const auto labels = static_cast<int>(spec.labels ? spec.labels->size() : static_cast<size_t>(info.labels));
  if (!spec.ordinal) {
    const Dataset data = with_labels(documents, taught(documents.labels()));
    const Dataset stop = with_labels(valid, taught(valid.labels()));
    BinCache bins(data, standardized);
    const TrainingData training(bins, all_queries(data.queries()), labels,
                                spec.labels ? spec.labels->grades(grades) : grades);
    std::unique_ptr<Model> model =
        train_model(learner, {training, spec.settings, spec.lengths, &stop}, job, &store, context);
    if (!spec.labels) return model;
    return std::make_unique<ComposedModel>(std::move(model), *spec.labels);
  }

  const std::vector<int32_t> of_documents = taught(documents.labels());
  const std::vector<int32_t> of_valid = taught(valid.labels());
  const std::vector<int32_t> of_calibration = taught(calibration.labels());
  const auto above = [](const std::vector<int32_t>& all, int32_t bound) {
    std::vector<int32_t> result;
    for (const int32_t label : all) result.push_back(label > bound ? 1 : 0);
    return result;
  };
  std::vector<OrdinalProblem> problems;
  for (int32_t bound = 0; bound + 1 < labels; ++bound) {
    context.check_stop();
    OrdinalProblem& problem = problems.emplace_back();
    const std::vector<int32_t> own = above(of_documents, bound);
    const size_t points = spec.points().size();
    if (std::all_of(own.begin(), own.end(), [&](int32_t label) { return label == own[0]; })) {
      problem.chances.assign(points, {0, own[0] == 1 ? kCertain : -kCertain});
      continue;
    }
    const Dataset data = with_labels(documents, own);
    const Dataset stop = with_labels(valid, above(of_valid, bound));
    BinCache bins(data, standardized);
    const TrainingData training(bins, all_queries(data.queries()), 2, {0, 1});
    // No state is kept: there is one of a job, and these are several trainings.
    std::unique_ptr<Model> model =
        train_model(learner, {training, spec.settings, spec.lengths, &stop}, job, nullptr, context);
    std::vector<size_t> all(points);
    std::iota(all.begin(), all.end(), size_t{0});
    const std::vector<int32_t> targets = above(of_calibration, bound);
    const std::vector<bool> yes(targets.begin(), targets.end());
    for (const ScoreMatrix& scores : model->score(calibration, all, context)) {
      std::vector<double> margins;
      for (size_t i = 0; i < scores.documents(); ++i)
        margins.push_back(static_cast<double>(scores.row(i)[1]) - static_cast<double>(scores.row(i)[0]));
      problem.chances.push_back(fit_chance(margins, yes, calibration.weights()));
    }
    problem.model = std::move(model);
  }
  if (std::none_of(problems.begin(), problems.end(),
                   [](const OrdinalProblem& p) { return p.model != nullptr; }))
    throw_input("{}: all documents of the bag have the same label, so that there is nothing to learn",
                job.name);
  return std::make_unique<ComposedModel>(std::move(problems), spec.labels);
}

void add_feature_facts(TrainResult& result, const Model& model) {
  const std::vector<double> importance = model.importance();
  result.importance.assign(importance.begin(), importance.end());
  result.attention = attention_of(model);
}

TrainResult scores_of_model(const Model& model, const Dataset& calibration, const FoldFeatures& fold,
                            const FoldInfo& info, const Context& context) {
  const std::vector<Point> points = model.points();
  std::vector<size_t> all(points.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const auto scored = [&](const Dataset& data) {
    if (data.documents() > 0) return model.score(data, all, context);
    return std::vector<ScoreMatrix>(points.size(), ScoreMatrix(0, model.columns(), ""));
  };
  std::vector<ScoreMatrix> of_calibration = scored(calibration);
  std::vector<ScoreMatrix> valid = scored(fold.valid);
  std::vector<ScoreMatrix> test = scored(fold.test);
  TrainResult result;
  for (const size_t p : all) {
    of_calibration[p].set_data(calibration.fingerprint());
    valid[p].set_data(info.valid.fingerprint);
    test[p].set_data(info.test.fingerprint);
    result.points.push_back(
        {points[p], model.range(p), std::move(of_calibration[p]), std::move(valid[p]), std::move(test[p])});
  }
  add_feature_facts(result, model);
  return result;
}

// The rows of the given queries.
ScoreMatrix select_rows(const ScoreMatrix& scores, const QueryIndex& queries,
                        std::span<const size_t> chosen) {
  size_t documents = 0;
  for (const size_t q : chosen) documents += queries.length(q);
  ScoreMatrix result(documents, scores.columns(), scores.model());
  result.set_data(scores.data());
  size_t at = 0;
  for (const size_t q : chosen)
    for (size_t i = queries.begin(q); i < queries.end(q); ++i, ++at)
      std::copy_n(scores.row(i).begin(), scores.columns(), result.row(at).begin());
  return result;
}

// Scores from elsewhere of the documents of a split.
ScoreMatrix read_given_scores(const Config& config, const std::vector<std::string>& files,
                              const SplitInfo& split, int labels) {
  ScoreMatrix scores = read_score_columns(paths_of(config, files), split.size(), split.source_rows);
  if (scores.columns() != 1 && scores.columns() != static_cast<size_t>(labels))
    throw_input("{}: {} numbers a line; expected one, or {}, one for each label", join(files, ", "),
                scores.columns(), labels);
  scores.set_data(split.fingerprint);
  return scores;
}

// Scores from files instead of a training.
TrainResult given_scores(const Plan& plan, const TrainJob& job, const FoldInfo& info,
                         const QuerySplit& split) {
  const LearnerSpec& spec = plan.learner(job);
  const FoldFiles& files = spec.scores[job.fold];
  PointScores point;
  point.left_out = select_rows(read_given_scores(plan.config, files.train, info.train, info.labels),
                               info.train.queries, split.calibration);
  const auto read = [&](const std::vector<std::string>& list, const SplitInfo& of) {
    if (of.size() > 0) return read_given_scores(plan.config, list, of, info.labels);
    ScoreMatrix none(0, point.left_out.columns(), spec.name);
    none.set_data(of.fingerprint);
    return none;
  };
  point.valid = read(files.valid, info.valid);
  point.test = plan.config.data.has_test() ? read(files.test, info.test) : point.valid;
  if (point.valid.columns() != point.left_out.columns() || point.test.columns() != point.left_out.columns())
    throw_input("{}: the score files of train, valid and test differ in the numbers a line", spec.place);
  TrainResult result;
  result.points.push_back(std::move(point));
  return result;
}

void store_model(const LearnedModel& model, const TrainJob& job, const ArtifactStore& store) {
  BinaryWriter out;
  model.save(out);
  store.save(kModelKind, job.key, LearnedModel::kVersion, out.bytes());
}

// What the options say of features, said of the columns that the learner is given: those of each feature, as
// it is and standardised.
Settings column_settings(const LearnerSpec& spec, size_t columns, size_t features, const FeatureMap* map) {
  std::vector<uint32_t> source;
  for (uint32_t c = 0; c < columns; ++c)
    source.push_back((map != nullptr ? map->source(c) : c) % static_cast<uint32_t>(features));
  return spec.learner->for_columns(spec.settings, {}, source);
}

}  // namespace

void expect_given_scores(const Plan& plan, const TrainJob& job, const FoldInfo& info) {
  given_scores(plan, job, info, bag_split(plan.config, info.train.queries, job.fold, job.bag));
}

void run_train_job(const Plan& plan, const TrainJob& job, const FoldInfo& info, PreparedFold& fold,
                   const ArtifactStore& store, const Context& context) {
  LearnerSpec spec = plan.learner(job);
  const LearnerEntry& learner = *spec.learner;
  if (!learner.external)
    spec.settings = column_settings(spec, fold.data.train.features(), info.features + info.categories.size(),
                                    fold.map ? &*fold.map : nullptr);
  const QuerySplit split = bag_split(plan.config, info.train.queries, job.fold, job.bag);
  TrainResult result;
  if (learner.external) {
    result = store.read_as_planned(content_of(plan.config, spec.scores[job.fold]),
                                   [&] { return given_scores(plan, job, info, split); });
    store_model({&learner, learner.external(spec.name, result.points[0].valid.columns())}, job, store);
  } else {
    const Dataset calibration = fold.data.train.select_queries(split.calibration);
    // Without validation data, what is left out says when to stop.
    const Dataset& stop = fold.data.valid.documents() > 0 ? fold.data.valid : calibration;
    std::unique_ptr<Model> model;
    if (spec.derives_data()) {
      model = train_derived(spec, plan, job, info,
                            fold.training_data().select_queries(fold.training_queries(split.train)),
                            fold.bins.standardized(), calibration, stop, store, context);
    } else {
      const TrainingData data(fold.bins, fold.training_queries(split.train), info.labels,
                              fold_grades(plan.config, info.labels));
      const TrainingRequest request{data, spec.settings, spec.lengths, &stop};
      model = train_model(learner, request, job, &store, context);
    }
    result = scores_of_model(*model, calibration, fold.data, info, context);
    if (fold.map) {
      model = std::make_unique<ComposedModel>(std::move(model), *fold.map);
      add_feature_facts(result, *model);
    }
    store_model({&learner, std::move(model)}, job, store);
  }
  store.save(kScoresKind, job.key, kScoresVersion, save_train_result(result));
}

std::vector<uint8_t> save_train_result(const TrainResult& result) {
  BinaryWriter out;
  out.put<uint64_t>(result.points.size());
  for (const PointScores& scores : result.points) {
    out.put(scores.point.length);
    out.put(scores.point.label);
    out.put(scores.range);
    put(out, scores.left_out);
    put(out, scores.valid);
    put(out, scores.test);
  }
  out.put(result.importance);
  out.put<uint64_t>(result.attention.size());
  for (const auto& point : result.attention) {
    out.put(point.round);
    out.put(point.feature);
    out.put(point.share);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

TrainResult load_train_result(std::span<const uint8_t> payload, const Plan& plan, const TrainJob& job,
                              const FoldInfo& info) {
  BinaryReader in(payload, "the scores of " + job.name);
  const QuerySplit split = bag_split(plan.config, info.train.queries, job.fold, job.bag);
  size_t calibration = 0;
  for (const size_t q : split.calibration) calibration += info.train.queries.length(q);
  const std::vector<Point> expected = plan.learner(job).points();
  TrainResult result;
  const size_t points = in.get_count(1);
  if (points != expected.size()) in.fail("it has other points than its learner");
  for (size_t i = 0; i < points; ++i) {
    PointScores scores;
    scores.point.length = in.get<int64_t>();
    scores.point.label = in.get_string();
    scores.range = in.get<double>();
    scores.left_out = get_scores(in);
    scores.valid = get_scores(in);
    scores.test = get_scores(in);
    if (scores.point != expected[i]) in.fail("it has other points than its learner");
    if (!std::isfinite(scores.range) || scores.range < 0) in.fail("the range of its scores is no number");
    if (scores.left_out.documents() != calibration || scores.valid.documents() != info.valid.labels.size() ||
        scores.test.documents() != info.test.labels.size() || scores.valid.data() != info.valid.fingerprint ||
        scores.test.data() != info.test.fingerprint)
      in.fail("its scores are not of the documents of the fold");
    const size_t columns = scores.valid.columns();
    if (scores.left_out.columns() != columns || scores.test.columns() != columns ||
        columns != (i == 0 ? columns : result.points[0].valid.columns()) ||
        (columns != 1 && columns != static_cast<size_t>(info.labels)))
      in.fail("its scores do not fit the labels");
    result.points.push_back(std::move(scores));
  }
  result.importance = in.get_vector<float>();
  const size_t most = viewed_features(plan.learner(job).standardize, info.features + info.categories.size());
  if (result.importance.size() > most) in.fail("it knows more features than there are");
  const size_t shares = in.get_count(16);
  for (size_t i = 0; i < shares; ++i) {
    TrainResult::AttentionPoint point{};
    point.round = in.get<int64_t>();
    point.feature = in.get<uint32_t>();
    point.share = in.get<float>();
    if (point.feature >= most) in.fail("it knows more features than there are");
    result.attention.push_back(point);
  }
  in.expect_end();
  return result;
}

}  // namespace tunemix
