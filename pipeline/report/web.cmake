# The report's style, script and charts become part of the program: assets.cc includes the files byte by byte.
set(TUNEMIX_CHARTS AUTO CACHE STRING "Charts in the report (needs npm): AUTO, ON or OFF")
set_property(CACHE TUNEMIX_CHARTS PROPERTY STRINGS AUTO ON OFF)
if(NOT TUNEMIX_CHARTS MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TUNEMIX_CHARTS is '${TUNEMIX_CHARTS}'; expected AUTO, ON or OFF")
endif()

find_program(NPM_PROGRAM npm)
find_program(NODE_PROGRAM node)
set(report_web ${CMAKE_CURRENT_LIST_DIR}/web)
set(report_charts ${CMAKE_CURRENT_BINARY_DIR}/report-web/charts.js)

if(TUNEMIX_CHARTS STREQUAL "OFF" OR NOT NPM_PROGRAM OR NOT NODE_PROGRAM)
  if(TUNEMIX_CHARTS STREQUAL "ON")
    message(FATAL_ERROR "TUNEMIX_CHARTS is ON, but npm or node was not found")
  elseif(TUNEMIX_CHARTS STREQUAL "AUTO")
    message(STATUS "npm not found: the report will have tables only")
  endif()
  set(report_charts ${CMAKE_CURRENT_BINARY_DIR}/report-web/no-charts.js)
  if(NOT EXISTS ${report_charts})
    file(WRITE ${report_charts} "")
  endif()
else()
  set(charts_required OFF)
  if(TUNEMIX_CHARTS STREQUAL "ON")
    set(charts_required ON)
  endif()
  add_custom_command(OUTPUT ${report_charts}
    COMMAND ${CMAKE_COMMAND} -DNPM=${NPM_PROGRAM} -DNODE=${NODE_PROGRAM} -DWEB=${report_web} -DOUTPUT=${report_charts}
      -DREQUIRED=${charts_required} -P ${report_web}/build.cmake
    DEPENDS ${report_web}/package.json ${report_web}/package-lock.json ${report_web}/bundle.mjs ${report_web}/build.cmake
    COMMENT "Bundling the report's charts" VERBATIM)
endif()

set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/assets.cc PROPERTIES
  COMPILE_DEFINITIONS "TUNEMIX_PAGE_CSS=\"${report_web}/page.css\";TUNEMIX_PAGE_JS=\"${report_web}/page.js\";TUNEMIX_CHARTS_JS=\"${report_charts}\""
  OBJECT_DEPENDS "${report_web}/page.css;${report_web}/page.js;${report_charts}")
