# asmjit of the version whose spellings the façade in kernels/asmjit speaks. Debian's package has no
# version file, so the version is read from its header by a trial compilation (cached).
find_package(asmjit CONFIG QUIET)
if(NOT asmjit_FOUND)
  message(FATAL_ERROR "Groove: asmjit was not found; install libasmjit-dev (or run ./quickstart)")
endif()

include(CheckCXXSourceCompiles)
function(groove_check_asmjit)
  get_target_property(CMAKE_REQUIRED_INCLUDES asmjit::asmjit INTERFACE_INCLUDE_DIRECTORIES)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  check_cxx_source_compiles("
#include <asmjit/core/api-config.h>
static_assert(ASMJIT_LIBRARY_VERSION >= 0x010900 && ASMJIT_LIBRARY_VERSION < 0x011200);
" GROOVE_ASMJIT_VERSION_FITS)
  if(NOT GROOVE_ASMJIT_VERSION_FITS)
    message(FATAL_ERROR "Groove: this asmjit is not of 1.9 to 1.17, whose names Groove uses (1.18 "
                        "renamed them); install Debian's libasmjit-dev")
  endif()
endfunction()
groove_check_asmjit()
