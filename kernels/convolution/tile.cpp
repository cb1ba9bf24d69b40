#include "kernels/convolution/tile.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <shared_mutex>

#include <asmjit/x86.h>

#include "kernels/asmjit/facade.h"
#include "src/core/check.h"
#include "src/core/fork.h"

namespace groove::kernels {
namespace {

namespace x86 = asmjit::x86;
namespace Inst = asmjit::x86::Inst;
constexpr int kUnroll = 4;

class ThrowOnError : public asmjit::ErrorHandler {
  void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override {
    GROOVE_ASSERT(false, "convolution tile: asmjit error {}: {}", error, message);
  }
};

class Generator {
 public:
  Generator(x86::Assembler& assembler, const ConvolutionTileSpec& spec)
      : as_(assembler),
        spec_(spec),
        is_wide_(spec.isa == Isa::kAvx512),
        is_double_(spec.dtype == kDouble),
        rows_(static_cast<int>(spec.a_offsets.size())),
        vectors_(static_cast<int>(spec.b_offsets.size())) {}

  void generate() {
    const asmjit::Label run = as_.newLabel(), sums = as_.newLabel();
    as_.mov(base_a_, argument(offsetof(ConvolutionTileArguments, a)));
    as_.mov(base_b_, argument(offsetof(ConvolutionTileArguments, b)));
    as_.mov(run_, argument(offsetof(ConvolutionTileArguments, runs)));
    as_.mov(end_, argument(offsetof(ConvolutionTileArguments, runs_end)));
    for (int id = 0; id < rows_ * vectors_; ++id) zero(id);
    as_.cmp(run_, end_);
    as_.jae(sums);
    as_.bind(run);
    as_.mov(a_, base_a_);
    as_.add(a_, x86::ptr(run_, offsetof(ConvolutionRun, a)));
    as_.mov(b_, base_b_);
    as_.add(b_, x86::ptr(run_, offsetof(ConvolutionRun, b)));
    as_.mov(count_, x86::ptr(run_, offsetof(ConvolutionRun, count)));
    const asmjit::Label done = as_.newLabel();
    if (spec_.has_row_masks) masked_steps(done);
    steps(done);
    as_.bind(done);
    as_.add(run_, static_cast<int>(sizeof(ConvolutionRun)));
    as_.cmp(run_, end_);
    as_.jb(run);
    as_.bind(sums);
    finish();
  }

 private:
  static x86::Mem argument(std::size_t offset) {
    return x86::ptr(x86::rdi, static_cast<std::int32_t>(offset));
  }
  Inst::Id pick(Inst::Id single, Inst::Id dual) const { return is_double_ ? dual : single; }
  x86::Vec reg(int id) const {
    return is_wide_ && !spec_.is_half ? x86::Vec(x86::zmm(id)) : x86::Vec(x86::ymm(id));
  }
  void zero(int id) {
    if (id < 16) {
      as_.vxorps(x86::xmm(id), x86::xmm(id), x86::xmm(id));
    } else {
      as_.vpxord(x86::zmm(id), x86::zmm(id), x86::zmm(id));
    }
  }
  x86::Mem a_element(int r, int u) const {
    return x86::ptr(a_, static_cast<std::int32_t>(spec_.a_offsets[static_cast<std::size_t>(r)] +
                                                  u * spec_.a_step));
  }
  x86::Mem b_vector(int v, int u) const {
    return x86::ptr(b_, static_cast<std::int32_t>(spec_.b_offsets[static_cast<std::size_t>(v)] +
                                                  u * spec_.b_step));
  }
  x86::Mem embedded(const x86::Mem& memory) const {
    const int lanes = (spec_.is_half ? 32 : 64) / (is_double_ ? 8 : 4);
    return lanes == 16 ? memory._1to16() : lanes == 8 ? memory._1to8() : memory._1to4();
  }
  void fma(int r, int v, const asmjit::Operand_& a) {
    as_.emit(pick(Inst::kIdVfmadd231ps, Inst::kIdVfmadd231pd), reg(r * vectors_ + v),
             reg(first_vector() + v), a);
  }
  int first_vector() const { return rows_ * vectors_; }

  void load_vectors(int u) {
    for (int v = 0; v < vectors_; ++v) {
      as_.emit(pick(Inst::kIdVmovups, Inst::kIdVmovupd), reg(first_vector() + v), b_vector(v, u));
    }
  }
  void row(int r, int u) {
    if (vectors_ == 1 && is_wide_) {
      fma(r, 0, embedded(a_element(r, u)));
      return;
    }
    const int first = first_vector() + vectors_, registers = is_wide_ ? 32 : 16;
    const x86::Vec value = reg(first + r % (registers - first));
    as_.emit(pick(Inst::kIdVbroadcastss, Inst::kIdVbroadcastsd), value, a_element(r, u));
    for (int v = 0; v < vectors_; ++v) fma(r, v, value);
  }
  void step(int u) {
    load_vectors(u);
    for (int r = 0; r < rows_; ++r) row(r, u);
  }
  void advance(int steps) {
    as_.add(a_, static_cast<std::int32_t>(steps * spec_.a_step));
    as_.add(b_, static_cast<std::int32_t>(steps * spec_.b_step));
  }

  void steps(const asmjit::Label& done) {
    const asmjit::Label unrolled = as_.newLabel(), rest = as_.newLabel(), single = as_.newLabel();
    as_.sub(count_, kUnroll);
    as_.jl(rest);
    as_.align(asmjit::AlignMode::kCode, 32);
    as_.bind(unrolled);
    for (int u = 0; u < kUnroll; ++u) step(u);
    advance(kUnroll);
    as_.sub(count_, kUnroll);
    as_.jge(unrolled);
    as_.bind(rest);
    as_.add(count_, kUnroll);
    as_.jz(done);
    as_.bind(single);
    step(0);
    advance(1);
    as_.sub(count_, 1);
    as_.jnz(single);
  }

  // Runs that leave out rows are short: the edges of images.
  void masked_steps(const asmjit::Label& done) {
    const asmjit::Label whole = as_.newLabel(), next = as_.newLabel();
    as_.mov(mask_, x86::ptr(run_, offsetof(ConvolutionRun, rows)));
    as_.cmp(mask_, -1);
    as_.je(whole);
    as_.bind(next);
    load_vectors(0);
    for (int r = 0; r < rows_; ++r) {
      const asmjit::Label skip = as_.newLabel();
      as_.bt(mask_, r);
      as_.jnc(skip);
      row(r, 0);
      as_.bind(skip);
    }
    advance(1);
    as_.sub(count_, 1);
    as_.jnz(next);
    as_.jmp(done);
    as_.bind(whole);
  }

  void finish() {
    const asmjit::Label store = as_.newLabel();
    const x86::Gp sums = a_;
    as_.mov(sums, argument(offsetof(ConvolutionTileArguments, sums)));
    as_.mov(count_, argument(offsetof(ConvolutionTileArguments, adds)));
    as_.test(count_, count_);
    as_.jz(store);
    for_each_sum(sums, [&](int id, const x86::Mem& memory) {
      as_.emit(pick(Inst::kIdVaddps, Inst::kIdVaddpd), reg(id), reg(id), memory);
    });
    as_.bind(store);
    for_each_sum(sums, [&](int id, const x86::Mem& memory) {
      as_.emit(pick(Inst::kIdVmovups, Inst::kIdVmovupd), memory, reg(id));
    });
    as_.vzeroupper();
    as_.ret();
  }
  template <typename Visit>
  void for_each_sum(const x86::Gp& sums, const Visit& visit) {
    for (int r = 0; r < rows_; ++r) {
      for (int v = 0; v < vectors_; ++v) {
        visit(r * vectors_ + v, x86::ptr(sums, static_cast<std::int32_t>(r * spec_.sum_row +
                                                                         v * spec_.sum_vector)));
      }
    }
  }

  x86::Assembler& as_;
  const ConvolutionTileSpec& spec_;
  const bool is_wide_, is_double_;
  const int rows_, vectors_;
  const x86::Gp base_a_ = x86::rsi, base_b_ = x86::rdx, run_ = x86::r8, end_ = x86::r9;
  const x86::Gp a_ = x86::rax, b_ = x86::rcx, count_ = x86::r10, mask_ = x86::r11;
};

// Everything that the code depends on, in one comparable list.
PooledVector<std::int64_t> key_of(const ConvolutionTileSpec& spec) {
  PooledVector<std::int64_t> key;
  key.reserve(8 + spec.a_offsets.size() + spec.b_offsets.size());
  key.insert(key.end(), {static_cast<std::int64_t>(spec.dtype), static_cast<std::int64_t>(spec.isa),
                         spec.is_half, spec.has_row_masks, spec.a_step, spec.b_step, spec.sum_row,
                         spec.sum_vector, static_cast<std::int64_t>(spec.a_offsets.size())});
  key.insert(key.end(), spec.a_offsets.begin(), spec.a_offsets.end());
  key.insert(key.end(), spec.b_offsets.begin(), spec.b_offsets.end());
  return key;
}

ConvolutionTile generate(const ConvolutionTileSpec& spec) {
  asmjit::CodeHolder code;
  ThrowOnError handler;
  code.init(assembly::environment());
  assembly::log_code(code);
  code.setErrorHandler(&handler);
  x86::Assembler assembler(&code);
  Generator(assembler, spec).generate();
  return reinterpret_cast<ConvolutionTile>(assembly::publish(code));
}

}  // namespace

int max_convolution_rows(Isa isa, int vectors) {
  const int registers = isa == Isa::kAvx512 ? 32 : 16;
  // The vectors of b, and a broadcast of a unless the instruction reads it from memory.
  const int others = vectors + (isa == Isa::kAvx512 && vectors == 1 ? 0 : 1);
  return (registers - others) / vectors;
}

ConvolutionTile find_convolution_tile(const ConvolutionTileSpec& spec) {
  // Never destroyed: tiles may run from other static destructors.
  static auto* tiles = new std::map<PooledVector<std::int64_t>, ConvolutionTile>;
  static auto* mutex = new std::shared_mutex;
  PooledVector<std::int64_t> key = key_of(spec);
  const ForkGate gate;
  {
    const std::shared_lock lock(*mutex);
    if (const auto found = tiles->find(key); found != tiles->end()) return found->second;
  }
  const std::unique_lock lock(*mutex);
  ConvolutionTile& tile = (*tiles)[std::move(key)];
  if (!tile) tile = generate(spec);
  return tile;
}

}  // namespace groove::kernels
