// JSON as text and in files. Paths and files hold any bytes; those that are no UTF-8 are replaced rather than
// refused.
#pragma once

#include <filesystem>
#include <string>

#include "tunemix/core/file.h"

namespace tunemix {

template <typename Json>
std::string json_text(const Json& json, int indent = 1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// A discarded value if there is no such file or it holds no JSON. Throws if the file cannot be read: its
// content must not be taken for gone.
template <typename Json>
Json json_if_there(const std::filesystem::path& file) {
  return Json::parse(read_if_there(file).value_or(""), nullptr, false);
}

}  // namespace tunemix
