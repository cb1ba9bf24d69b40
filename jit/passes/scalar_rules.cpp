// The rule table. Adding +0.0 is not in it: it would turn -0.0 into +0.0.
#include "jit/passes/scalar_rules.h"

#include <bit>

#include "src/core/faults.h"

namespace groove::jit {
namespace {

using kernels::Builder;
using kernels::Instr;
using kernels::Prim;

bool is_constant(const Builder& builder, std::int32_t id, double value) {
  const Instr& instr = builder.at(id);
  if (instr.prim != Prim::kConstant) return false;
  switch (instr.dtype) {
    case kFloat:
      return instr.imm == std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case kDouble:
      return instr.imm == std::bit_cast<std::uint64_t>(value);
    default: {
      if (!is_integral(instr.dtype)) return false;
      const std::size_t bits = 8 * element_size(instr.dtype);
      const auto wanted = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      return ((instr.imm ^ wanted) << (64 - bits)) == 0;
    }
  }
}
bool is_true_constant(const Builder& builder, std::int32_t id, bool value) {
  const Instr& instr = builder.at(id);
  return instr.prim == Prim::kConstant && instr.dtype == kBool && (instr.imm != 0) == value;
}

// Integers have one zero, which leaves any sum alone; among floats only -0.0 does.
double neutral_of_sum(kernels::Prim prim, ScalarType dtype) {
  if (!is_floating(dtype)) return 0.0;
  return prim == Prim::kAdd && !has_fault(Fault::kPositiveZeroNeutral) ? -0.0 : 0.0;
}

int times_one(const Builder& b, const Instr& i) {
  if (is_constant(b, i.args[1], 1)) return 0;
  return is_constant(b, i.args[0], 1) ? 1 : -1;
}
int plus_nothing(const Builder& b, const Instr& i) {
  const double nothing = neutral_of_sum(i.prim, i.dtype);
  if (is_constant(b, i.args[1], nothing)) return 0;
  return i.prim == Prim::kAdd && is_constant(b, i.args[0], nothing) ? 1 : -1;
}
int divided_by_one(const Builder& b, const Instr& i) {
  return is_constant(b, i.args[1], 1) ? 0 : -1;
}
int both_the_same(const Builder&, const Instr& i) { return i.args[0] == i.args[1] ? 0 : -1; }
int chosen(const Builder& b, const Instr& i) {
  if (i.args[1] == i.args[2]) return 1;
  if (is_true_constant(b, i.args[0], true)) return 1;
  return is_true_constant(b, i.args[0], false) ? 2 : -1;
}

}  // namespace

const std::vector<ScalarRule>& scalar_rules() {
  // Never destroyed: see passes().
  static const auto& rules = *new std::vector<ScalarRule>{
      {"x * 1 -> x", Prim::kMul, times_one},
      {"x / 1 -> x", Prim::kDiv, divided_by_one},
      {"x + -0.0 -> x", Prim::kAdd, plus_nothing},
      {"x - 0.0 -> x", Prim::kSub, plus_nothing},
      {"max(x, x) -> x", Prim::kMax, both_the_same},
      {"min(x, x) -> x", Prim::kMin, both_the_same},
      {"x & x -> x", Prim::kAnd, both_the_same},
      {"x | x -> x", Prim::kOr, both_the_same},
      {"select(c, x, x) -> x", Prim::kSelect, chosen},
  };
  return rules;
}

std::int32_t simplified_to_load(const Builder& builder, kernels::Expr expr) {
  std::int32_t id = expr.id();
  for (;;) {
    const Instr& instr = builder.at(id);
    if (instr.prim == Prim::kLoad) return static_cast<std::int32_t>(instr.imm);
    std::int32_t next = -1;
    // neg(neg(x)) -> x
    if (instr.prim == Prim::kNeg && builder.at(instr.args[0]).prim == Prim::kNeg) {
      next = builder.at(instr.args[0]).args[0];
    }
    for (const ScalarRule& rule : scalar_rules()) {
      if (next >= 0 || rule.prim != instr.prim) continue;
      const int operand = rule.gives_back(builder, instr);
      if (operand >= 0) next = instr.args[operand];
    }
    if (next < 0) return -1;
    id = next;
  }
}

}  // namespace groove::jit
