// What makes a kernel well formed: dtypes, order of definitions, nesting of if_any, and which
// values may be used across phases. Code generators rely on every rule here.
#include <fmt/format.h>

#include <vector>

#include "kernels/scalings.h"

namespace groove::kernels {
namespace {

bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }
bool is_supported(ScalarType dtype) {
  return dtype == kBool || is_integral(dtype) || is_floating(dtype);
}
bool is_number(ScalarType dtype) { return is_integral(dtype) || is_floating(dtype); }

// 16-bit floats are moved, chosen and converted; they have no arithmetic.
bool takes_halves(Prim prim) {
  switch (prim) {
    case Prim::kConstant:
    case Prim::kParam:
    case Prim::kLoad:
    case Prim::kLoadAt:
    case Prim::kSelect:
    case Prim::kConvert:
    case Prim::kStore:
      return true;
    default:
      return false;
  }
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    if (std::string problem = check_header(); !problem.empty()) return problem;
    for (std::size_t id = 0; id < kernel_.code.size(); ++id) {
      if (std::string problem = check_operands(id); !problem.empty()) return located(id, problem);
    }
    match_ = match_if_any(kernel_);
    if (match_.size() != kernel_.code.size()) return "if_any brackets do not nest";
    uniform_ = uniform_values(kernel_);
    find_regions();
    for (std::size_t id = 0; id < kernel_.code.size(); ++id) {
      std::string problem = check_dtypes(kernel_.code[id]);
      if (problem.empty()) problem = check_scopes(id);
      if (problem.empty()) problem = check_order(id);
      if (!problem.empty()) return located(id, problem);
    }
    return {};
  }

 private:
  std::string located(std::size_t id, const std::string& problem) const {
    return fmt::format("%{} {}: {}", id, name(kernel_.code[id].prim), problem);
  }
  const Instr& arg(const Instr& instr, int i) const {
    return kernel_.code[static_cast<std::size_t>(instr.args[i])];
  }

  std::string check_header() {
    for (const Access& access : kernel_.accesses) {
      if (!is_supported(access.dtype)) {
        return fmt::format("access of unsupported dtype {}", short_name(access.dtype));
      }
    }
    for (ScalarType dtype : kernel_.scalars) {
      if (!is_supported(dtype)) {
        return fmt::format("parameter of unsupported dtype {}", short_name(dtype));
      }
    }
    for (const Table& table : kernel_.tables) {
      const bool has_dtype = is_supported(table.dtype) && !is_half(table.dtype);
      if (!has_dtype || table.bits.empty()) return "a table is empty or untyped";
    }
    std::int32_t next = 0;
    for (std::size_t i = 0; i < kernel_.phases.size(); ++i) {
      const Phase& phase = kernel_.phases[i];
      if (phase.begin != next || phase.end < phase.begin) {
        return fmt::format("phase {} does not begin where the one before it ends", i);
      }
      next = phase.end;
      phase_of_.resize(static_cast<std::size_t>(next), static_cast<int>(i));
    }
    if (next != static_cast<std::int32_t>(kernel_.code.size())) return "phases do not cover code";
    const std::size_t phases = kernel_.phases.size();
    if (phases == 0) return "a kernel has at least one phase";
    if (kernel_.order == Order::kMap && phases != 1) return "a map kernel has one phase";
    if (kernel_.order == Order::kColumn && phases != 2) return "a column kernel has two phases";
    return {};
  }

  std::string check_operands(std::size_t id) const {
    const Instr& instr = kernel_.code[id];
    if (!is_supported(instr.dtype)) return "unsupported dtype";
    const int count = arg_count(instr.prim);
    for (int i = 0; i < 3; ++i) {
      const std::int32_t used = instr.args[i];
      if (i >= count) {
        if (used != -1) return fmt::format("takes {} operands", count);
        continue;
      }
      if (used < 0 || used >= static_cast<std::int32_t>(id)) {
        return fmt::format("operand {} is not defined before", i);
      }
      const Prim producer = kernel_.code[static_cast<std::size_t>(used)].prim;
      if (producer == Prim::kStore || producer == Prim::kIfAnyBegin) {
        return fmt::format("operand %{} has no value", used);
      }
    }
    switch (instr.prim) {
      case Prim::kConstant:
        return {};
      case Prim::kParam:
        return instr.imm < kernel_.scalars.size() ? "" : "no such parameter";
      case Prim::kIndex:
        return instr.imm < kMaxAxes ? "" : "no such axis";
      case Prim::kLoad:
      case Prim::kLoadAt:
      case Prim::kStore: {
        if (instr.imm >= kernel_.accesses.size()) return "no such access";
        const bool stores = instr.prim == Prim::kStore;
        if (kernel_.accesses[instr.imm].is_store != stores) {
          return stores ? "writes to a load access" : "reads a store access";
        }
        return {};
      }
      case Prim::kLookup:
        return instr.imm < kernel_.tables.size() ? "" : "no such table";
      case Prim::kMul: {
        const bool may_be_exact = instr.dtype == kFloat || instr.dtype == kDouble;
        return instr.imm == 0 || (instr.imm == kExactProduct && may_be_exact) ? "" : "is no product";
      }
      default:
        return instr.imm == 0 ? "" : "takes no immediate";
    }
  }

  std::string check_dtypes(const Instr& instr) const {
    const ScalarType dtype = instr.dtype;
    const auto all_are = [&](ScalarType expected, int from = 0) {
      for (int i = from; i < arg_count(instr.prim); ++i) {
        if (arg(instr, i).dtype != expected) return false;
      }
      return true;
    };
    const auto require = [&](bool fine) -> std::string {
      if (fine) return {};
      std::string text = "dtypes do not fit:";
      for (int i = 0; i < arg_count(instr.prim); ++i) {
        text += fmt::format(" {}", short_name(arg(instr, i).dtype));
      }
      return text + fmt::format(" -> {}", short_name(dtype));
    };
    if (!takes_halves(instr.prim)) {
      bool has_half = is_half(dtype);
      for (int i = 0; i < arg_count(instr.prim); ++i) has_half |= is_half(arg(instr, i).dtype);
      if (has_half) return require(false);
    }
    switch (instr.prim) {
      case Prim::kConstant: {
        const std::size_t bits = dtype == kBool ? 1 : 8 * element_size(dtype);
        return bits == 64 || instr.imm >> bits == 0 ? "" : "bits above those of the dtype";
      }
      case Prim::kParam:
        return require(kernel_.scalars[instr.imm] == dtype);
      case Prim::kIndex:
        return require(dtype == kLong);
      case Prim::kLoad:
        return require(kernel_.accesses[instr.imm].dtype == dtype);
      case Prim::kLoadAt:
        return require(kernel_.accesses[instr.imm].dtype == dtype && all_are(kLong));
      case Prim::kStore:
        return require(kernel_.accesses[instr.imm].dtype == dtype && all_are(dtype));
      case Prim::kAdd:
      case Prim::kSub:
      case Prim::kMul:
      case Prim::kDiv:
      case Prim::kNeg:
      case Prim::kAbs:
      case Prim::kReduceSum:
      case Prim::kReduceProd:
        return require(is_number(dtype) && all_are(dtype));
      case Prim::kSqrt:
      case Prim::kFma:
      case Prim::kFloor:
      case Prim::kCeil:
      case Prim::kTrunc:
      case Prim::kRoundEven:
        return require(is_floating(dtype) && all_are(dtype));
      case Prim::kMax:
      case Prim::kMin:
      case Prim::kReduceMax:
      case Prim::kReduceMin:
        return require(all_are(dtype));
      case Prim::kMulHigh:
        return require(dtype == kInt && all_are(kInt));
      case Prim::kEq:
      case Prim::kNe:
      case Prim::kLt:
      case Prim::kLe:
      case Prim::kGt:
      case Prim::kGe:
        return require(dtype == kBool && all_are(arg(instr, 0).dtype));
      case Prim::kSelect:
      case Prim::kIfAnyEnd:
        return require(arg(instr, 0).dtype == kBool && all_are(dtype, 1));
      case Prim::kConvert: {
        const ScalarType from = arg(instr, 0).dtype;
        return require(from != dtype && (!is_half(from) || dtype == kFloat) &&
                       (!is_half(dtype) || from == kFloat));
      }
      case Prim::kBitcast: {
        const ScalarType from = arg(instr, 0).dtype;
        return require((dtype == kFloat && from == kInt) || (dtype == kInt && from == kFloat) ||
                       (dtype == kDouble && from == kLong) || (dtype == kLong && from == kDouble));
      }
      case Prim::kAnd:
      case Prim::kOr:
      case Prim::kXor:
      case Prim::kNot:
        return require(!is_floating(dtype) && all_are(dtype));
      case Prim::kShiftLeft:
      case Prim::kShiftRightLogical:
      case Prim::kShiftRightArithmetic:
        return require(is_integral(dtype) && all_are(dtype));
      case Prim::kLookup:
        return require(kernel_.tables[instr.imm].dtype == dtype &&
                       (arg(instr, 0).dtype == kInt || arg(instr, 0).dtype == kLong));
      case Prim::kIfAnyBegin:
        return require(dtype == kBool && all_are(kBool));
      case Prim::kReduceArgMax:
      case Prim::kReduceArgMin:
        return require(dtype == kLong);
    }
    return "unknown primitive";
  }

  // region_[id] is the innermost if_any_begin around the instruction, -1 outside of all.
  void find_regions() {
    region_.assign(kernel_.code.size(), -1);
    std::vector<std::int32_t> open{-1};
    for (std::size_t id = 0; id < kernel_.code.size(); ++id) {
      const Prim prim = kernel_.code[id].prim;
      if (prim == Prim::kIfAnyEnd) open.pop_back();
      region_[id] = open.back();
      if (prim == Prim::kIfAnyBegin) open.push_back(static_cast<std::int32_t>(id));
    }
  }

  bool encloses(std::int32_t outer, std::int32_t inner) const {
    while (inner != outer && inner != -1) inner = region_[static_cast<std::size_t>(inner)];
    return inner == outer;
  }

  std::string check_scopes(std::size_t id) const {
    const Instr& instr = kernel_.code[id];
    if (region_[id] != -1 && (instr.prim == Prim::kStore || is_reduction(instr.prim))) {
      return "stands inside if_any";
    }
    if (instr.prim == Prim::kIfAnyEnd) {
      const auto begin = static_cast<std::size_t>(match_[id]);
      if (kernel_.code[begin].args[0] != instr.args[0]) return "its begin has another mask";
      if (phase_of_[begin] != phase_of_[id]) return "crosses phases";
      if (!encloses(region_[static_cast<std::size_t>(instr.args[1])], region_[id])) {
        return "the fast value is made inside the slow region";
      }
    }
    for (int i = 0; i < arg_count(instr.prim); ++i) {
      // The slow value may come from the region that this instruction closes.
      const bool is_slow_value = instr.prim == Prim::kIfAnyEnd && i == 2;
      const std::int32_t user_region = is_slow_value ? match_[id] : region_[id];
      if (!encloses(region_[static_cast<std::size_t>(instr.args[i])], user_region)) {
        return fmt::format("%{} is used outside its if_any region", instr.args[i]);
      }
    }
    return {};
  }

  std::string check_order(std::size_t id) const {
    const Instr& instr = kernel_.code[id];
    const int phase = phase_of_[id];
    const Order order = kernel_.order;
    if (is_reduction(instr.prim)) {
      if (order == Order::kMap) return "map kernels do not reduce";
      if (order != Order::kRow && phase != 0) return "only the first phase reduces in this order";
    }
    if (order == Order::kColumn) {
      if (instr.prim == Prim::kStore && phase != 1) return "column kernels store in the last phase";
      if (instr.prim == Prim::kIndex && instr.imm == 1 && phase == 1) {
        return "the reduced axis has no index after the reduction";
      }
    }
    if (instr.prim == Prim::kStore && (order == Order::kRow || order == Order::kTree) &&
        kernel_.accesses[instr.imm].inner == StrideClass::kBroadcast &&
        !uniform_[static_cast<std::size_t>(instr.args[0])]) {
      return "stores a value that varies along the row to one element";
    }
    for (int i = 0; i < arg_count(instr.prim); ++i) {
      const auto used = static_cast<std::size_t>(instr.args[i]);
      const bool reduced = is_reduction(kernel_.code[used].prim);
      if (phase_of_[used] == phase) {
        if (reduced) return fmt::format("%{} is used in the phase that reduces it", used);
        continue;
      }
      if (!reduced && !uniform_[used]) {
        return fmt::format("%{} of an earlier phase is not uniform", used);
      }
    }
    return {};
  }

  const Kernel& kernel_;
  std::vector<int> phase_of_;
  std::vector<std::int32_t> match_, region_;
  std::vector<bool> uniform_;
};

}  // namespace

std::string verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace groove::kernels
