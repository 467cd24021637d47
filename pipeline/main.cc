#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <new>
#include <string_view>
#include <system_error>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/usage.h"
#include "pipeline/run/terminal.h"
#include "pipeline/run/wait_policy.h"
#include "tunemix/core/error.h"
#include "tunemix/core/instructions.h"

namespace {

// Needs none.
int fail_without_memory() {
  constexpr std::string_view kMessage = "tunemix: out of memory; give it more, or use fewer --threads\n";
  std::fwrite(kMessage.data(), 1, kMessage.size(), stderr);  // not buffered
  return 1;
}

// At once, as if killed: what a run has finished is in the store. An exception would do harm on its way:
// nlohmann's JSON is left half made and its destructors need memory, streams swallow it, and before main
// nothing can catch it.
[[gnu::constructor(101)]] void end_without_memory() {
  std::set_new_handler([] { ::_exit(fail_without_memory()); });
}

int fail(int code, const std::string& message) {
  std::cerr << "tunemix: " << tunemix::printable_lines(message) << '\n';
  return code;
}

// What a command printed must have arrived: a full disk or a closed pipe behind standard output is a failure.
int finish(int code) {
  errno = 0;
  std::cout.flush();
  if (std::cout.good() || code != 0) return code;
  const std::string why = errno != 0 ? std::generic_category().message(errno) : "the output is incomplete";
  return fail(1, "standard output: cannot write: " + why);
}

int run(int argc, char** argv) {
  using namespace tunemix;
  set_wait_policy(argv);
  CLI::App app("TuneMix: learning to rank by tuning and mixing multi-class classifiers");
  app.name("tunemix");
  app.set_version_flag("--version", [] {
    return fmt::format("tunemix " TUNEMIX_VERSION " ({} instructions)", instructions_name(instructions()));
  });
  app.require_subcommand(1);
  app.footer("'tunemix COMMAND --help' shows a command's options and an example.");
  Program program;
  add_run_command(app, program);
  add_fit_command(app, program);
  add_status_command(app, program);
  add_export_command(app, program);
  add_export_model_command(app, program);
  add_predict_command(app, program);
  add_serve_command(app, program);
  add_importance_command(app, program);
  add_distill_command(app, program);
  add_report_command(app, program);
  add_clean_command(app, program);
  add_eval_command(app, program);
  add_synth_command(app, program);
  add_clicks_command(app, program);
  add_compare_command(app, program);
  add_train_command(app, program);
  add_score_command(app, program);
  add_inspect_command(app, program);
  add_completions_command(app, program);
  add_job_command(app, program);
  add_task_command(app, program);
  try {
    instructions();  // an unknown set is refused before anything is done
    app.parse(argc, argv);
    if (app.got_subcommand("serve")) std::set_new_handler(nullptr);  // a request fails, not the service
    return finish(program.action());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return finish(app.exit(error));
    return fail(2, explain_usage(app, error, argc, argv));
  } catch (const InputError& error) {
    return fail(2, error.what());
  } catch (const Interrupted&) {
    return fail(130, "interrupted; everything finished so far is kept, the next run goes on from it");
  } catch (const std::bad_alloc&) {
    return fail_without_memory();
  } catch (const RunError& error) {
    return fail(1, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(1, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    return fail(1, fmt::format("the system refused: {}", error.code().message()));
  } catch (const InternalError& error) {
    return fail(1, fmt::format("a mistake of ours, please report it: {}", error.what()));
  } catch (const std::exception&) {
    return fail(1, "something unexpected happened, please report it with the command and what it was given");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (...) {  // also what explains an error needs memory
    return fail_without_memory();
  }
}
