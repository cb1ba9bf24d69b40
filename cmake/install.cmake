# The install tree: headers, libgroove.a, libgroove.so, and what find_package(Groove) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(groove_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Groove)

install(TARGETS groove_archive groove groove_torch groove_shared groove_torch_shared
        EXPORT GrooveTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/groove DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT GrooveTargets NAMESPACE Groove:: DESTINATION ${groove_cmake_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/GrooveConfig.cmake.in
  ${PROJECT_BINARY_DIR}/GrooveConfig.cmake INSTALL_DESTINATION ${groove_cmake_dir})
# Until 1.0 a minor version may change anything.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/GrooveConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/GrooveConfig.cmake
              ${PROJECT_BINARY_DIR}/GrooveConfigVersion.cmake DESTINATION ${groove_cmake_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/groove)
