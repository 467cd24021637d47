#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/metric_options.h"
#include "pipeline/run/finished_run.h"
#include "pipeline/store/json_text.h"
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
  std::string tool;  // empty: yahoo, or the runs' own
  std::string metric = "ndcg@10";
  PolicyOverrides overrides;
  size_t max_feature_id = LetorOptions().max_feature_id;
  bool json = false;
  std::vector<std::filesystem::path> run_names;
  std::filesystem::path runs = "runs";
  std::string row;
};

// One of what is compared: the measure of each query of each fold.
struct System {
  std::string name;
  std::vector<std::vector<double>> folds;
};

// Two systems, fold by fold.
struct Comparison {
  std::vector<PairedTest> folds;
  CombinedTest two_sided;
  CombinedTest a_better;
};

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

std::string name_of(const std::vector<std::filesystem::path>& files) {
  return fmt::format("{}{}", files[0].string(), files.size() > 1 ? " ..." : "");
}

// The measure of each query; NaN of the first where there is no ERR.
std::vector<double> values_of(const Evaluator& evaluator, const std::vector<double>& scores, size_t column,
                              const Context& context) {
  return column_of(evaluator(scores, context.pool(), true).front(), column);
}

// Score files, and the data that they are of.
std::vector<System> systems_of_files(const CompareOptions& options, const Context& context) {
  if (options.data.empty() || options.a.size() != options.data.size() ||
      options.b.size() != options.data.size())
    throw_input("{} data files, {} score files of A and {} of B; expected one of each per fold, or two runs",
                options.data.size(), options.a.size(), options.b.size());
  const MetricPolicy policy = make_policy(options.tool, options.overrides);
  const size_t k = rank_of(options.metric);
  const size_t column = MeasureTable(k).column(options.metric);
  std::vector<System> systems = {{name_of(options.a), {}}, {name_of(options.b), {}}};
  for (size_t fold = 0; fold < options.data.size(); ++fold) {
    const Dataset data =
        read_for_evaluation(std::span(&options.data[fold], 1), options.max_feature_id, context);
    check_err_max(policy, options.overrides, data);
    const Evaluator evaluator(data, {policy}, k);
    for (System& system : systems) {
      const auto& files = &system == systems.data() ? options.a : options.b;
      system.folds.push_back(values_of(evaluator, read_scores(files[fold], data), column, context));
    }
    if (std::isnan(systems[0].folds[fold].front()))
      throw_input("label {} does not fit err-max {}; try --err-max auto", data.max_label(), policy.err_max);
    if (data.queries().size() < 2)
      throw_input("{}: one query, expected at least two for a paired t-test", options.data[fold].string());
  }
  return systems;
}

// What makes runs comparable beside their test data.
void expect_same_measure(const FinishedRun& a, const FinishedRun& b, bool err) {
  if (a.tool != b.tool)
    throw_input(
        "'{}' was evaluated as {} does and '{}' as {} does; expected the same first of evaluate.tools",
        a.name, a.tool, b.name, b.tool);
  if (err && a.err_max != b.err_max)
    throw_input("evaluate.err_max is {} in '{}' and {} in '{}'; expected the same", a.err_max, a.name,
                b.err_max, b.name);
}

// Scores of the documents of a run's test files, one file a fold, measured as the run was.
System files_beside_run(const std::vector<std::filesystem::path>& files, const FinishedRun& run,
                        const std::string& metric, const Context& context) {
  if (files.size() != run.tests.size())
    throw_input("{} score files beside the run '{}' of {} folds; expected one a fold, of its test files",
                files.size(), run.name, run.tests.size());
  System system{name_of(files), {}};
  const size_t column = MeasureTable(10).column(metric);
  for (size_t fold = 0; fold < files.size(); ++fold) {
    const SplitInfo& test = run.tests[fold];
    const MetricPolicy policy = evaluation_policy(run.tool, run.err_max, run.labels[fold]);
    const Evaluator evaluator(test.queries, test.labels, test.names, {policy}, 10);
    const std::vector<double> scores = read_scores(files[fold], test.labels.size(), test.source_rows);
    system.folds.push_back(values_of(evaluator, scores, column, context));
  }
  return system;
}

// Runs, and score files beside them.
std::vector<System> systems_of_runs(const CompareOptions& options, const Context& context,
                                    std::string& tool) {
  if (options.metric != "ndcg@10" && options.metric != "err")
    throw_input("metric is '{}'; expected ndcg@10 or err, which are what runs keep of each query",
                options.metric);
  const bool err = options.metric == "err";
  std::vector<FinishedRun> runs;
  for (const std::filesystem::path& name : options.run_names)
    runs.push_back(open_run(name, options.runs, context));
  tool = runs[0].tool;
  std::vector<System> systems;
  for (size_t r = 0; r < runs.size(); ++r) {
    const FinishedRun& run = runs[r];
    expect_same_tests(runs[0], run);
    expect_same_measure(runs[0], run, err);
    const std::string row = run.row_or_main(options.row);
    System system{options.run_names[r].string() + (options.row.empty() ? "" : " " + row), {}};
    for (size_t fold = 0; fold < run.tests.size(); ++fold) {
      const QueryValues& values = run.values(row, fold);
      if (values.ndcg.size() < 2)
        throw_input("fold {} has one test query; a paired t-test needs two", fold + 1);
      if (err && std::isnan(values.err[0]))
        throw_input("a label does not fit evaluate.err_max {}", run.err_max);
      system.folds.push_back(err ? values.err : values.ndcg);
    }
    systems.push_back(std::move(system));
  }
  for (const auto* files : {&options.a, &options.b})
    if (!files->empty()) systems.push_back(files_beside_run(*files, runs[0], options.metric, context));
  return systems;
}

Comparison compare(const System& a, const System& b) {
  Comparison comparison;
  std::vector<double> two_sided;
  std::vector<double> a_better;
  for (size_t fold = 0; fold < a.folds.size(); ++fold) {
    comparison.folds.push_back(paired_t_test(a.folds[fold], b.folds[fold]));
    two_sided.push_back(comparison.folds.back().p);
    a_better.push_back(comparison.folds.back().p_a_better);
  }
  comparison.two_sided = fisher_combine(two_sided);
  comparison.a_better = fisher_combine(a_better);
  return comparison;
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

nlohmann::ordered_json as_json(const Comparison& comparison) {
  const PairedTest all = pooled(comparison.folds);
  nlohmann::ordered_json json;
  json["pooled"] = {
      {"queries", all.pairs}, {"mean_a", all.mean_a}, {"mean_b", all.mean_b}, {"difference", all.difference}};
  json["folds"] = nlohmann::ordered_json::array();
  for (const PairedTest& fold : comparison.folds) json["folds"].push_back(as_json(fold));
  json["fisher"] = as_json(comparison.two_sided);
  json["fisher_a_better"] = as_json(comparison.a_better);
  return json;
}

// A, B, C, ...
std::string letter(size_t system) { return {static_cast<char>('A' + system)}; }

// Two systems: their comparison. More: the means, and the comparison of every pair.
void print_json(const CompareOptions& options, const std::vector<System>& systems) {
  nlohmann::ordered_json root = {{"tool", options.tool}, {"metric", options.metric}};
  if (systems.size() == 2) {
    root["a"] = systems[0].name;
    root["b"] = systems[1].name;
    root.update(as_json(compare(systems[0], systems[1])));
  } else {
    root["systems"] = nlohmann::ordered_json::array();
    root["pairs"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < systems.size(); ++i)
      root["systems"].push_back(
          {{"letter", letter(i)},
           {"name", systems[i].name},
           {"mean", pooled(compare(systems[i], systems[i == 0 ? 1 : 0]).folds).mean_a}});
    for (size_t i = 0; i < systems.size(); ++i)
      for (size_t j = i + 1; j < systems.size(); ++j) {
        nlohmann::ordered_json pair = {{"a", letter(i)}, {"b", letter(j)}};
        pair.update(as_json(compare(systems[i], systems[j])));
        root["pairs"].push_back(std::move(pair));
      }
  }
  std::cout << json_text(root, 2) << '\n';
}

void print_pair(const Comparison& comparison) {
  std::cout << fmt::format("{:<5}{:>8}{:>10}{:>10}{:>11}{:>11}{:>9}{:>11}  {}\n", "fold", "queries", "A", "B",
                           "A - B", "std. error", "t", "p", "A wins/ties/loses");
  size_t number = 0;
  for (const PairedTest& f : comparison.folds)
    std::cout << fmt::format("{:<5}{:>8}{:>10.4f}{:>10.4f}{:>+11.5f}{:>11.5f}{:>9.3f}{:>11.4g}  {}/{}/{}\n",
                             ++number, f.pairs, f.mean_a, f.mean_b, f.difference, f.standard_error, f.t, f.p,
                             f.wins, f.ties, f.losses);
  if (comparison.folds.size() > 1) {
    const PairedTest f = pooled(comparison.folds);
    std::cout << fmt::format("{:<5}{:>8}{:>10.4f}{:>10.4f}{:>+11.5f}{:>33}{}/{}/{}\n", "all", f.pairs,
                             f.mean_a, f.mean_b, f.difference, "", f.wins, f.ties, f.losses);
    std::cout << fmt::format("Fisher over {} folds: p = {:.4g} (two-sided tests)\n", comparison.folds.size(),
                             comparison.two_sided.p);
    std::cout << fmt::format("Fisher over {} folds: p = {:.4g} (one-sided, A better)\n",
                             comparison.folds.size(), comparison.a_better.p);
  }
}

// The pooled mean of each system, and the p-value of each pair.
void print_matrix(const std::vector<System>& systems) {
  const size_t folds = systems[0].folds.size();
  std::cout << fmt::format("two-sided p of each pair{}\n",
                           folds > 1 ? fmt::format(", Fisher over {} folds", folds) : "");
  std::string line = fmt::format("{:<3}{:>10}", "", "mean");
  for (size_t i = 0; i < systems.size(); ++i) line += fmt::format("{:>10}", letter(i));
  std::cout << line << '\n';
  for (size_t i = 0; i < systems.size(); ++i) {
    const double mean = pooled(compare(systems[i], systems[i == 0 ? 1 : 0]).folds).mean_a;
    line = fmt::format("{:<3}{:>10.4f}", letter(i), mean);
    for (size_t j = 0; j < systems.size(); ++j)
      line += i == j ? fmt::format("{:>10}", "-")
                     : fmt::format("{:>10.3g}", compare(systems[i], systems[j]).two_sided.p);
    std::cout << line << '\n';
  }
  const size_t pairs = systems.size() * (systems.size() - 1) / 2;
  std::cout << fmt::format("{} pairs: for one mistake in 20 over all of them, ask for p below {:.2g}\n",
                           pairs, 0.05 / static_cast<double>(pairs));
}

void print_table(const CompareOptions& options, const std::vector<System>& systems) {
  std::cout << fmt::format("{} {}, paired over queries\n", options.tool, options.metric);
  for (size_t i = 0; i < systems.size(); ++i)
    std::cout << fmt::format("{}: {}\n", letter(i), systems[i].name);
  if (systems.size() == 2)
    print_pair(compare(systems[0], systems[1]));
  else
    print_matrix(systems);
}

int run_compare(CompareOptions options, const Program& program) {
  const bool of_runs = !options.run_names.empty();
  if (of_runs && !options.data.empty())
    throw_input(
        "runs and --data are given; expected runs (and score files of their test files by --a and --b), or "
        "--data, --a and --b");
  if (of_runs && (!options.tool.empty() || !options.overrides.empty()))
    throw_input(
        "--{} is given for runs, which are compared by the first tool of their evaluate.tools; expected it "
        "with --data only",
        options.tool.empty() ? options.overrides.begin()->first : "tool");
  if (of_runs && options.run_names.size() == 1 && options.a.empty() && options.b.empty())
    throw_input("one run is given; expected several, or score files beside it: tunemix compare RUN_A RUN_B");
  const auto context = program.context();
  if (options.tool.empty()) options.tool = "yahoo";
  const std::vector<System> systems =
      of_runs ? systems_of_runs(options, *context, options.tool) : systems_of_files(options, *context);
  if (options.json)
    print_json(options, systems);
  else
    print_table(options, systems);
  return 0;
}

}  // namespace

void add_compare_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("compare", "Compare systems: paired t-tests, Fisher over folds");
  auto options = std::make_shared<CompareOptions>();
  command
      ->add_option("run", options->run_names,
                   "Runs on the same data: directories, or names under --runs; three or more give a matrix")
      ->expected(0, 24);
  command->add_option("--runs", options->runs, "Folder of the runs")->capture_default_str();
  command->add_option("--row", options->row, "Row of the runs' results (default: the full mixture)");
  command->add_option("--data", options->data, "Instead of runs: LETOR files with the labels, one per fold");
  add_max_feature_id(*command, options->max_feature_id);
  command->add_option("--a", options->a,
                      "Score files of system A, one per fold; beside runs: of their test files");
  command->add_option("--b", options->b, "Score files of system B, likewise");
  command->add_option("--tool", options->tool,
                      fmt::format("One of {} (default: yahoo; runs: their own)", join(preset_names(), ", ")));
  command->add_option("--metric", options->metric, "ndcg@R, dcg@R, p@R, mean_ndcg, map, err or mrr")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON instead of a table");
  add_policy_options(*command, options->overrides);
  add_common_options(*command, program);
  command->footer(
      "Examples (runs; a run and the scores of another ranker on its test files; score files of two folds):\n"
      "  tunemix compare mq2008 mq2008-paper --row AB+EXP\n"
      "  tunemix compare mq2008 --b lgbm1.scores lgbm2.scores lgbm3.scores lgbm4.scores lgbm5.scores\n"
      "  tunemix compare --data f1.txt f2.txt --a a1.scores a2.scores --b b1.scores b2.scores --metric "
      "ndcg@10");
  set_action(*command, program, options, run_compare);
}

}  // namespace tunemix
