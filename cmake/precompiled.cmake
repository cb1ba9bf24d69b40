# Headers of the standard library and of fmt, parsed once for all files of the project: a third of a
# first build. Not beside a compiler cache, which would have to know all that went into them; that
# also keeps every file's own includes complete.
option(GROOVE_PRECOMPILE "Precompile the standard headers" ON)
if(NOT GROOVE_PRECOMPILE OR NOT PROJECT_IS_TOP_LEVEL OR CMAKE_CXX_COMPILER_LAUNCHER OR
   GROOVE_SANITIZE)
  return()
endif()
# Twice, since the flags must be the same: for the layers, which are position-independent, and for
# the programs. Of other files the flags differ.
set(precompiled <algorithm> <array> <atomic> <bit> <cmath> <cstdint> <cstring> <functional> <limits>
  <map> <memory> <mutex> <optional> <set> <string> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h>)
target_precompile_headers(groove_core PRIVATE ${precompiled})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
add_library(groove_precompiled OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
target_link_libraries(groove_precompiled PRIVATE groove_options)
target_precompile_headers(groove_precompiled PRIVATE ${precompiled})
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS targets)
  get_target_property(kind ${target} TYPE)
  get_target_property(independent ${target} POSITION_INDEPENDENT_CODE)
  get_target_property(linked ${target} LINK_LIBRARIES)
  if(NOT kind MATCHES "^(OBJECT_LIBRARY|EXECUTABLE)$" OR NOT "groove_options" IN_LIST linked OR
     target MATCHES "^groove_(core|precompiled)$")
    continue()
  endif()
  if(independent)
    target_precompile_headers(${target} REUSE_FROM groove_core)
  else()
    target_precompile_headers(${target} REUSE_FROM groove_precompiled)
  endif()
endforeach()
