# Run at build time: installs the pinned npm packages beside OUTPUT (never in the source tree) and bundles them.
# Variables: NPM, NODE, WEB (source directory), OUTPUT, REQUIRED (fail instead of building without charts).
function(without_charts reason)
  if(REQUIRED)
    message(FATAL_ERROR "TUNEMIX_CHARTS is ON, but ${reason}")
  endif()
  message(STATUS "The report will have tables only: ${reason}. Remove ${OUTPUT} to try again.")
  file(WRITE ${OUTPUT} "")
endfunction()

get_filename_component(directory ${OUTPUT} DIRECTORY)
file(COPY ${WEB}/package.json ${WEB}/package-lock.json DESTINATION ${directory})
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-timeout=60000
  WORKING_DIRECTORY ${directory} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE errors)
if(failed)
  string(REGEX MATCH "[^\n]+" first_error "${errors}")
  without_charts("npm could not install the chart packages (${first_error})")
  return()
endif()
execute_process(COMMAND ${NODE} ${WEB}/bundle.mjs ${directory}/node_modules ${OUTPUT}
  RESULT_VARIABLE failed ERROR_VARIABLE errors)
if(failed)
  without_charts("the chart scripts could not be bundled (${errors})")
endif()
