# Headers that nearly every file of a kind includes, parsed once: a third of a first build. Not beside
# a compiler cache, which would have to know all that went into them; that and the sanitizers' builds
# also keep every file's own includes complete.
option(GROOVE_PRECOMPILE "Precompile the headers that most files include" ON)
if(NOT GROOVE_PRECOMPILE OR NOT PROJECT_IS_TOP_LEVEL OR CMAKE_CXX_COMPILER_LAUNCHER OR
   GROOVE_SANITIZE)
  return()
endif()
set(standard_headers <algorithm> <array> <atomic> <bit> <cmath> <cstdint> <cstring> <functional>
  <limits> <map> <memory> <mutex> <optional> <set> <string> <unordered_map> <utility> <variant>
  <vector> <fmt/format.h>)
# The flags must be the same: layers are position-independent, programs are not, and tests are
# compiled in a hurry. Of other files the flags differ.
target_precompile_headers(groove_core PRIVATE ${standard_headers})
target_precompile_headers(groove_ops PRIVATE ${standard_headers}
  ${PROJECT_SOURCE_DIR}/kernels/ops/reference.h ${PROJECT_SOURCE_DIR}/kernels/ops/rules.h)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
# groove_precompile(<name> OPTIONS <target> HEADERS <header>…): for programs that link that target.
function(groove_precompile name)
  cmake_parse_arguments(arg "" "OPTIONS" "HEADERS" ${ARGN})
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${standard_headers} ${arg_HEADERS})
endfunction()
set(public_headers ${PROJECT_SOURCE_DIR}/include/groove/groove.h)
groove_precompile(groove_precompiled OPTIONS groove_options HEADERS ${public_headers})
if(TARGET groove_test_options)
  groove_precompile(groove_precompiled_tests OPTIONS groove_test_options
    HEADERS <gtest/gtest.h> ${public_headers})
  target_precompile_headers(agreement_cases PRIVATE <torch/torch.h>)
endif()
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS targets)
  get_target_property(kind ${target} TYPE)
  get_target_property(independent ${target} POSITION_INDEPENDENT_CODE)
  get_target_property(linked ${target} LINK_LIBRARIES)
  if(NOT kind MATCHES "^(OBJECT_LIBRARY|EXECUTABLE)$" OR
     target MATCHES "^(groove_(core|ops|precompiled|precompiled_tests)|agreement_cases)$")
    continue()
  endif()
  if("groove_test_options" IN_LIST linked)
    target_precompile_headers(${target} REUSE_FROM groove_precompiled_tests)
  elseif("groove_options" IN_LIST linked AND independent)
    target_precompile_headers(${target} REUSE_FROM groove_core)
  elseif("groove_options" IN_LIST linked)
    target_precompile_headers(${target} REUSE_FROM groove_precompiled)
  endif()
endforeach()
