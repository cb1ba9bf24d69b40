// Reductions inside loop nests: identities, accumulation, the combination of lanes, and the
// pairwise tree over chunks kept as a stack (kernels/order.h).
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/asmjit/nest.h"
#include "kernels/order.h"
#include "src/core/faults.h"

namespace groove::kernels::assembly {
namespace {

constexpr int kTreeLevels = 64;

bool is_arg(Prim prim) { return prim == Prim::kReduceArgMax || prim == Prim::kReduceArgMin; }
bool is_greatest(Prim prim) { return prim == Prim::kReduceMax || prim == Prim::kReduceArgMax; }

std::uint64_t double_bits(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
std::uint64_t float_bits(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

template <typename T>
std::uint64_t integer_bound(bool lowest) {
  const T bound = lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bound));
}

std::uint64_t identity_bits(Prim prim, ScalarType dtype, bool is_bool) {
  const bool is_float = dtype == kFloat || dtype == kDouble;
  double value = 0;
  switch (prim) {
    case Prim::kReduceSum:
      value = is_float && !has_fault(Fault::kWrongIdentity) ? order::kSumIdentity : 0.0;
      break;
    case Prim::kReduceProd:
      value = 1.0;
      break;
    default: {
      const bool lowest = is_greatest(prim);
      if (is_float) {
        value = lowest ? -INFINITY : INFINITY;
        break;
      }
      if (is_bool) return lowest ? 0 : 1;
      switch (dtype) {
        case kByte:
          return integer_bound<std::uint8_t>(lowest);
        case kChar:
          return integer_bound<std::int8_t>(lowest);
        case kShort:
          return integer_bound<std::int16_t>(lowest);
        case kInt:
          return integer_bound<std::int32_t>(lowest);
        default:
          return integer_bound<std::int64_t>(lowest);
      }
    }
  }
  if (dtype == kFloat) return float_bits(static_cast<float>(value));
  if (dtype == kDouble) return double_bits(value);
  return static_cast<std::uint64_t>(value);
}

}  // namespace

void Nest::find_reductions(const Phase& phase) {
  reductions_.clear();
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[id];
    if (!is_reduction(instr.prim)) continue;
    Reduction reduction;
    reduction.id = id;
    reduction.prim = instr.prim;
    reduction.dtype = kernel_.code[instr.args[0]].dtype;
    reduction.is_bool = reduction.dtype == kBool;
    if (reduction.is_bool) reduction.dtype = kInt;
    reduction.is_arg = is_arg(instr.prim);
    if (!reduction.is_arg && kernel_.order != Order::kColumn) {
      const int bytes = lane_bytes(reduction);
      reduction.tree = function_.new_stack(static_cast<std::uint32_t>(kTreeLevels * bytes));
      if (kernel_.order == Order::kRow) {
        reduction.lanes = function_.new_stack(static_cast<std::uint32_t>(order::kRowLanes * bytes));
      }
    }
    reductions_.push_back(reduction);
  }
}

Value Nest::identity(const Reduction& reduction) {
  return emitter_.constant(reduction.dtype,
                           identity_bits(reduction.prim, reduction.dtype, reduction.is_bool), true);
}

Value Nest::empty_result(const Reduction& reduction) {
  if (reduction.is_arg) {
    const int axis = kernel_.order == Order::kColumn ? 1 : 0;
    return emitter_.load_broadcast(kLong, argument(offsetof(NestArguments, index) + axis * 8u));
  }
  if (reduction.prim != Prim::kReduceSum) return identity(reduction);
  return emitter_.constant(reduction.dtype, 0, true);
}

// `a` is the operand of lower index.
Value Nest::combine(Prim prim, ScalarType dtype, const Value& a, const Value& b) {
  switch (prim) {
    case Prim::kReduceSum:
      return emitter_.binary(Prim::kAdd, dtype, a, b);
    case Prim::kReduceProd:
      return emitter_.binary(Prim::kMul, dtype, a, b);
    default:
      return emitter_.extremum(is_greatest(prim), dtype, a, b);
  }
}

Value Nest::from_accumulator(const Reduction& reduction, const Value& value) {
  if (!reduction.is_bool || reduction.is_arg) return value;
  return emitter_.convert(kBool, kInt, value);
}

Value Nest::tail_mask() const {
  Value mask;
  mask.vec[0] = tail_->mask;
  mask.mask = tail_->wmask;
  return mask;
}

void Nest::reduce(Emitter& emitter, std::int32_t id, const Value& operand) {
  Reduction* found = nullptr;
  for (Reduction& reduction : reductions_) {
    if (reduction.id == id) found = &reduction;
  }
  Reduction& reduction = *found;
  const ScalarType dtype = reduction.dtype;
  const Value x = reduction.is_bool ? emitter.convert(kInt, kBool, operand) : operand;
  if (reduction.is_arg) return accumulate_arg(reduction, x);
  if (accumulate_ == Accumulate::kDirect) return emitter.assign(dtype, reduction.result, x);
  if (accumulate_ == Accumulate::kRegisters) {
    const Value& sum = reduction.accumulators[static_cast<std::size_t>(unrolled_)];
    return emitter.assign(dtype, sum, combine(reduction.prim, dtype, sum, x));
  }
  const Gp lane = function_.new_gp();
  cc_.mov(lane.r32(), i_.r32());
  cc_.and_(lane.r32(), static_cast<std::int32_t>(order::kRowLanes - 1));
  Mem at = reduction.lanes;
  at.setIndex(lane, lane_bytes(reduction) == 8 ? 3 : 2);
  const Value before = emitter.reload(dtype, at);
  Value after = combine(reduction.prim, dtype, before, x);
  if (tail_) {
    const Value cut = emitter.new_value(dtype);
    emitter.blend(dtype, cut, tail_mask(), after, before);
    after = cut;
  }
  emitter.spill(dtype, at, after);
}

// ---- arg reductions ----------------------------------------------------------------------------

// Each lane starts as if it had seen an identity at its own first index: a real element there wins
// or ties, and an absent lane loses every tie because its index lies behind the row.
void Nest::begin_arg(Reduction& reduction, int unrolled) {
  reduction.accumulators.clear();
  reduction.indices.clear();
  const Instr axis{
      Prim::kIndex, kLong, {-1, -1, -1}, kernel_.order == Order::kColumn ? 1ull : 0ull};
  for (int copy = 0; copy < unrolled; ++copy) {
    reduction.accumulators.push_back(emitter_.copy(reduction.dtype, identity(reduction)));
    reduction.indices.push_back(emitter_.copy(kLong, index(emitter_, axis)));
  }
}

void Nest::accumulate_arg(Reduction& reduction, const Value& x) {
  const auto copy = static_cast<std::size_t>(unrolled_);
  const Value& best = reduction.accumulators[copy];
  const ScalarType dtype = reduction.dtype;
  const bool takes_last = has_fault(Fault::kLastIndexWins);
  Value take = emitter_.compare(is_greatest(reduction.prim) ? takes_last ? Prim::kGe : Prim::kGt
                                : takes_last                ? Prim::kLe
                                                            : Prim::kLt,
                                dtype, x, best);
  if (dtype == kFloat || dtype == kDouble) {
    const Value is_nan = emitter_.compare(Prim::kNe, dtype, x, x);
    const Value was_number = emitter_.compare(Prim::kEq, dtype, best, best);
    take = emitter_.bitwise(Prim::kOr, kBool, take,
                            emitter_.bitwise(Prim::kAnd, kBool, is_nan, was_number));
  }
  const bool is_column = kernel_.order == Order::kColumn;
  if (tail_ && !is_column) take = emitter_.bitwise(Prim::kAnd, kBool, take, tail_mask());
  const Instr axis{Prim::kIndex, kLong, {-1, -1, -1}, is_column ? 1ull : 0ull};
  emitter_.blend(dtype, best, take, x, best);
  const Value& where = reduction.indices[copy];
  emitter_.blend(kLong, where, take, index(emitter_, axis), where);
}

// The lowest index among the lanes that hold the best value.
Value Nest::arg_result(const Reduction& reduction) {
  const ScalarType dtype = reduction.dtype;
  const Value& best = reduction.accumulators[0];
  const Value top = lane0(dtype, combine_in_vector(reduction.prim, dtype, best));
  Value is_top = emitter_.compare(Prim::kEq, dtype, best, top);
  if (dtype == kFloat || dtype == kDouble) {
    const Value both =
        emitter_.bitwise(Prim::kAnd, kBool, emitter_.compare(Prim::kNe, dtype, best, best),
                         emitter_.compare(Prim::kNe, dtype, top, top));
    is_top = emitter_.bitwise(Prim::kOr, kBool, is_top, both);
  }
  const Value candidates = emitter_.new_value(kLong);
  emitter_.blend(kLong, candidates, is_top, reduction.indices[0],
                 emitter_.constant(kLong, ~0ull >> 1, true));
  return lane0(kLong, combine_in_vector(Prim::kReduceMin, kLong, candidates));
}

// ---- lanes of one vector -----------------------------------------------------------------------

// Brings the lane `distance` 32-bit lanes up down to each lane of a block of twice the distance.
Value Nest::swap_lanes(const Value& value, int distance) {
  const Vec v = value.vec[0];
  const Vec to = function_.new_vec();
  const auto& imm = [](int bits) { return asmjit::Imm(bits); };
  if (distance == 8) {
    cc_.emit(Inst::kIdVshuff64x2, to, v, v, imm(0x4e));
  } else if (distance == 4 && function_.is_wide()) {
    cc_.emit(Inst::kIdVshuff64x2, to, v, v, imm(0xb1));
  } else if (distance == 4) {
    cc_.emit(Inst::kIdVperm2f128, to, v, v, imm(1));
  } else {
    cc_.emit(Inst::kIdVpermilps, to, v, imm(distance == 2 ? 0x4e : 0xb1));
  }
  Value result;
  result.vec[0] = result.vec[1] = to;
  return result;
}

Value Nest::lane0(ScalarType dtype, const Value& value) {
  const Vec to = function_.new_vec();
  cc_.emit(is_wide_dtype(dtype) ? Inst::kIdVbroadcastsd : Inst::kIdVbroadcastss, to,
           value.vec[0].xmm());
  Value result;
  result.vec[0] = result.vec[1] = to;
  result.is_shared = true;
  return result;
}

// Lane j with lane j + W/2, and so on down to one; lane 0 holds the result.
Value Nest::combine_in_vector(Prim prim, ScalarType dtype, Value value) {
  int distance = function_.lanes() / 2;
  int last = 1;
  if (is_wide_dtype(dtype)) {
    Value upper;
    upper.vec[0] = upper.vec[1] = value.vec[1];
    value.vec[1] = value.vec[0];
    value = combine(prim, dtype, value, upper);
    last = 2;
  }
  for (; distance >= last; distance /= 2) {
    value = combine(prim, dtype, value, swap_lanes(value, distance));
  }
  return value;
}

Mem Nest::lanes_of(const Reduction& reduction, int vector) const {
  return with_offset(reduction.lanes, vector * function_.lanes() * lane_bytes(reduction));
}

Value Nest::combine_lanes(const Reduction& reduction) {
  const int lanes = function_.lanes();
  std::vector<Value> vectors;
  for (int v = 0; v < static_cast<int>(order::kRowLanes) / lanes; ++v) {
    vectors.push_back(reduction.accumulators.empty()
                          ? emitter_.reload(reduction.dtype, lanes_of(reduction, v))
                          : reduction.accumulators[static_cast<std::size_t>(v)]);
  }
  for (std::size_t half = vectors.size() / 2; half >= 1; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) {
      vectors[v] =
          has_fault(Fault::kReorderedLanes)
              ? combine(reduction.prim, reduction.dtype, vectors[2 * v], vectors[2 * v + 1])
              : combine(reduction.prim, reduction.dtype, vectors[v], vectors[v + half]);
    }
  }
  return combine_in_vector(reduction.prim, reduction.dtype, vectors[0]);
}

// ---- the tree of chunks ------------------------------------------------------------------------

Mem Nest::tree_slot(const Reduction& reduction, const Gp& depth) const {
  Mem at = reduction.tree;
  at.setIndex(depth, lane_bytes(reduction) == 8 ? 3 : 2);
  return at;
}

// Merges the new chunk results with the top once for every trailing one bit of the chunk's index.
void Nest::push_tree(const Mem& depth_at, const Mem& chunk_at) {
  const Gp bits = function_.new_gp(), depth = function_.new_gp();
  const Label merge = function_.new_label(), done = function_.new_label();
  cc_.mov(depth, depth_at);
  cc_.mov(bits, chunk_at);
  function_.bind(merge);
  cc_.test(bits.r32(), has_fault(Fault::kReorderedChunks) ? 0 : 1);
  cc_.jz(done);
  cc_.dec(depth);
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    const ScalarType dtype = reduction.dtype;
    const ScalarType raw = is_wide_dtype(dtype) ? kDouble : kFloat;
    const Value earlier = emitter_.load_broadcast(raw, tree_slot(reduction, depth));
    emitter_.assign(dtype, reduction.result,
                    combine(reduction.prim, dtype, earlier, reduction.result));
  }
  cc_.shr(bits, 1);
  cc_.jmp(merge);
  function_.bind(done);
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    const ScalarType raw = is_wide_dtype(reduction.dtype) ? kDouble : kFloat;
    emitter_.store_lane0(raw, tree_slot(reduction, depth), reduction.result);
  }
  cc_.inc(depth);
  cc_.mov(depth_at, depth);
}

void Nest::collapse_tree(const Mem& depth_at) {
  const Gp depth = function_.new_gp();
  cc_.mov(depth, depth_at);
  const Label merge = function_.new_label(), done = function_.new_label();
  cc_.dec(depth);
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    const ScalarType raw = is_wide_dtype(reduction.dtype) ? kDouble : kFloat;
    emitter_.assign(reduction.dtype, reduction.result,
                    emitter_.load_broadcast(raw, tree_slot(reduction, depth)));
  }
  function_.bind(merge);
  cc_.test(depth, depth);
  cc_.jz(done);
  cc_.dec(depth);
  for (const Reduction& reduction : reductions_) {
    if (reduction.is_arg) continue;
    const ScalarType raw = is_wide_dtype(reduction.dtype) ? kDouble : kFloat;
    const Value earlier = emitter_.load_broadcast(raw, tree_slot(reduction, depth));
    emitter_.assign(reduction.dtype, reduction.result,
                    combine(reduction.prim, reduction.dtype, earlier, reduction.result));
  }
  cc_.jmp(merge);
  function_.bind(done);
}

}  // namespace groove::kernels::assembly
