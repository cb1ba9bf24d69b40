// What asmjit means by stderr in libgroove.so (cmake/shared.cmake): a variable of the library
// itself, as the archive of asmjit's code, made for programs, can address no other.
#include <cstdio>

extern "C" [[gnu::visibility("hidden")]] std::FILE* groove_asmjit_stderr;
std::FILE* groove_asmjit_stderr = stderr;
