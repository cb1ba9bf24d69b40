# libgroove.a from one object library a layer, and the two targets that users name; libgroove.so is
# made of the same objects (shared.cmake), which are therefore position-independent. A program pays
# nothing for that: its linker puts plain addresses where the compiler left room for a table.
#
# Operators, backends and the tracer register themselves from static objects that nobody refers to,
# which a linker drops from a plain archive. Groove::groove is therefore an interface that links the
# archive Groove::archive whole; the same expression serves the build tree, add_subdirectory and
# the exported targets. It is for programs: Debian's asmjit is not position-independent.
set(GROOVE_LAYERS core kernels ops eager tracer autodiff llvm jit front)
set(core_folders src/core)
set(kernels_folders kernels)
# The operators define Tensor's methods, which use what upper layers define: objects of their own,
# so that the tests of the lower kernels link without them.
set(ops_folders kernels/ops kernels/tensor)
set(eager_folders eager)
set(tracer_folders tracer)
set(autodiff_folders autodiff)
# What loads tier 2; objects of its own as the backends' tests want them without the rest of the JIT.
set(llvm_folders jit/backends/llvm)
set(jit_folders jit)
set(front_folders src/nn src/optim src/data src/io)

# A layer sees the folders before it; tests/project checks the includes.
foreach(layer IN LISTS GROOVE_LAYERS)
  set(layer_sources)
  foreach(folder IN LISTS ${layer}_folders)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND layer_sources ${found})
  endforeach()
  if(layer STREQUAL "kernels")
    list(FILTER layer_sources EXCLUDE REGEX "/kernels/(ops|tensor)/")
  endif()
  if(layer STREQUAL "jit")
    list(FILTER layer_sources EXCLUDE REGEX "/jit/backends/llvm/")
  endif()
  list(FILTER layer_sources EXCLUDE REGEX "/jit/backends/llvm/plugin/")
  if(layer_sources)
    add_library(groove_${layer} OBJECT ${layer_sources})
    target_link_libraries(groove_${layer} PRIVATE groove_options)
    set_target_properties(groove_${layer} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # A thread's variables lie at fixed places, in libgroove.so too, where each would otherwise take a
    # call; it has less than 900 bytes of them (tests/install/shared), which dlopen() has room for.
    target_compile_options(groove_${layer} PRIVATE
      -fno-semantic-interposition -ftls-model=initial-exec)
    if(layer MATCHES "^(kernels|ops|jit)$")
      target_link_libraries(groove_${layer} PRIVATE asmjit::asmjit)
    endif()
    list(APPEND groove_objects $<TARGET_OBJECTS:groove_${layer}>)
    list(APPEND groove_layers_built ${layer})
  endif()
endforeach()

set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/io/archive.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS GROOVE_VERSION="${PROJECT_VERSION}")

add_library(groove_archive STATIC ${groove_objects})
set_target_properties(groove_archive PROPERTIES
  OUTPUT_NAME groove EXPORT_NAME archive LINKER_LANGUAGE CXX)
target_compile_features(groove_archive INTERFACE cxx_std_20)
target_include_directories(groove_archive INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(groove_archive PRIVATE fmt::fmt ZLIB::ZLIB asmjit::asmjit
                                     INTERFACE Threads::Threads)
add_library(Groove::archive ALIAS groove_archive)
# A program's own static objects may use Groove, whatever the order of linking: what the library
# registers before main() comes before all that has no priority. (A shared library is complete
# before the program's objects are made.)
add_custom_command(TARGET groove_archive POST_BUILD
  COMMAND ${CMAKE_OBJCOPY} --rename-section .init_array=.init_array.00200
          $<TARGET_FILE:groove_archive> VERBATIM)

add_library(groove INTERFACE)
target_link_libraries(groove INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,Groove::archive>)
add_library(Groove::groove ALIAS groove)

# Programs written for LibTorch: #include <torch/torch.h> finds Groove's.
add_library(groove_torch INTERFACE)
set_target_properties(groove_torch PROPERTIES EXPORT_NAME torch)
target_include_directories(groove_torch INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/groove/compat>
  $<INSTALL_INTERFACE:include/groove/compat>)
target_link_libraries(groove_torch INTERFACE Groove::groove)
add_library(Groove::torch ALIAS groove_torch)
