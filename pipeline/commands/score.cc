#include <fmt/format.h>

#include <iterator>

#include "pipeline/commands/commands.h"
#include "pipeline/learners/learner.h"
#include "tunemix/core/binary.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

struct ScoreArguments {
  std::filesystem::path model;
  std::vector<std::filesystem::path> data;
  std::filesystem::path out;
  int rounds = 0;
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

int score(const ScoreArguments& arguments, const Program& program) {
  const LoadedModel model = learner_of_model(arguments.model).load(arguments.model);
  if (arguments.rounds > model.rounds)
    throw_input("--rounds is {}; the model has {}", arguments.rounds, model.rounds);
  const auto context = program.context();
  LetorOptions options;
  options.num_features = model.features;
  options.unlabelled = true;
  options.max_feature_id = arguments.max_feature_id;
  const Dataset data = read_letor(arguments.data, options, *context);
  const int rounds = arguments.rounds > 0 ? arguments.rounds : model.rounds;
  write_file_atomically(arguments.out, score_text(model.score(data, rounds, *context)));
  return 0;
}

}  // namespace

void add_score_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("score", "Score documents with one model: K columns a document");
  const auto arguments = std::make_shared<ScoreArguments>();
  command->add_option("--model", arguments->model, "Model that `train` saved")->required();
  command->add_option("--data", arguments->data, "LETOR file or files to score")->required();
  command->add_option("--out", arguments->out, "Where to write the scores")->required();
  add_max_feature_id(*command, arguments->max_feature_id);
  command->add_option("--rounds", arguments->rounds, "Use only the first rounds of boosting (default: all)")
      ->check(CLI::PositiveNumber);
  add_common_options(*command, program);
  command->footer("Example: tunemix score --model m.tmx --data test.txt --out scores.txt");
  command->callback(
      [arguments, &program] { program.action = [=, &program] { return score(*arguments, program); }; });
}

}  // namespace tunemix
