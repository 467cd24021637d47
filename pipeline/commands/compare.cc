#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/metric_options.h"
#include "pipeline/run/finished_run.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/score_file.h"
#include "tunemix/metric/significance.h"

namespace tunemix {
namespace {

struct CompareOptions {
  std::vector<std::filesystem::path> data;
  std::vector<std::filesystem::path> a;
  std::vector<std::filesystem::path> b;
  std::string tool = "yahoo";
  std::string metric = "ndcg@10";
  PolicyOverrides overrides;
  size_t max_feature_id = LetorOptions().max_feature_id;
  bool json = false;
  // Two runs instead of files.
  std::vector<std::filesystem::path> run_pair;
  std::filesystem::path runs = "runs";
  std::string row;
  // What A and B are, for the reader.
  std::string name_a;
  std::string name_b;
};

struct Comparison {
  std::vector<PairedTest> folds;
  CombinedTest two_sided;
  CombinedTest a_better;
};

PairedTest compare_fold(const CompareOptions& options, size_t fold, const Context& context) {
  const Dataset data =
      read_for_evaluation(std::span(&options.data[fold], 1), options.max_feature_id, context);
  const MetricPolicy policy = make_policy(options.tool, options.overrides);
  if (data.queries().size() < 2)
    throw_input("{}: one query, expected at least two for a paired t-test", options.data[fold].string());
  const std::vector<double> a = read_scores(options.a[fold], data);
  const std::vector<double> b = read_scores(options.b[fold], data);
  return compare_scores(data, a, b, policy, options.overrides, options.metric, context.pool());
}

nlohmann::ordered_json as_json(const PairedTest& test) {
  return {{"queries", test.pairs},
          {"mean_a", test.mean_a},
          {"mean_b", test.mean_b},
          {"difference", test.difference},
          {"stderr", test.standard_error},
          {"t", test.t},
          {"p", test.p},
          {"p_a_better", test.p_a_better},
          {"wins", test.wins},
          {"ties", test.ties},
          {"losses", test.losses}};
}

nlohmann::ordered_json as_json(const CombinedTest& test) {
  return {{"statistic", test.statistic}, {"degrees", test.degrees}, {"p", test.p}};
}

// What makes the queries of two runs pairs: the same queries with the same labels.
void expect_same_tests(const FinishedRun& a, const FinishedRun& b) {
  if (a.tests.size() != b.tests.size())
    throw_input("'{}' has {} folds and '{}' has {}; expected two runs on the same data", a.name,
                a.tests.size(), b.name, b.tests.size());
  for (size_t fold = 0; fold < a.tests.size(); ++fold) {
    const SplitInfo& x = a.tests[fold];
    const SplitInfo& y = b.tests[fold];
    if (x.labels != y.labels || x.queries.offsets() != y.queries.offsets() ||
        x.queries.ids() != y.queries.ids())
      throw_input(
          "the test data of fold {} is not the same in '{}' and '{}'; expected two runs on the same data",
          fold + 1, a.name, b.name);
  }
}

std::vector<PairedTest> compare_runs(const CompareOptions& options, const Context& context,
                                     std::string& tool) {
  if (options.metric != "ndcg@10" && options.metric != "err")
    throw_input("metric is '{}'; expected ndcg@10 or err, which are what runs keep of each query",
                options.metric);
  const FinishedRun a = open_run(options.run_pair[0], options.runs, context);
  const FinishedRun b = open_run(options.run_pair[1], options.runs, context);
  expect_same_tests(a, b);
  if (a.tool != b.tool)
    throw_input(
        "'{}' was evaluated as {} does and '{}' as {} does; expected the same first of evaluate.tools",
        a.name, a.tool, b.name, b.tool);
  const bool err = options.metric == "err";
  if (err && a.err_max != b.err_max)
    throw_input("evaluate.err_max is {} in '{}' and {} in '{}'; expected the same", a.err_max, a.name,
                b.err_max, b.name);
  tool = a.tool;
  const std::string row_a = a.row_or_main(options.row);
  const std::string row_b = b.row_or_main(options.row);
  std::vector<PairedTest> folds;
  for (size_t fold = 0; fold < a.tests.size(); ++fold) {
    const QueryValues& x = a.values(row_a, fold);
    const QueryValues& y = b.values(row_b, fold);
    if (x.ndcg.size() < 2) throw_input("fold {} has one test query; a paired t-test needs two", fold + 1);
    if (err && std::isnan(x.err[0])) throw_input("a label does not fit evaluate.err_max {}", a.err_max);
    folds.push_back(err ? paired_t_test(x.err, y.err) : paired_t_test(x.ndcg, y.ndcg));
  }
  return folds;
}

std::vector<PairedTest> compare_files(const CompareOptions& options, const Context& context) {
  if (options.data.empty() || options.a.size() != options.data.size() ||
      options.b.size() != options.data.size())
    throw_input("{} data files, {} score files of A and {} of B; expected one of each per fold, or two runs",
                options.data.size(), options.a.size(), options.b.size());
  std::vector<PairedTest> folds;
  for (size_t fold = 0; fold < options.data.size(); ++fold)
    folds.push_back(compare_fold(options, fold, context));
  return folds;
}

// All queries of all folds together; no test of its own.
PairedTest pooled(const std::vector<PairedTest>& folds) {
  PairedTest all;
  for (const PairedTest& f : folds) {
    const auto n = static_cast<double>(f.pairs);
    all.pairs += f.pairs;
    all.mean_a += n * f.mean_a;
    all.mean_b += n * f.mean_b;
    all.wins += f.wins;
    all.ties += f.ties;
    all.losses += f.losses;
  }
  all.mean_a /= static_cast<double>(all.pairs);
  all.mean_b /= static_cast<double>(all.pairs);
  all.difference = all.mean_a - all.mean_b;
  return all;
}

void print_json(const CompareOptions& options, const Comparison& comparison) {
  nlohmann::ordered_json root = {
      {"tool", options.tool}, {"metric", options.metric}, {"a", options.name_a}, {"b", options.name_b}};
  const PairedTest all = pooled(comparison.folds);
  root["pooled"] = {
      {"queries", all.pairs}, {"mean_a", all.mean_a}, {"mean_b", all.mean_b}, {"difference", all.difference}};
  root["folds"] = nlohmann::ordered_json::array();
  for (const PairedTest& fold : comparison.folds) root["folds"].push_back(as_json(fold));
  root["fisher"] = as_json(comparison.two_sided);
  root["fisher_a_better"] = as_json(comparison.a_better);
  std::cout << root.dump(2) << '\n';
}

void print_table(const CompareOptions& options, const Comparison& comparison) {
  std::cout << fmt::format("{} {}, paired over queries\n", options.tool, options.metric);
  std::cout << fmt::format("A: {}\nB: {}\n", options.name_a, options.name_b);
  std::cout << fmt::format("{:<5}{:>8}{:>10}{:>10}{:>11}{:>11}{:>9}{:>11}  {}\n", "fold", "queries", "A", "B",
                           "A - B", "std. error", "t", "p", "A wins/ties/loses");
  size_t number = 0;
  for (const PairedTest& f : comparison.folds)
    std::cout << fmt::format("{:<5}{:>8}{:>10.4f}{:>10.4f}{:>+11.5f}{:>11.5f}{:>9.3f}{:>11.4g}  {}/{}/{}\n",
                             ++number, f.pairs, f.mean_a, f.mean_b, f.difference, f.standard_error, f.t, f.p,
                             f.wins, f.ties, f.losses);
  if (comparison.folds.size() > 1) {
    const PairedTest f = pooled(comparison.folds);
    std::cout << fmt::format("{:<5}{:>8}{:>10.4f}{:>10.4f}{:>+11.5f}{:>34}{}/{}/{}\n", "all", f.pairs,
                             f.mean_a, f.mean_b, f.difference, "", f.wins, f.ties, f.losses);
    std::cout << fmt::format("Fisher over {} folds: p = {:.4g} (two-sided tests)\n", comparison.folds.size(),
                             comparison.two_sided.p);
    std::cout << fmt::format("Fisher over {} folds: p = {:.4g} (one-sided, A better)\n",
                             comparison.folds.size(), comparison.a_better.p);
  }
}

int run(CompareOptions options, const Program& program) {
  const bool of_runs = !options.run_pair.empty();
  if (of_runs && options.run_pair.size() != 2)
    throw_input("one run is given; expected two: tunemix compare RUN_A RUN_B");
  if (of_runs && !(options.data.empty() && options.a.empty() && options.b.empty()))
    throw_input("runs and score files are given; expected either RUN_A RUN_B or --data, --a and --b");
  const auto context = program.context();
  const auto name_of = [&](const std::vector<std::filesystem::path>& files, size_t run) {
    if (of_runs) return options.run_pair[run].string() + (options.row.empty() ? "" : " " + options.row);
    return files.empty() ? std::string()
                         : fmt::format("{}{}", files[0].string(), files.size() > 1 ? " ..." : "");
  };
  options.name_a = name_of(options.a, 0);
  options.name_b = name_of(options.b, 1);
  Comparison comparison;
  comparison.folds =
      of_runs ? compare_runs(options, *context, options.tool) : compare_files(options, *context);
  std::vector<double> two_sided;
  std::vector<double> a_better;
  for (const PairedTest& fold : comparison.folds) {
    two_sided.push_back(fold.p);
    a_better.push_back(fold.p_a_better);
  }
  comparison.two_sided = fisher_combine(two_sided);
  comparison.a_better = fisher_combine(a_better);
  if (options.json)
    print_json(options, comparison);
  else
    print_table(options, comparison);
  return 0;
}

}  // namespace

void add_compare_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("compare", "Compare two systems: paired t-test, Fisher over folds");
  auto options = std::make_shared<CompareOptions>();
  command
      ->add_option("run", options->run_pair, "Two runs on the same data: directories, or names under --runs")
      ->expected(0, 2);
  command->add_option("--runs", options->runs, "Folder of the runs")->capture_default_str();
  command->add_option("--row", options->row, "Row of the runs' results (default: the full mixture)");
  command->add_option("--data", options->data, "Instead of runs: LETOR files with the labels, one per fold");
  add_max_feature_id(*command, options->max_feature_id);
  command->add_option("--a", options->a, "Score files of system A, one per fold");
  command->add_option("--b", options->b, "Score files of system B, one per fold");
  command->add_option("--tool", options->tool, "One of " + join(preset_names(), ", "))->capture_default_str();
  command->add_option("--metric", options->metric, "ndcg@R, dcg@R, p@R, mean_ndcg, map, err or mrr")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON instead of a table");
  add_policy_options(*command, options->overrides);
  add_common_options(*command, program);
  command->footer(
      "Examples (two runs; the score files of two folds):\n"
      "  tunemix compare mq2008 mq2008-paper --row AB+EXP\n"
      "  tunemix compare --data f1.txt f2.txt --a a1.scores a2.scores --b b1.scores b2.scores --metric "
      "ndcg@10");
  command->callback(
      [options, &program] { program.action = [options, &program] { return run(*options, program); }; });
}

}  // namespace tunemix
