#include "tunemix/core/files.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tunemix/core/error.h"

namespace tunemix {

void expect_readable(const std::filesystem::path& file) {
  const std::string name = file.string();
  if (name == "-") return;
  if (name.empty()) throw_input("a file name is empty; expected the path of a file");
  if (::access(file.c_str(), R_OK) != 0) {
    const int error = errno;
    if (error == ENOENT && name.find_first_of("*?[") != std::string::npos)
      throw_input(
          "{}: cannot open: no file has that name; patterns are not expanded here, list the files one by one",
          name);
    if (error == ENOENT)
      throw_input("{}: cannot open: there is no such file; check the path, which is taken from the folder {}",
                  name, std::filesystem::current_path().string());
    if (error == EACCES) throw_input("{}: cannot open: you may not read it; check its permissions", name);
    throw_input("{}: cannot open: {}", name, std::generic_category().message(error));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw_input("{}: cannot open: it is a folder; expected a file", name);
}

}  // namespace tunemix
