// Rows: the vector loop with its tail, and reductions in row order and tree order.
#include <bit>
#include <cstddef>

#include "kernels/asmjit/nest.h"
#include "kernels/order.h"
#include "src/core/faults.h"

namespace groove::kernels::assembly {
namespace {

// A body of more instructions than this is emitted once and accumulates in memory: unrolling
// would cost more in code than the accumulator's trip through the store buffer.
constexpr int kLightBody = 12;
constexpr std::uint32_t kLoopAlignment = 32;

}  // namespace

// Whole vectors while `unrolled` of them fit before `end`, then single vectors cut to what is left.
void Nest::vectors_until(const Phase& phase, const Gp& end, int unrolled, bool side_by_side) {
  const int lanes = function_.lanes();
  const Label tail_test = function_.new_label(), tail_loop = function_.new_label();
  const Label done = function_.new_label();
  const Gp limit = function_.new_gp();
  cc_.lea(limit, asmjit::x86::ptr(end, -(unrolled * lanes)));
  cc_.cmp(i_, limit);
  cc_.jg(tail_test);
  const std::uint32_t stored = streamed_stores(phase);
  if (stored != 0 && weight(phase) <= kLightBody) {
    const Label plain = function_.new_label();
    cc_.test(streamed_.r32(), stored);
    cc_.jz(plain);
    streams_ = std::has_single_bit(stored) ? Streams::kAlways : Streams::kAsk;
    whole_vectors(phase, limit, unrolled, side_by_side);
    cc_.jmp(tail_test);
    function_.bind(plain);
    streams_ = Streams::kNever;
  }
  whole_vectors(phase, limit, unrolled, side_by_side);
  streams_ = Streams::kAsk;
  function_.bind(tail_test);
  cc_.cmp(i_, end);
  cc_.jge(done);
  const bool has_sums = accumulate_ == Accumulate::kRegisters && !reductions_.empty();
  if (has_sums) {
    for (const Reduction& reduction : reductions_) {
      for (int copy = 0; copy < unrolled; ++copy) {
        emitter_.spill(reduction.dtype, lanes_of(reduction, copy), reduction.accumulators[copy]);
      }
    }
    accumulate_ = Accumulate::kLanes;
  }
  const Gp count = function_.new_gp(), most = function_.new_gp();
  cc_.mov(most.r32(), lanes);
  function_.bind(tail_loop);
  cc_.mov(count, end);
  cc_.sub(count, i_);
  if (unrolled > 1) {
    cc_.cmp(count, most);
    cc_.cmovg(count, most);
  }
  const Tail tail = emitter_.make_tail(count);
  emit_body(phase, 0, &tail);
  if (unrolled > 1) {
    advance_vector();
    cc_.add(i_, lanes);
    cc_.cmp(i_, end);
    cc_.jl(tail_loop);
  }
  // Rows without a tail never leave the registers.
  for (const Reduction& reduction : reductions_) {
    for (int copy = has_fault(Fault::kTailLostToSums); has_sums && copy < unrolled; ++copy) {
      emitter_.assign(reduction.dtype, reduction.accumulators[copy],
                      emitter_.reload(reduction.dtype, lanes_of(reduction, copy)));
    }
  }
  function_.bind(done);
}

// Where a body is light, questions of each vector would cost as much: a loop for each answer.
void Nest::whole_vectors(const Phase& phase, const Gp& limit, int unrolled, bool side_by_side) {
  const Label whole = function_.new_label();
  cc_.align(asmjit::AlignMode::kCode, kLoopAlignment);
  function_.bind(whole);
  if (side_by_side) emit_side_by_side(phase, unrolled);
  for (int copy = 0; copy < unrolled && !side_by_side; ++copy) {
    emit_body(phase, copy, nullptr);
    advance_vector();
  }
  look_ahead(phase, unrolled);
  cc_.add(i_, unrolled * function_.lanes());
  cc_.cmp(i_, limit);
  cc_.jle(whole);
}

void Nest::reduction_rows() {
  for (const Phase& phase : kernel_.phases) row_phase(phase);
}

void Nest::load_pointers(const Phase& phase) {
  std::vector<char> is_there(pointers_.size(), 0);
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[id];
    const bool is_access =
        instr.prim == Prim::kLoad || instr.prim == Prim::kLoadAt || instr.prim == Prim::kStore;
    if (!is_access || is_there[instr.imm]) continue;
    is_there[instr.imm] = 1;
    pointers_[instr.imm] = function_.new_gp();
    cc_.mov(pointers_[instr.imm], resting_[instr.imm]);
  }
}

void Nest::row_phase(const Phase& phase) {
  if (!resting_.empty()) load_pointers(phase);
  emit_level(Level::kRow, phase);
  if (has_vector_work(phase)) {
    start_row(phase);
    start_lookahead(phase);
    find_reductions(phase);
    if (reductions_.empty()) {
      accumulate_ = Accumulate::kRegisters;
      const bool is_twice = fits_twice(phase);
      vectors_until(phase, length_, is_twice || weight(phase) <= kLightBody ? 2 : 1, is_twice);
    } else {
      reduce_row(phase);
    }
    reductions_.clear();
    next_row_.clear();
  }
  store_row_results(phase);
}

void Nest::start_lookahead(const Phase& phase) {
  next_row_.clear();
  if (asks(phase).empty()) return;
  const Gp none = function_.new_gp();
  cc_.xor_(none.r32(), none.r32());
  for (const Lookahead::Ask& ask : asks(phase)) {
    const auto access = static_cast<std::size_t>(ask.access);
    const std::size_t at = offsetof(NestArguments, accesses) + access * sizeof(NestAccess) +
                           offsetof(NestAccess, stride) + 8;
    const Gp begin = function_.new_gp();
    cc_.mov(begin, argument(at));
    cc_.cmp(begin, static_cast<std::int32_t>(Lookahead::kLongest));
    cc_.cmova(begin, none);
    if (lookahead_.rows > 1) {
      const Gp further = function_.new_gp();
      cc_.imul(further, begin, lookahead_.rows);
      cc_.cmp(begin, static_cast<std::int32_t>(lookahead_.longest_skipped));
      cc_.cmovle(begin, further);
    }
    if (resting_.empty()) {
      cc_.add(begin, pointers_[access]);
    } else {
      cc_.add(begin, resting_[access]);
    }
    if (ask.part == Lookahead::Part::kSecondHalf) {
      const auto half = static_cast<unsigned>(element_size(kernel_.accesses[access].dtype)) / 2;
      cc_.lea(begin,
              asmjit::x86::ptr(begin, length_, static_cast<std::uint32_t>(std::countr_zero(half))));
    }
    next_row_.push_back(begin);
  }
}

// Where a step of the loop moves by less than a line, it asks once a line.
void Nest::look_ahead(const Phase& phase, int copies) {
  for (std::size_t i = 0; i < next_row_.size(); ++i) {
    const Lookahead::Ask& ask = asks(phase)[i];
    const ScalarType dtype = kernel_.accesses[static_cast<std::size_t>(ask.access)].dtype;
    const int size = static_cast<int>(element_size(dtype));
    const int step = ask.part == Lookahead::Part::kWhole ? size : size / 2;
    const auto shift = static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(step)));
    const int bytes = copies * function_.lanes() * step;
    const bool is_part_of_line = bytes < 64;
    const Label done = function_.new_label();
    if (is_part_of_line) {
      cc_.test(i_.r32(), 64 / step - 1);
      cc_.jnz(done);
    }
    for (int line = 0; line < bytes; line += 64) {
      const Mem at = asmjit::x86::ptr(next_row_[i], i_, shift, line);
      lookahead_.is_near ? cc_.prefetcht0(at) : cc_.prefetcht1(at);
    }
    if (is_part_of_line) function_.bind(done);
  }
}

void Nest::store_row_results(const Phase& phase) {
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[id];
    if (instr.prim != Prim::kStore) continue;
    if (kernel_.accesses[instr.imm].inner != StrideClass::kBroadcast) continue;
    emitter_.store_lane0(instr.dtype, asmjit::x86::ptr(pointers_[instr.imm]),
                         emitter_.value(instr.args[0]));
  }
}

void Nest::reduce_row(const Phase& phase) {
  const Label empty = function_.new_label(), finished = function_.new_label();
  const Label collapse = function_.new_label(), chunks = function_.new_label();
  const Gp end = function_.new_gp();
  // Not in registers: only rows of several chunks look at them.
  Mem depth = function_.new_stack(2 * sizeof(std::int64_t));
  depth.setSize(sizeof(std::int64_t));
  const Mem chunk = with_offset(depth, sizeof(std::int64_t));
  for (Reduction& reduction : reductions_) {
    if (reduction.is_arg) begin_arg(reduction, 1);
    if (!reduction.is_arg) reduction.result = emitter_.new_value(reduction.dtype);
  }
  std::vector<Value> results;
  for (const Reduction& reduction : reductions_) {
    results.push_back(emitter_.new_value(reduction.is_arg ? kLong : reduction.dtype));
  }
  cc_.mov(depth, 0);
  cc_.mov(chunk, 0);
  cc_.test(length_, length_);
  cc_.jz(empty);
  function_.bind(chunks);
  if (kernel_.order == Order::kTree) {
    const Gp one = function_.new_gp();
    cc_.mov(one.r32(), 1);
    const Tail tail = emitter_.make_tail(one);
    accumulate_ = Accumulate::kDirect;
    emit_body(phase, 0, &tail);
    for (std::size_t a = 0; a < moving_.size(); ++a) {
      if (moving_[a].isValid()) cc_.add(moving_[a], strides_[a]);
    }
    cc_.inc(i_);
    cc_.cmp(length_, 1);
    cc_.je(collapse);
  } else {
    cc_.lea(end, asmjit::x86::ptr(i_, static_cast<std::int32_t>(order::kRowChunk)));
    cc_.cmp(end, length_);
    cc_.cmovg(end, length_);
    chunk_of_row(phase, end);
    cc_.cmp(length_, static_cast<std::int32_t>(order::kRowChunk));
    cc_.jle(collapse);
  }
  push_tree(depth, chunk);
  cc_.inc(chunk);
  cc_.cmp(i_, length_);
  cc_.jl(chunks);
  collapse_tree(depth);
  function_.bind(collapse);
  for (std::size_t r = 0; r < reductions_.size(); ++r) {
    const Reduction& reduction = reductions_[r];
    if (reduction.is_arg) {
      emitter_.assign(kLong, results[r], arg_result(reduction));
    } else {
      emitter_.assign(reduction.dtype, results[r], lane0(reduction.dtype, reduction.result));
    }
  }
  cc_.jmp(finished);
  function_.bind(empty);
  for (std::size_t r = 0; r < reductions_.size(); ++r) {
    const Reduction& reduction = reductions_[r];
    emitter_.assign(reduction.is_arg ? kLong : reduction.dtype, results[r],
                    empty_result(reduction));
  }
  function_.bind(finished);
  for (std::size_t r = 0; r < reductions_.size(); ++r) {
    emitter_.define(reductions_[r].id, from_accumulator(reductions_[r], results[r]));
  }
}

// From i to `end`, at most one chunk: sums go to the lanes, lanes to one value.
void Nest::chunk_of_row(const Phase& phase, const Gp& end) {
  const int vectors = static_cast<int>(order::kRowLanes) / function_.lanes();
  const bool is_twice = fits_twice(phase);
  bool is_light = weight(phase) <= kLightBody || is_twice;
  int registers = 0;
  for (const Reduction& reduction : reductions_) {
    is_light &= !reduction.is_arg;
    registers += vectors * parts_of(reduction.dtype);
  }
  is_light &= registers <= (function_.is_wide() ? 16 : 8);
  accumulate_ = is_light ? Accumulate::kRegisters : Accumulate::kLanes;
  for (Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    reduction.accumulators.clear();
    const Value start = identity(reduction);
    for (int v = 0; v < vectors; ++v) {
      if (is_light) {
        reduction.accumulators.push_back(emitter_.copy(reduction.dtype, start));
      } else {
        emitter_.spill(reduction.dtype, lanes_of(reduction, v), start);
      }
    }
  }
  vectors_until(phase, end, is_light ? vectors : 1, is_light && is_twice);
  if (!is_light) {
    // The tail of a single vector leaves i before it.
    cc_.mov(i_, end);
  }
  for (Reduction& reduction : reductions_) {
    if (!reduction.is_arg) {
      emitter_.assign(reduction.dtype, reduction.result, combine_lanes(reduction));
    }
  }
}

}  // namespace groove::kernels::assembly
