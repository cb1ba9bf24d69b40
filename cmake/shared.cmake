# libgroove.so, of the objects that libgroove.a is made of: for plugins and Python extensions, and for
# programs that share one Groove with them. Groove::shared, and Groove::torch_shared with the headers
# of LibTorch's names.
add_library(groove_shared SHARED ${groove_objects})
set_target_properties(groove_shared PROPERTIES
  OUTPUT_NAME groove EXPORT_NAME shared LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_compile_features(groove_shared INTERFACE cxx_std_20)
target_include_directories(groove_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(groove_shared PRIVATE fmt::fmt ZLIB::ZLIB Threads::Threads)
# Its threads outlive every dlclose(), so it stays. Its own calls go straight, as in a program, and
# not by way of a table that other libraries could change.
target_link_options(groove_shared PRIVATE
  LINKER:-z,nodelete LINKER:-Bsymbolic-functions LINKER:-O1)
if(NOT GROOVE_SANITIZE)
  target_link_options(groove_shared PRIVATE LINKER:-z,defs)
endif()
add_library(Groove::shared ALIAS groove_shared)

# Debian's asmjit is an archive for programs. All that keeps it from a shared library is how it
# addresses stderr, so a copy of it is given a variable of ours instead
# (kernels/asmjit/standard_error.cpp). Its names stay inside: a program may have its own asmjit.
get_target_property(asmjit_kind asmjit::asmjit TYPE)
if(asmjit_kind STREQUAL "STATIC_LIBRARY")
  set(asmjit_copy ${PROJECT_BINARY_DIR}/libgroove-asmjit.a)
  add_custom_command(OUTPUT ${asmjit_copy}
    COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=groove_asmjit_stderr
            $<TARGET_FILE:asmjit::asmjit> ${asmjit_copy}
    DEPENDS $<TARGET_FILE:asmjit::asmjit> VERBATIM)
  add_custom_target(groove_asmjit_copy DEPENDS ${asmjit_copy})
  add_dependencies(groove_shared groove_asmjit_copy)
  set_property(TARGET groove_shared APPEND PROPERTY LINK_DEPENDS ${asmjit_copy})
  target_link_libraries(groove_shared PRIVATE ${asmjit_copy} ${CMAKE_DL_LIBS} rt)
  target_link_options(groove_shared PRIVATE LINKER:--exclude-libs,libgroove-asmjit.a)
else()
  target_link_libraries(groove_shared PRIVATE asmjit::asmjit)
endif()

add_library(groove_torch_shared INTERFACE)
set_target_properties(groove_torch_shared PROPERTIES EXPORT_NAME torch_shared)
target_include_directories(groove_torch_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/groove/compat>
  $<INSTALL_INTERFACE:include/groove/compat>)
target_link_libraries(groove_torch_shared INTERFACE Groove::shared)
add_library(Groove::torch_shared ALIAS groove_torch_shared)
