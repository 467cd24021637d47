#include "pipeline/commands/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tunemix/core/text.h"

namespace tunemix {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Of an option or of what stands without a name.
std::string shown_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

std::string explain_extra(const CLI::App& command, const std::vector<std::string>& words,
                          const std::string& where) {
  const std::vector<std::string> known = flag_names(command);
  for (const std::string& word : words) {
    if (!word.starts_with("-") || word == "-") continue;
    const std::string flag = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), flag) == known.end() && flag != "-h")
      return fmt::format("'{}' has no option {}{}; see '{} --help'", where, flag, did_you_mean(flag, known),
                         where);
  }
  return fmt::format("there is a word too many after '{}'; see '{} --help'", where, where);
}

std::string explain_missing(const CLI::App& command, const std::string& where) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_required() && option->count() == 0)
      return fmt::format("'{}' needs {} ({}); see '{} --help'", where, shown_name(*option),
                         option->get_description(), where);
  return fmt::format("something is missing after '{}'; see '{} --help'", where, where);
}

// The option that the library's sentence begins with, and its description.
std::string explain_value(const CLI::App& command, const std::string& what, const std::string& where) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = shown_name(*option);
    const size_t at = what.find(name);
    if (at == std::string::npos) continue;
    const size_t end = at + name.size();
    if (end < what.size() && (std::isalnum(static_cast<unsigned char>(what[end])) != 0 || what[end] == '-'))
      continue;
    std::string given = option->results().empty() ? "" : " '" + option->results().back() + "'";
    std::string expected;
    if (const size_t range = what.find("range "); range != std::string::npos)
      expected = "; expected a number in " + what.substr(range + 6);
    else if (const size_t member = what.find(" not in {"); member != std::string::npos)
      expected = "; expected one of " + what.substr(member + 8);
    return fmt::format("{} cannot be{} ({}){}; see '{} --help'", name,
                       given.empty() ? " without a value" : given, option->get_description(), expected,
                       where);
  }
  return fmt::format("a value after '{}' is not what is expected there; see '{} --help'", where, where);
}

}  // namespace

std::string explain_usage(const CLI::App& app, const CLI::ParseError& error, int argc,
                          const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::vector<std::string> commands = command_names(app);
  if (words.empty()) return fmt::format("a command is missing; expected one of: {}", join(commands, ", "));
  const std::vector<const CLI::App*> all = app.get_subcommands({});
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const CLI::App* c) { return c->get_name() == words.front(); });
  const CLI::App* command = found == all.end() ? nullptr : *found;
  if (command == nullptr) {
    if (words.front().starts_with("-"))
      return fmt::format("a command is missing before {}; expected one of: {}", words.front(),
                         join(commands, ", "));
    return fmt::format("there is no command '{}'{}; expected one of: {}", words.front(),
                       did_you_mean(words.front(), commands), join(commands, ", "));
  }
  const std::string where = "tunemix " + command->get_name();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return explain_extra(*command, rest, where);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    // A misspelt option is the likelier mistake than a forgotten one.
    const std::string extra = explain_extra(*command, rest, where);
    return extra.starts_with("'") ? extra : explain_missing(*command, where);
  }
  return explain_value(*command, error.what(), where);
}

}  // namespace tunemix
