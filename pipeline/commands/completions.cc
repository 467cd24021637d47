#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "pipeline/commands/commands.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

// What completion knows of a command: made from the same tables that the command line is read by.
struct CommandWords {
  std::string name;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> options;  // --name and what it is
};

std::vector<CommandWords> words_of(const CLI::App& app) {
  std::vector<CommandWords> result;
  for (const CLI::App* command : app.get_subcommands({})) {
    CommandWords words{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames())
        words.options.emplace_back("--" + name, option->get_description());
    result.push_back(std::move(words));
  }
  return result;
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  for (const CommandWords& command : commands) names.push_back(command.name);
  std::string cases;
  for (const CommandWords& command : commands) {
    std::vector<std::string> options;
    for (const auto& option : command.options) options.push_back(option.first);
    cases += fmt::format("    {}) words='{}' ;;\n", command.name, join(options, " "));
  }
  return fmt::format(R"(# bash completion of tunemix; 'tunemix completions bash' prints it.
_tunemix() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
}}
complete -o default -o bashdefault -F _tunemix tunemix
)",
                     join(names, " "), cases);
}

// Inside '...[text]' of a zsh specification.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string names;
  std::string cases;
  for (const CommandWords& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.doc));
    cases += fmt::format("    {})\n      _arguments \\\n", command.name);
    for (const auto& [name, doc] : command.options)
      cases += fmt::format("        '*{}[{}]' \\\n", name, zsh_text(doc));
    cases += "        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef tunemix
# zsh completion of tunemix; 'tunemix completions zsh' prints it.
_tunemix() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_tunemix "$@"
)",
                     names, cases);
}

}  // namespace

void add_completions_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("completions", "Print a shell's completion of these commands");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->footer(
      "Example (an install puts them where the shells look):\n"
      "  source <(tunemix completions bash)");
  command->callback([shell, &app, &program] {
    program.action = [shell, &app] {
      const std::vector<CommandWords> commands = words_of(app);
      std::cout << (*shell == "bash" ? bash_script(commands) : zsh_script(commands));
      return 0;
    };
  });
}

}  // namespace tunemix
