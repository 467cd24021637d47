#include "pipeline/report/assets.h"

// .incbin takes a file as it is: a megabyte of script costs the compiler nothing. Paths come from web.cmake.
#define TUNEMIX_ASSET(name, path)               \
  asm(".pushsection .rodata\n"                  \
      ".global tunemix_asset_" #name            \
      "\n"                                      \
      "tunemix_asset_" #name                    \
      ":\n"                                     \
      ".incbin \"" path                         \
      "\"\n"                                    \
      ".global tunemix_asset_" #name            \
      "_end\n"                                  \
      "tunemix_asset_" #name                    \
      "_end:\n"                                 \
      ".byte 0\n"                               \
      ".popsection\n");                         \
  extern "C" const char tunemix_asset_##name[]; \
  extern "C" const char tunemix_asset_##name##_end[]

TUNEMIX_ASSET(style, TUNEMIX_PAGE_CSS);
TUNEMIX_ASSET(script, TUNEMIX_PAGE_JS);
TUNEMIX_ASSET(charts, TUNEMIX_CHARTS_JS);

namespace tunemix::report {

std::string_view page_style() { return {tunemix_asset_style, tunemix_asset_style_end}; }
std::string_view page_script() { return {tunemix_asset_script, tunemix_asset_script_end}; }
std::string_view chart_script() { return {tunemix_asset_charts, tunemix_asset_charts_end}; }

}  // namespace tunemix::report
