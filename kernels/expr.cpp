// Builder: emits instructions, shares equal pure ones within a phase, removes dead code at the
// end; and the Expr operators, each one call of emit after the dtype check.
#include "kernels/expr.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "src/core/check.h"
#include "src/core/half.h"

namespace groove::kernels {
namespace {

std::size_t hash(const Instr& instr) {
  std::uint64_t h = static_cast<std::uint64_t>(instr.prim) * 31 +
                    static_cast<std::uint64_t>(static_cast<std::uint8_t>(instr.dtype));
  for (std::int32_t arg : instr.args) {
    h = (h ^ static_cast<std::uint32_t>(arg)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 31;
  }
  return static_cast<std::size_t>((h ^ instr.imm) * 0x9e3779b97f4a7c15u >> 7);
}

}  // namespace

ScalarType Expr::dtype() const {
  GROOVE_CHECK(builder_, "kernel expression: an operand is undefined; give it a value first");
  return builder_->at(id_).dtype;
}

Builder::Builder(Order order) : phase_starts_{0} {
  kernel_.order = order;
  kernel_.code.reserve(64);
}

const Instr& Builder::at(std::int32_t id) const {
  return kernel_.code.at(static_cast<std::size_t>(id));
}

Expr Builder::emit(Prim prim, ScalarType dtype, Expr a, Expr b, Expr c, std::uint64_t imm) {
  const Instr instr{prim, dtype, {a.id(), b.id(), c.id()}, imm};
  const auto id = static_cast<std::int32_t>(kernel_.code.size());
  if (is_pure(prim)) {
    std::int32_t& first = shared_.at(kernel_.code, instr);
    if (first >= 0) return {this, first};
    first = id;
    kernel_.code.push_back(instr);
    shared_.note_added(kernel_.code);
  } else {
    kernel_.code.push_back(instr);
  }
  if (prim == Prim::kIfAnyBegin) open_.push_back(kernel_.code.size());
  if (prim == Prim::kIfAnyEnd) {
    GROOVE_ASSERT(!open_.empty(), "if_any_end without if_any_begin");
    shared_.forget_from(kernel_.code, open_.back());
    open_.pop_back();
  }
  return {this, id};
}

std::int32_t& Builder::Shared::at(const std::vector<Instr>& code, const Instr& instr) {
  const std::size_t mask = places_.size() - 1;
  for (std::size_t place = hash(instr) & mask;; place = (place + 1) & mask) {
    const std::int32_t id = places_[place];
    if (id == kFree || (id >= 0 && code[static_cast<std::size_t>(id)] == instr))
      return places_[place];
  }
}

void Builder::Shared::note_added(const std::vector<Instr>& code) {
  if (2 * ++used_ < places_.size()) return;
  const std::vector<std::int32_t> before =
      std::exchange(places_, std::vector<std::int32_t>(2 * places_.size(), kFree));
  used_ = 0;
  for (const std::int32_t id : before) {
    if (id < 0) continue;
    at(code, code[static_cast<std::size_t>(id)]) = id;
    ++used_;
  }
}

void Builder::Shared::forget_from(const std::vector<Instr>& code, std::size_t first) {
  for (std::size_t id = first; id < code.size(); ++id) {
    std::int32_t& place = at(code, code[id]);
    if (place == static_cast<std::int32_t>(id)) place = kForgotten;
  }
}

void Builder::Shared::clear() {
  std::fill(places_.begin(), places_.end(), kFree);
  used_ = 0;
}

Expr Builder::constant_bits(ScalarType dtype, std::uint64_t bits) {
  return emit(Prim::kConstant, dtype, {}, {}, {}, bits);
}

Expr Builder::constant_int(ScalarType dtype, std::int64_t value) {
  if (is_floating(dtype)) return constant(dtype, static_cast<double>(value));
  if (dtype == kBool) return constant_bits(dtype, value != 0 ? 1 : 0);
  const std::size_t bits = 8 * element_size(dtype);
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  return constant_bits(dtype, static_cast<std::uint64_t>(value) & mask);
}

Expr Builder::constant(ScalarType dtype, double value) {
  switch (dtype) {
    case kFloat:
      return constant_bits(dtype, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    case kDouble:
      return constant_bits(dtype, std::bit_cast<std::uint64_t>(value));
    case kHalf:
      return constant_bits(dtype, half_bits(value));
    case kBFloat16:
      return constant_bits(dtype, bfloat16_bits(value));
    case kBool:
      return constant_bits(dtype, value != 0.0 ? 1 : 0);
    default:
      GROOVE_CHECK(is_integral(dtype), "kernel expression: no constants of dtype {}",
                   groove::name(dtype));
      GROOVE_CHECK(value == std::trunc(value) && std::fabs(value) < 0x1p63,
                   "kernel expression: the literal {} is not a value of dtype {}", value,
                   groove::name(dtype));
      return constant_int(dtype, static_cast<std::int64_t>(value));
  }
}

Expr Builder::param(ScalarType dtype) {
  kernel_.scalars.push_back(dtype);
  return emit(Prim::kParam, dtype, {}, {}, {}, kernel_.scalars.size() - 1);
}

Expr Builder::index(int axis) {
  return emit(Prim::kIndex, kLong, {}, {}, {}, static_cast<std::uint64_t>(axis));
}

int Builder::access(ScalarType dtype, bool is_store, StrideClass inner) {
  kernel_.accesses.push_back({dtype, is_store, inner});
  return static_cast<int>(kernel_.accesses.size()) - 1;
}

Expr Builder::load(int access) {
  const auto index = static_cast<std::size_t>(access);
  return emit(Prim::kLoad, kernel_.accesses.at(index).dtype, {}, {}, {}, index);
}

Expr Builder::load_at(int access, Expr offset) {
  const auto index = static_cast<std::size_t>(access);
  return emit(Prim::kLoadAt, kernel_.accesses.at(index).dtype, offset, {}, {}, index);
}

void Builder::store(int access, Expr value) {
  emit(Prim::kStore, value.dtype(), value, {}, {}, static_cast<std::uint64_t>(access));
}

Expr Builder::reduce(Prim reduction, Expr value) {
  GROOVE_CHECK(is_reduction(reduction), "kernel expression: {} is not a reduction",
               kernels::name(reduction));
  const bool gives_index = reduction == Prim::kReduceArgMax || reduction == Prim::kReduceArgMin;
  return emit(reduction, gives_index ? kLong : value.dtype(), value);
}

int Builder::table(Table table) {
  const auto found = std::find(kernel_.tables.begin(), kernel_.tables.end(), table);
  const auto index = found - kernel_.tables.begin();
  if (found == kernel_.tables.end()) kernel_.tables.push_back(std::move(table));
  return static_cast<int>(index);
}

Expr Builder::lookup(int table, Expr index) {
  const auto which = static_cast<std::size_t>(table);
  return emit(Prim::kLookup, kernel_.tables.at(which).dtype, index, {}, {}, which);
}

void Builder::next_phase() {
  GROOVE_ASSERT(open_.empty(), "next_phase inside if_any");
  phase_starts_.push_back(static_cast<std::int32_t>(kernel_.code.size()));
  shared_.clear();
}

// Stores are the roots. An if_any_end keeps its bracket; an instruction of the slow region is kept
// only by what uses it. Reductions are pure in this sense.
void Builder::remove_dead_code() {
  const std::vector<std::int32_t> match = match_if_any(kernel_);
  GROOVE_ASSERT(match.size() == kernel_.code.size(), "if_any brackets do not nest");
  std::vector<bool> live(kernel_.code.size());
  for (std::size_t id = kernel_.code.size(); id-- > 0;) {
    const Instr& instr = kernel_.code[id];
    if (instr.prim == Prim::kStore) live[id] = true;
    if (!live[id]) continue;
    for (int i = 0; i < arg_count(instr.prim); ++i) {
      live[static_cast<std::size_t>(instr.args[i])] = true;
    }
    if (instr.prim == Prim::kIfAnyEnd) live[static_cast<std::size_t>(match[id])] = true;
  }
  std::vector<std::int32_t> renamed(kernel_.code.size() + 1);
  std::vector<Instr> kept;
  for (std::size_t id = 0; id < kernel_.code.size(); ++id) {
    renamed[id] = static_cast<std::int32_t>(kept.size());
    if (!live[id]) continue;
    Instr instr = kernel_.code[id];
    for (std::int32_t& arg : instr.args) {
      if (arg >= 0) arg = renamed[static_cast<std::size_t>(arg)];
    }
    kept.push_back(instr);
  }
  renamed.back() = static_cast<std::int32_t>(kept.size());
  for (std::int32_t& start : phase_starts_) start = renamed[static_cast<std::size_t>(start)];
  kernel_.code = std::move(kept);
}

Kernel Builder::take() {
  remove_dead_code();
  for (std::size_t i = 0; i < phase_starts_.size(); ++i) {
    const bool last = i + 1 == phase_starts_.size();
    kernel_.phases.push_back({phase_starts_[i], last
                                                    ? static_cast<std::int32_t>(kernel_.code.size())
                                                    : phase_starts_[i + 1]});
  }
  return std::move(kernel_);
}

Kernel Builder::finish() {
  Kernel kernel = take();
  const std::string problem = verify(kernel);
  GROOVE_CHECK(problem.empty(), "kernel: {}\n{}", problem, print(kernel));
  return kernel;
}

namespace {

void check_same_dtype(Prim prim, Expr a, Expr b) {
  GROOVE_CHECK(a.dtype() == b.dtype(), "kernel expression {}: operand dtypes {} and {} differ",
               name(prim), groove::name(a.dtype()), groove::name(b.dtype()));
}
Expr unary(Prim prim, Expr a) {
  const ScalarType dtype = a.dtype();
  return a.builder().emit(prim, dtype, a);
}
Expr binary(Prim prim, Expr a, Expr b) {
  check_same_dtype(prim, a, b);
  return a.builder().emit(prim, a.dtype(), a, b);
}
Expr compare(Prim prim, Expr a, Expr b) {
  check_same_dtype(prim, a, b);
  return a.builder().emit(prim, kBool, a, b);
}
Expr literal(double value, Expr like) {
  const ScalarType dtype = like.dtype();
  return like.builder().constant(dtype, value);
}

}  // namespace

Expr operator+(Expr a, Expr b) { return binary(Prim::kAdd, a, b); }
Expr operator-(Expr a, Expr b) { return binary(Prim::kSub, a, b); }
Expr operator*(Expr a, Expr b) { return binary(Prim::kMul, a, b); }
Expr operator/(Expr a, Expr b) { return binary(Prim::kDiv, a, b); }
Expr operator-(Expr a) { return unary(Prim::kNeg, a); }
Expr operator+(Expr a, double b) { return a + literal(b, a); }
Expr operator-(Expr a, double b) { return a - literal(b, a); }
Expr operator*(Expr a, double b) { return a * literal(b, a); }
Expr operator/(Expr a, double b) { return a / literal(b, a); }
Expr operator+(double a, Expr b) { return literal(a, b) + b; }
Expr operator-(double a, Expr b) { return literal(a, b) - b; }
Expr operator*(double a, Expr b) { return literal(a, b) * b; }
Expr operator/(double a, Expr b) { return literal(a, b) / b; }

Expr eq(Expr a, Expr b) { return compare(Prim::kEq, a, b); }
Expr ne(Expr a, Expr b) { return compare(Prim::kNe, a, b); }
Expr lt(Expr a, Expr b) { return compare(Prim::kLt, a, b); }
Expr le(Expr a, Expr b) { return compare(Prim::kLe, a, b); }
Expr gt(Expr a, Expr b) { return compare(Prim::kGt, a, b); }
Expr ge(Expr a, Expr b) { return compare(Prim::kGe, a, b); }
Expr eq(Expr a, double b) { return eq(a, literal(b, a)); }
Expr ne(Expr a, double b) { return ne(a, literal(b, a)); }
Expr lt(Expr a, double b) { return lt(a, literal(b, a)); }
Expr le(Expr a, double b) { return le(a, literal(b, a)); }
Expr gt(Expr a, double b) { return gt(a, literal(b, a)); }
Expr ge(Expr a, double b) { return ge(a, literal(b, a)); }

Expr select(Expr mask, Expr yes, Expr no) {
  check_same_dtype(Prim::kSelect, yes, no);
  return yes.builder().emit(Prim::kSelect, yes.dtype(), mask, yes, no);
}
Expr select(Expr mask, double yes, Expr no) { return select(mask, literal(yes, no), no); }
Expr select(Expr mask, Expr yes, double no) { return select(mask, yes, literal(no, yes)); }
Expr bitcast(Expr a, ScalarType dtype) {
  return a.dtype() == dtype ? a : a.builder().emit(Prim::kBitcast, dtype, a);
}
Expr fma(Expr a, Expr b, Expr c) {
  check_same_dtype(Prim::kFma, a, b);
  check_same_dtype(Prim::kFma, a, c);
  return a.builder().emit(Prim::kFma, a.dtype(), a, b, c);
}
Expr sqrt(Expr a) { return unary(Prim::kSqrt, a); }
Expr abs(Expr a) { return unary(Prim::kAbs, a); }
Expr max(Expr a, Expr b) { return binary(Prim::kMax, a, b); }
Expr min(Expr a, Expr b) { return binary(Prim::kMin, a, b); }
Expr floor(Expr a) { return unary(Prim::kFloor, a); }
Expr ceil(Expr a) { return unary(Prim::kCeil, a); }
Expr trunc(Expr a) { return unary(Prim::kTrunc, a); }
Expr round_even(Expr a) { return unary(Prim::kRoundEven, a); }
Expr mul_high(Expr a, Expr b) { return binary(Prim::kMulHigh, a, b); }
Expr operator&(Expr a, Expr b) { return binary(Prim::kAnd, a, b); }
Expr operator|(Expr a, Expr b) { return binary(Prim::kOr, a, b); }
Expr operator^(Expr a, Expr b) { return binary(Prim::kXor, a, b); }
Expr operator~(Expr a) { return unary(Prim::kNot, a); }
Expr shift_left(Expr a, Expr b) { return binary(Prim::kShiftLeft, a, b); }
Expr shift_right_logical(Expr a, Expr b) { return binary(Prim::kShiftRightLogical, a, b); }
Expr shift_right_arithmetic(Expr a, Expr b) { return binary(Prim::kShiftRightArithmetic, a, b); }

Expr if_any(Expr mask, Expr fast, Expr (*slow)(Expr), Expr slow_argument) {
  Builder& builder = mask.builder();
  builder.emit(Prim::kIfAnyBegin, kBool, mask);
  const Expr result = slow(slow_argument);
  check_same_dtype(Prim::kIfAnyEnd, fast, result);
  return builder.emit(Prim::kIfAnyEnd, fast.dtype(), mask, fast, result);
}

}  // namespace groove::kernels
