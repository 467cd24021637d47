// Every stage artifact, models, training states, bundles, the report's data and text files with any content:
// loaded and used, or refused with InputError. A small run makes the seeds; mutants of their payloads go
// through the loaders as the run would use them.
//   artifact_fuzz [SECONDS] [SEED]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/report/report.h"
#include "pipeline/run/experiment.h"
#include "pipeline/stages/stored_features.h"
#include "tests/compress.h"
#include "tests/support.h"
#include "tunemix/core/large_artifact.h"
#include "tunemix/core/random.h"
#include "tunemix/core/timer.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/export/bundle.h"
#include "tunemix/learners/registry.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/score_file.h"
#include "tunemix/metric/trec_file.h"

namespace {

using namespace tunemix;
namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

constexpr const char* kConfig =
    "name: small\n"
    "data: {synthetic: {preset: quickstart, queries: 12, folds: 1}}\n"
    "learners:\n"
    "  - {type: adaboost_mh, base: tree, leaves: 3, iterations: 4}\n"
    "  - {type: svm, C: [0.1, 1]}\n"
    "calibrate: {cpc: [shift], rbc: {regressors: [linear], targets: [raw]}}\n"
    "mix: {c: {from: 0, to: 20, step: 10}}\n"
    "evaluate: {tools: [yahoo]}\n";

// Values that lengths, counts and indices go wrong with.
Bytes mutate(Bytes bytes, Random& random) {
  static constexpr uint64_t kNumbers[] = {0, 1, 2, 0x7fffffff, 0xffffffff, uint64_t{1} << 40, ~uint64_t{0}};
  for (size_t edits = 1 + random.below(3); edits > 0 && !bytes.empty(); --edits) {
    const size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<uint8_t>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1U << random.below(8)));
        break;
      case 2: {
        const uint64_t number = kNumbers[random.below(std::size(kNumbers))];
        const size_t size = std::min(bytes.size() - at, random.below(2) == 0 ? size_t{4} : size_t{8});
        std::copy_n(reinterpret_cast<const uint8_t*>(&number), size,
                    bytes.begin() + static_cast<ptrdiff_t>(at));
        break;
      }
      case 3:
        bytes.erase(
            bytes.begin() + static_cast<ptrdiff_t>(at),
            bytes.begin() + static_cast<ptrdiff_t>(std::min(bytes.size(), at + 1 + random.below(16))));
        break;
      default: {
        const size_t from = random.below(bytes.size());
        const size_t size = std::min(bytes.size() - std::max(from, at), 1 + random.below(16));
        std::copy_n(Bytes(bytes).begin() + static_cast<ptrdiff_t>(from), size,
                    bytes.begin() + static_cast<ptrdiff_t>(at));
      }
    }
  }
  return bytes;
}

// The same JSON with some of its values replaced by values of other kinds.
nlohmann::ordered_json mutate_json(nlohmann::ordered_json json, Random& random) {
  using Json = nlohmann::ordered_json;
  static const Json kValues[] = {Json(),        Json(0),        Json(-1e300), Json("text"), Json("</script>"),
                                 Json::array(), Json::object(), Json(true),   Json(1e9),    Json({1, "a"})};
  for (size_t edits = 1 + random.below(4); edits > 0; --edits) {
    Json* at = &json;
    while (at->is_structured() && !at->empty() && (at == &json || random.below(4) != 0)) {
      auto child = at->begin();
      std::advance(child, static_cast<ptrdiff_t>(random.below(at->size())));
      at = &*child;
    }
    *at = kValues[random.below(std::size(kValues))];
  }
  return json;
}

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Target {
  std::string name;
  Bytes seed;
  std::function<void(const Bytes&)> use;
  size_t inputs = 0;
  size_t accepted = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  Random random(seed);
  const test::ScratchDirectory scratch;
  const Context context(1);
  ProgressView view(true);
  RunOptions options;
  options.runs = scratch / "runs";
  Experiment experiment(parse_config(kConfig, "small.yaml", {}), options, context, view);
  experiment.run();
  const Plan& plan = experiment.plan();
  const FoldInfo info = experiment.fold_info(0);
  const ArtifactStore& store = experiment.store();
  const auto payload = [&](const char* kind, const Hash128& key) {
    return read_artifact(store.path_of(kind, key)).payload;
  };
  const Dataset data = parse_letor(
      [] {
        std::string text;
        for (int i = 1; i < 6; ++i) text += fmt::format("{} qid:{} 1:{} 2:{}\n", i % 2, i / 3, i, 7 - i);
        return text;
      }(),
      "data",
      [&] {
        LetorOptions reading;
        reading.num_features = info.features;
        return reading;
      }(),
      context);

  PreparedFold fold(read_fold(plan.config, 0, store, context), SourceUse::kNone, 1, std::nullopt);
  const TrainingData training(fold.bins);
  const auto written = [&](const std::string& name, const Bytes& bytes) {
    write_file_atomically(scratch / name, bytes);
    return scratch / name;
  };

  std::vector<Target> targets;
  targets.push_back({"data", payload(kFoldKind, plan.fold_keys[0]), [&](const Bytes& bytes) {
                       const FoldInfo loaded = load_fold_info(bytes);
                       select_info(loaded.train, bag_split(plan.config, loaded.train.queries, 0, 0).train);
                       load_fold_info(save_fold_info(loaded));
                     }});
  for (const TrainJob& job : plan.jobs) {
    const LearnerEntry& learner = *plan.learner(job).learner;
    targets.push_back({"scores of " + learner.type, payload(kScoresKind, job.key), [&](const Bytes& bytes) {
                         save_train_result(load_train_result(bytes, plan, job, info));
                       }});
    targets.push_back(
        {"members of " + learner.type, payload(kMembersKind, job.calibrate_key),
         [&, scores = load_train_result(payload(kScoresKind, job.key), plan, job, info)](const Bytes& bytes) {
           std::vector<float> out(info.valid.labels.size());
           for (const CalibratedModel& member : parse_members(bytes, plan, job, info))
             if (member.calibrator.columns() == scores.points[member.point].valid.columns())
               member.calibrator.apply(scores.points[member.point].valid, out, context);
         }});
    targets.push_back({"model of " + learner.type, payload(kModelKind, job.key), [&](const Bytes& bytes) {
                         BinaryReader in(bytes, "model");
                         const LearnedModel model = LearnedModel::load(in, registry());
                         in.expect_end();
                         std::vector<size_t> points;
                         for (size_t p = 0; p < model.model->points().size(); ++p) points.push_back(p);
                         model.model->score(data, points, context);
                         model.model->keep(points);
                         model.model->importance();
                         model.model->facts();
                       }});
  }
  for (const TrainJob& job : plan.jobs) {
    const LearnerSpec& spec = plan.learner(job);
    const size_t members = parse_members(payload(kMembersKind, job.calibrate_key), plan, job, info).size();
    targets.push_back({"member scores of " + spec.learner->type, payload(kMemberValidKind, job.calibrate_key),
                       [&, members](const Bytes& bytes) {
                         parse_member_scores(bytes, job, members, info.valid.labels.size());
                       }});
    if (!spec.learner->resumable) continue;
    // The state of a run on all training queries, which the mutants are taken up on.
    const TrainingRequest request{training, spec.settings, spec.lengths, nullptr};
    const std::unique_ptr<Trainer> begun = spec.learner->start(request, context);
    while (!begun->step(0)) {
    }
    BinaryWriter state;
    begun->save_state(state);
    targets.push_back({"training state of " + spec.learner->type,
                       {state.bytes().begin(), state.bytes().end()},
                       [&, request](const Bytes& bytes) {
                         BinaryReader in(bytes, "state");
                         const std::unique_ptr<Trainer> trainer = spec.learner->resume(request, in, context);
                         in.expect_end();
                         while (!trainer->step(0)) {
                         }
                         const std::unique_ptr<Model> model = trainer->model();
                         std::vector<size_t> points;
                         for (size_t p = 0; p < model->points().size(); ++p) points.push_back(p);
                         model->score(data, points, context);
                       }});
  }
  std::vector<std::vector<CalibratedModel>> tables;
  for (const TrainJob& job : plan.jobs)
    tables.push_back(parse_members(payload(kMembersKind, job.calibrate_key), plan, job, info));
  StoredBins keeper(store);
  const Bins bins = fold.bins.bins(255, BinLayout::kPanels, context);
  const Hash128 bins_key = StoredBins::key(training.all(), 255, BinLayout::kPanels);
  keeper.save(training.all(), 255, bins);
  targets.push_back({"bins", payload(kBinsKind, bins_key), [&](const Bytes& bytes) {
                       const std::span<const uint8_t> parts[] = {bytes};
                       write_large_artifact(store.path_of(kBinsKind, bins_key), kBinsKind, kBinsVersion,
                                            parts, bins_key);
                       const auto kept = keeper.load(training.all(), 255, BinLayout::kPanels, context);
                       if (!kept) throw InputError("refused");
                     }});
  targets.push_back({"mix", payload(kMixKind, plan.mix_keys[0]), [&](const Bytes& bytes) {
                       for (const MixRow& row : load_mix(bytes, plan, 0, info)) fits(row, tables);
                     }});
  targets.push_back({"evaluation", payload(kEvaluationKind, plan.evaluation_key), [&](const Bytes& bytes) {
                       const EvaluationResult result = load_evaluation(bytes);
                       results_table(result.summary, true);
                       results_table(result.summary, false);
                     }});
  const fs::path bundle = scratch / "runs/small/bundle-fold1.tmx";
  targets.push_back({"bundle", read_artifact(bundle).payload, [&](const Bytes& bytes) {
                       const fs::path file = scratch / "mutant.tmx";
                       write_artifact(file, Bundle::kKind, Bundle::kVersion, bytes, Compression::kNone);
                       const Bundle loaded = Bundle::load(file, registry());
                       if (loaded.info().features == data.features()) loaded.predict(data, context);
                     }});
  targets.push_back(
      {"container", read_file(bundle), [&](const Bytes& bytes) { parse_artifact(bytes, "file"); }});
  targets.push_back(
      {"config", Bytes(kConfig, kConfig + std::string_view(kConfig).size()), [&](const Bytes& bytes) {
         parse_config({bytes.begin(), bytes.end()}, "config", {});
       }});
  const std::string_view scores = "1.5\n-2e3\n0\n";
  targets.push_back({"score file", Bytes(scores.begin(), scores.end()),
                     [&](const Bytes& bytes) { parse_scores(text_of(bytes), "s"); }});

  targets.push_back({"columns of scores", Bytes(scores.begin(), scores.end()), [&](const Bytes& bytes) {
                       const fs::path files[] = {written("columns", bytes)};
                       read_score_columns(files, 3, {});
                     }});
  for (const char* ending : {".gz", ".zst"}) {
    write_letor(data, scratch / "seed");
    const std::string text = read_text_file(scratch / "seed");
    const std::string packed = std::string_view(ending) == ".gz" ? test::gzip(text) : test::zstd(text);
    targets.push_back({std::string("LETOR ") + ending, Bytes(packed.begin(), packed.end()),
                       [&, ending](const Bytes& bytes) {
                         LetorOptions reading;
                         reading.max_feature_id = 2000;
                         read_letor(written(std::string("mutant") + ending, bytes), reading, context);
                       }});
  }
  const std::string_view qrels = "1 0 A 2\n1 0 B 0\n2 0 A 1\n";
  const std::string_view ranking = "1 Q0 B 1 2.5 me\n1 Q0 A 2 1e-3 me\n2 Q0 C 1 7 me\n2 Q0 A 2 6 me\n";
  const fs::path good_qrels = written("qrels", Bytes(qrels.begin(), qrels.end()));
  const fs::path good_run = written("run", Bytes(ranking.begin(), ranking.end()));
  const auto evaluate_trec = [&](const fs::path& judged, const fs::path& ranked) {
    const TrecRun run = read_trec(judged, ranked, MissingQueries::kKeep);
    Evaluator(run.data, {preset("trec"), preset("ranklib")})(run.scores, context.pool(), true);
  };
  targets.push_back({"qrels", Bytes(qrels.begin(), qrels.end()),
                     [&](const Bytes& bytes) { evaluate_trec(written("qrels.mutant", bytes), good_run); }});
  targets.push_back({"TREC run", Bytes(ranking.begin(), ranking.end()),
                     [&](const Bytes& bytes) { evaluate_trec(good_qrels, written("run.mutant", bytes)); }});
  const nlohmann::ordered_json page = experiment.report_data(experiment.evaluation());
  // The bytes only say which values are replaced.
  targets.push_back({"report", Bytes(16, 0), [&](const Bytes& bytes) {
                       Random choice(hash_bytes(bytes.data(), bytes.size()).low);
                       render_report(bytes == Bytes(16, 0) ? page : mutate_json(page, choice));
                     }});

  for (Target& target : targets) {
    target.use(target.seed);  // what a run wrote is accepted
    for (const Timer timer; timer.seconds() < seconds / static_cast<double>(targets.size()); ++target.inputs)
      try {
        target.use(mutate(target.seed, random));
        ++target.accepted;
      } catch (const InputError&) {
      } catch (const std::exception& error) {
        std::fprintf(stderr, "artifact_fuzz: %s: input %zu of seed %llu: %s\n", target.name.c_str(),
                     target.inputs, static_cast<unsigned long long>(seed), error.what());
        return 1;
      }
    std::printf("%-24s %8zu inputs, %zu accepted\n", target.name.c_str(), target.inputs, target.accepted);
  }
  return 0;
}
