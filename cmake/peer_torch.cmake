# The same benchmark sources built against LibTorch as its Python wheel ships it. Only libtorch_cpu
# and libc10 are linked: the umbrella library would pull in CUDA. TorchConfig.cmake is not used,
# because a CUDA wheel's asks for a whole CUDA toolkit at configure time.
set(peer_include ${GROOVE_PEER_TORCH}/include)
if(NOT EXISTS ${peer_include}/torch/csrc/api/include/torch/torch.h)
  message(FATAL_ERROR "GROOVE_PEER_TORCH=${GROOVE_PEER_TORCH} has no include/torch/csrc/api; give the "
                      "folder of the Python package torch (the one that holds version.py)")
endif()
file(STRINGS ${GROOVE_PEER_TORCH}/version.py peer_version REGEX "^__version__")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" peer_version "${peer_version}")

# Wheels until 2.6 were built with the old std::string; which one shows in the mangled names.
file(STRINGS ${GROOVE_PEER_TORCH}/lib/libc10.so peer_new_abi REGEX "cxx11" LIMIT_COUNT 1)
if(peer_new_abi)
  set(peer_abi 1)
else()
  set(peer_abi 0)
endif()

# groove_peer(<name> <library macro> <sources>…): a program built with LibTorch instead of Groove.
function(groove_peer name macro)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} SYSTEM PRIVATE
    ${peer_include} ${peer_include}/torch/csrc/api/include)
  target_compile_definitions(${name} PRIVATE ${macro}="LibTorch ${peer_version}"
                                             _GLIBCXX_USE_CXX11_ABI=${peer_abi})
  target_link_libraries(${name} PRIVATE
    ${GROOVE_PEER_TORCH}/lib/libtorch_cpu.so ${GROOVE_PEER_TORCH}/lib/libc10.so Threads::Threads)
  # The wheel's own libraries find theirs by rpath; the linker must not insist on them.
  target_link_options(${name} PRIVATE -Wl,--allow-shlib-undefined -Wl,--no-as-needed)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench
    BUILD_RPATH ${GROOVE_PEER_TORCH}/lib)
endfunction()

groove_peer(anchors_torch ANCHORS_LIBRARY ${anchor_sources})
add_dependencies(bench_anchors anchors_torch)
groove_peer(memory_torch MEMORY_LIBRARY ${memory_sources} ${memory_folder}/watch_torch.cpp)
add_dependencies(bench_memory memory_torch)
