# Tier 2, libgroove-llvm.so: loaded by a program that has something to compile with it, never linked.
# Without LLVM it is not built and Groove stays on tier 1; groove-info tells.
include(GNUInstallDirs)
set(GROOVE_LLVM_DIR ${PROJECT_BINARY_DIR}/lib)
target_compile_definitions(groove_llvm PRIVATE
  GROOVE_LLVM_FILE="libgroove-llvm.so" GROOVE_LLVM_INSTALL_DIR="${CMAKE_INSTALL_FULL_LIBDIR}")

# A package answers to its own minor version only. LLVM 14's code generator crashes on what we give it.
foreach(version IN ITEMS 22.1 21.1 20.1 19.1 18.1 17.0 16.0 15.0)
  find_package(LLVM ${version} CONFIG QUIET)
  if(LLVM_FOUND)
    break()
  endif()
endforeach()
if(NOT LLVM_FOUND)
  message(STATUS "Groove: no LLVM of 15 to 22 was found (14 and older are not used), so tier 2 is not "
                 "built; install llvm-22-dev and libzstd-dev for it")
  return()
endif()
if(GROOVE_SANITIZE)
  message(STATUS "Groove: tier 2 is not built with sanitizers, which LLVM's archives lack")
  return()
endif()
if(LLVM_ENABLE_ZSTD AND NOT TARGET zstd::libzstd_shared AND NOT TARGET zstd::libzstd_static)
  message(STATUS "Groove: LLVM ${LLVM_PACKAGE_VERSION} needs libzstd-dev, so tier 2 is not built")
  return()
endif()
message(STATUS "Groove: tier 2 with LLVM ${LLVM_PACKAGE_VERSION}")

# What the text form of a kernel needs is compiled in once more: the library shares no symbol with
# the program.
file(GLOB plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/jit/backends/llvm/plugin/*.cpp)
add_library(groove_llvm_plugin MODULE ${plugin_sources}
  ${PROJECT_SOURCE_DIR}/kernels/ir.cpp ${PROJECT_SOURCE_DIR}/kernels/ir_text.cpp
  ${PROJECT_SOURCE_DIR}/kernels/ir_verify.cpp ${PROJECT_SOURCE_DIR}/kernels/nest_driver.cpp
  ${PROJECT_SOURCE_DIR}/kernels/scalings.cpp
  ${PROJECT_SOURCE_DIR}/src/core/call_frame.cpp ${PROJECT_SOURCE_DIR}/src/core/check.cpp
  ${PROJECT_SOURCE_DIR}/src/core/dtype.cpp ${PROJECT_SOURCE_DIR}/src/core/message.cpp)
llvm_map_components_to_libnames(llvm_libraries orcjit runtimedyld x86codegen x86desc x86info)
target_include_directories(groove_llvm_plugin SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_include_directories(groove_llvm_plugin PRIVATE ${PROJECT_SOURCE_DIR}
                                                      ${PROJECT_SOURCE_DIR}/include)
target_compile_options(groove_llvm_plugin PRIVATE
  -Wall -Wextra $<$<BOOL:${GROOVE_WERROR}>:-Werror> -ffp-contract=off
  $<$<NOT:$<BOOL:${LLVM_ENABLE_RTTI}>>:-fno-rtti> -ffunction-sections -fdata-sections)
target_link_libraries(groove_llvm_plugin PRIVATE fmt::fmt-header-only ${llvm_libraries})
target_link_options(groove_llvm_plugin PRIVATE
  -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,defs -Wl,-O1)
set_target_properties(groove_llvm_plugin PROPERTIES
  PREFIX "" OUTPUT_NAME libgroove-llvm LIBRARY_OUTPUT_DIRECTORY ${GROOVE_LLVM_DIR}
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
if(GROOVE_INSTALL)
  install(TARGETS groove_llvm_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# A program that has Groove's code in itself finds the library where that Groove lies.
target_link_options(groove INTERFACE
  $<BUILD_INTERFACE:LINKER:-rpath,${GROOVE_LLVM_DIR}>
  $<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>)
