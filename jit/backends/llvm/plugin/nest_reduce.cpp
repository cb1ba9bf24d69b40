// Reductions of loop nests, rows and columns: accumulation, the combination of lanes, and the
// pairwise tree over chunks kept as a stack (kernels/order.h).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "jit/backends/llvm/plugin/nest.h"
#include "kernels/order.h"
#include "src/core/faults.h"

namespace groove::llvm_tier {
namespace {

namespace order = kernels::order;
using kernels::StrideClass;

// More levels than any memory has chunks for.
constexpr std::uint64_t kRowLevels = 64, kColumnLevels = 40;
// A body of more instructions than this is emitted once, unrolling it would cost more in code.
constexpr int kLightBody = 12;
constexpr int kMostVectors = 4;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }
bool is_float(ScalarType dtype) { return dtype == kFloat || dtype == kDouble; }
int registers_of(ScalarType dtype) { return element_size(dtype) == 8 ? 2 : 1; }

std::uint64_t float_bits(ScalarType dtype, double value) {
  if (dtype == kDouble) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  const float narrow = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

template <typename T>
std::uint64_t bound(bool lowest) {
  return static_cast<std::uint64_t>(lowest ? std::numeric_limits<T>::lowest()
                                           : std::numeric_limits<T>::max());
}

std::uint64_t integer_bound(ScalarType dtype, bool lowest) {
  switch (dtype) {
    case kByte:
      return bound<std::uint8_t>(lowest);
    case kChar:
      return bound<std::int8_t>(lowest);
    case kShort:
      return bound<std::int16_t>(lowest);
    case kInt:
      return bound<std::int32_t>(lowest);
    default:
      return bound<std::int64_t>(lowest);
  }
}

std::uint64_t identity_bits(Prim prim, ScalarType dtype, bool is_bool) {
  const bool lowest = prim == Prim::kReduceMax || prim == Prim::kReduceArgMax;
  switch (prim) {
    case Prim::kReduceSum:
      return is_float(dtype) ? float_bits(dtype, order::kSumIdentity) : 0;
    case Prim::kReduceProd:
      return is_float(dtype) ? float_bits(dtype, 1.0) : 1;
    default:
      if (is_float(dtype)) return float_bits(dtype, lowest ? -INFINITY : INFINITY);
      if (is_bool) return lowest ? 0 : 1;
      return integer_bound(dtype, lowest);
  }
}

}  // namespace

void Nest::find_reductions(const Phase& phase, int copies) {
  reductions_.clear();
  const bool is_column = kernel_.order == Order::kColumn;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[at(id)];
    if (!is_reduction(instr.prim)) continue;
    Reduction reduction;
    reduction.id = id;
    reduction.prim = instr.prim;
    reduction.dtype = kernel_.code[at(instr.args[0])].dtype;
    reduction.is_bool = reduction.dtype == kBool;
    if (reduction.is_bool) reduction.dtype = kInt;
    reduction.is_arg = instr.prim == Prim::kReduceArgMax || instr.prim == Prim::kReduceArgMin;
    reduction.identity = v_.constant(
        reduction.dtype, identity_bits(reduction.prim, reduction.dtype, reduction.is_bool));
    llvm::Type* const vector = v_.type(reduction.dtype);
    const int vectors = static_cast<int>(order::kRowLanes) / lanes_;
    if (reduction.is_arg) {
      for (int copy = 0; copy < copies; ++copy) {
        reduction.accumulators.push_back(variable(vector));
        reduction.indices.push_back(variable(v_.type(kLong)));
      }
    } else if (is_column) {
      for (int copy = 0; copy < copies; ++copy) {
        reduction.results.push_back(variable(vector));
        reduction.trees.push_back(variable(llvm::ArrayType::get(vector, kColumnLevels)));
      }
      reduction.accumulators = reduction.results;
    } else {
      llvm::Type* const element = v_.element_type(reduction.dtype);
      reduction.results.push_back(variable(element));
      reduction.trees.push_back(variable(llvm::ArrayType::get(element, kRowLevels)));
      if (kernel_.order == Order::kRow) {
        for (int i = 0; i < vectors; ++i) reduction.accumulators.push_back(variable(vector));
        reduction.lanes = variable(llvm::ArrayType::get(vector, static_cast<unsigned>(vectors)));
      }
    }
    reductions_.push_back(std::move(reduction));
  }
}

llvm::Constant* Nest::empty_result(const Reduction& reduction) const {
  if (reduction.prim != Prim::kReduceSum) return reduction.identity;
  return v_.constant(reduction.dtype, 0);
}

// What is found when nothing is added: lane j of an arg reduction starts with its first element,
// which the identity stands for.
void Nest::begin_reductions() {
  const bool is_column = kernel_.order == Order::kColumn;
  for (Reduction& reduction : reductions_) {
    for (AllocaInst* result : reduction.results) {
      llvm::Constant* const empty = empty_result(reduction);
      set(result, is_column ? empty : empty->getAggregateElement(0u));
    }
    for (std::size_t i = 0; i < reduction.indices.size(); ++i) {
      Value* lanes = v_.splat(first_index_[is_column ? 1 : 0]);
      if (!is_column) lanes = b.CreateAdd(lanes, v_.iota(b.getInt64Ty()));
      set(reduction.indices[i], lanes);
      set(reduction.accumulators[i], reduction.identity);
    }
  }
}

void Nest::reset_accumulators() {
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    for (AllocaInst* accumulator : reduction.accumulators) set(accumulator, reduction.identity);
  }
}

void Nest::spill_accumulators() {
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg || !reduction.lanes) continue;
    for (std::size_t i = 0; i < reduction.accumulators.size(); ++i) {
      b.CreateStore(get(reduction.accumulators[i]),
                    lane_slot(reduction, integer(static_cast<std::int64_t>(i))));
    }
  }
  accumulate_ = Accumulate::kLanes;
}

Value* Nest::lane_slot(const Reduction& reduction, Value* vector) {
  return b.CreateGEP(v_.type(reduction.dtype), reduction.lanes, vector);
}

void Nest::accumulate(std::int32_t id) {
  const Reduction* found = nullptr;
  for (const Reduction& each : reductions_) {
    if (each.id == id) found = &each;
  }
  const Reduction& reduction = *found;
  Value* x = values_[at(kernel_.code[at(id)].args[0])];
  if (reduction.is_bool) x = v_.convert(kInt, kBool, x);
  const auto copy = static_cast<std::size_t>(copy_);
  if (reduction.is_arg) {
    AllocaInst* const best = reduction.accumulators[copy];
    AllocaInst* const where = reduction.indices[copy];
    Value* take = v_.replaces(reduction.prim, reduction.dtype, get(best), x);
    if (tail_ && !has_fault(Fault::kLlvmTailOfMaximum)) take = b.CreateAnd(take, tail_);
    set(best, b.CreateSelect(take, x, get(best)));
    const std::uint64_t axis = kernel_.order == Order::kColumn ? 1 : 0;
    set(where, b.CreateSelect(take, index(axis), get(where)));
    return;
  }
  const auto added = [&](Value* sum) {
    return v_.combine(reduction.prim, reduction.dtype, sum, x);
  };
  switch (accumulate_) {
    case Accumulate::kDirect:
      set(reduction.results[0], v_.lane(x, 0));
      break;
    case Accumulate::kRegisters: {
      AllocaInst* const sum = reduction.accumulators[copy];
      // The lanes of a column are its own, and those that are not there are never stored.
      const bool is_cut = tail_ && kernel_.order == Order::kRow;
      set(sum, is_cut ? b.CreateSelect(tail_, added(get(sum)), get(sum)) : added(get(sum)));
      break;
    }
    case Accumulate::kTurning: {
      AllocaInst* const sum = reduction.accumulators[0];
      Value* const before = get(sum);
      set(sum, get(reduction.accumulators[1]));
      set(reduction.accumulators[1],
          tail_ ? b.CreateSelect(tail_, added(before), before) : added(before));
      break;
    }
    case Accumulate::kLanes: {
      const std::int64_t vectors = order::kRowLanes / lanes_;
      Value* const vector =
          b.CreateAnd(b.CreateLShr(position(), llvm::Log2_32(static_cast<unsigned>(lanes_))),
                      integer(vectors - 1));
      Value* const slot = lane_slot(reduction, vector);
      Value* const before = b.CreateLoad(x->getType(), slot);
      Value* const after = added(before);
      b.CreateStore(tail_ ? b.CreateSelect(tail_, after, before) : after, slot);
    }
  }
}

void Nest::define_result(const Reduction& reduction, int copy) {
  const bool is_column = kernel_.order == Order::kColumn;
  const auto which = static_cast<std::size_t>(copy);
  Value* result;
  if (reduction.is_arg) {
    result = is_column ? get(reduction.indices[which]) : v_.splat(arg_result(reduction));
  } else {
    result = get(reduction.results[which]);
    if (!is_column) result = v_.splat(result);
    if (reduction.is_bool) result = v_.convert(kBool, kInt, result);
  }
  values_[at(reduction.id)] = result;
}

// The lowest index among the lanes that hold the best value.
Value* Nest::arg_result(const Reduction& reduction) {
  const ScalarType dtype = reduction.dtype;
  Value* const best = get(reduction.accumulators[0]);
  Value* const top = v_.splat(combine_in_vector(
      reduction.prim == Prim::kReduceArgMax ? Prim::kReduceMax : Prim::kReduceMin, dtype, best));
  Value* is_top;
  if (is_float(dtype)) {
    is_top = b.CreateOr(b.CreateFCmpOEQ(best, top),
                        b.CreateAnd(b.CreateFCmpUNO(best, best), b.CreateFCmpUNO(top, top)));
  } else {
    is_top = b.CreateICmpEQ(best, top);
  }
  Value* const candidates =
      b.CreateSelect(is_top, get(reduction.indices[0]), v_.constant(kLong, ~0ull >> 1));
  return combine_in_vector(Prim::kReduceMin, kLong, candidates);
}

// Lane j with lane j + W/2, and so on down to one.
Value* Nest::combine_in_vector(Prim prim, ScalarType dtype, Value* value) {
  for (int distance = lanes_ / 2; distance >= 1; distance /= 2) {
    // Halves are vectors of half the length down to the shortest that the machine has.
    const auto length = static_cast<std::size_t>(std::max(distance, 4));
    llvm::SmallVector<int, 16> low(length, -1), high(length, -1);
    for (int lane = 0; lane < distance; ++lane) {
      low[at(lane)] = lane;
      high[at(lane)] = lane + distance;
    }
    Value* const upper = b.CreateShuffleVector(value, high);
    value =
        v_.combine(prim, dtype, distance < 4 ? value : b.CreateShuffleVector(value, low), upper);
  }
  return v_.lane(value, 0);
}

Value* Nest::combine_lanes(const Reduction& reduction) {
  std::vector<Value*> vectors;
  for (std::int64_t i = 0; i < order::kRowLanes / lanes_; ++i) {
    if (accumulate_ != Accumulate::kLanes) {
      vectors.push_back(get(reduction.accumulators[static_cast<std::size_t>(i)]));
    } else {
      vectors.push_back(b.CreateLoad(v_.type(reduction.dtype), lane_slot(reduction, integer(i))));
    }
  }
  for (std::size_t half = vectors.size() / 2; half >= 1; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      vectors[i] = v_.combine(reduction.prim, reduction.dtype, vectors[i], vectors[i + half]);
    }
  }
  return combine_in_vector(reduction.prim, reduction.dtype, vectors[0]);
}

// ---- the tree of chunks ------------------------------------------------------------------------

// A new chunk result takes in the top of the stack once for every trailing one bit of the chunk's
// index, the last one all that waits; then it waits itself. The chunk ends at `end`, the next one's
// index times the chunk's length.
void Nest::merge_results(AllocaInst* depth, Value* end, std::int64_t chunk_length,
                         Value* is_last) {
  const auto slot = [&](AllocaInst* tree, AllocaInst* result) {
    return b.CreateGEP(result->getAllocatedType(), tree, get(depth));
  };
  llvm::Type* const word = b.getInt64Ty();
  Value* const zeros = b.CreateIntrinsic(word, llvm::Intrinsic::cttz, {end, b.getTrue()});
  const std::int64_t shift = llvm::Log2_64(static_cast<std::uint64_t>(chunk_length));
  Value* const waiting = get(depth);
  Value* const rest = b.CreateSelect(
      is_last, integer(0), b.CreateSub(b.CreateAdd(waiting, integer(shift)), zeros));
  loop(b.CreateICmpNE(waiting, rest), [&] {
    add_to(depth, -1);
    for (const Reduction& r : reductions_) {
      for (std::size_t i = 0; i < r.results.size(); ++i) {
        Value* const earlier =
            b.CreateLoad(r.results[i]->getAllocatedType(), slot(r.trees[i], r.results[i]));
        set(r.results[i], v_.combine(r.prim, r.dtype, earlier, get(r.results[i])));
      }
    }
    return b.CreateICmpNE(get(depth), rest);
  });
  for (const Reduction& r : reductions_) {
    for (std::size_t i = 0; i < r.results.size(); ++i) {
      b.CreateStore(get(r.results[i]), slot(r.trees[i], r.results[i]));
    }
  }
  add_to(depth, 1);
}

// ---- rows --------------------------------------------------------------------------------------

void Nest::rows() {
  AllocaInst* const left = variable(b.getInt64Ty(), row_count_);
  loop(b.CreateIsNotNull(row_count_), [&] {
    start_streams();
    for (const Phase& phase : kernel_.phases) row_phase(phase);
    next_row();
    add_to(left, -1);
    return b.CreateIsNotNull(get(left));
  });
}

void Nest::row_phase(const Phase& phase) {
  take_pointers(phase);
  emit_level(Level::kRow, phase);
  if (has_vector_work(phase)) {
    set(i_, integer(0));
    start_lookahead(phase);
    find_reductions(phase, 1);
    if (reductions_.empty()) {
      vectors_until(phase, length_, 1);
    } else {
      reduce_row(phase);
    }
    reductions_.clear();
    next_row_.clear();
  }
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[at(id)];
    if (instr.prim == Prim::kStore &&
        kernel_.accesses[instr.imm].inner == StrideClass::kBroadcast) {
      store_once(instr);
    }
  }
}

void Nest::start_lookahead(const Phase& phase) {
  next_row_.clear();
  for (const kernels::Lookahead::Ask& ask : asks(phase)) {
    const auto access = static_cast<std::size_t>(ask.access);
    const auto size = static_cast<std::int64_t>(element_size(kernel_.accesses[access].dtype));
    Value* const stride = row_stride(access);
    Value* const is_long = b.CreateICmpUGT(stride, integer(kernels::Lookahead::kLongest));
    Value* const is_skipped = b.CreateICmpULE(stride, integer(lookahead_.longest_skipped));
    Value* const further = b.CreateMul(stride, integer(lookahead_.rows));
    Value* const near = b.CreateSelect(is_skipped, further, stride);
    Value* begin = offset(row_pointer(access), b.CreateSelect(is_long, integer(0), near));
    if (ask.part == kernels::Lookahead::Part::kSecondHalf) {
      begin = offset(begin, b.CreateMul(length_, integer(size / 2)));
    }
    next_row_.push_back(begin);
  }
}

// Where a step of the loop moves by less than a line, it asks for it again.
void Nest::look_ahead(const Phase& phase, int copies) {
  for (std::size_t i = 0; i < next_row_.size(); ++i) {
    const kernels::Lookahead::Ask& ask = asks(phase)[i];
    const ScalarType dtype = kernel_.accesses[static_cast<std::size_t>(ask.access)].dtype;
    const auto size = static_cast<std::int64_t>(element_size(dtype));
    const std::int64_t step = ask.part == kernels::Lookahead::Part::kWhole ? size : size / 2;
    const std::int64_t bytes = copies * lanes_ * step;
    Value* const at = offset(next_row_[i], b.CreateMul(get(i_), integer(step)));
    for (std::int64_t line = 0; line < bytes; line += 64) {
      Value* const place = offset(at, integer(line));
      constexpr std::uint32_t kRead = 0, kData = 1;
      const std::uint32_t nearness = lookahead_.is_near ? 3 : 2;
      b.CreateIntrinsic(llvm::Intrinsic::prefetch, {place->getType()},
                        {place, b.getInt32(kRead), b.getInt32(nearness), b.getInt32(kData)});
    }
  }
}

void Nest::reduce_row(const Phase& phase) {
  begin_reductions();
  const bool is_tree = kernel_.order == Order::kTree;
  const bool has_chunks = std::any_of(reductions_.begin(), reductions_.end(),
                                      [](const Reduction& each) { return !each.is_arg; });
  if (is_tree || has_chunks) {
    AllocaInst* const depth = variable(b.getInt64Ty(), integer(0));
    const std::int64_t chunk_length = is_tree ? 1 : order::kRowChunk;
    loop(b.CreateIsNotNull(length_), [&] {
      if (is_tree) {
        accumulate_ = Accumulate::kDirect;
        emit_body(phase, 0, nullptr);
        add_to(i_, 1);
      } else {
        chunk_of_row(phase, minimum(b.CreateAdd(get(i_), integer(chunk_length)), length_));
      }
      Value* const is_last = b.CreateICmpSGE(get(i_), length_);
      merge_results(depth, get(i_), chunk_length, is_last);
      return b.CreateNot(is_last);
    });
  } else {
    chunk_of_row(phase, length_);
  }
  for (const Reduction& reduction : reductions_) define_result(reduction, 0);
}

// From i to `end`, at most one chunk: sums go to the lanes, lanes to one value.
void Nest::chunk_of_row(const Phase& phase, Value* end) {
  const int vectors = static_cast<int>(order::kRowLanes) / lanes_;
  bool is_light = weight(phase) <= kLightBody;
  int registers = 0;
  for (const Reduction& reduction : reductions_) {
    is_light = is_light && !reduction.is_arg;
    registers += vectors * registers_of(reduction.dtype);
  }
  const bool has_registers = registers <= (is_wide_ ? 16 : 8);
  reset_accumulators();
  if (is_light && has_registers) {
    accumulate_ = Accumulate::kRegisters;
    vectors_until(phase, end, vectors);
  } else {
    if (is_wide_ && has_registers) {
      accumulate_ = Accumulate::kTurning;
    } else {
      spill_accumulators();
    }
    vectors_until(phase, end, 1);
  }
  if (accumulate_ == Accumulate::kTurning) turn_back();
  set(i_, end);
  for (const Reduction& reduction : reductions_) {
    if (!reduction.is_arg) set(reduction.results[0], combine_lanes(reduction));
  }
}

// The lanes of the next vector are always in the first accumulator. A chunk begins with the first.
void Nest::turn_back() {
  Value* const has_turned = b.CreateIsNotNull(b.CreateAnd(get(i_), integer(lanes_)));
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    Value* const next = get(reduction.accumulators[0]);
    Value* const last = get(reduction.accumulators[1]);
    set(reduction.accumulators[0], b.CreateSelect(has_turned, last, next));
    set(reduction.accumulators[1], b.CreateSelect(has_turned, next, last));
  }
}

// ---- columns -----------------------------------------------------------------------------------

// Several vectors of a row use whole cache lines and hide the latency of the sums.
int Nest::columns_at_once() const {
  for (const kernels::Access& access : kernel_.accesses) {
    if (access.inner == StrideClass::kStrided) return 1;
  }
  const Phase& phase = kernel_.phases[0];
  if (weight(phase) > kLightBody) return 1;
  int registers = 0;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[at(id)];
    if (!is_reduction(instr.prim)) continue;
    if (instr.prim == Prim::kReduceArgMax || instr.prim == Prim::kReduceArgMin) return 1;
    registers += registers_of(kernel_.code[at(instr.args[0])].dtype);
  }
  return kMostVectors * registers <= (is_wide_ ? 16 : 8) ? kMostVectors : 1;
}

void Nest::columns() {
  const int unrolled = columns_at_once();
  const int step = unrolled * lanes_;
  if (unrolled > 1 || !is_wide_) {
    Value* const limit = b.CreateSub(length_, integer(step));
    loop(b.CreateICmpSLE(get(i_), limit), [&] {
      column_group(unrolled, nullptr);
      add_to(i_, step);
      return b.CreateICmpSLE(get(i_), limit);
    });
  }
  loop(b.CreateICmpSLT(get(i_), length_), [&] {
    Value* const left = b.CreateSub(length_, get(i_));
    column_group(1, make_tail(minimum(left, integer(lanes_))));
    add_to(i_, lanes_);
    return b.CreateICmpSLT(get(i_), length_);
  });
}

// Back to row 0 of the columns at i.
void Nest::start_columns() {
  set(index1_, first_index_[1]);
  for (std::size_t a = 0; a < pointers_.size(); ++a) set(pointers_[a], bases_[a]);
}

void Nest::column_group(int unrolled, Value* tail) {
  llvm::Type* const word = b.getInt64Ty();
  const std::int64_t chunk_length =
      order::kColumnChunk * (has_fault(Fault::kLlvmLongColumnChunk) ? 2 : 1);
  find_reductions(kernel_.phases[0], unrolled);
  start_columns();
  begin_reductions();
  AllocaInst* const row = variable(word, integer(0));
  AllocaInst* const depth = variable(word, integer(0));
  loop(b.CreateIsNotNull(row_count_), [&] {
    column_chunk(row, chunk_length, unrolled, tail);
    Value* const is_last = b.CreateICmpSGE(get(row), row_count_);
    merge_results(depth, get(row), chunk_length, is_last);
    return b.CreateNot(is_last);
  });
  start_columns();
  for (int copy = 0; copy < unrolled; ++copy) {
    for (const Reduction& reduction : reductions_) define_result(reduction, copy);
    emit_body(kernel_.phases[1], copy, tail);
  }
}

void Nest::column_chunk(AllocaInst* row, std::int64_t length, int unrolled, Value* tail) {
  reset_accumulators();
  accumulate_ = Accumulate::kRegisters;
  Value* const end = minimum(b.CreateAdd(get(row), integer(length)), row_count_);
  loop(b.getTrue(), [&] {
    for (int copy = 0; copy < unrolled; ++copy) emit_body(kernel_.phases[0], copy, tail);
    next_row();
    add_to(row, 1);
    return b.CreateICmpSLT(get(row), end);
  });
}

}  // namespace groove::llvm_tier
