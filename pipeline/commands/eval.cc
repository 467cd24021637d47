#include "pipeline/commands/commands.h"

namespace tunemix {

void add_eval_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("eval", "Evaluate scores under the conventions of the usual tools");
  add_common_options(*command, program);
  command->callback([&program] { program.action = [] { return 0; }; });
}

}  // namespace tunemix
