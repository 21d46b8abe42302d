# cmake --install: the program, and the package that another project's
# find_package(narrowcast CONFIG) finds.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/narrowcast)

install(TARGETS narrowcast)
install(
  TARGETS nc_base nc_codec nc_transport nc_collective
  EXPORT narrowcast
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/narrowcast)
install(EXPORT narrowcast NAMESPACE narrowcast:: FILE narrowcastTargets.cmake
        DESTINATION ${package_dir})

configure_package_config_file(cmake/narrowcastConfig.cmake.in narrowcastConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(narrowcastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/narrowcastConfig.cmake
              ${PROJECT_BINARY_DIR}/narrowcastConfigVersion.cmake cmake/FindxxHash.cmake
              cmake/Findsodium.cmake
        DESTINATION ${package_dir})
