// Names and properties of the primitives, and the structural hash. One row per primitive in the
// order of the enum; everything that walks primitives reads this table.
#include "kernels/ir.h"

#include <iterator>

#include "src/core/check.h"

namespace groove::kernels {
namespace {

enum class Kind : std::uint8_t { kLeaf, kPure, kBracket, kReduction, kEffect };

struct PrimRow {
  Prim prim;
  const char* name;
  int args;
  Kind kind;
};

constexpr PrimRow kRows[] = {
    {Prim::kConstant, "constant", 0, Kind::kLeaf},
    {Prim::kParam, "param", 0, Kind::kLeaf},
    {Prim::kIndex, "index", 0, Kind::kLeaf},
    {Prim::kLoad, "load", 0, Kind::kLeaf},
    {Prim::kLoadAt, "load_at", 1, Kind::kPure},
    {Prim::kAdd, "add", 2, Kind::kPure},
    {Prim::kSub, "sub", 2, Kind::kPure},
    {Prim::kMul, "mul", 2, Kind::kPure},
    {Prim::kDiv, "div", 2, Kind::kPure},
    {Prim::kSqrt, "sqrt", 1, Kind::kPure},
    {Prim::kFma, "fma", 3, Kind::kPure},
    {Prim::kNeg, "neg", 1, Kind::kPure},
    {Prim::kAbs, "abs", 1, Kind::kPure},
    {Prim::kMax, "max", 2, Kind::kPure},
    {Prim::kMin, "min", 2, Kind::kPure},
    {Prim::kFloor, "floor", 1, Kind::kPure},
    {Prim::kCeil, "ceil", 1, Kind::kPure},
    {Prim::kTrunc, "trunc", 1, Kind::kPure},
    {Prim::kRoundEven, "round_even", 1, Kind::kPure},
    {Prim::kMulHigh, "mul_high", 2, Kind::kPure},
    {Prim::kEq, "eq", 2, Kind::kPure},
    {Prim::kNe, "ne", 2, Kind::kPure},
    {Prim::kLt, "lt", 2, Kind::kPure},
    {Prim::kLe, "le", 2, Kind::kPure},
    {Prim::kGt, "gt", 2, Kind::kPure},
    {Prim::kGe, "ge", 2, Kind::kPure},
    {Prim::kSelect, "select", 3, Kind::kPure},
    {Prim::kConvert, "convert", 1, Kind::kPure},
    {Prim::kBitcast, "bitcast", 1, Kind::kPure},
    {Prim::kAnd, "and", 2, Kind::kPure},
    {Prim::kOr, "or", 2, Kind::kPure},
    {Prim::kXor, "xor", 2, Kind::kPure},
    {Prim::kNot, "not", 1, Kind::kPure},
    {Prim::kShiftLeft, "shift_left", 2, Kind::kPure},
    {Prim::kShiftRightLogical, "shift_right_logical", 2, Kind::kPure},
    {Prim::kShiftRightArithmetic, "shift_right_arithmetic", 2, Kind::kPure},
    {Prim::kLookup, "lookup", 1, Kind::kPure},
    {Prim::kIfAnyBegin, "if_any_begin", 1, Kind::kBracket},
    {Prim::kIfAnyEnd, "if_any_end", 3, Kind::kBracket},
    {Prim::kReduceSum, "reduce_sum", 1, Kind::kReduction},
    {Prim::kReduceProd, "reduce_prod", 1, Kind::kReduction},
    {Prim::kReduceMax, "reduce_max", 1, Kind::kReduction},
    {Prim::kReduceMin, "reduce_min", 1, Kind::kReduction},
    {Prim::kReduceArgMax, "reduce_arg_max", 1, Kind::kReduction},
    {Prim::kReduceArgMin, "reduce_arg_min", 1, Kind::kReduction},
    {Prim::kStore, "store", 1, Kind::kEffect},
};

constexpr bool rows_follow_enum() {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<std::size_t>(kRows[i].prim) != i) return false;
  }
  return std::size(kRows) == static_cast<std::size_t>(Prim::kStore) + 1;
}
static_assert(rows_follow_enum());

const PrimRow& row(Prim prim) { return kRows[static_cast<std::size_t>(prim)]; }

// Multiply-xorshift mixing; equality decides, so this only has to spread.
class Hasher {
 public:
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  std::uint64_t result() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

template <typename T>
std::uint64_t word(T value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

const char* name(Prim prim) { return row(prim).name; }
int arg_count(Prim prim) { return row(prim).args; }
bool is_reduction(Prim prim) { return row(prim).kind == Kind::kReduction; }
bool is_pure(Prim prim) { return row(prim).kind == Kind::kLeaf || row(prim).kind == Kind::kPure; }

std::uint64_t hash(const Kernel& kernel) {
  Hasher hasher;
  hasher.add(word(kernel.order));
  hasher.add(kernel.accesses.size() << 32 | kernel.scalars.size());
  for (const Access& access : kernel.accesses) {
    hasher.add(word(access.dtype) << 16 | word(access.is_store) << 8 | word(access.inner));
  }
  for (ScalarType dtype : kernel.scalars) hasher.add(word(dtype));
  for (const Table& table : kernel.tables) {
    hasher.add(word(table.dtype) << 32 | table.bits.size());
    for (std::uint64_t bits : table.bits) hasher.add(bits);
  }
  for (const Instr& instr : kernel.code) {
    hasher.add(word(instr.prim) << 8 | word(static_cast<std::uint8_t>(instr.dtype)) |
               word(static_cast<std::uint32_t>(instr.args[0])) << 32);
    hasher.add(word(static_cast<std::uint32_t>(instr.args[1])) << 32 |
               static_cast<std::uint32_t>(instr.args[2]));
    hasher.add(instr.imm);
  }
  for (const Phase& phase : kernel.phases) {
    hasher.add(word(static_cast<std::uint32_t>(phase.begin)) << 32 |
               static_cast<std::uint32_t>(phase.end));
  }
  return hasher.result();
}

std::vector<bool> uniform_values(const Kernel& kernel) {
  const bool per_row = kernel.order == Order::kRow || kernel.order == Order::kTree;
  std::vector<bool> uniform(kernel.code.size());
  for (std::size_t id = 0; id < kernel.code.size(); ++id) {
    const Instr& instr = kernel.code[id];
    bool all = true;
    for (int i = 0; i < arg_count(instr.prim); ++i) {
      all = all && uniform[static_cast<std::size_t>(instr.args[i])];
    }
    switch (instr.prim) {
      case Prim::kIndex:
        all = per_row && instr.imm >= 1;
        break;
      case Prim::kLoad:
      case Prim::kLoadAt:
        all = all && per_row && kernel.accesses[instr.imm].inner == StrideClass::kBroadcast;
        break;
      default:
        if (is_reduction(instr.prim)) all = per_row;
    }
    uniform[id] = all;
  }
  return uniform;
}

std::vector<std::int32_t> match_if_any(const Kernel& kernel) {
  std::vector<std::int32_t> match(kernel.code.size(), -1);
  std::vector<std::int32_t> open;
  for (std::size_t id = 0; id < kernel.code.size(); ++id) {
    if (kernel.code[id].prim == Prim::kIfAnyBegin) {
      open.push_back(static_cast<std::int32_t>(id));
    } else if (kernel.code[id].prim == Prim::kIfAnyEnd) {
      if (open.empty()) return {};
      match[id] = open.back();
      match[static_cast<std::size_t>(open.back())] = static_cast<std::int32_t>(id);
      open.pop_back();
    }
  }
  if (!open.empty()) return {};
  return match;
}

}  // namespace groove::kernels
