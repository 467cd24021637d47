// Turns what is wrong with a command line into a sentence that says what to do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tunemix {

std::string explain_usage(const CLI::App& app, const CLI::ParseError& error, int argc,
                          const char* const* argv);

}  // namespace tunemix
