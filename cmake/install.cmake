include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(modules GLOBAL PROPERTY TUNEMIX_MODULES)
install(TARGETS ${modules} EXPORT tunemixTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tunemix RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/tunemix DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tunemixTargets NAMESPACE tunemix:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tunemix)
configure_package_config_file(cmake/tunemixConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tunemixConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tunemix)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tunemixConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tunemixConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tunemixConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tunemix)

# Completions, and a man page where help2man is: written by the program itself when it is built.
find_program(HELP2MAN help2man)
set(shell ${CMAKE_BINARY_DIR}/shell)
add_custom_command(OUTPUT ${shell}/tunemix.bash ${shell}/_tunemix
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:tunemix> -DHELP2MAN=$<$<BOOL:${HELP2MAN}>:${HELP2MAN}> -DOUT=${shell}
    -P ${PROJECT_SOURCE_DIR}/cmake/shell.cmake
  DEPENDS tunemix ${PROJECT_SOURCE_DIR}/cmake/shell.cmake VERBATIM)
add_custom_target(tunemix_shell ALL DEPENDS ${shell}/tunemix.bash ${shell}/_tunemix)
install(FILES ${shell}/tunemix.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tunemix)
install(FILES ${shell}/_tunemix DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${shell}/tunemix.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
