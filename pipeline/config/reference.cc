// The reference of the config as Markdown.
#include "pipeline/config/tables.h"
#include "tunemix/learners/recipe.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

void add_title(std::string& out, const std::string& title, const std::string& intro) {
  out += fmt::format("\n## `{}`\n\n{}\n\n| key | default | expected | what it is |\n|---|---|---|---|\n",
                     title, intro);
}

void add_key(std::string& out, const std::string& name, const std::string& value, const std::string& expected,
             const std::string& doc) {
  out +=
      fmt::format("| `{}` | {} | {} | {} |\n", name, value.empty() ? "" : "`" + value + "`", expected, doc);
}

template <typename Struct>
void add_keys(std::string& out, const OptionTable<Struct>& table) {
  for (const auto& entry : table.entries())
    add_key(out, entry.name, entry.get(Struct{}), entry.expected, entry.doc);
}

template <typename Struct>
void add_section(std::string& out, const std::string& title, const std::string& intro,
                 const OptionTable<Struct>& table) {
  add_title(out, title, intro);
  add_keys(out, table);
}

void add_learner(std::string& out, const LearnerEntry& learner) {
  const std::string citation = learner.citation.empty() ? "" : fmt::format(" ({})", learner.citation);
  const std::string weight = learner.weights == WeightUse::kDocument ? " A weight of 2 is the document twice."
                             : learner.weights == WeightUse::kQuery
                                 ? " A weight of 2 for all documents of a query is the query twice."
                                 : "";
  const std::string missing =
      !learner.start || learner.takes_missing
          ? ""
          : " A missing value becomes the median, with an indicator feature beside it.";
  const std::string row = learner.row.empty() ? "" : fmt::format(" Rows `{}+...`.", learner.row);
  add_title(out, "learners[]: type: " + learner.type, learner.doc + citation + row + weight + missing);
  add_keys(out, common_learner_table(learner));
  for (const GridKey& key : common_grid_keys(learner))
    add_key(out, key.name, key.default_value, key.expected, key.doc);
  if (learner.external) {
    add_key(out, "name", "", "letters, digits, '.', '_' and '-'", "Name of the family and of its rows");
    add_key(out, "files", "", "{train: FILES, valid: FILES, test: FILES}, a list of them for several folds",
            "The scores of the documents of each split, in the order of the data's files, one or K numbers a "
            "line");
  }
  for (const OptionInfo& option : learner.options)
    add_key(out, option.name, option.default_value, option.expected, option.doc);
}

void add_recipes(std::string& out) {
  out +=
      "\n## `learners`\n\nA list of learners, each with a `type` and the keys of its section below. Without "
      "the key the recommended recipe is used,\nwhich depends on the number of training documents (of the "
      "largest fold) only; `data.standardize`, `data.calibration` and `calibrate` are then the\nrecipe's "
      "too, unless the config has them; with `data.standardize` in the config the recipe's learners that "
      "choose their own are left\nout. `config.resolved.yaml` in the run's folder shows what was used.\n";
  for (const Recipe& recipe : recommended_recipes()) {
    out += recipe.documents == Recipe::kAny ? "\nFor larger training data:\n"
                                            : fmt::format("\nUp to {} documents:\n", recipe.documents);
    out += "\n```yaml\n" + recipe.yaml + "```\n";
  }
}

}  // namespace

std::string config_reference() {
  std::string out =
      "# The config\n\n"
      "Every key of an experiment's YAML file. `tunemix run --help-config` prints this page. A list where "
      "one value is\n"
      "expected under `learners` is a grid: one learner for each combination (for `iterations`: checkpoints "
      "of one "
      "run).\n"
      "`key.path=value` on the command line overrides a key (`mix.c.to=100`, `learners.0.leaves=[8,16]`). "
      "Unknown "
      "keys are\nerrors.\n";
  add_section(out, "(top level)",
              "Beside these: `data`, `learners`, `calibrate`, `mix`, `evaluate`, `engine`.", header_table());
  add_section(
      out, "data",
      "Either `folds`, a list of `{train: FILES, valid: FILES, test: FILES}`, or `synthetic`. A split "
      "may be a list of files; `.gz` and `.zst` are read as they are, and `FILE.weight` beside a file holds "
      "the weights of its documents. `test` may be left out, in all folds alike: results are then those on "
      "validation.",
      data_table());
  add_section(out, "data.folds[].valid",
              "In place of FILES, for data without a validation split: whole queries of the training files, "
              "drawn at random but reproducibly, as in `valid: {from: train}`. A query that occurs twice in "
              "the files stays in training.",
              valid_from_table());
  add_section(out, "data.calibration", "The calibration split: whole training queries, at random.",
              calibration_split_table());
  add_title(
      out, "data.source",
      "Another, larger set to learn from, whose features are in part those of the folds. Standardised within "
      "each query like the folds, so `data.standardize: replace` is needed.");
  add_key(out, "files", "", "a list of files", "The documents of the source, in data.root");
  add_key(out, "features", "", "numbers, ranges as 1-10, and SOURCE:FOLD pairs as 5:7",
          "The features that both sets have (default: those with the same numbers); what the folds have "
          "alone is 0 "
          "in the source");
  add_keys(out, source_table());
  add_section(out, "data.synthetic", "Built-in data, for trying things out.", synthetic_table());
  add_recipes(out);
  for (const auto& learner : registry().entries()) add_learner(out, *learner);
  add_section(out, "calibrate",
              "Class-probability calibration, of learners with K score columns; `[]` for none.",
              calibrate_table());
  add_section(out, "calibrate.rbc", "Regression-based calibration: every regressor with every target.",
              rbc_table());
  add_section(out, "mix", "Weights exp(c * validation quality) over the members of a family.", mix_table());
  add_keys(out, mix_choice_table());
  add_section(out, "mix.c", "The grid that c is chosen from.", mix_c_table());
  add_section(out, "mix.fixed", "What is used instead of a choice.", mix_fixed_table());
  add_section(out, "evaluate", "What is reported.", evaluate_table());
  add_section(out, "engine", "Does not change results.", engine_table());
  add_section(out, "engine.slurm", "Job arrays of Slurm; docs/cluster.md has an example.", slurm_table());
  add_section(out, "engine.command",
              "Any launcher that runs a list of commands; docs/cluster.md has examples.", command_table());
  return out;
}

}  // namespace tunemix
