// The C interface of libgroove-llvm.so, the separately loaded LLVM tier. It takes kernels in their
// text form and gives functions of the shape in kernels/nest_driver.h; no C++ object crosses it, so
// the library and the program share nothing but this page.
#pragma once

#include <stddef.h>

extern "C" {

// Raised with every change of this page, of NestArguments or of what the text form means.
#define GROOVE_LLVM_INTERFACE 3

struct GrooveLlvmCompiler;
struct GrooveLlvmCode;

struct GrooveLlvmInterface {
  int version;               // GROOVE_LLVM_INTERFACE
  const char* llvm_version;  // such as "22.1.8"
  // One compiler a set of instructions, "avx2" or "avx512", for processors with a first cache of so
  // many bytes. Null on failure; `error` then is a text for free_text(). A compiler serves one
  // thread at a time.
  GrooveLlvmCompiler* (*create)(const char* isa, size_t first_cache, char** error);
  // A kernel's code and the bytes that it needs, null on failure as above.
  GrooveLlvmCode* (*compile)(GrooveLlvmCompiler* compiler, const char* kernel, size_t* bytes,
                             char** error);
  // Writes the code to `writable` for running at `address`, both aligned to 64 bytes, and frees it.
  // Its NestFunction, null on failure as above; it lives as long as the memory.
  void* (*place)(GrooveLlvmCode* code, void* address, void* writable, char** error);
  // Its assembly as text for free_text(), null on failure.
  char* (*listing)(GrooveLlvmCompiler* compiler, const char* kernel, char** error);
  void (*destroy)(GrooveLlvmCompiler* compiler);
  void (*free_text)(char* text);
};

// The one symbol that the library exports.
#define GROOVE_LLVM_ENTRY "groove_llvm_interface"
using GrooveLlvmEntry = const GrooveLlvmInterface* (*)();

}  // extern "C"
