// The name of this machine, for names of files that machines must not share.
#pragma once

#include <string>

namespace tunemix {

// Without dots and slashes, at most 30 characters.
std::string host_name();

}  // namespace tunemix
