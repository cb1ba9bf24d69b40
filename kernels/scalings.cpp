#include "kernels/scalings.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace groove::kernels {
namespace {

// What a float format makes of 2^n: n + magic holds n + bias in its low bits, which are shifted to
// the exponent.
struct Format {
  double magic, bias;
  std::uint64_t width;
};
Format format_of(ScalarType dtype) {
  if (dtype == kFloat) return {0x1.8p23, 127, 23};
  return {0x1.8p52, 1023, 52};
}

class Finder {
 public:
  explicit Finder(const Kernel& kernel) : kernel_(kernel) {}

  /// Of a kMul the value and the exponent, or -1.
  struct Found {
    std::int32_t value = -1, exponent = -1;
  };
  Found find(const Instr& product) const {
    if (product.prim != Prim::kMul || product.imm != 0) return {};
    if (product.dtype != kFloat && product.dtype != kDouble) return {};
    for (int i = 0; i < 2; ++i) {
      const Instr& inner = at(product.args[i]);
      if (inner.prim != Prim::kMul || inner.imm != kExactProduct) continue;
      const Instr& second = at(product.args[1 - i]);
      for (int j = 0; j < 2; ++j) {
        const std::int32_t value = inner.args[j];
        const Instr& first = at(inner.args[1 - j]);
        std::int32_t exponent = of_halves(product.dtype, first, second);
        if (exponent < 0) exponent = of_offset(product.dtype, first, second);
        if (exponent >= 0) return {value, exponent};
      }
    }
    return {};
  }

 private:
  const Instr& at(std::int32_t id) const { return kernel_.code[static_cast<std::size_t>(id)]; }
  const Instr* argument(const Instr& instr, Prim prim, int i) const {
    const Instr& found = at(instr.args[i]);
    return found.prim == prim ? &found : nullptr;
  }
  static bool reads_float(const Instr& instr, double& value) {
    if (instr.prim != Prim::kConstant) return false;
    value = instr.dtype == kFloat ? std::bit_cast<float>(static_cast<std::uint32_t>(instr.imm))
                                  : std::bit_cast<double>(instr.imm);
    return true;
  }

  // The id of x in bitcast(x + constant) << by, both under `bits`; -1: something else.
  std::int32_t shifted(const Instr& bits, double constant, std::uint64_t by) const {
    if (bits.prim != Prim::kShiftLeft) return -1;
    const Instr *cast = argument(bits, Prim::kBitcast, 0),
                *amount = argument(bits, Prim::kConstant, 1);
    if (!cast || !amount || amount->imm != by) return -1;
    const Instr* const sum = argument(*cast, Prim::kAdd, 0);
    double added = 0;
    if (!sum || !reads_float(at(sum->args[1]), added) || added != constant) return -1;
    return sum->args[0];
  }

  // Half of n + 2 bias, rounded down, is the exponent of the first factor, the rest of the second.
  std::int32_t of_halves(ScalarType dtype, const Instr& first, const Instr& second) const {
    const Format format = format_of(dtype);
    if (first.prim != Prim::kBitcast || second.prim != Prim::kBitcast) return -1;
    const Instr* const half = argument(first, Prim::kAnd, 0);
    const Instr* const rest = argument(second, Prim::kSub, 0);
    if (!half || !rest || rest->args[1] != first.args[0]) return -1;
    const Instr* const mask = argument(*half, Prim::kConstant, 1);
    const std::uint64_t exponents = ~std::uint64_t{0} << format.width;
    const std::uint64_t wanted = dtype == kFloat ? exponents & 0xffffffff : exponents;
    if (!mask || mask->imm != wanted) return -1;
    const double constant = format.magic + 2 * format.bias;
    const std::int32_t n = shifted(at(half->args[0]), constant, format.width - 1);
    return n == shifted(at(rest->args[0]), constant, format.width) ? n : -1;
  }

  // 2^(n + k) and the constant 2^-k.
  std::int32_t of_offset(ScalarType dtype, const Instr& first, const Instr& second) const {
    const Format format = format_of(dtype);
    double power = 0;
    if (first.prim != Prim::kBitcast || !reads_float(second, power)) return -1;
    int exponent = 0;
    if (!(power > 0) || std::frexp(power, &exponent) != 0.5) return -1;
    const double offset = 1 - exponent;
    return shifted(at(first.args[0]), format.magic + format.bias + offset, format.width);
  }

  const Kernel& kernel_;
};

}  // namespace

bool has_scalings(const Kernel& kernel) {
  return std::any_of(kernel.code.begin(), kernel.code.end(), [](const Instr& instr) {
    return instr.prim == Prim::kMul && instr.imm == kExactProduct;
  });
}

Kernel join_scalings(const Kernel& kernel) {
  Kernel joined = kernel;
  const Finder finder(kernel);
  for (Instr& instr : joined.code) {
    const Finder::Found found = finder.find(instr);
    if (found.value < 0) continue;
    instr.args[0] = found.value;
    instr.args[1] = found.exponent;
    instr.imm = kScaling;
  }
  std::vector<char> is_used(joined.code.size(), 0);
  for (std::size_t id = joined.code.size(); id-- > 0;) {
    const Instr& instr = joined.code[id];
    if (!is_used[id] && is_pure(instr.prim)) continue;
    is_used[id] = 1;
    for (const std::int32_t argument : instr.args) {
      if (argument >= 0) is_used[static_cast<std::size_t>(argument)] = 1;
    }
  }
  std::vector<std::int32_t> now(joined.code.size() + 1, 0);
  std::size_t kept = 0;
  for (std::size_t id = 0; id < joined.code.size(); ++id) {
    now[id] = static_cast<std::int32_t>(kept);
    if (!is_used[id]) continue;
    Instr instr = joined.code[id];
    for (std::int32_t& argument : instr.args) {
      if (argument >= 0) argument = now[static_cast<std::size_t>(argument)];
    }
    joined.code[kept++] = instr;
  }
  now.back() = static_cast<std::int32_t>(kept);
  joined.code.resize(kept);
  for (Phase& phase : joined.phases) {
    phase.begin = now[static_cast<std::size_t>(phase.begin)];
    phase.end = now[static_cast<std::size_t>(phase.end)];
  }
  return joined;
}

}  // namespace groove::kernels
