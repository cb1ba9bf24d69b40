# Headers of the standard library and of fmt, parsed once for all files of the project: a third of a
# first build. Not beside a compiler cache, which would have to know all that went into them; that
# also keeps every file's own includes complete.
option(GROOVE_PRECOMPILE "Precompile the standard headers" ON)
if(NOT GROOVE_PRECOMPILE OR NOT PROJECT_IS_TOP_LEVEL OR CMAKE_CXX_COMPILER_LAUNCHER OR
   GROOVE_SANITIZE)
  return()
endif()
target_precompile_headers(groove_core PRIVATE
  <algorithm> <array> <atomic> <bit> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory>
  <mutex> <optional> <set> <string> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
# Of other files the flags differ.
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS targets)
  get_target_property(kind ${target} TYPE)
  get_target_property(independent ${target} POSITION_INDEPENDENT_CODE)
  get_target_property(linked ${target} LINK_LIBRARIES)
  if(kind MATCHES "^(OBJECT_LIBRARY|EXECUTABLE)$" AND "groove_options" IN_LIST linked
     AND NOT independent AND NOT target STREQUAL "groove_core")
    target_precompile_headers(${target} REUSE_FROM groove_core)
  endif()
endforeach()
