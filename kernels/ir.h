// Kernel IR: what one launch computes. A kernel is a list of scalar instructions in SSA form over
// the closed primitive set of the numeric contract, run for every point of a box of axes. It
// knows dtypes, stride classes of the innermost axis and the order of its reductions; it knows no
// sizes, strides or addresses, which come with each launch. Structurally equal kernels are the
// same kernel.
//
// Axes are counted from the inside: axis 0 is the innermost one, along which code is vectorised.
//
//   kMap     every point of the box is computed on its own; one phase.
//   kRow     axis 0 is a row. Phases run one after the other for each row; a reduction in phase p
//            reduces axis 0 in row order and its result is uniform over the row in phases > p.
//   kColumn  axis 0 are columns, axis 1 is reduced in column order, exactly two phases: the first
//            walks (axis 1 × axis 0) and ends in reductions, the second runs once per column and
//            reads the reductions' results as ordinary per-column values. Stores belong to the
//            second phase.
//   kTree    as kRow with one phase of reductions, except that the elements of axis 0 combine
//            pairwise by index: the second step of a long reduction that was split by chunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groove/dtype.h"

namespace groove::kernels {

enum class Prim : std::uint8_t {
  // leaves
  kConstant,  // imm: the bits of the value in its dtype (bool: 0 or 1)
  kParam,     // imm: index into Kernel::scalars; uniform over the launch
  kIndex,     // imm: axis; i64 index of the point along that axis, box origin included
  kLoad,      // imm: access; the element at this point
  kLoadAt,    // imm: access; args[0]: i64 element offset added to this point's address
  // arithmetic; integers wrap
  kAdd, kSub, kMul, kDiv, kSqrt, kFma, kNeg, kAbs,
  kMax,  // a > b ? a : b
  kMin,  // a < b ? a : b
  kFloor, kCeil, kTrunc, kRoundEven,
  kMulHigh,  // i32 as unsigned 32 x 32 -> high 32 bits
  // comparisons give bool; ordered, except kNe which is true on NaN
  kEq, kNe, kLt, kLe, kGt, kGe,
  kSelect,   // args[0] bool ? args[1] : args[2]
  kConvert,  // dtype of args[0] -> dtype; see numerics.md §1 for out-of-range rules. f16 and bf16 to
             // and from f32 only; they are loaded, stored and selected, and have no arithmetic
  kBitcast,  // between f32 and i32, f64 and i64
  // bits (integers and bool); shifts by >= width give 0, arithmetic ones the sign
  kAnd, kOr, kXor, kNot, kShiftLeft, kShiftRightLogical, kShiftRightArithmetic,
  kLookup,  // imm: index into Kernel::tables; args[0]: i32 or i64 index, in range by construction
  // if_any(mask) { slow }: kIfAnyBegin opens the slow region; kIfAnyEnd closes it and means
  // select(mask, slow, fast) per element. Instructions between them are used by nothing else, so a
  // generator may skip them when no lane of the mask is set.
  kIfAnyBegin,  // args[0]: mask
  kIfAnyEnd,    // args: mask, fast, slow
  // reductions (kRow, kColumn, kTree); args[0]: value. Max and min propagate NaN.
  kReduceSum, kReduceProd, kReduceMax, kReduceMin,
  kReduceArgMax, kReduceArgMin,  // i64 index along the reduced axis; ties lowest, NaN greatest
                                 // (for min: NaN is taken too, as LibTorch does)
  // effects
  kStore,  // imm: access; args[0]: value. In kRow/kTree with stride class kBroadcast: once per row
};

struct Instr {
  Prim prim = Prim::kConstant;
  ScalarType dtype = kFloat;  // of the result; of the stored value for kStore
  std::int32_t args[3] = {-1, -1, -1};
  std::uint64_t imm = 0;
  bool operator==(const Instr&) const = default;
};

enum class StrideClass : std::uint8_t { kContiguous, kBroadcast, kStrided };  // 1, 0, any

// One way of reading or writing memory; each has its own pointer and strides in a launch.
struct Access {
  ScalarType dtype = kFloat;
  bool is_store = false;
  StrideClass inner = StrideClass::kContiguous;  // of axis 0
  bool operator==(const Access&) const = default;
};

enum class Order : std::uint8_t { kMap, kRow, kColumn, kTree };

struct Phase {
  std::int32_t begin = 0, end = 0;  // half-open range of Kernel::code
  bool operator==(const Phase&) const = default;
};

struct Table {
  ScalarType dtype = kFloat;
  std::vector<std::uint64_t> bits;  // one entry an element, in the low bits
  bool operator==(const Table&) const = default;
};

struct Kernel {
  Order order = Order::kMap;
  std::vector<Access> accesses;
  std::vector<ScalarType> scalars;
  std::vector<Table> tables;
  std::vector<Instr> code;
  std::vector<Phase> phases;  // cover code without gaps
  bool operator==(const Kernel&) const = default;
};

std::uint64_t hash(const Kernel& kernel);
std::string print(const Kernel& kernel);
/// Throws groove::Error with line and reason on malformed text.
Kernel parse_kernel(const std::string& text);
/// Empty when the kernel is well formed, otherwise what is wrong with it.
std::string verify(const Kernel& kernel);
const char* name(Prim prim);

/// Operands that an instruction of this kind has.
int arg_count(Prim prim);
bool is_reduction(Prim prim);
/// Neither an effect nor an if_any bracket nor a reduction: may be shared and removed when unused.
bool is_pure(Prim prim);
/// Per instruction of a kRow or kTree kernel: is its value the same along axis 0? True for what
/// derives from constants, params, indices of axes >= 1, broadcast loads and reductions. In
/// kColumn and kMap kernels: the same over the whole launch (constants and params).
std::vector<bool> uniform_values(const Kernel& kernel);
/// For each kIfAnyBegin the id of its kIfAnyEnd and the other way round; -1 elsewhere. Empty when
/// the brackets do not nest.
std::vector<std::int32_t> match_if_any(const Kernel& kernel);

inline constexpr int kMaxAxes = 8;

// What one launch is given. The box is [begin, begin + count) along each axis; pointers address
// index 0 of every axis, not the box's origin; strides are in elements of the access.
struct Launch {
  int rank = 1;  // axes in use; at least 1 (2 for kColumn)
  std::int64_t begin[kMaxAxes] = {};
  std::int64_t count[kMaxAxes] = {1, 1, 1, 1, 1, 1, 1, 1};
  void* const* pointers = nullptr;             // [access]
  const std::int64_t (*strides)[kMaxAxes] = nullptr;  // [access][axis]
  const std::uint64_t* scalars = nullptr;      // [param], bits in the low end
};

// A kernel turned into something to call, by a backend. Calls are reentrant.
class Callable {
 public:
  virtual ~Callable() = default;
  virtual void run(const Launch& launch) const noexcept = 0;
  /// For people: the machine code as assembly text; empty when there is none.
  virtual std::string listing() const { return {}; }
};

}  // namespace groove::kernels
