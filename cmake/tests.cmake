# One test program a folder of tests/, in build/tests, all run by ctest.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(STATUS "Groove: no tests, googletest is missing (./check installs it)")
  return()
endif()
enable_testing()
# Two fifths of a whole build are tests; what they test lies in the library.
add_library(groove_test_options INTERFACE)
target_link_libraries(groove_test_options INTERFACE groove_options GTest::gtest)
target_compile_options(groove_test_options INTERFACE -O1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Of strings that are joined GCC 12 sees, at -O1, paths that are none.
  target_compile_options(groove_test_options INTERFACE -Wno-array-bounds -Wno-restrict
    -Wno-stringop-overflow)
endif()

# groove_add_test(<name> FOLDER <folder> [LAYERS <layer>… | STANDALONE] [TIMEOUT <seconds>]
#                 [SHARDS <count>])
# With LAYERS only their objects are linked, so that a lower layer's tests build while the rest
# changes; without, the final library, and with STANDALONE nothing of Groove.
function(groove_add_test name)
  cmake_parse_arguments(arg "STANDALONE" "FOLDER;TIMEOUT;SHARDS" "LAYERS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${arg_FOLDER}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  foreach(layer IN LISTS arg_LAYERS)
    if(TARGET groove_${layer})
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:groove_${layer}>)
    endif()
  endforeach()
  if(NOT arg_LAYERS AND NOT arg_STANDALONE)
    target_link_libraries(${name} PRIVATE Groove::groove)
  endif()
  if("kernels" IN_LIST arg_LAYERS OR NOT (arg_LAYERS OR arg_STANDALONE))
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/machine/fixed_machine.cpp)
  endif()
  # mpfr and gmp are the float functions' independent reference.
  target_link_libraries(${name} PRIVATE
    groove_test_options asmjit::asmjit mpfr gmp GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    GROOVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" GROOVE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(GROOVE_SANITIZE)
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  if(NOT arg_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
    return()
  endif()
  # Parts of one program, for ctest to run side by side.
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND ${name})
    set_tests_properties(${name}_${shard} PROPERTIES TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

groove_add_test(core_test FOLDER core LAYERS core)
groove_add_test(kernels_test FOLDER kernels LAYERS core kernels)
# The sample of build/tools/ulp that the kernels' tests take.
file(GLOB accuracy_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/ulp/*.cpp)
target_sources(kernels_test PRIVATE ${accuracy_sources})
add_executable(ulp ${PROJECT_SOURCE_DIR}/tools/ulp.cpp ${accuracy_sources}
  $<TARGET_OBJECTS:groove_core> $<TARGET_OBJECTS:groove_kernels>)
find_package(CLI11 REQUIRED)
target_link_libraries(ulp PRIVATE groove_options asmjit::asmjit mpfr gmp CLI11::CLI11)
set_target_properties(ulp PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
groove_add_test(contraction_test FOLDER contraction LAYERS core kernels)
groove_add_test(convolution_test FOLDER convolution LAYERS core kernels)
groove_add_test(backend_test FOLDER backend LAYERS core kernels llvm TIMEOUT 600 SHARDS 2)
if(TARGET groove_llvm_plugin)
  add_dependencies(backend_test groove_llvm_plugin)
endif()
groove_add_test(passes_test FOLDER passes)
groove_add_test(tiers_test FOLDER tiers)
if(TARGET groove_llvm_plugin)
  add_dependencies(tiers_test groove_llvm_plugin)
endif()
# The loader once more, told to look where nothing is.
groove_add_test(tiers_missing_test FOLDER tiers_missing LAYERS core kernels)
target_sources(tiers_missing_test PRIVATE ${PROJECT_SOURCE_DIR}/jit/backends/llvm/backend.cpp
                                          ${PROJECT_SOURCE_DIR}/jit/backends/llvm/library.cpp
                                          ${PROJECT_SOURCE_DIR}/jit/backends/llvm/places.cpp)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tiers_missing_test PRIVATE -Wno-stringop-overread)  # as above, of the library
endif()
target_compile_definitions(tiers_missing_test PRIVATE
  GROOVE_LLVM_FILE="libgroove-nowhere.so" GROOVE_LLVM_INSTALL_DIR="/nowhere")
groove_add_test(ops_test FOLDER ops TIMEOUT 600 SHARDS 4)
if(TARGET groove_llvm_plugin)
  add_dependencies(ops_test groove_llvm_plugin)
endif()
# Every sample on every tier, instruction set and number of threads; ops_test draws among them.
add_custom_target(same_bits_full
  COMMAND ${CMAKE_COMMAND} -E env SAME_BITS=full $<TARGET_FILE:ops_test>
          --gtest_filter=*EveryOpOnEveryTier* USES_TERMINAL)
groove_add_test(tensor_test FOLDER tensor)
groove_add_test(autodiff_test FOLDER autodiff)
groove_add_test(tracer_test FOLDER tracer TIMEOUT 600 SHARDS 4)
groove_add_test(threads_test FOLDER threads TIMEOUT 600)
groove_add_test(control_test FOLDER control)
groove_add_test(tell_test FOLDER tell TIMEOUT 600)
groove_add_test(graph_test FOLDER graph TIMEOUT 600)
target_sources(graph_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/ops/support.cpp)
groove_add_test(front_test FOLDER front)
groove_add_test(errors_test FOLDER errors)

# Whole programs in every way: a sample of the ways and forced exits here, all in programs_full.
file(GLOB program_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/programs/*.cpp)
find_package(CLI11 REQUIRED)
add_executable(programs_test ${program_sources})
target_link_libraries(programs_test PRIVATE groove_test_options Groove::groove CLI11::CLI11)
set_target_properties(programs_test PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(TARGET groove_llvm_plugin)
  add_dependencies(programs_test groove_llvm_plugin)
endif()
if(NOT GROOVE_SANITIZE)
  foreach(shard RANGE 3)
    add_test(NAME programs_test_${shard} COMMAND programs_test --shard ${shard} --shards 4)
    set_tests_properties(programs_test_${shard} PROPERTIES TIMEOUT 900)
  endforeach()
endif()
add_custom_target(programs_full COMMAND programs_test --full USES_TERMINAL)

# Programs that say the same when they are built against LibTorch, whose answers are kept.
file(GLOB agreement_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/agreement/*.cpp)
add_executable(agreement_cases ${agreement_sources})
target_link_libraries(agreement_cases PRIVATE groove_test_options Groove::torch)
set_target_properties(agreement_cases PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# The project itself: order of includes, length of files, lines of the headers, install tree.
groove_add_test(project_test FOLDER project/rules STANDALONE)
find_program(GROOVE_PYTHON python3)
if(GROOVE_PYTHON)
  add_test(NAME compat_tools
    COMMAND ${GROOVE_PYTHON} ${PROJECT_SOURCE_DIR}/tests/project/compat_test.py)
  add_test(NAME agreement
    COMMAND ${GROOVE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/agreement
            --program $<TARGET_FILE:agreement_cases>)
  add_test(NAME field_tool
    COMMAND ${GROOVE_PYTHON} ${PROJECT_SOURCE_DIR}/tests/project/field_test.py)
  # The reference of the public headers is written without a warning.
  find_program(GROOVE_DOXYGEN doxygen)
  if(GROOVE_DOXYGEN)
    add_test(NAME api_reference COMMAND ${PROJECT_SOURCE_DIR}/tools/api-reference
      ${PROJECT_BINARY_DIR}/api)
  endif()
  # What torch, at and c10 hold is what Groove's headers declare.
  add_test(NAME compat_names COMMAND ${GROOVE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/compat-names
    --check --compiler ${CMAKE_CXX_COMPILER})
endif()
add_executable(header_lines ${PROJECT_SOURCE_DIR}/tests/project/header_lines.cpp
                            ${PROJECT_SOURCE_DIR}/bench/headers/preprocessed.cpp)
target_link_libraries(header_lines PRIVATE groove_options)
set_target_properties(header_lines PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(NOT GROOVE_SANITIZE)
  add_test(NAME compilers COMMAND ${PROJECT_SOURCE_DIR}/tests/project/compilers
    ${PROJECT_SOURCE_DIR} $<TARGET_FILE:groove_archive>
    "$<TARGET_FILE:asmjit::asmjit> $<TARGET_FILE:fmt::fmt> $<TARGET_FILE:ZLIB::ZLIB> -pthread -lrt -ldl"
    ${CMAKE_CXX_COMPILER})
  set_tests_properties(compilers PROPERTIES TIMEOUT 900)
  # GCC's vectoriser makes these of a * b + c and a * b - c side by side, against -ffp-contract=off:
  # results would depend on which loop an element falls into.
  add_test(NAME no_contraction COMMAND sh -c
    "test -s $<TARGET_FILE:groove_archive> && ! ${CMAKE_OBJDUMP} -d --no-show-raw-insn $<TARGET_FILE:groove_archive> | grep -E 'vfm(addsub|subadd)'")
  add_test(NAME header_lines
    COMMAND header_lines ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR}/include)
  if(GROOVE_INSTALL)
    foreach(way IN ITEMS find_package add_subdirectory)
      add_test(NAME install_${way} COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run ${way}
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_COMMAND} ${CMAKE_CXX_COMPILER})
      set_tests_properties(install_${way} PROPERTIES TIMEOUT 900)
    endforeach()
    add_test(NAME install_shared COMMAND ${PROJECT_SOURCE_DIR}/tests/install/shared/run
      ${PROJECT_BINARY_DIR} ${CMAKE_COMMAND} ${CMAKE_CXX_COMPILER})
    set_tests_properties(install_shared PROPERTIES TIMEOUT 600)
  endif()
endif()

# Static objects of programs, with each compiler that is here.
if(NOT GROOVE_SANITIZE)
  set(compilers ${CMAKE_CXX_COMPILER})
  find_program(GROOVE_CLANG NAMES clang++-16 clang++-17 clang++-18 clang++-19)
  if(GROOVE_CLANG)
    list(APPEND compilers ${GROOVE_CLANG})
  endif()
  set(shared -)
  if(TARGET groove_shared)
    set(shared $<TARGET_FILE:groove_shared>)
  endif()
  add_test(NAME before_main COMMAND ${PROJECT_SOURCE_DIR}/tests/before_main/run
    ${PROJECT_SOURCE_DIR} $<TARGET_FILE:groove_archive>
    "$<TARGET_FILE:asmjit::asmjit> $<TARGET_FILE:fmt::fmt> $<TARGET_FILE:ZLIB::ZLIB> -pthread -lrt -ldl"
    ${shared} ${compilers})
  set_tests_properties(before_main PROPERTIES TIMEOUT 900)
endif()

# The samples are tests too: the same bits from every mode, tier and number of threads.
if(GROOVE_BUILD_SAMPLES)
  add_test(NAME samples_same_bits COMMAND ${PROJECT_SOURCE_DIR}/tests/project/samples_same_bits
    ${PROJECT_BINARY_DIR}/samples)
  set_tests_properties(samples_same_bits PROPERTIES TIMEOUT 900)
  add_test(NAME explain_graph COMMAND ${PROJECT_SOURCE_DIR}/tests/project/explain_graph
    ${PROJECT_BINARY_DIR}/tools)
  add_test(NAME look_inside COMMAND ${PROJECT_SOURCE_DIR}/tests/project/look_inside
    ${PROJECT_BINARY_DIR}/samples)
  add_test(NAME load_pretrained COMMAND ${PROJECT_SOURCE_DIR}/tests/project/load_pretrained
    ${PROJECT_BINARY_DIR}/samples ${PROJECT_SOURCE_DIR}/samples/data)
  # build/tools/groove-info --operators > docs/operators.md writes it anew.
  add_test(NAME operators_page COMMAND sh -c
    "$<TARGET_FILE:groove-info> --operators | cmp - ${PROJECT_SOURCE_DIR}/docs/operators.md")
endif()

# The page is what Groove makes of the step today; build/tools/write-walk writes it anew.
if(GROOVE_BUILD_SAMPLES AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_test(NAME one_training_step COMMAND write-walk --check
    ${PROJECT_SOURCE_DIR}/docs/one-training-step.md)
  add_test(NAME custom_pass COMMAND custom_pass)
endif()

# Random programs in all ways, bit for bit; the seeds are fixed so that a failure stays.
if(GROOVE_BUILD_SAMPLES)
  if(TARGET groove_llvm_plugin)
    add_dependencies(random-programs groove_llvm_plugin)
  endif()
  function(add_random_programs name)
    add_test(NAME random_programs_${name} COMMAND random-programs ${ARGN})
    set_tests_properties(random_programs_${name} PROPERTIES TIMEOUT 600)
  endfunction()
  add_random_programs(straight_0 --seed 1 --count 500)
  add_random_programs(straight_1 --seed 1001 --count 500)
  add_random_programs(loops --seed 1 --count 600 --loops)
  add_random_programs(drawn --seed 1 --count 1000 --drawn)
  add_random_programs(at_guard_pages --seed 5001 --count 150 --guard-pages)
  add_random_programs(planted_fault
    --seed 1 --count 100 --loops --plant-fault --failures 1 --whole)
  set_tests_properties(random_programs_planted_fault PROPERTIES WILL_FAIL TRUE)
  # Whole programs in the public API; about 20 s of one core.
  add_test(NAME random_loops COMMAND random-loops --seed 1 --count 100 --ways hot sync check)
  # What it has found, kept: inputs that died while a run had them.
  # What the search found, beside the loops that were made of it.
  foreach(seed 26113348 27400048 27800127)
    add_test(NAME random_loops_found_${seed}
      COMMAND random-loops --seed ${seed} --count 1 --first-themes 9 --ways hot guard-pages)
    set_tests_properties(random_loops_found_${seed} PROPERTIES TIMEOUT 900)
  endforeach()
  add_test(NAME random_loops_found_31500290
    COMMAND random-loops --seed 31500290 --count 1 --themes pool --first-themes 12 --ways hot)
  set_tests_properties(random_loops PROPERTIES TIMEOUT 900)
  # Training programs as people write them; compiling at once makes the measured share the same
  # however busy the machine is.
  add_test(NAME random_loops_recipes
    COMMAND random-loops --recipes --seed 1 --count 20 --length 150 --ways hot check)
  add_test(NAME random_loops_measure
    COMMAND random-loops --measure --recipes --seed 1 --count 5 --steps 600 --pairs 1
            --least-share 80)
  set_tests_properties(random_loops_recipes random_loops_measure PROPERTIES TIMEOUT 300)
  set_tests_properties(random_loops_measure PROPERTIES ENVIRONMENT GROOVE_COMPILE=sync)
endif()

# Long runs must not grow: briefly here, at full length in growth_full.
add_executable(growth ${PROJECT_SOURCE_DIR}/tests/growth/growth.cpp)
target_link_libraries(growth PRIVATE groove_options Groove::groove)
set_target_properties(growth PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(NOT GROOVE_SANITIZE)
  add_test(NAME growth COMMAND growth 20000 200000)
  set_tests_properties(growth PROPERTIES TIMEOUT 300)
endif()
add_custom_target(growth_full COMMAND growth 1000000 10000000 USES_TERMINAL)

# Code of very many kernels lies in few mappings: a sample here, all in many_kernels_full.
add_executable(many_kernels ${PROJECT_SOURCE_DIR}/tests/growth/many_kernels.cpp)
target_link_libraries(many_kernels PRIVATE groove_options Groove::groove)
set_target_properties(many_kernels PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(TARGET groove_llvm_plugin)
  add_dependencies(many_kernels groove_llvm_plugin)
endif()
if(NOT GROOVE_SANITIZE)
  add_test(NAME many_kernels COMMAND many_kernels 5000 300)
  set_tests_properties(many_kernels PROPERTIES TIMEOUT 300)
endif()
add_custom_target(many_kernels_full COMMAND many_kernels 200000 200000 USES_TERMINAL)
