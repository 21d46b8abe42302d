# cmake --install: the program, and the package that another project's
# find_package(narrowcast CONFIG) finds.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/narrowcast)

install(TARGETS narrowcast)
install(
  TARGETS nc_base nc_codec nc_emulate nc_transport nc_collective nc_plan nc_predict nc_store
          nc_exchange
  EXPORT narrowcast
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/narrowcast)
install(EXPORT narrowcast NAMESPACE narrowcast:: FILE narrowcastTargets.cmake
        DESTINATION ${package_dir})

# The component `torch`, which needs more to be found.
if(TARGET nc_train)
  install(
    TARGETS nc_data nc_run nc_train
    EXPORT narrowcastTorch
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/narrowcast)
  install(EXPORT narrowcastTorch NAMESPACE narrowcast:: FILE narrowcastTorchTargets.cmake
          DESTINATION ${package_dir})
endif()

configure_package_config_file(cmake/narrowcastConfig.cmake.in narrowcastConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(narrowcastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/narrowcastConfig.cmake
              ${PROJECT_BINARY_DIR}/narrowcastConfigVersion.cmake cmake/FindxxHash.cmake
              cmake/Findsodium.cmake cmake/Findturbojpeg.cmake
        DESTINATION ${package_dir})
