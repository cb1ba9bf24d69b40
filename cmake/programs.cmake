# Samples, benchmarks and tools: one file, one program, in build/{samples,bench,tools}.

# groove_program(<name> <folder> <sources>…): a program of the project, with its warnings.
function(groove_program name folder)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE groove_options Groove::groove)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
endfunction()

# Samples see what users see: the public headers only, and no flags of ours but the warnings.
find_package(CLI11 REQUIRED)
add_custom_target(groove_samples)
# Loaded, not linked, so nothing else says that programs want it.
if(TARGET groove_llvm_plugin)
  add_dependencies(groove_samples groove_llvm_plugin)
endif()
add_library(sample_options STATIC EXCLUDE_FROM_ALL
  ${PROJECT_SOURCE_DIR}/samples/options/sample_options.cpp)
target_link_libraries(sample_options PRIVATE CLI11::CLI11)
target_include_directories(sample_options PUBLIC ${PROJECT_SOURCE_DIR}/samples/options)
target_compile_definitions(sample_options PRIVATE
  GROOVE_SAMPLE_DATA="${PROJECT_SOURCE_DIR}/samples/data")
file(GLOB sample_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/samples/*.cpp)
foreach(source IN LISTS sample_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_compile_options(${name} PRIVATE -Wall -Wextra $<$<BOOL:${GROOVE_WERROR}>:-Werror>)
  target_link_libraries(${name} PRIVATE sample_options Groove::groove)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/samples)
  add_dependencies(groove_samples ${name})
endforeach()
# The five whose table ends ./quickstart.
add_custom_target(groove_quickstart
  DEPENDS regression small_digits lstm_cell cnn_mnist char_gpt
          $<TARGET_NAME_IF_EXISTS:groove_llvm_plugin>)

file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.cpp)
# Needs the tests' reference library and stands there (tests.cmake).
list(REMOVE_ITEM tool_sources ${PROJECT_SOURCE_DIR}/tools/ulp.cpp)
foreach(source IN LISTS tool_sources)
  get_filename_component(name ${source} NAME_WE)
  # Files are spelled groove_opt, commands groove-opt.
  string(REPLACE _ - name ${name})
  # What does not fit one file lies in a folder of the file's name.
  string(REGEX REPLACE "[.]cpp$" "" folder ${source})
  file(GLOB parts CONFIGURE_DEPENDS ${folder}/*.cpp)
  groove_program(${name} tools ${source} ${parts})
  target_link_libraries(${name} PRIVATE CLI11::CLI11)
  target_compile_definitions(${name} PRIVATE GROOVE_VERSION="${PROJECT_VERSION}")
endforeach()

# Shows lines of its own source.
target_compile_definitions(write-walk PRIVATE GROOVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

# Google Benchmark is there for benchmarks that want it; none has to.
find_package(benchmark QUIET)
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
foreach(source IN LISTS bench_sources)
  get_filename_component(name ${source} NAME_WE)
  groove_program(bench_${name} bench ${source})
  target_link_libraries(bench_${name} PRIVATE CLI11::CLI11 asmjit::asmjit
                                              $<TARGET_NAME_IF_EXISTS:benchmark::benchmark>)
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name})
endforeach()

foreach(name IN ITEMS sizes feeds)
  target_sources(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench/pairs/pairs.cpp)
endforeach()

# build/bench/headers times compilations; tests/project counts lines.
target_sources(bench_headers PRIVATE ${PROJECT_SOURCE_DIR}/bench/headers/preprocessed.cpp)
target_compile_definitions(bench_headers PRIVATE
  GROOVE_COMPILER="${CMAKE_CXX_COMPILER}" GROOVE_INCLUDE="${PROJECT_SOURCE_DIR}/include"
  GROOVE_PEER="${GROOVE_PEER_TORCH}")

# build/bench/start times these two.
foreach(name IN ITEMS empty one_op)
  add_executable(start_${name} ${PROJECT_SOURCE_DIR}/bench/start/${name}.cpp)
  set_target_properties(start_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  add_dependencies(bench_start start_${name})
endforeach()
target_link_libraries(start_one_op PRIVATE Groove::groove)

# The anchors' models are one LibTorch program, built once with each library; build/bench/anchors
# starts them as child processes and links neither.
set(anchors_folder ${PROJECT_SOURCE_DIR}/bench/anchors)
set(anchor_sources ${anchors_folder}/anchors_child.cpp)
foreach(family IN ITEMS models convolutional recurrent transformer operators varying)
  list(APPEND anchor_sources ${anchors_folder}/anchors_${family}.cpp)
endforeach()
add_executable(bench_anchors ${anchors_folder}/anchors.cpp ${anchors_folder}/contestant.cpp)
target_compile_definitions(bench_anchors PRIVATE ANCHORS_PEERS="${PROJECT_SOURCE_DIR}/bench/peers")
target_link_libraries(bench_anchors PRIVATE CLI11::CLI11)
add_executable(anchors_groove ${anchor_sources})
target_compile_definitions(anchors_groove PRIVATE ANCHORS_LIBRARY="Groove ${PROJECT_VERSION}"
                                                  ANCHORS_TELL_COMPILED)
target_link_libraries(anchors_groove PRIVATE Groove::torch)
set_target_properties(bench_anchors anchors_groove PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
set_target_properties(bench_anchors PROPERTIES OUTPUT_NAME anchors)
add_dependencies(bench_anchors anchors_groove)

# build/tools/explain-graph looks at the same models.
set(model_sources ${anchor_sources})
list(REMOVE_ITEM model_sources ${anchors_folder}/anchors_child.cpp)
target_sources(explain-graph PRIVATE ${model_sources})
target_link_libraries(explain-graph PRIVATE Groove::torch)

# build/bench/memory starts the same models to see what their steps allocate.
set(memory_folder ${PROJECT_SOURCE_DIR}/bench/memory)
set(memory_sources ${model_sources} ${memory_folder}/memory_child.cpp)
add_executable(memory_groove ${memory_sources} ${memory_folder}/watch_groove.cpp)
target_compile_definitions(memory_groove PRIVATE MEMORY_LIBRARY="Groove ${PROJECT_VERSION}")
target_link_libraries(memory_groove PRIVATE Groove::torch)
set_target_properties(memory_groove PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
add_dependencies(bench_memory memory_groove)
if(GROOVE_PEER_TORCH)
  include(peer_torch)
endif()
