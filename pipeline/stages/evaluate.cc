#include "pipeline/stages/evaluate.h"

#include <algorithm>
#include <cmath>

#include "pipeline/stages/data_checks.h"
#include "pipeline/store/json_text.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

// Values of one row, split and tool over the folds: the mean of the folds' means, with their standard errors
// added in quadrature.
struct Average {
  double sum = 0;
  double variance = 0;
  size_t count = 0;
  void add(double mean, double standard_error) {
    sum += mean;
    variance += standard_error * standard_error;
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
  double standard_error() const { return std::sqrt(variance) / static_cast<double>(count); }
};

// JSON has no NaN: a standard error of a single query is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

struct RowEvaluations {
  std::string row;
  std::vector<std::vector<Evaluation>> folds;  // [fold][tool]
};

std::vector<RowEvaluations> evaluate_split(const Plan& plan, const std::vector<std::string>& tools,
                                           const std::vector<FoldInfo>& folds,
                                           const std::vector<std::vector<MixRow>>& rows, bool test,
                                           const Context& context) {
  std::vector<RowEvaluations> result(rows[0].size());
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    const SplitInfo& split = test ? folds[fold].test : folds[fold].valid;
    std::vector<MetricPolicy> policies;
    for (const std::string& tool : tools)
      policies.push_back(evaluation_policy(tool, plan.config.evaluate.err_max, folds[fold].labels));
    const Evaluator evaluator(split.queries, split.labels, split.names, policies, 10, split.weights);
    for (size_t r = 0; r < rows[fold].size(); ++r) {
      const std::vector<float>& scores = test ? rows[fold][r].test : rows[fold][r].valid;
      result[r].row = rows[fold][r].name;
      result[r].folds.push_back(
          evaluator(std::vector<double>(scores.begin(), scores.end()), context.pool(), true));
    }
  }
  return result;
}

void add_rows(Json& summary, const std::vector<std::string>& tools, const std::string& split,
              const std::vector<RowEvaluations>& rows, const std::string& chosen) {
  for (size_t tool = 0; tool < tools.size(); ++tool)
    for (const RowEvaluations& row : rows) {
      Average ndcg;
      Average err;
      Average map;
      double err_max = 0;
      Json folds = Json::array();
      const MeasureTable& m = row.folds[0][tool].measures;
      for (size_t fold = 0; fold < row.folds.size(); ++fold) {
        const Evaluation& e = row.folds[fold][tool];
        err_max = std::max(err_max, e.policy.err_max);
        ndcg.add(e.ndcg(10), e.standard_error[m.ndcg(10)]);
        err.add(e.mean[m.err()], e.standard_error[m.err()]);
        map.add(e.mean[m.map()], e.standard_error[m.map()]);
        folds.push_back({{"fold", fold + 1},
                         {"ndcg@10", e.ndcg(10)},
                         {"stderr", number(e.standard_error[m.ndcg(10)])},
                         {"err", number(e.mean[m.err()])},
                         {"queries", e.queries},
                         {"empty_queries", e.empty_queries},
                         {"short_queries", e.short_queries}});
      }
      summary["rows"].push_back({{"name", row.row},
                                 {"split", split},
                                 {"tool", tools[tool]},
                                 {"ndcg@10", ndcg.mean()},
                                 {"stderr", number(ndcg.standard_error())},
                                 {"err", number(err.mean())},
                                 {"err_max", err_max},
                                 {"err_stderr", number(err.standard_error())},
                                 {"map", number(map.mean())},
                                 {"folds", folds},
                                 {"chosen", row.row == chosen}});
      for (size_t k = 1; k <= 10; ++k) {
        Average at;
        for (const auto& fold : row.folds) at.add(fold[tool].ndcg(k), fold[tool].standard_error[m.ndcg(k)]);
        summary["ndcg_at"].push_back({{"row", row.row},
                                      {"tool", tools[tool]},
                                      {"split", split},
                                      {"k", k},
                                      {"ndcg", at.mean()},
                                      {"stderr", number(at.standard_error())}});
      }
    }
}

}  // namespace

std::string main_row_name(const std::vector<std::string>& names) {
  require(!names.empty(), "no row to stand for the experiment");
  // The mixture of all families, or that of the only one.
  const auto all = std::find(names.begin(), names.end(), "ALL+EXP");
  return all == names.end() ? names.front() : *all;
}

const MixRow& main_row(const std::vector<MixRow>& rows) {
  std::vector<std::string> names;
  for (const MixRow& row : rows) names.push_back(row.name);
  const std::string name = main_row_name(names);
  return *std::find_if(rows.begin(), rows.end(), [&](const MixRow& row) { return row.name == name; });
}

MetricPolicy evaluation_policy(const std::string& tool, const std::string& err_max, int labels) {
  MetricPolicy policy = preset(tool);
  policy_options().set(policy, "err-max", err_max);
  if (err_max == "auto") policy.err_max = std::exp2(labels - 1);
  return policy;
}

std::string err_label(double err_max) {
  return err_max == MetricPolicy().err_max ? "ERR" : fmt::format("ERR (max {:g})", err_max);
}

EvaluationResult evaluate(const Plan& plan, const std::vector<FoldInfo>& folds,
                          const std::vector<std::vector<MixRow>>& rows, const Context& context) {
  for (const auto& fold : rows)
    for (size_t r = 0; r < fold.size(); ++r)
      if (fold.size() != rows[0].size() || fold[r].name != rows[0][r].name)
        throw InternalError("the folds have different rows");
  EvaluationResult result;
  const SelectionName metric = SelectionName::parse(plan.config.mix.metric);
  const std::vector<std::string> tools = evaluation_tools(plan.config, folds);
  const std::string chosen = main_row(rows[0]).name;
  result.summary = {{"metric", metric.label()},
                    {"rows", Json::array()},
                    {"ndcg_at", Json::array()},
                    {"choices", Json::array()}};
  const bool has_test = plan.config.data.has_test();
  for (const bool test : {true, false}) {
    if (test && !has_test) continue;
    const auto evaluated = evaluate_split(plan, tools, folds, rows, test, context);
    add_rows(result.summary, tools, test ? "test" : "valid", evaluated, chosen);
    if (test != has_test) continue;
    for (const RowEvaluations& row : evaluated)
      for (size_t fold = 0; fold < row.folds.size(); ++fold) {
        const Evaluation& e = row.folds[fold][0];
        QueryValues values{row.row, fold, {}, {}};
        for (size_t q = 0; q < e.queries; ++q) {
          const double* at = e.per_query.data() + q * e.measures.columns();
          values.ndcg.push_back(at[e.measures.ndcg(10)]);
          values.err.push_back(at[e.measures.err()]);
        }
        result.per_query.push_back(std::move(values));
      }
  }
  for (size_t fold = 0; fold < rows.size(); ++fold)
    for (const MixRow& row : rows[fold]) {
      Json choice = {{"fold", fold + 1}, {"row", row.name}, {"c", row.mixture.c()}};
      choice["iterations"] = row.mixture.checkpoint() > 0 ? Json(row.mixture.checkpoint()) : Json(nullptr);
      choice["valid_" + metric.text()] = row.validation;
      choice["chosen_by"] = row.chosen_by;
      if (row.grid.empty()) {
        choice["c"] = nullptr;
        choice["member"] = row.mixture.members()[0].name();
      }
      result.summary["choices"].push_back(std::move(choice));
    }
  return result;
}

namespace {

// Whether an object has these fields with values of these types: s(tring), n(umber), N(umber or null),
// b(oolean), a(rray).
bool has_fields(const Json& object, std::initializer_list<std::pair<const char*, char>> fields) {
  return object.is_object() && std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
           const auto it = object.find(field.first);
           if (it == object.end()) return false;
           switch (field.second) {
             case 's':
               return it->is_string();
             case 'n':
               return it->is_number();
             case 'N':
               return it->is_number() || it->is_null();
             case 'b':
               return it->is_boolean();
             default:
               return it->is_array();
           }
         });
}

bool is_summary(const Json& summary) {
  if (!has_fields(summary, {{"metric", 's'}, {"rows", 'a'}, {"ndcg_at", 'a'}, {"choices", 'a'}}) ||
      summary.contains("warnings"))  // which are of a run, not of its results
    return false;
  const auto is_fold = [](const Json& fold) {
    return has_fields(fold, {{"fold", 'n'}, {"ndcg@10", 'n'}, {"stderr", 'N'}, {"err", 'N'}});
  };
  const auto is_row = [&](const Json& row) {
    return has_fields(row, {{"name", 's'},
                            {"split", 's'},
                            {"tool", 's'},
                            {"ndcg@10", 'n'},
                            {"stderr", 'N'},
                            {"err", 'N'},
                            {"folds", 'a'},
                            {"err_max", 'n'},
                            {"chosen", 'b'}}) &&
           std::all_of(row["folds"].begin(), row["folds"].end(), is_fold);
  };
  const auto is_value = [](const Json& value) {
    return has_fields(value, {{"row", 's'}, {"tool", 's'}, {"split", 's'}, {"k", 'n'}, {"ndcg", 'n'}});
  };
  const auto is_choice = [](const Json& choice) { return has_fields(choice, {{"fold", 'n'}, {"row", 's'}}); };
  const auto all = [&](const char* key, const auto& good) {
    return std::all_of(summary[key].begin(), summary[key].end(), good);
  };
  return !summary["rows"].empty() && all("rows", is_row) && all("ndcg_at", is_value) &&
         all("choices", is_choice);
}

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
        values.row != result.per_query[i - values.fold].row)
      in.fail("a row without the values of a fold");
  }
  if (queries.empty() || result.per_query.size() % queries.size() != 0)
    in.fail("a row without the values of a fold");
}

}  // namespace

std::vector<uint8_t> save_evaluation(const EvaluationResult& result) {
  BinaryWriter out;
  out.put(json_text(result.summary, -1));
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
  result.summary = Json::parse(in.get_string(), nullptr, false);
  if (!is_summary(result.summary)) in.fail("its summary is not as it should be");
  const size_t count = in.get_count(1);
  for (size_t i = 0; i < count; ++i) {
    QueryValues values;
    values.row = in.get_string();
    values.fold = in.get<uint64_t>();
    values.ndcg = in.get_vector<double>();
    values.err = in.get_vector<double>();
    if (values.ndcg.size() != values.err.size()) in.fail("a query has one measure and not the other");
    result.per_query.push_back(std::move(values));
  }
  in.expect_end();
  expect_complete(result, in);
  return result;
}

std::string results_table(const Json& results, bool markdown) {
  std::string tool;
  std::string split;
  size_t width = 16;  // of the column of NDCG
  std::string err_header;
  std::string out;
  size_t name_width = 14;
  for (const Json& row : results["rows"])
    name_width = std::max(name_width, row["name"].get_ref<const std::string&>().size());
  const auto err_width = [](const std::string& header) { return std::max<size_t>(12, header.size() + 2); };
  for (const Json& row : results["rows"]) {
    // The first split: test, or validation where there is no test data.
    if (tool.empty()) {
      tool = row["tool"].get<std::string>();
      split = row["split"].get<std::string>();
      const std::string header = fmt::format("{} NDCG@10{}", tool, split == "test" ? "" : " (validation)");
      width = std::max(width, header.size() + 2);
      err_header = tool + " " + err_label(row["err_max"].get<double>());
      out += markdown ? fmt::format("| row | {} | std. error | {} | folds |\n|---|---|---|---|---|\n", header,
                                    err_header)
                      : fmt::format("  {:<{}}{:>{}}{:>12}{:>{}}   {}\n", "row", name_width, header, width,
                                    "std. error", err_header, err_width(err_header), "folds");
    }
    if (row["tool"] != tool || row["split"] != split) break;
    std::string folds;
    for (const Json& fold : row["folds"])
      folds += fmt::format("{}{:.4f}", folds.empty() ? "" : " ", fold["ndcg@10"].get<double>());
    const bool chosen = row["chosen"].get<bool>();
    const std::string name = row["name"].get<std::string>();
    const std::string error =
        row["stderr"].is_null() ? "-" : fmt::format("{:.4f}", row["stderr"].get<double>());
    const std::string err = row["err"].is_null() ? "-" : fmt::format("{:.4f}", row["err"].get<double>());
    const double ndcg = row["ndcg@10"].get<double>();
    if (markdown)
      out += fmt::format("| {0}{1}{0} | {0}{2:.4f}{0} | {3} | {4} | {5} |\n", chosen ? "**" : "", name, ndcg,
                         error, err, folds);
    else
      out += fmt::format("{} {:<{}}{:>{}.4f}{:>12}{:>{}}   {}\n", chosen ? "*" : " ", name, name_width, ndcg,
                         width, error, err, err_width(err_header), folds);
  }
  out += fmt::format("{}Choices were made by validation {}, ties averaged.\n", markdown ? "\n" : "  ",
                     results["metric"].get<std::string>());
  std::string warnings;
  if (results.contains("warnings"))
    for (const Json& warning : results["warnings"])
      warnings +=
          fmt::format("{}{}\n", markdown ? "> **Warning:** " : "  warning: ", warning.get<std::string>());
  return markdown && !warnings.empty() ? warnings + "\n" + out : out + warnings;
}

}  // namespace tunemix
