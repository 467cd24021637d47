#include "pipeline/stages/final_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "pipeline/stages/train.h"
#include "tunemix/learn/composed_model.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

Hash128 training_key_of(const Plan& plan, const LearnerSpec& spec, int bag) {
  Hasher hasher;
  hasher.text("final training").number(kTrainingVersion).number(kFinalVersion);
  for (const Hash128& key : plan.fold_keys) hasher.hash(key);
  hasher.text(to_string(spec.standardize)).text(fmt::format("{}", plan.config.data.calibration_fraction));
  hasher.number(plan.config.seed).number(static_cast<uint64_t>(bag));
  hasher.text(spec.learner->type).number(spec.learner->version);
  for (const auto& [key, value] : spec.identity()) hasher.text(key).text(value);
  return hasher.digest();
}

// Scores from elsewhere are known by the keys of the jobs that read them in the folds.
Hash128 part_key_of(const Plan& plan, const FinalJob& job) {
  Hasher hasher;
  hasher.text("final").number(kFinalVersion).number(LearnedModel::kVersion).number(kMembersVersion);
  hasher.hash(job.training_key);
  for (const FinalJob::Wanted& wanted : job.wanted) {
    hasher.number(static_cast<uint64_t>(wanted.at.length)).text(wanted.at.label);
    for (const CalibrationSpec& spec : wanted.calibrations) hasher.text(spec.name());
  }
  for (const double grade : plan.config.data.grades) hasher.text(fmt::format("{}", grade));
  if (plan.learner(job).learner->external)
    for (const TrainJob& other : plan.jobs)
      if (other.learner == job.learner) hasher.hash(other.key);
  return hasher.digest();
}

// The documents of all pieces, by scores from elsewhere.
ScoreMatrix given_scores_of_all(const Plan& plan, const LearnerSpec& spec, const AllDataInfo& all,
                                const std::vector<FoldInfo>& folds) {
  std::vector<ScoreMatrix> pieces;
  for (const DataPiece& piece : all.pieces) {
    const SplitInfo& split = split_of(folds[piece.fold], piece.split);
    const ScoreMatrix scores =
        read_given_scores(plan.config, files_of(spec.scores[piece.fold], piece.split), split, all.labels);
    pieces.push_back(select_rows(scores, split.queries, piece.queries));
    if (pieces.back().columns() != pieces[0].columns())
      throw_input("{}: the score files of the folds differ in the numbers a line", spec.place);
  }
  ScoreMatrix result(all.documents.labels.size(), pieces[0].columns(), spec.name);
  auto to = result.values().begin();
  for (const ScoreMatrix& piece : pieces) to = std::copy(piece.values().begin(), piece.values().end(), to);
  return result;
}

size_t number_of(const std::vector<Point>& points, const Point& wanted) {
  const auto at = std::find(points.begin(), points.end(), wanted);
  require(at != points.end(), "a model without a point that was asked for");
  return static_cast<size_t>(at - points.begin());
}

struct ScoredModel {
  LearnedModel learned;  // of the wanted points
  std::vector<ScoreMatrix> held_out;
};

ScoredModel train_final(const Plan& plan, const FinalJob& job, const AllDataInfo& all,
                        const QuerySplit& split, PreparedData& data, const ArtifactStore& store,
                        const Context& context) {
  const LearnerSpec& spec = plan.learner(job);
  const LearnerEntry& learner = *spec.learner;
  const Dataset held_out = data.data.select_queries(split.calibration);
  const TrainingData training(data.bins, split.train, all.labels, fold_grades(plan.config, all.labels));
  Settings settings = spec.settings;
  std::vector<int64_t> lengths;
  if (const OptionInfo* length = learner.length_option()) {
    for (const FinalJob::Wanted& wanted : job.wanted) lengths.push_back(wanted.at.length);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    for (auto& [key, value] : settings)
      if (key == length->name) value = fmt::format("{}", lengths.back());
  }
  // What is held out for calibration also says when to stop.
  const TrainingRequest request{training, settings, lengths, &held_out};
  const std::unique_ptr<Model> model = train_model(learner, request, job, &store, context);
  std::vector<size_t> numbers;
  for (const FinalJob::Wanted& wanted : job.wanted) numbers.push_back(number_of(model->points(), wanted.at));
  ScoredModel result;
  result.held_out = model->score(held_out, numbers, context);
  std::unique_ptr<Model> kept = model->keep(numbers);
  if (data.map) kept = std::make_unique<ComposedModel>(std::move(kept), *data.map);
  result.learned = {&learner, std::move(kept)};
  return result;
}

}  // namespace

void expect_final_possible(const Config& config) {
  if (!config.data.features.empty())
    throw_input("data.features chooses features, which fit does not do; leave the others out of the files");
  for (const LearnerSpec& spec : config.learners) {
    const char* key = spec.source != SourceUse::kNone ? "source"
                      : spec.labels                   ? "labels"
                      : spec.ordinal                  ? "classes: ordinal"
                      : spec.copies > 0               ? "copies"
                                                      : nullptr;
    if (key != nullptr)
      throw_input("{} has {}, which is for experiments: fit does not train it on all the data; leave it out",
                  spec.place, key);
  }
}

Hash128 choice_key(const Plan& plan) {
  Hasher hasher;
  hasher.text("final choice").number(kChoiceVersion);
  for (const Hash128& key : plan.mix_keys) hasher.hash(key);
  return hasher.digest();
}

GridPoint best_of_folds(const std::vector<const MixRow*>& rows) {
  struct Sum {
    double quality = 0;
    size_t folds = 0;
  };
  std::map<std::pair<double, int64_t>, Sum> sums;  // by c, then T: the first of equals is the one to take
  for (const MixRow* row : rows)
    for (const GridPoint& point : row->grid) {
      Sum& sum = sums[{point.c, point.checkpoint}];
      sum.quality += point.quality;
      ++sum.folds;
    }
  std::optional<GridPoint> best;
  for (const auto& [at, sum] : sums)
    if (sum.folds == rows.size() && (!best || sum.quality > best->quality))
      best = {at.first, at.second, sum.quality};
  require(best.has_value(), "the folds have no point of the grid in common");
  best->quality /= static_cast<double>(rows.size());
  return *best;
}

FinalChoice average_mixtures(const Plan& plan, const GridPoint& at, const std::vector<MixRow>& rows,
                             const std::vector<std::vector<std::vector<CalibratedModel>>>& members) {
  std::map<std::tuple<uint32_t, uint32_t, std::string>, double> weights;
  for (size_t fold = 0; fold < rows.size(); ++fold) {
    const std::vector<const TrainJob*> jobs = plan.jobs_of(fold);
    for (size_t i = 0; i < rows[fold].sources.size(); ++i) {
      const MemberRef& ref = rows[fold].sources[i];
      const CalibratedModel& member = members[fold][ref.job][ref.member];
      weights[{static_cast<uint32_t>(jobs[ref.job]->learner), static_cast<uint32_t>(member.point),
               member.calibrator.spec().name()}] += rows[fold].mixture.weights()[i];
    }
  }
  FinalChoice choice{at.c, at.checkpoint, {}};
  for (const auto& [id, weight] : weights)
    if (weight > 0)
      choice.members.push_back(
          {std::get<0>(id), std::get<1>(id), std::get<2>(id), weight / static_cast<double>(rows.size())});
  return choice;
}

std::vector<uint8_t> save_choice(const FinalChoice& choice) {
  BinaryWriter out;
  out.put(choice.c);
  out.put(choice.checkpoint);
  out.put<uint64_t>(choice.members.size());
  for (const ChosenMember& member : choice.members) {
    out.put(member.learner);
    out.put(member.point);
    out.put(member.calibration);
    out.put(member.weight);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

FinalChoice load_choice(std::span<const uint8_t> payload, const Plan& plan) {
  BinaryReader in(payload, "the choice of the final model");
  FinalChoice choice;
  choice.c = in.get<double>();
  choice.checkpoint = in.get<int64_t>();
  const size_t count = in.get_count(1);
  for (size_t i = 0; i < count; ++i) {
    ChosenMember member;
    member.learner = in.get<uint32_t>();
    member.point = in.get<uint32_t>();
    member.calibration = in.get_string();
    member.weight = in.get<double>();
    if (member.learner >= plan.config.learners.size() ||
        member.point >= plan.config.learners[member.learner].points().size())
      in.fail("a member is of no learner");
    CalibrationSpec::parse(member.calibration);
    if (!std::isfinite(member.weight) || member.weight <= 0) in.fail("a weight is not a positive number");
    choice.members.push_back(std::move(member));
  }
  in.expect_end();
  if (choice.members.empty()) in.fail("it has no members");
  return choice;
}

std::vector<FinalJob> final_jobs(const Plan& plan, const FinalChoice& choice) {
  std::vector<FinalJob> jobs;
  for (uint32_t l = 0; l < plan.config.learners.size(); ++l) {
    const LearnerSpec& spec = plan.config.learners[l];
    const std::vector<Point> points = spec.points();
    FinalJob job;
    job.fold = plan.fold_keys.size();
    job.learner = l;
    for (const ChosenMember& member : choice.members) {
      if (member.learner != l) continue;
      if (job.wanted.empty() || job.wanted.back().point != member.point)
        job.wanted.push_back({member.point, points[member.point], {}});
      job.wanted.back().calibrations.push_back(CalibrationSpec::parse(member.calibration));
    }
    if (job.wanted.empty()) continue;
    for (job.bag = 0; job.bag < spec.bags; ++job.bag) {
      job.training_key = training_key_of(plan, spec, job.bag);
      job.key = part_key_of(plan, job);
      job.name = fmt::format("final: {}, bag {}", spec.title(), job.bag + 1);
      jobs.push_back(job);
    }
  }
  return jobs;
}

Hash128 final_key(const Plan& plan, const std::vector<FinalJob>& jobs) {
  Hasher hasher;
  hasher.text("final model").number(kFinalVersion);
  hasher.hash(choice_key(plan));
  for (const FinalJob& job : jobs) hasher.hash(job.key);
  return hasher.digest();
}

void run_final_job(const Plan& plan, const FinalJob& job, const AllDataInfo& all,
                   const std::vector<FoldInfo>& folds, PreparedData* data, const ArtifactStore& store,
                   const Context& context) {
  const LearnerSpec& spec = plan.learner(job);
  const QuerySplit split = final_split(plan.config, all.documents.queries, job.bag);
  const Documents calibration = all.documents.select_queries(split.calibration);
  ScoredModel scored;
  if (spec.learner->external) {
    std::vector<std::filesystem::path> files;
    for (const FoldFiles& fold : spec.scores)
      for (const std::filesystem::path& file : content_of(plan.config, fold)) files.push_back(file);
    const ScoreMatrix scores =
        store.read_as_planned(files, [&] { return given_scores_of_all(plan, spec, all, folds); });
    scored.learned = {spec.learner, spec.learner->external(spec.name, scores.columns())};
    scored.held_out.push_back(select_rows(scores, all.documents.queries, split.calibration));
  } else {
    require(data != nullptr, "a model is trained on features");
    scored = train_final(plan, job, all, split, *data, store, context);
  }
  const std::vector<double> grades = fold_grades(plan.config, all.labels);
  BinaryWriter out;
  scored.learned.save(out);
  for (size_t w = 0; w < job.wanted.size(); ++w) {
    const FinalJob::Wanted& wanted = job.wanted[w];
    const CalibrationInput input{
        scored.held_out[w], calibration.labels, calibration.queries, grades, scored.learned.model->range(w),
        calibration.weights};
    const uint64_t seed = derive_seed(plan.job_seed(job), "calibrate/" + wanted.at.name());
    for (const Calibrator& calibrator :
         fit_calibrators(wanted.calibrations, input, CalibrationOptions{}, seed, context))
      calibrator.save(out);
  }
  store.save(kFinalKind, job.key, kFinalVersion, out.bytes());
}

std::optional<FinalPart> load_final_part(const Plan& plan, const FinalJob& job, const ArtifactStore& store,
                                         const Context& context) {
  return store.load_as(kFinalKind, job.key, kFinalVersion, context, [&](std::span<const uint8_t> payload) {
    BinaryReader in(payload, "the part of " + job.name);
    FinalPart part;
    part.learned = LearnedModel::load(in, registry());
    if (part.learned.learner != plan.learner(job).learner ||
        part.learned.model->points().size() != job.wanted.size())
      in.fail("its model is of another learner");
    for (const FinalJob::Wanted& wanted : job.wanted) {
      std::vector<Calibrator>& calibrators = part.calibrators.emplace_back();
      for (const CalibrationSpec& spec : wanted.calibrations) {
        calibrators.push_back(Calibrator::load(in));
        if (calibrators.back().spec() != spec ||
            calibrators.back().columns() != part.learned.model->columns())
          in.fail("a calibration that does not fit its model");
      }
    }
    in.expect_end();
    return part;
  });
}

Bundle make_final_bundle(BundleInfo info, const Plan& plan, const FinalChoice& choice,
                         const std::vector<FinalJob>& jobs, std::vector<FinalPart> parts) {
  struct Entry {
    Member member;
    double weight;
    BundleMember source;
  };
  std::vector<BundleModel> models;
  std::vector<Entry> entries;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const FinalJob& job = jobs[j];
    const LearnerSpec& spec = plan.learner(job);
    for (size_t w = 0; w < job.wanted.size(); ++w)
      for (Calibrator& calibrator : parts[j].calibrators[w]) {
        const auto chosen =
            std::find_if(choice.members.begin(), choice.members.end(), [&](const ChosenMember& m) {
              return m.learner == job.learner && m.point == job.wanted[w].point &&
                     m.calibration == calibrator.spec().name();
            });
        require(chosen != choice.members.end(), "a member of the final model that nobody chose");
        const double weight = chosen->weight / spec.bags;
        entries.push_back({member_of(spec, job.bag, job.wanted[w].at, calibrator.spec()),
                           weight,
                           {static_cast<uint32_t>(j), static_cast<uint32_t>(w), std::move(calibrator)}});
      }
    models.push_back({std::move(parts[j].learned), bundle_standardize(spec.standardize)});
  }
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return entries[a].member < entries[b].member; });
  std::vector<Member> members;
  std::vector<double> weights;
  std::vector<BundleMember> sources;
  for (const size_t i : order) {
    members.push_back(std::move(entries[i].member));
    weights.push_back(entries[i].weight);
    sources.push_back(std::move(entries[i].source));
  }
  Mixture mixture(std::move(members), std::move(weights), plan.config.mix.normalize, choice.c,
                  choice.checkpoint);
  return Bundle(std::move(info), std::move(models), std::move(sources), std::move(mixture));
}

}  // namespace tunemix
