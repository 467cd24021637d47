#include "pipeline/run/distill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "pipeline/commands/bundle_data.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/output_file.h"
#include "tunemix/core/file.h"
#include "tunemix/learners/registry.h"
#include "tunemix/metric/evaluator.h"

namespace tunemix {
namespace {

struct DistillCommand {
  std::filesystem::path bundle;
  std::vector<std::filesystem::path> data;
  std::vector<std::filesystem::path> valid;
  std::vector<std::string> member_scores;
  std::vector<std::string> valid_scores;
  std::filesystem::path out;
  DistillOptions options;
  bool json = false;
};

// Documents that are scored to see how long it takes, as often as it takes to tell.
constexpr size_t kTimedDocuments = 20000;
constexpr double kTimedSeconds = 0.2;

// Teacher and student on the same documents.
struct TeacherAndStudent {
  std::string data;
  size_t documents = 0;
  size_t queries = 0;
  double teacher = 0;
  double student = 0;
  double error = 0;  // standard error of their difference over queries
};

TeacherAndStudent compare(const std::string& name, const Dataset& data, const std::vector<float>& teacher,
                          const std::vector<float>& student, const Context& context) {
  const Evaluator evaluator(data, {preset("yahoo")}, 10);
  const auto evaluate = [&](const std::vector<float>& scores) {
    return std::move(evaluator(std::vector<double>(scores.begin(), scores.end()), context.pool(), true)[0]);
  };
  const Evaluation a = evaluate(teacher);
  const Evaluation b = evaluate(student);
  const size_t column = a.measures.ndcg(10);
  double squares = 0;
  const auto n = static_cast<double>(a.queries);
  for (size_t q = 0; q < a.queries; ++q) {
    const size_t at = q * a.measures.columns() + column;
    const double d = b.per_query[at] - a.per_query[at] - (b.ndcg(10) - a.ndcg(10));
    squares += d * d;
  }
  return {name,       data.documents(), a.queries,
          a.ndcg(10), b.ndcg(10),       a.queries > 1 ? std::sqrt(squares / (n - 1) / n) : 0};
}

// Processor time of one thread, the least of several tries: other programs do not count.
double microseconds(const Bundle& bundle, const Dataset& data, const GivenScores& given) {
  const Context one(1);
  const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  double best = 0;
  const double begin = now();
  for (int i = 0; i == 0 || (now() - begin < kTimedSeconds && i < 100); ++i) {
    const double before = now();
    bundle.predict(data, one, given);
    const double taken = now() - before;
    best = i == 0 ? taken : std::min(best, taken);
  }
  return 1e6 * best / static_cast<double>(data.documents());
}

Dataset first_documents(const Dataset& data) {
  std::vector<size_t> queries;
  for (size_t q = 0; q < data.queries().size() && (q == 0 || data.queries().end(q) <= kTimedDocuments); ++q)
    queries.push_back(q);
  return data.select_queries(queries);
}

void expect_pairs(const Dataset& data) {
  for (size_t q = 0; q < data.queries().size(); ++q)
    if (data.queries().length(q) > 1) return;
  throw_input(
      "--data has no query of two documents, and scores are learnt by their differences within a query; give "
      "files with all documents of each query");
}

int run_distill(const DistillCommand& command, const Program& program) {
  std::vector<std::filesystem::path> inputs = command.data;
  inputs.insert(inputs.end(), command.valid.begin(), command.valid.end());
  inputs.push_back(command.bundle);
  expect_file_name(command.out, "--out", "bundle");
  expect_no_input(command.out, inputs);
  const auto context = program.context();
  const Bundle teacher = Bundle::load(command.bundle, registry());
  const Dataset data = read_bundle_files_apart(command.data, teacher.info(), *context);
  expect_pairs(data);
  // Makes the folder, or says why the file cannot be written, before anything is learnt.
  OutputFile place(command.out, Folders::kMake);
  const GivenScores given = read_member_scores(command.member_scores, teacher, data);
  const std::vector<float> scores = teacher.predict(data, *context, given);
  std::vector<std::string> files;
  for (const auto& file : command.data) files.push_back(file.string());
  const Bundle student = distill(teacher, data, scores, files, command.options, *context);

  std::vector<TeacherAndStudent> comparisons;
  if (data.max_label() > 0)
    comparisons.push_back(compare("data", data, scores, student.predict(data, *context), *context));
  if (!command.valid.empty()) {
    const Dataset valid = read_bundle_files_apart(command.valid, teacher.info(), *context);
    const GivenScores valid_given = read_member_scores(command.valid_scores, teacher, valid);
    if (valid.max_label() > 0)
      comparisons.push_back(compare("valid", valid, teacher.predict(valid, *context, valid_given),
                                    student.predict(valid, *context), *context));
  }
  const Dataset timed = first_documents(data);
  GivenScores timed_given;
  for (const auto& [name, all] : given) {
    ScoreMatrix head(timed.documents(), all.columns(), all.model());
    std::copy_n(all.values().begin(), head.values().size(), head.values().begin());
    timed_given.emplace(name, std::move(head));
  }
  const double slow = microseconds(teacher, timed, timed_given);
  const double fast = microseconds(student, timed, {});
  place.write(student.file_bytes());
  place.commit();

  if (command.json) {
    nlohmann::ordered_json json = {{"student", command.out.string()},
                                   {"microseconds", {{"teacher", slow}, {"student", fast}}}};
    for (const TeacherAndStudent& c : comparisons)
      json["ndcg@10"].push_back({{"data", c.data},
                                 {"documents", c.documents},
                                 {"queries", c.queries},
                                 {"teacher", c.teacher},
                                 {"student", c.student},
                                 {"difference_stderr", c.error}});
    std::cout << json.dump(1) << '\n';
    return 0;
  }
  std::cout << fmt::format("  {:<28}{:>10}{:>10}{:>12}{:>12}\n", "yahoo NDCG@10", "teacher", "student",
                           "difference", "std. error");
  for (const TeacherAndStudent& c : comparisons)
    std::cout << fmt::format("  {:<28}{:>10.4f}{:>10.4f}{:>12.4f}{:>12.4f}\n",
                             fmt::format("{} ({} documents)", c.data, c.documents), c.teacher, c.student,
                             c.student - c.teacher, c.error);
  std::cout << fmt::format("  {:<28}{:>10.2f}{:>10.3f}   {:.{}f} times as fast\n", "us a document (CPU time)",
                           slow, fast, slow / fast, slow < 10 * fast ? 1 : 0);
  return 0;
}

}  // namespace

void add_distill_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "distill", "Teach one small tree model to score as an ensemble does: fast, and one document at a time");
  auto options = std::make_shared<DistillCommand>();
  DistillOptions& o = options->options;
  command->add_option("bundle", options->bundle, "The ensemble that teaches")->required();
  command->add_option("--data", options->data, "LETOR file or files to learn on; labels are not needed")
      ->required();
  command->add_option("--valid", options->valid, "Other files to compare teacher and student on");
  command->add_option("--leaves", o.leaves, "Leaves of a tree")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  command->add_option("--iterations", o.iterations, "Trees; 0: 300, but 600 from 50 000 documents on")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command->add_option("--shrinkage", o.shrinkage, "Learning rate")
      ->check(CLI::Range(1e-6, 1.0))
      ->capture_default_str();
  command
      ->add_option("--min-documents", o.min_documents,
                   "Fewest documents of a leaf; 0: a 500th of all, but from 20 to 200")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  command->add_option("--member-scores", options->member_scores,
                      "NAME=FILE: scores of the data by a ranker that the bundle mixes");
  command->add_option("--valid-scores", options->valid_scores, "The same of the files of --valid");
  command->add_option("--out", options->out, "Where to write the student, a bundle for predict")->required();
  command->add_flag("--json", options->json, "Print the comparison as JSON");
  add_common_options(*command, program);
  command->footer(
      "Example:\n"
      "  tunemix distill runs/quickstart/bundle.tmx --data train.txt --valid test.txt --out student.tmx\n"
      "  tunemix predict --bundle student.tmx --data new.txt --out new.scores");
  set_action(*command, program, options, run_distill);
}

}  // namespace tunemix
