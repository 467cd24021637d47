#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/model_point.h"
#include "pipeline/commands/output_file.h"
#include "tunemix/core/binary.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/learners/registry.h"
#include "tunemix/metric/policy.h"

namespace tunemix {
namespace {

struct ScoreArguments {
  std::filesystem::path model;
  std::vector<std::filesystem::path> data;
  std::filesystem::path out;
  std::string point;
  bool rank = false;
  size_t max_feature_id = LetorOptions().max_feature_id;
};

// One line a document, its K scores separated by blanks; every float is read back exactly.
std::string score_text(const ScoreMatrix& scores) {
  std::string text;
  for (size_t i = 0; i < scores.documents(); ++i)
    for (size_t l = 0; l < scores.columns(); ++l)
      fmt::format_to(std::back_inserter(text), "{}{}", scores.row(i)[l],
                     l + 1 < scores.columns() ? ' ' : '\n');
  return text;
}

// One score a document, the grade that is expected when the softmax of the K scores is taken for the labels'
// probabilities: sum_l (2^l - 1) p_l.
ScoreMatrix ranking_score(const ScoreMatrix& scores) {
  if (scores.columns() == 1) return scores;
  const std::vector<double> grades = exponential_grades(static_cast<int>(scores.columns()));
  ScoreMatrix result(scores.documents(), 1, "rank");
  for (size_t i = 0; i < scores.documents(); ++i) {
    const auto row = scores.row(i);
    const double top = *std::max_element(row.begin(), row.end());
    double sum = 0;
    double expected = 0;
    for (size_t l = 0; l < row.size(); ++l) {
      const double p = std::exp(row[l] - top);
      sum += p;
      expected += grades[l] * p;
    }
    result.row(i)[0] = static_cast<float>(expected / sum);
  }
  return result;
}

int score(const ScoreArguments& arguments, const Program& program) {
  std::vector<std::filesystem::path> inputs = arguments.data;
  inputs.push_back(arguments.model);
  expect_no_input(arguments.out, inputs);
  const LearnedModel learned = LearnedModel::load(arguments.model, registry());
  const size_t points[] = {point_number(*learned.model, arguments.point)};
  const auto context = program.context();
  LetorOptions options;
  options.num_features = learned.model->features();
  options.unlabelled = true;
  options.max_feature_id = arguments.max_feature_id;
  const Dataset data = read_letor(arguments.data, options, *context);
  const ScoreMatrix scores = learned.model->score(data, points, *context)[0];
  write_output(arguments.out, score_text(arguments.rank ? ranking_score(scores) : scores));
  return 0;
}

}  // namespace

void add_score_command(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("score", "Score documents with one model: K columns a document, or one");
  const auto arguments = std::make_shared<ScoreArguments>();
  command->add_option("--model", arguments->model, "Model that `train` saved")->required();
  command->add_option("--data", arguments->data, "LETOR file or files to score")->required();
  command->add_option("--out", arguments->out, "Where to write the scores, - for stdout")->required();
  add_max_feature_id(*command, arguments->max_feature_id);
  command->add_option("--point", arguments->point,
                      "One of the model's points, as `inspect` lists them: T=100, C=0.1 (default: the last)");
  command->add_flag(
      "--rank", arguments->rank,
      "One score a document, as eval reads it: the expected grade sum (2^l - 1) p_l, p the softmax of the "
      "K scores");
  add_common_options(*command, program);
  command->footer(
      "Example:\n"
      "  tunemix score --model m.tmx --data test.txt --rank --out test.scores\n"
      "  tunemix eval --data test.txt --scores test.scores");
  set_action(*command, program, arguments, score);
}

}  // namespace tunemix
