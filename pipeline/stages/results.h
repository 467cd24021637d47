// What a run found: its rows under every tool, NDCG by rank, choices and timings. They become JSON here and
// nowhere else. A number that there is not, such as the standard error of one query, is NaN, in JSON null.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace tunemix {

struct FoldResult {
  size_t fold = 0;  // from 1
  double ndcg = 0;  // NDCG@10
  double standard_error = 0;
  double err = 0;
  size_t queries = 0;
  size_t empty_queries = 0;
  size_t short_queries = 0;
};

// A row of the results on one split under one tool: means over folds.
struct ResultRow {
  std::string name;   // "ALL+EXP"
  std::string split;  // "test" or "valid"
  std::string tool;
  double ndcg = 0;  // NDCG@10
  double standard_error = 0;
  double err = 0;
  double err_max = 0;
  double err_standard_error = 0;
  double map = 0;
  std::vector<FoldResult> folds;
  bool main = false;  // stands for the experiment
};

struct NdcgAt {
  std::string row;
  std::string tool;
  std::string split;
  size_t k = 0;
  double ndcg = 0;
  double standard_error = 0;
};

// What was chosen for a row of one fold by the validation data.
struct RowChoice {
  size_t fold = 0;  // from 1
  std::string row;
  double c = 0;
  int64_t iterations = 0;  // 0: no boosting
  double quality = 0;      // of the mixture, by the metric of choices
  double chosen_by = 0;    // the value of the grid that c and T were chosen by
  std::string member;      // the only one, of a row that has no c; else empty
};

// NDCG@10 and ERR of one row on one fold, by query: what `compare` tests.
struct QueryValues {
  std::string row;
  size_t fold = 0;
  std::vector<double> ndcg;
  std::vector<double> err;
};

struct EvaluationResult {
  std::string metric = "ndcg@10";  // that choices were made by, as in the config
  std::vector<ResultRow> rows;     // of the test split (if there is one) before validation, by tool
  std::vector<NdcgAt> ndcg_at;
  std::vector<RowChoice> choices;
  std::vector<QueryValues> per_query;  // of the test split (or validation) under the first tool
};

struct StageTiming {
  std::string stage;
  double seconds = 0;
  size_t jobs = 0;
  size_t cached = 0;
};

// results.json.
struct Results {
  std::string name;
  uint64_t seed = 0;
  std::vector<std::string> warnings;  // what makes the numbers doubtful
  EvaluationResult evaluation;
  std::vector<StageTiming> timing;
};

// The main row under the first tool, on the test split or, without test data, on validation.
const ResultRow& main_row(const EvaluationResult& evaluation);

// "ERR", or "ERR (max 4)" where D is not that of the tools.
std::string err_label(double err_max);

std::vector<uint8_t> save_evaluation(const EvaluationResult& result);
// Throws InputError for what evaluate() cannot have made.
EvaluationResult load_evaluation(std::span<const uint8_t> payload);

// "metric", "rows", "ndcg_at" and "choices", whose quality has the given key.
nlohmann::ordered_json evaluation_json(const EvaluationResult& evaluation, const std::string& quality);
nlohmann::ordered_json results_json(const Results& results);
// The timings of an earlier results.json; what is none is left out.
std::vector<StageTiming> read_timing(const nlohmann::ordered_json& results);

// The rows of the test split (of validation, without test data) under the first tool, for a terminal and as
// Markdown.
std::string results_table(const Results& results, bool markdown);

}  // namespace tunemix
