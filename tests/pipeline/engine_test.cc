// What engines are made of: tasks from jobs, answers of Slurm's commands, manifests, failures for people.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "pipeline/engine/failures.h"
#include "pipeline/engine/ledger.h"
#include "pipeline/engine/manifest.h"
#include "pipeline/engine/shell.h"
#include "pipeline/engine/slurm_record.h"
#include "pipeline/stages/stored_features.h"
#include "tests/support.h"
#include "tunemix/core/file_lock.h"
#include "tunemix/core/large_artifact.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<EngineJob> jobs_of(size_t folds, size_t learners, size_t bags) {
  std::vector<EngineJob> jobs;
  for (size_t f = 0; f < folds; ++f)
    for (size_t l = 0; l < learners; ++l)
      for (size_t b = 0; b < bags; ++b) jobs.push_back({jobs.size(), f, l, "job"});
  return jobs;
}

TEST(Grouping, TakesOneJobOfEachLearnerFirstAndThenTasksOfTheWantedLength) {
  std::vector<EngineJob> left = jobs_of(2, 3, 100);
  JobTimes times;
  EXPECT_THAT(take_tasks(left, times, {}, 60), ElementsAre(Task{0}, Task{100}, Task{200}));
  EXPECT_EQ(left.size(), 597U);
  // While they are under way nothing more; a learner that is known goes on.
  EXPECT_THAT(take_tasks(left, times, {{0, 1}, {1, 1}, {2, 1}}, 60), IsEmpty());
  times.add(0, 10);
  times.add(0, 20);
  const std::vector<Task> tasks = take_tasks(left, times, {{1, 1}, {2, 1}}, 60);
  EXPECT_EQ(left.size(), 398U);
  size_t count = 0;
  for (const Task& task : tasks) {
    count += task.size();
    EXPECT_LE(task.size(), 4U);                          // 15 s each
    EXPECT_EQ(task.front() >= 300, task.back() >= 300);  // of one fold
  }
  EXPECT_EQ(count, 199U);
  EXPECT_EQ(tasks.size(), 50U);
}

TEST(Grouping, LeavesFewJobsAndLongOnesAlone) {
  std::vector<EngineJob> few = jobs_of(1, 2, 3);
  EXPECT_EQ(take_tasks(few, JobTimes(), {}, 600).size(), 6U);
  EXPECT_TRUE(few.empty());
  std::vector<EngineJob> many = jobs_of(1, 1, 500);
  EXPECT_EQ(take_tasks(many, JobTimes(), {}, 0).size(), 500U);
  many = jobs_of(1, 1, 500);
  JobTimes slow;
  slow.add(0, 1000);
  EXPECT_EQ(take_tasks(many, slow, {}, 600).size(), 500U);
  EXPECT_THAT(group_by_size(jobs_of(2, 1, 3), 2), ElementsAre(Task{0, 1}, Task{2}, Task{3, 4}, Task{5}));
}

TEST(Slurm, ReadsLimits) {
  const SlurmLimits limits = parse_slurm_limits(
      "Configuration data\nMaxArraySize            = 5001\nMaxDBDMsgs = 20\nMaxJobCount             = "
      "70000\n");
  EXPECT_EQ(limits.array_tasks, 5000U);
  EXPECT_EQ(limits.jobs, 70000U);
  EXPECT_EQ(parse_slurm_limits("").array_tasks, 1000U);
  EXPECT_EQ(parse_slurm_limits("").jobs, 10000U);
}

TEST(Slurm, ReadsStates) {
  const SlurmStates states = parse_squeue(
      "12|0|RUNNING|None|tunemix-a\n12|1|PENDING|Resources|tunemix-a\n12|2|FAILED|NonZeroExitCode|tunemix-a\n"
      "13|0|SOMETHING_NEW|None|tunemix-b\n14|N/A|RUNNING|None|other\nslurm_load_jobs error\n");
  ASSERT_EQ(states.size(), 4U);
  EXPECT_TRUE(states.at({"12", 1}).alive());
  EXPECT_FALSE(states.at({"12", 2}).alive());
  EXPECT_TRUE(states.at({"13", 0}).alive());
  EXPECT_EQ(count_states(states), "1 pending (Resources), 1 running, 1 something new");
}

TEST(Slurm, ReadsOutcomes) {
  const auto told = parse_scontrol(
      "JobId=15 ArrayJobId=12 ArrayTaskId=0 JobName=t JobState=OUT_OF_MEMORY Reason=None ExitCode=0:9 X=1\n"
      "JobId=12 ArrayJobId=12 ArrayTaskId=3-5,8%2 JobName=t JobState=PENDING ExitCode=0:0\n"
      "JobId=16 ArrayJobId=12 ArrayTaskId=1 JobState=FAILED ExitCode=132:0\nJobId=9 JobState=FAILED\n");
  ASSERT_EQ(told.size(), 6U);
  EXPECT_EQ(told.at({"12", 0}).state, "OUT_OF_MEMORY");
  EXPECT_EQ(told.at({"12", 0}).signal, 9);
  EXPECT_EQ(told.at({"12", 1}).signal, 4);
  EXPECT_EQ(told.at({"12", 8}).state, "PENDING");
  const auto accounted =
      parse_sacct("12_0|CANCELLED by 1000|0:15\n12_0.batch|CANCELLED|0:15\n12_1|COMPLETED|0:0\n");
  ASSERT_EQ(accounted.size(), 2U);
  EXPECT_EQ(accounted.at({"12", 0}).state, "CANCELLED");
  EXPECT_EQ(accounted.at({"12", 1}).state, "COMPLETED");
}

TEST(Slurm, RemembersArraysInAFile) {
  const test::ScratchDirectory scratch;
  SlurmRecord record(scratch.path());
  record.add({"tunemix-a", "", "some/manifest.json", 7});
  record.add({"tunemix-b", "", "b", 1});
  record.set_id("tunemix-a", "12");
  SlurmRecord again(scratch.path());
  ASSERT_EQ(again.arrays().size(), 2U);
  EXPECT_EQ(again.arrays()[0].id, "12");
  EXPECT_EQ(again.arrays()[0].tasks, 7U);
  again.remove("tunemix-a");
  again.remove("tunemix-b");
  EXPECT_FALSE(std::filesystem::exists(again.file()));
  write_file_atomically(again.file(), "[{}]");
  EXPECT_THROW(SlurmRecord(scratch.path()), RunError);
}

TEST(Manifest, IsReadAsItWasWrittenAndNoticesChanges) {
  const test::ScratchDirectory scratch;
  TaskManifest manifest;
  manifest.program = this_program();
  manifest.folder = "/some/folder";
  manifest.runs = "/runs";
  manifest.config = keep_config(scratch.path(), "name: x\n");
  manifest.files = {{"/data/a", hash_bytes("a", 1)}};
  manifest.plan = hash_bytes("plan", 4);
  manifest.threads = 3;
  manifest.final_model = true;
  manifest.tasks = {{0, 1}, {2}};
  const StoredManifest stored = write_manifest(scratch.path(), manifest);
  EXPECT_NE(write_manifest(scratch.path(), manifest).id(), stored.id());
  const StoredManifest again = read_manifest(stored.file());
  EXPECT_EQ(again.id(), stored.id());
  EXPECT_EQ(again.manifest.tasks, manifest.tasks);
  EXPECT_EQ(again.manifest.files, manifest.files);
  EXPECT_EQ(again.manifest.plan, manifest.plan);
  EXPECT_EQ(again.manifest.threads, 3);
  EXPECT_TRUE(again.manifest.final_model);
  note_seconds(stored, 1, 2, 1.5);
  EXPECT_EQ(again.seconds(1), (std::map<size_t, double>{{2, 1.5}}));
  EXPECT_TRUE(again.seconds(0).empty());

  expect_unchanged(again.manifest);
  std::ofstream(manifest.config) << "name: y\n";
  EXPECT_THROW(expect_unchanged(again.manifest), RunError);
  manifest.config = keep_config(scratch.path(), "name: z\n");
  expect_unchanged(manifest);
  manifest.program.hash.low ^= 1;
  EXPECT_THROW(expect_unchanged(manifest), RunError);
  std::ofstream(scratch.path() / "no.json") << "{}";
  EXPECT_THROW(read_manifest(scratch.path() / "no.json"), InputError);
}

TEST(Ledger, BlamesTheJobThatWasUnderWay) {
  WorkOrder order;
  order.jobs = jobs_of(1, 1, 4);
  std::set<size_t> done;
  std::vector<size_t> told;
  order.is_done = [&](size_t job) { return done.contains(job); };
  order.on_done = [&](size_t job) { told.push_back(job); };
  JobLedger ledger(order, 1);
  ledger.todo.clear();
  done = {0};
  EXPECT_TRUE(ledger.fail({0, 1, 2, 3}, {}));
  EXPECT_THAT(told, ElementsAre(0U));
  EXPECT_THAT(ledger.again, ElementsAre(Task{1}));
  EXPECT_EQ(ledger.todo.size(), 2U);  // 2 and 3 had not begun
  ledger.expect_no_failures();
  EXPECT_FALSE(ledger.fail({1}, {"", "TIMEOUT", 0, 15, "none.log"}));
  EXPECT_THROW(ledger.expect_no_failures(), RunError);
  EXPECT_EQ(ledger.failed().size(), 1U);
  done = {0, 2, 3};
  EXPECT_TRUE(ledger.all_done({2, 3}));
  ledger.succeed({2, 3});
  EXPECT_THAT(told, ElementsAre(0U, 2U, 3U));
}

TEST(Failures, ShowTheEndOfTheLogAndWhatASignalMeans) {
  const test::ScratchDirectory scratch;
  std::ofstream(scratch.path() / "log") << "1\n2\n3\n4\n5\n6\nlast\n";
  const FailedJob job{"fold 1: x", "OUT_OF_MEMORY", 0, 9, scratch.path() / "log"};
  const std::string text = describe_failures({job, job, job, job}, 3);
  EXPECT_THAT(text,
              AllOf(HasSubstr("4 jobs failed after 3 tries"), HasSubstr("fold 1: x: OUT_OF_MEMORY, signal 9"),
                    HasSubstr("| 3\n"), HasSubstr("| last"), HasSubstr("... and 1 more")));
  EXPECT_EQ(text.find("| 2\n"), std::string::npos);
  EXPECT_THAT(describe_end(0, 4), HasSubstr("illegal instruction"));
  EXPECT_EQ(describe_end(3, 0), "exit code 3");
}

TEST(Shell, RunsCommandsWithoutSomeVariables) {
  ::setenv("SQUEUE_STATES", "RUNNING", 1);
  ::setenv("OTHER_WORD", "kept", 1);
  const CommandResult result =
      run_command("sh -c 'echo \"$SQUEUE_STATES-$OTHER_WORD\"; exit 3'", {"SQUEUE_"});
  EXPECT_EQ(result.output, "-kept");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(run_command("no-such-program").code, 127);
  EXPECT_EQ(run_command("echo " + quoted("it's $HOME")).output, "it's $HOME");
  ::unsetenv("SQUEUE_STATES");
}

TEST(StoredFeatures, AreTheFeaturesOrNothing) {
  const test::ScratchDirectory scratch;
  const ArtifactStore store(scratch.path() / "store");
  const Context context(2);
  const Config config = parse_config(
      "name: x\ndata: {synthetic: {preset: quickstart, queries: 20}}\nlearners: [{type: svm}]\n", "x", {});
  const FoldFeatures fold = read_fold(config, 0, store, context);
  const Hash128 key = hash_bytes("key", 3);
  EXPECT_FALSE(load_features(key, store, context));
  save_features(fold, key, store);
  const auto again = load_features(key, store, context);
  ASSERT_TRUE(again);
  EXPECT_TRUE(describes(describe_fold(config, fold, context), *again));
  EXPECT_EQ(again->test.names().size(), fold.test.names().size());
  // One bit of a feature.
  const std::filesystem::path file = store.path_of(kFeaturesKind, key);
  std::vector<uint8_t> bytes = read_file(file);
  bytes[bytes.size() - 100] ^= 1;
  write_file_atomically(file, bytes);
  EXPECT_FALSE(load_features(key, store, context));
  EXPECT_FALSE(std::filesystem::exists(file));
  save_features(fold, key, store);
  std::filesystem::resize_file(file, 200);
  EXPECT_FALSE(load_features(key, store, context));
}

TEST(StoredBins, AreTheBinsOrNothing) {
  const test::ScratchDirectory scratch;
  const ArtifactStore store(scratch.path() / "store");
  const Context context(2);
  SyntheticOptions options = synthetic_preset("mslr10k");
  options.queries = 20;
  const Dataset data = make_synthetic(options, context);
  for (const BinLayout layout : {BinLayout::kColumns, BinLayout::kPanels}) {
    StoredBins keeper(store);
    EXPECT_FALSE(keeper.load(data, 255, layout, context));
    BinCache first(data);
    first.keep_with(std::make_unique<StoredBins>(store));
    const Bins made = first.bins(255, layout, context);
    const auto kept = keeper.load(data, 255, layout, context);
    ASSERT_TRUE(kept);
    EXPECT_TRUE(std::ranges::equal(kept->data->content(), made.data->content()));
    for (size_t j = 0; j < data.features(); ++j) {
      EXPECT_TRUE(std::ranges::equal(kept->cuts->thresholds(j), made.cuts->thresholds(j)));
      EXPECT_EQ(kept->data->bin(7, j), made.cuts->bin(j, data.row(7)[j]));
    }
    EXPECT_FALSE(keeper.load(data, 254, layout, context));

    // A value that its column cannot have, under a right checksum.
    const Hash128 key = StoredBins::key(data, 255, layout);
    const std::filesystem::path file = store.path_of(kBinsKind, key);
    std::vector<uint8_t> payload = read_artifact(file).payload;
    size_t narrow = 0;  // a column with bytes to spare
    while (made.data->column_bins(narrow) == 256) ++narrow;
    const ptrdiff_t place = made.data->column(narrow) - made.data->content().data();
    payload[payload.size() - made.data->bytes() + static_cast<size_t>(place)] = 255;
    const std::span<const uint8_t> parts[] = {payload};
    write_large_artifact(file, kBinsKind, kBinsVersion, parts, key);
    EXPECT_FALSE(keeper.load(data, 255, layout, context));
    EXPECT_FALSE(std::filesystem::exists(file));
    // Made again, and of half the length.
    keeper.save(data, 255, made);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    EXPECT_FALSE(keeper.load(data, 255, layout, context));
  }
}

TEST(FileLock, TellsLockedFromBusy) {
  const test::ScratchDirectory scratch;
  const auto path = scratch.path() / "lock";
  const FileDescriptor a(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  const FileDescriptor b(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(lock_file(a.get(), LockKind::kExclusive, LockWait::kTry, path), LockOutcome::kLocked);
  EXPECT_EQ(lock_file(b.get(), LockKind::kShared, LockWait::kTry, path), LockOutcome::kBusy);
  EXPECT_THROW(lock_file(-1, LockKind::kShared, LockWait::kTry, path), RunError);
}

}  // namespace
}  // namespace tunemix
