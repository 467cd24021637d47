// JSON as text. Paths and files hold any bytes; those that are no UTF-8 are replaced rather than refused.
#pragma once

#include <string>

namespace tunemix {

template <typename Json>
std::string json_text(const Json& json, int indent = 1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tunemix
