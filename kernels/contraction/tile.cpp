// Generates tile kernels with the asmjit assembler: register use is decided here, so that nothing
// is ever spilled.
//
// Registers: accumulator (r, v) is r * vectors + v. Above them lie the values that one step of k
// needs: either a row of B and rotating broadcasts of A, or, for tiles wider than high, the
// broadcasts and rotating vectors of B.
//
// Rows of A are addressed as base + {0,1,2,3,4,5,6,7,8} * stride from one base for every nine
// rows: x86 scales an index by 1, 2, 4, 8, so strides times 1, 3, 5 and 7 suffice.
#include "kernels/contraction/tile.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "kernels/asmjit/code_memory.h"
#include "kernels/asmjit/facade.h"
#include "kernels/contraction/inline_epilogue.h"
#include "kernels/contraction/tile_emitter.h"
#include "kernels/order.h"
#include "src/core/check.h"
#include "src/core/faults.h"
#include "src/core/fork.h"

namespace groove::kernels {
namespace {

namespace x86 = asmjit::x86;
constexpr int kUnroll = 4;
constexpr int kRowsPerBase = 9;

// A row of B and a broadcast, or a column of broadcasts and a vector of B.
constexpr int step_registers(int rows, int vectors) { return std::min(rows, vectors) + 1; }

struct MaxRows {
  int rows[3][2][kMaxTileVectors];  // 15, 16 or 32 registers; without and with an epilogue
};
constexpr MaxRows kMaxRows = [] {
  MaxRows table{};
  const int registers[3] = {16, 15, 32};
  for (int set = 0; set < 3; ++set) {
    for (int has_epilogue = 0; has_epilogue < 2; ++has_epilogue) {
      for (int vectors = 1; vectors <= kMaxTileVectors; ++vectors) {
        int rows = 0;
        while (rows < kMaxTileRows &&
               (rows + 1) * vectors + std::max(step_registers(rows + 1, vectors),
                                               has_epilogue * kEpilogueRegisters) <=
                   registers[set]) {
          ++rows;
        }
        table.rows[set][has_epilogue][vectors - 1] = rows;
      }
    }
  }
  return table;
}();

class TileGenerator : TileEmitter {
 public:
  TileGenerator(x86::Assembler& assembler, const TileSpec& spec) : TileEmitter(assembler, spec) {}

  void generate() {
    const x86::Gp saved[] = {x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};
    for (const x86::Gp& gp : saved) as.push(gp);
    load_arguments();
    const asmjit::Label chunk = as.newLabel(), finish = as.newLabel(), next = as.newLabel();
    const asmjit::Label more = as.newLabel();
    as.bind(chunk);
    for (int id = 0; id < spec.rows * spec.vectors; ++id) zero(id);
    as.mov(count_, static_cast<std::uint32_t>(order::kContractionChunk) *
                       (has_fault(Fault::kLongContractionChunk) ? 2u : 1u));
    as.cmp(remaining_, count_);
    as.cmovl(count_, remaining_);
    as.sub(remaining_, count_);
    steps();
    as.test(remaining_, remaining_);
    as.jnz(more);
    as.mov(count_, argument(offsetof(TileArguments, next)));
    as.test(count_, count_);
    as.jz(finish);
    as.bind(more);
    add_total(true);
    as.test(remaining_, remaining_);
    as.jnz(chunk);
    as.mov(x86::rdi, argument(offsetof(TileArguments, next)));
    load_matrices();
    as.jmp(chunk);
    as.bind(finish);
    as.test(has_total_, has_total_);
    as.jz(next);
    add_total(false);
    as.bind(next);
    if (spec.epilogue) {
      spec.epilogue->emit(*this, spec.rows * spec.vectors);
    } else {
      store_sums();
    }
    as.vzeroupper();
    for (int i = std::size(saved) - 1; i >= 0; --i) as.pop(saved[i]);
    as.ret();
    if (spec.epilogue) spec.epilogue->emit_constants(*this);
  }

 private:
  x86::Mem argument(std::size_t offset) const {
    return x86::ptr(x86::rdi, static_cast<std::int32_t>(offset));
  }
  int accumulator(int r, int v) const { return r * spec.vectors + v; }
  int bases() const { return (spec.rows + kRowsPerBase - 1) / kRowsPerBase; }

  void load_matrices() {
    as.mov(base_[0], argument(offsetof(TileArguments, a)));
    as.mov(b_, argument(offsetof(TileArguments, b)));
    as.mov(b_step_, argument(offsetof(TileArguments, b_row)));
    as.lea(b_step3_, x86::ptr(b_step_, b_step_, 1));
    as.mov(remaining_, argument(offsetof(TileArguments, k)));
    if (spec.a_by_column) {
      as.mov(a_step_, argument(offsetof(TileArguments, a_col)));
      as.lea(a_step3_, x86::ptr(a_step_, a_step_, 1));
    } else if (spec.rows > 1) {
      as.mov(a_step_, argument(offsetof(TileArguments, a_row)));
      as.lea(a_step3_, x86::ptr(a_step_, a_step_, 1));
      as.lea(a_step5_, x86::ptr(a_step_, a_step_, 2));
      as.lea(a_step7_, x86::ptr(a_step3_, a_step_, 2));
      for (int i = 1; i < bases(); ++i) {
        as.lea(base_[i], x86::ptr(base_[i - 1], a_step_, 3));
        as.add(base_[i], a_step_);
      }
    }
  }

  void load_arguments() {
    load_matrices();
    as.xor_(has_total_, has_total_);
    if (spec.tail == TileTail::kMasked || spec.tail == TileTail::kHalfMasked) {
      if (is_wide) {
        as.kmovw(x86::k1, x86::word_ptr(x86::rdi, offsetof(TileArguments, mask)));
      } else {
        as.mov(count_, argument(offsetof(TileArguments, lane_mask)));
        as.vmovups(lane_mask(), x86::ptr(count_));
      }
    }
  }

  // A[r, u] relative to the current step; u is 0 … kUnroll - 1.
  x86::Mem a_element(int r, int u) const {
    if (spec.a_by_column) return stepped(base_[0], a_step_, a_step3_, u, r * element);
    const x86::Gp& base = base_[r / kRowsPerBase];
    const int disp = u * element;
    switch (r % kRowsPerBase) {
      case 0:
        return x86::ptr(base, disp);
      case 1:
        return x86::ptr(base, a_step_, 0, disp);
      case 2:
        return x86::ptr(base, a_step_, 1, disp);
      case 3:
        return x86::ptr(base, a_step3_, 0, disp);
      case 4:
        return x86::ptr(base, a_step_, 2, disp);
      case 5:
        return x86::ptr(base, a_step5_, 0, disp);
      case 6:
        return x86::ptr(base, a_step3_, 1, disp);
      case 7:
        return x86::ptr(base, a_step7_, 0, disp);
      default:
        return x86::ptr(base, a_step_, 3, disp);
    }
  }
  static x86::Mem stepped(const x86::Gp& base, const x86::Gp& step, const x86::Gp& step3, int u,
                          int disp) {
    switch (u) {
      case 0:
        return x86::ptr(base, disp);
      case 1:
        return x86::ptr(base, step, 0, disp);
      case 2:
        return x86::ptr(base, step, 1, disp);
      default:
        return x86::ptr(base, step3, 0, disp);
    }
  }
  x86::Mem b_vector(int v, int u) const {
    return stepped(b_, b_step_, b_step3_, u, v * vector_bytes);
  }

  void fma(int acc, const Vec& a, const asmjit::Operand_& b) {
    as.emit(pick(Inst::kIdVfmadd231ps, Inst::kIdVfmadd231pd),
            a.isZmm() ? Vec(x86::zmm(acc)) : Vec(x86::ymm(acc)), a, b);
  }

  void step(int u) {
    const int first = spec.rows * spec.vectors;
    const int last = registers - (!is_wide && is_masked(spec.vectors - 1) ? 1 : 0);
    if (spec.rows >= spec.vectors) {
      for (int v = 0; v < spec.vectors; ++v) load(reg(first + v, v), b_vector(v, u), v);
      const int rotating = first + spec.vectors;
      for (int r = 0; r < spec.rows; ++r) {
        if (is_wide && spec.vectors == 1) {
          fma(accumulator(r, 0), reg(first, 0), embedded(a_element(r, u), is_half(0)));
          continue;
        }
        const int id = rotating + r % (last - rotating);
        broadcast(whole(id), a_element(r, u));
        for (int v = 0; v < spec.vectors; ++v)
          fma(accumulator(r, v), reg(first + v, v), reg(id, v));
      }
      return;
    }
    for (int r = 0; r < spec.rows; ++r) broadcast(whole(first + r), a_element(r, u));
    const int rotating = first + spec.rows;
    for (int v = 0; v < spec.vectors; ++v) {
      const int id = rotating + v % (last - rotating);
      load(reg(id, v), b_vector(v, u), v);
      for (int r = 0; r < spec.rows; ++r) fma(accumulator(r, v), reg(id, v), reg(first + r, v));
    }
  }
  x86::Mem embedded(const x86::Mem& memory, bool is_half) const {
    const int lanes = (is_half ? 32 : 64) / element;
    return lanes == 16 ? memory._1to16() : lanes == 8 ? memory._1to8() : memory._1to4();
  }

  void advance(int steps) {
    if (spec.a_by_column) {
      if (steps == kUnroll) {
        as.lea(base_[0], x86::ptr(base_[0], a_step_, 2));
      } else {
        as.add(base_[0], a_step_);
      }
    } else {
      for (int i = 0; i < bases(); ++i) as.add(base_[i], steps * element);
    }
    if (steps == kUnroll) {
      as.lea(b_, x86::ptr(b_, b_step_, 2));
    } else {
      as.add(b_, b_step_);
    }
  }

  // All steps of a chunk; count_ of them.
  void steps() {
    static_assert(kUnroll == 4, "advance() and stepped() scale by four");
    const asmjit::Label unrolled = as.newLabel(), rest = as.newLabel(), single = as.newLabel(),
                        done = as.newLabel();
    as.sub(count_, kUnroll);
    as.jl(rest);
    as.align(asmjit::AlignMode::kCode, 32);
    as.bind(unrolled);
    for (int u = 0; u < kUnroll; ++u) step(u);
    advance(kUnroll);
    as.sub(count_, kUnroll);
    as.jge(unrolled);
    as.bind(rest);
    as.add(count_, kUnroll);
    as.jz(done);
    as.bind(single);
    step(0);
    advance(1);
    as.sub(count_, 1);
    as.jnz(single);
    as.bind(done);
  }

  // The chunk's values into the running totals (kept in memory), or the last chunk's value joined
  // to them in registers. The first chunk is taken as it is.
  void add_total(bool keep) {
    const x86::Gp totals = count_;
    as.mov(totals, argument(offsetof(TileArguments, totals)));
    const InstId add = pick(Inst::kIdVaddps, Inst::kIdVaddpd);
    const InstId move = pick(Inst::kIdVmovaps, Inst::kIdVmovapd);
    const asmjit::Label first = as.newLabel();
    if (keep) {
      as.test(has_total_, has_total_);
      as.jz(first);
    }
    for (int id = 0; id < spec.rows * spec.vectors; ++id) {
      const Vec acc = whole(id);
      as.emit(add, acc, acc, x86::ptr(totals, id * vector_bytes));
    }
    if (!keep) return;
    as.bind(first);
    for (int id = 0; id < spec.rows * spec.vectors; ++id) {
      as.emit(move, x86::ptr(totals, id * vector_bytes), whole(id));
    }
    as.mov(has_total_, 1);
  }

  void store_sums() {
    const x86::Gp c = base_[0], c_row = a_step_;
    as.mov(c, argument(offsetof(TileArguments, c)));
    as.mov(c_row, argument(offsetof(TileArguments, c_row)));
    for (int r = 0; r < spec.rows; ++r) {
      for (int v = 0; v < spec.vectors; ++v) {
        store(x86::ptr(c, v * vector_bytes), reg(accumulator(r, v), v), v);
      }
      if (r + 1 < spec.rows) as.add(c, c_row);
    }
  }

  const x86::Gp base_[4] = {x86::rsi, x86::rbx, x86::rbp, x86::r12};
  const x86::Gp a_step_ = x86::rax, a_step3_ = x86::rdx, a_step5_ = x86::r8, a_step7_ = x86::r9;
  const x86::Gp b_ = x86::r10, b_step_ = x86::r11, b_step3_ = x86::r13;
  const x86::Gp count_ = x86::rcx, remaining_ = x86::r14, has_total_ = x86::r15;
};

class ThrowOnError : public asmjit::ErrorHandler {
  void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override {
    GROOVE_ASSERT(false, "tile kernel: asmjit error {}: {}", error, message);
  }
};

}  // namespace

int max_tile_rows(Isa isa, int vectors, bool is_masked, bool has_epilogue) {
  return kMaxRows.rows[isa == Isa::kAvx512 ? 2 : is_masked][has_epilogue][vectors - 1];
}

TileKernel generate_tile(const TileSpec& spec) {
  asmjit::CodeHolder code;
  ThrowOnError handler;
  code.init(assembly::environment());
  assembly::log_code(code);
  code.setErrorHandler(&handler);
  x86::Assembler assembler(&code);
  TileGenerator(assembler, spec).generate();
  return reinterpret_cast<TileKernel>(assembly::publish(code));
}

struct TileTable::Slots {
  std::atomic<TileKernel> kernels[2][4][kMaxTileVectors][kMaxTileRows] = {};
  std::mutex mutex;
};

TileTable::TileTable(ScalarType dtype, Isa isa, const InlineEpilogue* epilogue)
    : dtype_(dtype), isa_(isa), epilogue_(epilogue), slots_(new Slots) {}
TileTable::~TileTable() {
  for (const auto& by_layout : slots_->kernels) {
    for (const auto& by_tail : by_layout) {
      for (const auto& by_vectors : by_tail) {
        for (const auto& kernel : by_vectors) {
          assembly::release_code(reinterpret_cast<const void*>(kernel.load()));
        }
      }
    }
  }
  delete slots_;
}

TileKernel TileTable::find(int rows, int vectors, TileTail tail, bool a_by_column) const {
  std::atomic<TileKernel>& slot =
      slots_->kernels[a_by_column][static_cast<int>(tail)][vectors - 1][rows - 1];
  if (TileKernel kernel = slot.load(std::memory_order_acquire)) return kernel;
  const ForkGate gate;
  const std::lock_guard lock(slots_->mutex);
  if (TileKernel kernel = slot.load(std::memory_order_relaxed)) return kernel;
  const TileKernel kernel = generate_tile(spec(rows, vectors, tail, a_by_column));
  slot.store(kernel, std::memory_order_release);
  return kernel;
}

}  // namespace groove::kernels
