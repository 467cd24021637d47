#include <fmt/format.h>
#include <fmt/os.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/metric_options.h"
#include "pipeline/commands/output_file.h"
#include "pipeline/store/json_text.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/text.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/score_file.h"
#include "tunemix/metric/trec_file.h"

namespace tunemix {
namespace {

struct EvalOptions {
  std::vector<std::filesystem::path> data;
  std::filesystem::path scores;
  // Instead of those two, TREC's files.
  std::filesystem::path qrels;
  std::filesystem::path run;
  bool complete = false;
  std::string tools;
  size_t k = 10;
  PolicyOverrides overrides;
  size_t max_feature_id = LetorOptions().max_feature_id;
  bool json = false;
  std::filesystem::path per_query;
};

// As the tool prints it: its decimals, or 15 digits.
std::string printed(double value, const MetricPolicy& policy) {
  if (std::isnan(value)) return "-";
  if (policy.decimals == 0) return fmt::format("{:.15g}", value);
  return fmt::format("{:.{}f}", value, policy.decimals);
}

nlohmann::ordered_json as_json(const Evaluation& evaluation) {
  using nlohmann::ordered_json;
  const MeasureTable& m = evaluation.measures;
  const auto fields = [&](const std::vector<double>& values) {
    const auto ranks = [&](size_t first) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(m.k()));
    };
    return ordered_json{{"ndcg", ranks(m.ndcg(1))},
                        {"mean_ndcg", values[m.mean_ndcg()]},
                        {"dcg", ranks(m.dcg(1))},
                        {"err", values[m.err()]},
                        {"map", values[m.map()]},
                        {"mrr", values[m.mrr()]},
                        {"precision", ranks(m.precision(1))}};
  };
  ordered_json tool = fields(evaluation.mean);
  tool["queries"] = evaluation.queries;
  tool["empty_queries"] = evaluation.empty_queries;
  tool["short_queries"] = evaluation.short_queries;
  tool["stderr"] = evaluation.standard_error[m.ndcg(m.k())];  // of NDCG@k
  tool["standard_errors"] = fields(evaluation.standard_error);
  tool["decimals"] = evaluation.policy.decimals;
  ordered_json& policy = tool["policy"];
  for (const auto& entry : policy_options().entries()) policy[entry.name] = entry.get(evaluation.policy);
  return tool;
}

void print_json(const std::vector<Evaluation>& evaluations, const ToolChoice& choice, const Dataset& data) {
  nlohmann::ordered_json root;
  root["k"] = evaluations.front().measures.k();
  root["documents"] = data.documents();
  root["weighted"] = !data.weights().empty();
  root["tools"] = nlohmann::ordered_json::object();
  for (const Evaluation& evaluation : evaluations)
    root["tools"][evaluation.policy.name] = as_json(evaluation);
  root["skipped"] = nlohmann::ordered_json::object();
  for (const auto& [name, why] : choice.skipped) root["skipped"][name] = why;
  std::cout << json_text(root, 2) << '\n';
}

// A measure a row, a tool a column.
void print_table(const std::vector<Evaluation>& evaluations, const ToolChoice& choice, const Dataset& data,
                 const std::vector<std::string>& notes) {
  constexpr size_t kNameWidth = 16;
  constexpr size_t kWidth = 19;
  const auto print_row = [&](std::string_view name, const auto& cell) {
    std::string line = fmt::format("{:<{}}", name, kNameWidth);
    for (const Evaluation& evaluation : evaluations) line += fmt::format("{:>{}}", cell(evaluation), kWidth);
    std::cout << line << '\n';
  };
  const auto print_measure = [&](std::string_view name, size_t column) {
    print_row(name, [&](const Evaluation& e) { return printed(e.mean[column], e.policy); });
  };
  const MeasureTable& m = evaluations.front().measures;
  print_row("tool", [](const Evaluation& e) { return e.policy.name; });
  for (size_t rank = 1; rank <= m.k(); ++rank) print_measure(fmt::format("NDCG@{}", rank), m.ndcg(rank));
  print_row("  std. error",
            [&](const Evaluation& e) { return printed(e.standard_error[e.measures.ndcg(m.k())], e.policy); });
  print_measure("MeanNDCG", m.mean_ndcg());
  print_measure(fmt::format("DCG@{}", m.k()), m.dcg(m.k()));
  for (size_t rank = 1; rank <= m.k(); ++rank) print_measure(fmt::format("P@{}", rank), m.precision(rank));
  print_measure("MAP", m.map());
  print_measure("ERR", m.err());
  print_measure("MRR", m.mrr());
  std::cout << '\n';
  for (const auto& entry : policy_options().entries())
    print_row(entry.name, [&](const Evaluation& e) { return entry.get(e.policy); });
  std::cout << '\n';

  const Evaluation& first = evaluations.front();
  std::cout << fmt::format("{} queries, {} documents{}\n", first.queries, data.documents(),
                           data.weights().empty() ? "" : "; means weighted by the data's .weight files");
  for (const std::string& line : notes) std::cout << line << '\n';
  std::cout << fmt::format("without a relevant document: {} (their NDCG is 'empty')\n", first.empty_queries);
  std::cout << fmt::format("with fewer than {} documents: {} (their NDCG@k follows 'short')\n", m.k(),
                           first.short_queries);
  for (const auto& [name, why] : choice.skipped)
    std::cout << fmt::format("{} is left out: it {}\n", name, why);
}

// trec_eval's columns; with several tools the measure carries the tool's name.
void write_per_query(const std::vector<Evaluation>& evaluations, const Dataset& data,
                     const std::filesystem::path& file) {
  fmt::memory_buffer out;
  const auto line = [&](const Evaluation& e, std::string_view measure, std::string_view query,
                        std::string_view value) {
    const std::string name =
        evaluations.size() == 1 ? std::string(measure) : fmt::format("{}:{}", e.policy.name, measure);
    fmt::format_to(std::back_inserter(out), "{:<22}\t{}\t{}\n", name, query, value);
  };
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (const Evaluation& e : evaluations)
      for (size_t c = 0; c < e.measures.columns(); ++c)
        line(e, e.measures.trec_name(c), data.queries().id(q),
             printed(e.per_query[q * e.measures.columns() + c], e.policy));
  for (const Evaluation& e : evaluations) {
    line(e, "runid", "all", e.policy.name);
    line(e, "num_q", "all", std::to_string(e.queries));
    for (size_t c = 0; c < e.measures.columns(); ++c)
      line(e, e.measures.trec_name(c), "all", printed(e.mean[c], e.policy));
  }
  write_output(file, fmt::to_string(out));
}

// What is to be evaluated: the documents with their labels, and a score of each.
struct Scored {
  Dataset data;
  std::vector<double> scores;
  std::vector<std::string> notes;  // for the reader of the table
};

Scored read_trec_files(const EvalOptions& options) {
  TrecRun trec = read_trec(options.qrels, options.run,
                           options.complete ? MissingQueries::kKeep : MissingQueries::kLeaveOut);
  std::vector<std::string> notes = {
      fmt::format("in the run and not judged: {} documents (label 0), {} queries (left out)",
                  trec.unjudged_documents, trec.unjudged_queries),
      fmt::format("judged and not in the run: {} documents, {} queries ({})", trec.unranked_documents,
                  trec.missing_queries,
                  options.complete ? "nothing of theirs is found" : "left out; --complete keeps them")};
  return {.data = std::move(trec.data), .scores = std::move(trec.scores), .notes = std::move(notes)};
}

Scored read_scored(const EvalOptions& options, const Context& context) {
  if (!options.qrels.empty()) return read_trec_files(options);
  Dataset data = read_for_evaluation(options.data, options.max_feature_id, context);
  std::vector<double> scores = read_scores(options.scores, data);
  return {.data = std::move(data), .scores = std::move(scores), .notes = {}};
}

void expect_one_kind_of_input(const EvalOptions& options) {
  const bool letor = !options.data.empty() || !options.scores.empty();
  const bool trec = !options.qrels.empty() || !options.run.empty();
  if (letor && trec)
    throw_input("files of both kinds are given; expected either --data and --scores, or --qrels and --run");
  if (trec ? options.qrels.empty() || options.run.empty() : options.data.empty() || options.scores.empty())
    throw_input("'tunemix eval' needs {}; see 'tunemix eval --help'",
                !trec && !letor ? "--data and --scores, or --qrels and --run"
                : trec          ? (options.qrels.empty() ? "--qrels (the judgements)" : "--run (the ranking)")
                : options.data.empty() ? "--data (LETOR files with the labels)"
                                       : "--scores (one score a line)");
  if (options.complete && !trec) throw_input("--complete goes with --qrels and --run only");
}

int run_eval(const EvalOptions& options, const Program& program) {
  expect_one_kind_of_input(options);
  std::vector<std::filesystem::path> inputs = options.data;
  inputs.insert(inputs.end(), {options.scores, options.qrels, options.run});
  expect_no_input(options.per_query, inputs);
  const auto context = program.context();
  const std::vector<MetricPolicy> policies = named_policies(options.tools, options.overrides);
  const Scored scored = read_scored(options, *context);
  const Dataset& data = scored.data;
  const ToolChoice choice = fit_to_data(policies, options.tools, options.overrides, data);
  const auto evaluations =
      Evaluator(data, choice.policies, options.k)(scored.scores, context->pool(), !options.per_query.empty());
  for (const Evaluation& e : evaluations)
    if (std::isnan(e.mean[e.measures.err()]))
      context->warn(fmt::format("{}: no ERR, since label {} does not fit err-max {}; try --err-max auto",
                                e.policy.name, data.max_label(), e.policy.err_max));
  if (!options.per_query.empty()) write_per_query(evaluations, data, options.per_query);
  if (options.json)
    print_json(evaluations, choice, data);
  else
    print_table(evaluations, choice, data, scored.notes);
  return 0;
}

}  // namespace

void add_eval_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("eval", "Evaluate scores under the conventions of the usual tools");
  auto options = std::make_shared<EvalOptions>();
  command->add_option("--data", options->data, "LETOR files with the labels; several are one data set");
  add_max_feature_id(*command, options->max_feature_id);
  command->add_option("--scores", options->scores, "One score a line, in the order of the data files");
  command->add_option("--qrels", options->qrels, "Instead of --data: TREC's judgements, 'qid 0 docno label'");
  command->add_option("--run", options->run,
                      "Instead of --scores: a TREC run, 'qid Q0 docno rank score tag'; the score counts, not "
                      "the rank");
  command->add_flag("--complete", options->complete,
                    "Keep judged queries that the run leaves out (trec_eval -c)");
  command->add_option(
      "--tool", options->tools,
      fmt::format("all, or some of {}, separated by commas (default: yahoo; trec with --qrels)",
                  join(preset_names(), ", ")));
  command->add_option("--k", options->k, "Largest rank of NDCG@k, DCG@k and P@k")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON instead of a table");
  command->add_option("--per-query", options->per_query, "Write every query's values in trec_eval's columns");
  add_policy_options(*command, options->overrides);
  add_common_options(*command, program);
  command->footer(
      "Example:\n"
      "  tunemix eval --data test.txt --scores test.scores --tool all\n"
      "  tunemix eval --data test.txt --scores test.scores --tool trec --gain exponential --json\n"
      "  tunemix eval --qrels test.qrels --run test.run");
  command->callback([options, command, &program] {
    if (command->count("--tool") == 0) options->tools = options->qrels.empty() ? "yahoo" : "trec";
    program.action = [options, &program] { return run_eval(*options, program); };
  });
}

}  // namespace tunemix
