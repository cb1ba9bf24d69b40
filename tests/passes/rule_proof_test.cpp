// Every exact rule of the table, whatever rules it has, tried on every dtype with loads, equal
// loads and special constants as operands: where one says that an instruction gives back an
// operand, both are computed over all pairs of special values and must have the same bits, any NaN
// counting as any other. A rule that nothing here makes fire is not proved, and fails.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "groove/error.h"
#include "jit/passes/scalar_rules.h"
#include "kernels/backend.h"

namespace groove::jit {
namespace {

using kernels::Builder;
using kernels::Expr;
using kernels::Prim;
using kernels::StrideClass;

std::vector<std::uint64_t> specials(ScalarType dtype) {
  std::vector<std::uint64_t> bits;
  if (dtype == kFloat) {
    for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, 2.5f, INFINITY, -INFINITY, NAN, 1e-45f, -1e-45f,
                          1e-40f, 3.4e38f, -3.4e38f, 1.17e-38f, 0.1f})
      bits.push_back(std::bit_cast<std::uint32_t>(x));
  } else if (dtype == kDouble) {
    for (const double x : {0.0, -0.0, 1.0, -1.0, 2.5, double(INFINITY), -double(INFINITY),
                           double(NAN), 5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308, 0.1})
      bits.push_back(std::bit_cast<std::uint64_t>(x));
  } else if (dtype == kBool) {
    bits = {0, 1};
  } else {
    const std::uint64_t top = std::uint64_t{1} << (8 * element_size(dtype) - 1);
    for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                  std::uint64_t{0x55}, top, top - 1, ~std::uint64_t{0}})
      bits.push_back(x & (top | (top - 1)));
  }
  return bits;
}

bool is_nan(ScalarType dtype, std::uint64_t bits) {
  if (dtype == kFloat) return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return dtype == kDouble && std::isnan(std::bit_cast<double>(bits));
}

// Accesses 0 and 1 are loads of the dtype, 2 one of bool; then come constants.
struct Operands {
  ScalarType dtype;
  std::size_t count() const { return 3 + specials(dtype).size() + 2; }
  Expr make(Builder& b, std::size_t i) const {
    const std::vector<std::uint64_t> values = specials(dtype);
    if (i < 3) return b.load(static_cast<int>(i));
    if (i - 3 < values.size()) return b.constant_bits(dtype, values[i - 3]);
    return b.constant_bits(kBool, i - 3 - values.size());
  }
};

class RuleProof {
 public:
  RuleProof(const ScalarRule& rule, ScalarType dtype) : rule_(rule), operands_{dtype} {}

  int run() {
    const int arguments = kernels::arg_count(rule_.prim);
    const std::size_t count = operands_.count();
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < (arguments > 1 ? count : 1); ++b)
        for (std::size_t c = 0; c < (arguments > 2 ? count : 1); ++c) attempt({a, b, c});
    return fired_;
  }

 private:
  void attempt(const std::array<std::size_t, 3>& chosen) {
    Builder builder;
    builder.access(operands_.dtype, false, StrideClass::kContiguous);
    builder.access(operands_.dtype, false, StrideClass::kContiguous);
    builder.access(kBool, false, StrideClass::kContiguous);
    Expr given[3];
    const int arguments = kernels::arg_count(rule_.prim);
    for (std::size_t i = 0; i < static_cast<std::size_t>(arguments); ++i) {
      given[i] = operands_.make(builder, chosen[i]);
      const ScalarType wanted = rule_.prim == Prim::kSelect && i == 0 ? kBool : operands_.dtype;
      if (given[i].dtype() != wanted) return;
    }
    const Expr whole = builder.emit(rule_.prim, operands_.dtype, given[0], given[1], given[2]);
    const int back = rule_.gives_back(builder, builder.at(whole.id()));
    if (back < 0) return;
    ASSERT_LT(back, arguments) << rule_.text;
    builder.store(operands_.dtype, StrideClass::kContiguous, whole);
    builder.store(operands_.dtype, StrideClass::kContiguous, given[back]);
    kernels::Kernel kernel;
    try {
      kernel = builder.finish();
    } catch (const Error&) {
      return;  // no such instruction on this dtype
    }
    ++fired_;
    compare(kernel);
  }

  void compare(const kernels::Kernel& kernel) {
    const std::vector<std::uint64_t> values = specials(operands_.dtype);
    const std::size_t size = element_size(operands_.dtype);
    const std::size_t points = values.size() * values.size() * 2;
    std::vector<unsigned char> x(points * size), y(points * size), mask(points);
    std::vector<unsigned char> whole(points * size), part(points * size);
    for (std::size_t i = 0; i < points; ++i) {
      std::memcpy(&x[i * size], &values[i % values.size()], size);
      std::memcpy(&y[i * size], &values[i / values.size() % values.size()], size);
      mask[i] = i >= points / 2;
    }
    void* pointers[] = {x.data(), y.data(), mask.data(), whole.data(), part.data()};
    const std::int64_t strides[5][kernels::kMaxAxes] = {{1}, {1}, {1}, {1}, {1}};
    kernels::Launch launch;
    launch.count[0] = static_cast<std::int64_t>(points);
    launch.pointers = pointers;
    launch.strides = strides;
    kernels::compile_cached(*kernels::find_backend("interpreter"), kernel)->run(launch);
    for (std::size_t i = 0; i < points; ++i) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, &whole[i * size], size);
      std::memcpy(&b, &part[i * size], size);
      if (a == b || (is_nan(operands_.dtype, a) && is_nan(operands_.dtype, b))) continue;
      ADD_FAILURE() << rule_.text << " on " << name(operands_.dtype) << ": " << std::hex << a
                    << " became " << b << "\n"
                    << kernels::print(kernel);
      return;
    }
  }

  const ScalarRule& rule_;
  const Operands operands_;
  int fired_ = 0;
};

TEST(RuleProof, EveryRuleOfTheTable) {
  for (const ScalarRule& rule : scalar_rules()) {
    int fired = 0;
    for (const ScalarType dtype : {kFloat, kDouble, kByte, kChar, kShort, kInt, kLong, kBool})
      fired += RuleProof(rule, dtype).run();
    EXPECT_GT(fired, 0) << rule.text << " is proved by nothing";
    RecordProperty(rule.text, fired);
  }
}

}  // namespace
}  // namespace groove::jit
