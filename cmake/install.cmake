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
