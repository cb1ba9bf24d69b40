# The compiler and its flags, for every file of the project and for none of a user's.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# A project that adds Groove by add_subdirectory chooses its own build type and launcher.
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  message(FATAL_ERROR "Groove: ${CMAKE_SYSTEM_PROCESSOR} is not supported yet; it needs x86-64 with "
                      "AVX2 and FMA")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Groove: g++ ${CMAKE_CXX_COMPILER_VERSION} is too old; install g++-12 or newer")
endif()

# Global, because a project that adds Groove by add_subdirectory links these through it.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)

# -ffp-contract=off because g++ otherwise fuses a*b+c across statements, and bits would depend on
# what the optimiser saw (numeric contract). Its vectoriser of straight-line code fuses all the same,
# a*b+c beside a*b-c, so that is off, too (the test no_contraction looks).
add_library(groove_options INTERFACE)
target_include_directories(groove_options INTERFACE ${PROJECT_SOURCE_DIR}
                                                    ${PROJECT_SOURCE_DIR}/include)
target_compile_options(groove_options INTERFACE -Wall -Wextra $<$<BOOL:${GROOVE_WERROR}>:-Werror>
  -ffp-contract=off $<$<CXX_COMPILER_ID:GNU>:-fno-tree-slp-vectorize> -mavx2 -mfma -fno-math-errno)
target_link_libraries(groove_options INTERFACE fmt::fmt Threads::Threads ZLIB::ZLIB)

# Directory-wide, so that test frameworks built from headers are instrumented too.
if(GROOVE_SANITIZE)
  # GCC sees paths of instrumented code that are none, and takes references to what is thread_local
  # for null in optimised code.
  add_compile_options(-fsanitize=${GROOVE_SANITIZE} -fno-sanitize=null -fno-omit-frame-pointer -g
    -Wno-maybe-uninitialized -Wno-array-bounds)
  add_link_options(-fsanitize=${GROOVE_SANITIZE})
endif()

# Only what has a fault's point differs from an ordinary build, so that a compiler cache serves both.
if(GROOVE_FAULTS)
  file(GLOB_RECURSE faulty CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp
    ${PROJECT_SOURCE_DIR}/kernels/*.cpp ${PROJECT_SOURCE_DIR}/eager/*.cpp
    ${PROJECT_SOURCE_DIR}/tracer/*.cpp ${PROJECT_SOURCE_DIR}/autodiff/*.cpp
    ${PROJECT_SOURCE_DIR}/jit/*.cpp)
  foreach(source IN LISTS faulty)
    file(STRINGS ${source} points REGEX "has_fault\\(" LIMIT_COUNT 1)
    if(points)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS GROOVE_FAULTS)
    endif()
  endforeach()
endif()
