#include "pipeline/stages/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tunemix/core/binary.h"
#include "tunemix/metric/policy.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

// Every row has the values of every fold, of the same queries.
void expect_complete(const EvaluationResult& result, const BinaryReader& in) {
  std::vector<size_t> queries;  // of each fold
  for (const QueryValues& values : result.per_query)
    if (values.row == result.per_query[0].row) {
      if (values.fold != queries.size()) in.fail("the folds are not in order");
      queries.push_back(values.ndcg.size());
    }
  for (size_t i = 0; i < result.per_query.size(); ++i) {
    const QueryValues& values = result.per_query[i];
    if (values.fold != i % queries.size() || values.ndcg.size() != queries[values.fold] ||
        values.err.size() != values.ndcg.size() || values.row != result.per_query[i - values.fold].row)
      in.fail("a row without the values of a fold");
  }
  if (queries.empty() || result.per_query.size() % queries.size() != 0)
    in.fail("a row without the values of a fold");
  for (const ResultRow& row : result.rows)
    if (row.folds.size() != queries.size()) in.fail("a row without the results of a fold");
  if (std::none_of(result.rows.begin(), result.rows.end(), [](const ResultRow& row) { return row.main; }))
    in.fail("no row stands for the experiment");
}

Json row_json(const ResultRow& row) {
  Json folds = Json::array();
  for (const FoldResult& fold : row.folds)
    folds.push_back({{"fold", fold.fold},
                     {"ndcg@10", fold.ndcg},
                     {"stderr", fold.standard_error},
                     {"err", fold.err},
                     {"queries", fold.queries},
                     {"empty_queries", fold.empty_queries},
                     {"short_queries", fold.short_queries}});
  return {{"name", row.name},
          {"split", row.split},
          {"tool", row.tool},
          {"ndcg@10", row.ndcg},
          {"stderr", row.standard_error},
          {"err", row.err},
          {"err_max", row.err_max},
          {"err_stderr", row.err_standard_error},
          {"map", row.map},
          {"folds", folds},
          {"chosen", row.main}};
}

Json choice_json(const RowChoice& choice, const std::string& quality) {
  const bool mixed = choice.member.empty();
  Json json = {{"fold", choice.fold}, {"row", choice.row}, {"c", mixed ? Json(choice.c) : Json()}};
  json["iterations"] = choice.iterations > 0 ? Json(choice.iterations) : Json();
  json[quality] = choice.quality;
  json["chosen_by"] = choice.chosen_by;
  if (!mixed) json["member"] = choice.member;
  return json;
}

std::string dash_or(double value) { return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-"; }

}  // namespace

const ResultRow& main_row(const EvaluationResult& evaluation) {
  for (const ResultRow& row : evaluation.rows)
    if (row.main) return row;
  throw InternalError("no row stands for the experiment");
}

std::string err_label(double err_max) {
  return err_max == MetricPolicy().err_max ? "ERR" : fmt::format("ERR (max {:g})", err_max);
}

std::vector<uint8_t> save_evaluation(const EvaluationResult& result) {
  BinaryWriter out;
  out.put(result.metric);
  out.put<uint64_t>(result.rows.size());
  for (const ResultRow& row : result.rows) {
    for (const std::string* text : {&row.name, &row.split, &row.tool}) out.put(*text);
    for (const double value :
         {row.ndcg, row.standard_error, row.err, row.err_max, row.err_standard_error, row.map})
      out.put(value);
    out.put(row.folds);
    out.put<uint8_t>(row.main ? 1 : 0);
  }
  out.put<uint64_t>(result.ndcg_at.size());
  for (const NdcgAt& at : result.ndcg_at) {
    for (const std::string* text : {&at.row, &at.tool, &at.split}) out.put(*text);
    out.put<uint64_t>(at.k);
    out.put(at.ndcg);
    out.put(at.standard_error);
  }
  out.put<uint64_t>(result.choices.size());
  for (const RowChoice& choice : result.choices) {
    out.put<uint64_t>(choice.fold);
    out.put(choice.row);
    out.put(choice.c);
    out.put(choice.iterations);
    out.put(choice.quality);
    out.put(choice.chosen_by);
    out.put(choice.member);
  }
  out.put<uint64_t>(result.per_query.size());
  for (const QueryValues& values : result.per_query) {
    out.put(values.row);
    out.put<uint64_t>(values.fold);
    out.put(values.ndcg);
    out.put(values.err);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

EvaluationResult load_evaluation(std::span<const uint8_t> payload) {
  BinaryReader in(payload, "evaluation artifact");
  EvaluationResult result;
  result.metric = in.get_string();
  SelectionName::parse(result.metric);
  for (size_t count = in.get_count(1); count > 0; --count) {
    ResultRow& row = result.rows.emplace_back();
    for (std::string* text : {&row.name, &row.split, &row.tool}) *text = in.get_string();
    for (double* value :
         {&row.ndcg, &row.standard_error, &row.err, &row.err_max, &row.err_standard_error, &row.map})
      *value = in.get<double>();
    row.folds = in.get_vector<FoldResult>();
    row.main = in.get<uint8_t>() != 0;
  }
  for (size_t count = in.get_count(1); count > 0; --count) {
    NdcgAt& at = result.ndcg_at.emplace_back();
    for (std::string* text : {&at.row, &at.tool, &at.split}) *text = in.get_string();
    at.k = in.get<uint64_t>();
    at.ndcg = in.get<double>();
    at.standard_error = in.get<double>();
  }
  for (size_t count = in.get_count(1); count > 0; --count) {
    RowChoice& choice = result.choices.emplace_back();
    choice.fold = in.get<uint64_t>();
    choice.row = in.get_string();
    choice.c = in.get<double>();
    choice.iterations = in.get<int64_t>();
    choice.quality = in.get<double>();
    choice.chosen_by = in.get<double>();
    choice.member = in.get_string();
  }
  for (size_t count = in.get_count(1); count > 0; --count) {
    QueryValues& values = result.per_query.emplace_back();
    values.row = in.get_string();
    values.fold = in.get<uint64_t>();
    values.ndcg = in.get_vector<double>();
    values.err = in.get_vector<double>();
  }
  in.expect_end();
  expect_complete(result, in);
  return result;
}

Json evaluation_json(const EvaluationResult& evaluation, const std::string& quality) {
  Json json = {{"metric", SelectionName::parse(evaluation.metric).label()},
               {"rows", Json::array()},
               {"ndcg_at", Json::array()},
               {"choices", Json::array()}};
  for (const ResultRow& row : evaluation.rows) json["rows"].push_back(row_json(row));
  for (const NdcgAt& at : evaluation.ndcg_at)
    json["ndcg_at"].push_back({{"row", at.row},
                               {"tool", at.tool},
                               {"split", at.split},
                               {"k", at.k},
                               {"ndcg", at.ndcg},
                               {"stderr", at.standard_error}});
  for (const RowChoice& choice : evaluation.choices) json["choices"].push_back(choice_json(choice, quality));
  return json;
}

Json results_json(const Results& results) {
  Json json = {{"name", results.name}, {"seed", results.seed}};
  if (!results.warnings.empty()) json["warnings"] = results.warnings;
  json.update(
      evaluation_json(results.evaluation, "valid_" + SelectionName::parse(results.evaluation.metric).text()));
  json["timing"] = Json::object();
  for (const StageTiming& timing : results.timing)
    json["timing"][timing.stage] = {
        {"seconds", timing.seconds}, {"jobs", timing.jobs}, {"cached", timing.cached}};
  return json;
}

std::vector<StageTiming> read_timing(const Json& results) {
  std::vector<StageTiming> timings;
  if (!results.is_object() || !results.contains("timing") || !results["timing"].is_object()) return timings;
  for (const auto& [stage, entry] : results["timing"].items()) try {
      timings.push_back({stage, entry.at("seconds").get<double>(), entry.at("jobs").get<size_t>(),
                         entry.at("cached").get<size_t>()});
    } catch (const Json::exception&) {  // as if it were not there
    }
  return timings;
}

std::string results_table(const Results& results, bool markdown) {
  const std::vector<ResultRow>& rows = results.evaluation.rows;
  const ResultRow& first = rows.front();
  size_t name_width = 14;
  for (const ResultRow& row : rows) name_width = std::max(name_width, row.name.size());
  const std::string header =
      fmt::format("{} NDCG@10{}", first.tool, first.split == "test" ? "" : " (validation)");
  const std::string err_header = first.tool + " " + err_label(first.err_max);
  const size_t width = std::max<size_t>(16, header.size() + 2);
  const size_t err_width = std::max<size_t>(12, err_header.size() + 2);
  std::string out = markdown ? fmt::format("| row | {} | std. error | {} | folds |\n|---|---|---|---|---|\n",
                                           header, err_header)
                             : fmt::format("  {:<{}}{:>{}}{:>12}{:>{}}   {}\n", "row", name_width, header,
                                           width, "std. error", err_header, err_width, "folds");
  for (const ResultRow& row : rows) {
    if (row.tool != first.tool || row.split != first.split) break;
    std::string folds;
    for (const FoldResult& fold : row.folds)
      folds += fmt::format("{}{:.4f}", folds.empty() ? "" : " ", fold.ndcg);
    const std::string error = dash_or(row.standard_error);
    const std::string err = dash_or(row.err);
    if (markdown)
      out += fmt::format("| {0}{1}{0} | {0}{2:.4f}{0} | {3} | {4} | {5} |\n", row.main ? "**" : "", row.name,
                         row.ndcg, error, err, folds);
    else
      out += fmt::format("{} {:<{}}{:>{}.4f}{:>12}{:>{}}   {}\n", row.main ? "*" : " ", row.name, name_width,
                         row.ndcg, width, error, err, err_width, folds);
  }
  out += fmt::format("{}Choices were made by validation {}, ties averaged.\n", markdown ? "\n" : "  ",
                     SelectionName::parse(results.evaluation.metric).label());
  std::string warnings;
  for (const std::string& warning : results.warnings)
    warnings += fmt::format("{}{}\n", markdown ? "> **Warning:** " : "  warning: ", warning);
  return markdown && !warnings.empty() ? warnings + "\n" + out : out + warnings;
}

}  // namespace tunemix
