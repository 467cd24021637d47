#include "pipeline/commands/output_file.h"

#include <algorithm>
#include <iostream>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"

namespace tunemix {

void write_output(const std::filesystem::path& file, const std::string& text) {
  if (file == "-")
    std::cout << text;
  else
    write_user_file(file, text, Folders::kMake);
}

void expect_no_input(const std::filesystem::path& out, const std::vector<std::filesystem::path>& inputs) {
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw_input("standard input (-) is given for several inputs; it can be read for one");
  if (out.empty() || out == "-") return;
  std::error_code ignored;
  for (const std::filesystem::path& input : inputs)
    if (input != "-" && std::filesystem::is_regular_file(input, ignored) && same_file(out, input))
      throw_input("{} would be written over the input {}; give another file", out.string(), input.string());
}

void expect_file_name(const std::filesystem::path& out, std::string_view option, std::string_view what) {
  if (out == "-")
    throw_input("{} is '-', and a {} is not text to print; give the name of a file", option, what);
}

}  // namespace tunemix
