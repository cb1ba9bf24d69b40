// All that Groove asks of asmjit besides mnemonics: making a function, virtual registers, labels,
// stack, constants, and executable memory. Upstream has renamed most of these calls; when Debian's
// snapshot changes, this file and facade.cpp change with it.
#pragma once

#include <asmjit/x86.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/asmjit/isa.h"
#include "kernels/asmjit/register_scan.h"

namespace groove::kernels::assembly {

using asmjit::Label;
using asmjit::x86::Compiler;
using asmjit::x86::Gp;
using asmjit::x86::Mem;
namespace Inst = asmjit::x86::Inst;
using Operand = asmjit::Operand_;
using MaskReg = asmjit::x86::KReg;
using asmjit::x86::Vec;

// While one lives on a thread, code that is generated there is written down instead of published.
class Listing {
 public:
  Listing();
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;
  void add_comment(const std::string& comment);
  std::string text() const;

 private:
  friend void log_code(asmjit::CodeHolder& code);
  asmjit::StringLogger logger_;
  Listing* outer_;
};

/// What is assembled into `code` goes to the thread's Listing if there is one, otherwise with
/// GROOVE_LOG=code to standard error.
void log_code(asmjit::CodeHolder& code);
/// Copies finished code into executable memory that lives until release_code() (code_memory.h).
/// Null inside a Listing. Throws groove::Error when memory runs out.
void* publish(asmjit::CodeHolder& code);
/// The environment that a CodeHolder is initialised with.
const asmjit::Environment& environment();

// Gives out virtual registers again once the scope that made them is over: the time that register
// allocation takes grows with their number.
template <typename Register>
class RegisterPool {
 public:
  template <typename Make>
  Register take(const Make& make) {
    if (used == registers_.size()) registers_.push_back(make());
    return registers_[used++];
  }
  std::size_t used = 0;

 private:
  std::vector<Register> registers_;
};

// One function `void f(const void* arguments)` under construction, with virtual registers.
class Function : private asmjit::ErrorHandler {
 public:
  explicit Function(Isa isa);
  ~Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  Isa isa() const { return isa_; }
  bool is_wide() const { return isa_ == Isa::kAvx512; }
  /// 32-bit lanes of a vector register.
  int lanes() const { return is_wide() ? 16 : 8; }
  int vector_bytes() const { return is_wide() ? 64 : 32; }
  Compiler& compiler() { return compiler_; }
  Gp argument() const { return argument_; }

  Gp new_gp();         // 64 bits; .r32() for the low half
  Vec new_vec();       // ymm or zmm
  Vec new_half_vec();  // xmm or ymm
  Vec new_xmm();
  MaskReg new_mask();  // 16 bits; AVX-512 only
  Label new_label();
  Mem new_stack(std::uint32_t size);  // 64-byte aligned
  /// A vector whose 32-bit (64-bit) lanes all hold `bits`, as a memory operand.
  Mem constant32(std::uint32_t bits);
  Mem constant64(std::uint64_t bits);
  Mem constant(const void* data, std::size_t size);  // size: a power of two up to 64
  void bind(const Label& label);

  // Registers that are made while a Scope lives are free for others after it.
  class Scope {
   public:
    explicit Scope(Function& function)
        : function_(function),
          gps_(function.gps_.used),
          vecs_(function.vecs_.used),
          xmms_(function.xmms_.used),
          masks_(function.masks_.used) {}
    ~Scope() {
      function_.gps_.used = gps_;
      function_.vecs_.used = vecs_;
      function_.xmms_.used = xmms_;
      function_.masks_.used = masks_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Function& function_;
    std::size_t gps_, vecs_, xmms_, masks_;
  };

  /// Ends the function and gives its address, as publish() does. Throws groove::Error when asmjit
  /// refused something.
  void* finish();

 private:
  void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override;

  // Gives one out, and notes that it holds something new.
  template <typename Register, typename Make>
  Register take(RegisterPool<Register>& pool, const Make& make) {
    const Register taken = pool.take(make);
    new_uses_.push_back({compiler_.cursor(), taken.id()});
    return taken;
  }

  // What asmjit works in. It is used again, for to ask the system for that memory in each function
  // takes about as long as to assemble a small one.
  struct Workshop {
    asmjit::CodeHolder code;
    Compiler compiler;
  };
  struct Workshops;
  static Workshops& workshops();

  Isa isa_;
  std::unique_ptr<Workshop> workshop_;
  asmjit::CodeHolder& code_;
  Compiler& compiler_;
  asmjit::FuncNode* node_ = nullptr;
  RegisterPool<Gp> gps_;
  RegisterPool<Vec> vecs_, xmms_;
  RegisterPool<MaskReg> masks_;
  std::vector<NewUse> new_uses_;
  Gp argument_;
};

/// The same register seen at another width.
inline Vec low_half(const Vec& v) { return v.isZmm() ? Vec(v.ymm()) : Vec(v.xmm()); }
inline Mem with_offset(Mem memory, std::int64_t bytes) {
  memory.addOffset(bytes);
  return memory;
}

}  // namespace groove::kernels::assembly
