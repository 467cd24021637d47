#include <filesystem>
#include <optional>

#include "pipeline/commands/commands.h"
#include "tunemix/core/text.h"
#include "tunemix/core/timer.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

struct SynthArguments {
  std::string preset = "quickstart";
  std::optional<size_t> queries;
  std::optional<size_t> features;
  std::optional<size_t> useful;
  std::optional<int> labels;
  uint64_t seed = 1;
  uint64_t problem = 0;
  std::string out;
};

int synth(const SynthArguments& arguments, const Program& program) {
  SyntheticOptions options = synthetic_preset(arguments.preset);
  if (arguments.queries) options.queries = *arguments.queries;
  if (arguments.features) options.features = *arguments.features;
  if (arguments.useful) options.useful = *arguments.useful;
  if (arguments.labels) options.labels = *arguments.labels;
  options.seed = arguments.seed;
  options.problem = arguments.problem;
  const auto context = program.context(arguments.seed);
  const Timer timer;
  const size_t documents = write_synthetic(options, arguments.out, *context);
  std::error_code no_size;  // of a pipe or a device
  const uintmax_t size = std::filesystem::file_size(arguments.out, no_size);
  context->log(LogLevel::kInfo, fmt::format("{}: {} documents, {} queries, {} features, {}{}", arguments.out,
                                            documents, options.queries, options.features,
                                            no_size ? "" : human_bytes(static_cast<double>(size)) + ", ",
                                            human_seconds(timer.seconds())));
  return 0;
}

}  // namespace

void add_synth_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("synth", "Write synthetic graded ranking data as LETOR text");
  auto arguments = std::make_shared<SynthArguments>();
  command
      ->add_option("--preset", arguments->preset,
                   "quickstart (small), mslr10k or web2 (the size of a web set; of fields, or of topics that "
                   "query and "
                   "document share)")
      ->check(CLI::IsMember(synthetic_presets()))
      ->capture_default_str();
  command->add_option("--queries", arguments->queries, "Number of queries, instead of the preset's")
      ->check(CLI::Range(size_t{1}, size_t{100000000}));
  command->add_option("--features", arguments->features, "Number of features, instead of the preset's")
      ->check(CLI::Range(1, 10000));
  command
      ->add_option("--useful", arguments->useful,
                   "Number of features that say something about their document; the others only look so")
      ->check(CLI::Range(1, 10000));
  command->add_option("--labels", arguments->labels, "Number of grades, instead of the preset's")
      ->check(CLI::Range(2, 5));
  command
      ->add_option("--seed", arguments->seed,
                   "Seed of the documents; every seed has the same ranking problem")
      ->capture_default_str();
  command
      ->add_option("--problem", arguments->problem,
                   "Another problem: features of other kinds, and other weights")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1000000}))
      ->capture_default_str();
  command->add_option("--out", arguments->out, "File to write")->required();
  add_common_options(*command, program);
  command->footer(
      "Example, the splits of a small experiment:\n"
      "  tunemix synth --preset quickstart --seed 1 --out train.txt\n"
      "  tunemix synth --preset quickstart --queries 50 --seed 2 --out valid.txt");
  set_action(*command, program, arguments, synth);
}

}  // namespace tunemix
