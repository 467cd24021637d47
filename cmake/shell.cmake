# Writes what shells and `man` show of the program, from the program's own tables:
#   cmake -DPROGRAM=tunemix -DHELP2MAN=help2man -DOUT=folder -P shell.cmake      (without HELP2MAN: no man page)
function(run_program file)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(MAKE_DIRECTORY ${OUT})
run_program(${OUT}/tunemix.bash completions bash)
run_program(${OUT}/_tunemix completions zsh)
if(NOT HELP2MAN)
  return()
endif()

# help2man makes the page of the program's --help; every command's --help is a section of its own.
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ".*Subcommands:\n" "" commands "${help}")
string(REGEX MATCHALL "\n  [a-z][a-z-]* " commands "\n${commands}")
set(sections "")
foreach(command ${commands})
  string(STRIP "${command}" command)
  execute_process(COMMAND ${PROGRAM} ${command} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\\" "\\e" help "${help}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "\n${help}")  # lines that troff would take for requests
  string(TOUPPER ${command} title)
  string(APPEND sections "[TUNEMIX ${title}]\n.nf${help}.fi\n\n")
endforeach()
file(WRITE ${OUT}/commands.h2m "${sections}")
# --version also says the instructions of this machine, which are no matter of the page.
execute_process(COMMAND ${PROGRAM} --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[0-9][0-9.]*" version "${version}")
execute_process(COMMAND ${HELP2MAN} --no-info --name "learning to rank by tune and mix"
  --version-string "tunemix ${version}" --include ${OUT}/commands.h2m
  --output ${OUT}/tunemix.1 ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
