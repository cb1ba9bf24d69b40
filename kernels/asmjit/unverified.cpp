// Distributions build asmjit with its assertions. One of them, whether two tables of the register
// allocator agree, walks all registers after every instruction and takes half of the time that
// kernels take to make. The library's definition is weak: the linker prefers this one. A library
// without assertions calls neither.
#include <asmjit/core.h>

ASMJIT_BEGIN_NAMESPACE

class RAAssignment {
 public:
  bool verify() noexcept;
};

bool RAAssignment::verify() noexcept { return true; }

ASMJIT_END_NAMESPACE
