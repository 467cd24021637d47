# Installs the build, then builds and runs projects that find it: cmake -DBUILD=... -DSCRATCH=... -DGENERATOR=...
# -DCOMPILER=... -P run.cmake
file(REMOVE_RECURSE ${SCRATCH})
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${SCRATCH} OUTPUT_VARIABLE output ERROR_VARIABLE output
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
file(MAKE_DIRECTORY ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
set(tunemix ${SCRATCH}/prefix/bin/tunemix)
run(${tunemix} --version)
function(build_project source to)
  run(${CMAKE_COMMAND} -S ${source} -B ${to} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  run(${CMAKE_COMMAND} --build ${to})
endfunction()
build_project(${CMAKE_CURRENT_LIST_DIR} ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)
message("${output}")

# The shipped example ranks as `predict` scores.
build_project(${CMAKE_CURRENT_LIST_DIR}/../../docs/examples/rank ${SCRATCH}/rank)
file(WRITE ${SCRATCH}/tiny.yaml "name: tiny
data: {synthetic: {preset: quickstart, queries: 30, folds: 2}}
learners: [{type: lambdamart, leaves: 4, iterations: 10}, {type: svm, C: 0.1}]
")
run(${tunemix} run tiny.yaml --quiet)
run(${tunemix} synth --preset quickstart --queries 10 --seed 5 --out new.txt)
set(bundle runs/tiny/bundle-fold1.tmx)
run(${tunemix} predict --bundle ${bundle} --data new.txt --format tsv --out new.tsv --quiet)
run(${SCRATCH}/rank/rank ${bundle} new.txt)
string(REGEX MATCHALL "[^\n]+" ranked "${output}")
file(STRINGS ${SCRATCH}/new.tsv expected)
list(POP_FRONT expected)  # the header: qid, document, rank, score
list(LENGTH ranked lines)
list(LENGTH expected expected_lines)
if(lines LESS 50 OR NOT lines EQUAL expected_lines)
  message(FATAL_ERROR "the example printed ${lines} lines; expected ${expected_lines}")
endif()
foreach(line line_expected IN ZIP_LISTS ranked expected)
  string(REGEX REPLACE "^([^ ]+) ([^ ]+) ([^ ]+) .*" "\\1\t\\3\t\\2\t" start "${line}")
  string(FIND "${line_expected}" "${start}" at)
  if(NOT at EQUAL 0)
    message(FATAL_ERROR "the example printed '${line}'; expected '${line_expected}'")
  endif()
endforeach()
message("the example ranked ${lines} documents")
