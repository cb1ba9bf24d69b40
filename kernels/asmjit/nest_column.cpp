// Columns: a few vectors of columns walk down axis 1 together, chunk by chunk, and then run the
// second phase where they stand.
#include "kernels/asmjit/nest.h"
#include "kernels/order.h"
#include "src/core/faults.h"

namespace groove::kernels::assembly {
namespace {

// Chunks of 128 rows: more levels than any memory has rows for.
constexpr int kColumnLevels = 40;
constexpr int kLightBody = 12;
constexpr int kMostVectors = 4;

}  // namespace

// Several vectors of a row use whole cache lines and hide the latency of the sums.
int Nest::columns_at_once() {
  for (const Access& access : kernel_.accesses) {
    if (access.inner == StrideClass::kStrided) return 1;
  }
  if (weight(kernel_.phases[0]) > kLightBody) return 1;
  int registers = 0;
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) return 1;
    registers += parts_of(reduction.dtype);
  }
  return kMostVectors * registers <= (function_.is_wide() ? 16 : 8) ? kMostVectors : 1;
}

void Nest::columns() {
  find_reductions(kernel_.phases[0]);
  const int unrolled = columns_at_once();
  for (Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    reduction.tree = function_.new_stack(static_cast<std::uint32_t>(
        kColumnLevels * unrolled * parts_of(reduction.dtype) * function_.vector_bytes()));
  }
  if (!uses_index1_) index1_ = function_.new_gp();
  const int lanes = function_.lanes();
  const Label whole = function_.new_label(), tail_loop = function_.new_label();
  const Label done = function_.new_label();
  const Gp limit = function_.new_gp();
  cc_.xor_(i_.r32(), i_.r32());
  cc_.lea(limit, asmjit::x86::ptr(length_, -(unrolled * lanes)));
  cc_.cmp(i_, limit);
  cc_.jg(tail_loop);
  function_.bind(whole);
  column_group(unrolled, nullptr);
  cc_.add(i_, unrolled * lanes);
  cc_.cmp(i_, limit);
  cc_.jle(whole);
  function_.bind(tail_loop);
  cc_.cmp(i_, length_);
  cc_.jge(done);
  const Gp count = function_.new_gp(), most = function_.new_gp();
  cc_.mov(count, length_);
  cc_.sub(count, i_);
  cc_.mov(most.r32(), lanes);
  cc_.cmp(count, most);
  cc_.cmovg(count, most);
  const Tail tail = emitter_.make_tail(count);
  column_group(1, &tail);
  cc_.add(i_, lanes);
  cc_.jmp(tail_loop);
  function_.bind(done);
}

// Back to row 0 of the columns at i.
void Nest::start_columns() {
  cc_.mov(index1_, argument(offsetof(NestArguments, index) + 8));
  for (std::size_t a = 0; a < pointers_.size(); ++a) {
    const std::size_t at = offsetof(NestArguments, accesses) + a * sizeof(NestAccess);
    cc_.mov(pointers_[a], argument(at + offsetof(NestAccess, pointer)));
    if (!moving_[a].isValid()) continue;
    cc_.mov(moving_[a], strides_[a]);
    cc_.imul(moving_[a], i_);
    cc_.add(moving_[a], pointers_[a]);
  }
}

void Nest::next_row_of_columns() {
  cc_.inc(index1_);
  for (std::size_t a = 0; a < pointers_.size(); ++a) {
    const std::size_t at = offsetof(NestArguments, accesses) + a * sizeof(NestAccess);
    const Mem stride = argument(at + offsetof(NestAccess, stride) + 8);
    cc_.add(pointers_[a], stride);
    if (moving_[a].isValid()) cc_.add(moving_[a], stride);
  }
}

void Nest::column_group(int unrolled, const Tail* tail) {
  const Label empty = function_.new_label(), chunks = function_.new_label();
  const Label finished = function_.new_label();
  const Gp depth = function_.new_gp(), chunk = function_.new_gp(), row = function_.new_gp();
  const Gp rows = function_.new_gp();
  start_columns();
  for (Reduction& reduction : reductions_) {
    if (reduction.is_arg) {
      begin_arg(reduction, unrolled);
      continue;
    }
    reduction.accumulators.clear();
    for (int copy = 0; copy < unrolled; ++copy) {
      reduction.accumulators.push_back(emitter_.new_value(reduction.dtype));
    }
  }
  cc_.mov(rows, argument(offsetof(NestArguments, count) + 8));
  cc_.xor_(row.r32(), row.r32());
  cc_.xor_(depth.r32(), depth.r32());
  cc_.xor_(chunk.r32(), chunk.r32());
  cc_.test(rows, rows);
  cc_.jz(empty);
  function_.bind(chunks);
  column_chunk(row, rows, unrolled, tail);
  cc_.cmp(rows, static_cast<std::int32_t>(order::kColumnChunk));
  cc_.jle(finished);
  push_columns(depth, chunk, unrolled);
  cc_.inc(chunk);
  cc_.cmp(row, rows);
  cc_.jl(chunks);
  collapse_columns(depth, unrolled);
  cc_.jmp(finished);
  function_.bind(empty);
  for (Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    for (const Value& sum : reduction.accumulators) {
      emitter_.assign(reduction.dtype, sum, empty_result(reduction));
    }
  }
  function_.bind(finished);
  start_columns();
  for (int copy = 0; copy < unrolled; ++copy) {
    const auto at = static_cast<std::size_t>(copy);
    for (const Reduction& reduction : reductions_) {
      const Value& result = reduction.is_arg ? reduction.indices[at] : reduction.accumulators[at];
      emitter_.define(reduction.id, from_accumulator(reduction, result));
    }
    emit_body(kernel_.phases[1], copy, tail);
  }
}

void Nest::column_chunk(const Gp& row, const Gp& rows, int unrolled, const Tail* tail) {
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    for (const Value& sum : reduction.accumulators) {
      emitter_.assign(reduction.dtype, sum, identity(reduction));
    }
  }
  const Gp end = function_.new_gp();
  cc_.lea(end, asmjit::x86::ptr(row, static_cast<std::int32_t>(order::kColumnChunk) *
                                         (has_fault(Fault::kLongColumnChunk) ? 2 : 1)));
  cc_.cmp(end, rows);
  cc_.cmovg(end, rows);
  const Label loop = function_.new_label();
  function_.bind(loop);
  accumulate_ = Accumulate::kRegisters;
  for (int copy = 0; copy < unrolled; ++copy) emit_body(kernel_.phases[0], copy, tail);
  next_row_of_columns();
  cc_.inc(row);
  cc_.cmp(row, end);
  cc_.jl(loop);
}

Mem Nest::column_slot(const Reduction& reduction, const Gp& depth, int unrolled, int copy) {
  const int bytes = parts_of(reduction.dtype) * function_.vector_bytes();
  const Gp offset = function_.new_gp();
  cc_.imul(offset, depth, unrolled * bytes);
  Mem at = reduction.tree;
  at.setIndex(offset, 0);
  return with_offset(at, copy * bytes);
}

void Nest::push_columns(const Gp& depth, const Gp& chunk, int unrolled) {
  const Gp bits = function_.new_gp();
  const Label merge = function_.new_label(), done = function_.new_label();
  const auto each = [&](auto&& body) {
    for (const Reduction& reduction : reductions_) {
      if (reduction.is_arg) continue;
      for (int copy = 0; copy < unrolled; ++copy) {
        body(reduction, reduction.accumulators[static_cast<std::size_t>(copy)],
             column_slot(reduction, depth, unrolled, copy));
      }
    }
  };
  cc_.mov(bits, chunk);
  function_.bind(merge);
  cc_.test(bits.r32(), 1);
  cc_.jz(done);
  cc_.dec(depth);
  each([&](const Reduction& reduction, const Value& sum, const Mem& slot) {
    const Value earlier = emitter_.reload(reduction.dtype, slot);
    emitter_.assign(reduction.dtype, sum, combine(reduction.prim, reduction.dtype, earlier, sum));
  });
  cc_.shr(bits, 1);
  cc_.jmp(merge);
  function_.bind(done);
  each([&](const Reduction& reduction, const Value& sum, const Mem& slot) {
    emitter_.spill(reduction.dtype, slot, sum);
  });
  cc_.inc(depth);
}

void Nest::collapse_columns(const Gp& depth, int unrolled) {
  const Label merge = function_.new_label(), done = function_.new_label();
  const auto each = [&](bool is_first) {
    for (const Reduction& reduction : reductions_) {
      if (reduction.is_arg) continue;
      for (int copy = 0; copy < unrolled; ++copy) {
        const Value& sum = reduction.accumulators[static_cast<std::size_t>(copy)];
        const Value earlier =
            emitter_.reload(reduction.dtype, column_slot(reduction, depth, unrolled, copy));
        emitter_.assign(
            reduction.dtype, sum,
            is_first ? earlier : combine(reduction.prim, reduction.dtype, earlier, sum));
      }
    }
  };
  cc_.dec(depth);
  each(true);
  function_.bind(merge);
  cc_.test(depth, depth);
  cc_.jz(done);
  cc_.dec(depth);
  each(false);
  cc_.jmp(merge);
  function_.bind(done);
}

}  // namespace groove::kernels::assembly
