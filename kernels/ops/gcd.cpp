// gcd: the greatest common divisor of integers, by Euclid's algorithm, whose number of steps is
// that of each pair; lcm is spelled with it.
#include <numeric>

#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/spelled.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

// Unsigned, in which the magnitude of the least number exists.
template <typename T>
T divisor(T a, T b) {
  using Word = std::make_unsigned_t<T>;
  Word x = a < 0 ? Word(0) - static_cast<Word>(a) : static_cast<Word>(a);
  Word y = b < 0 ? Word(0) - static_cast<Word>(b) : static_cast<Word>(b);
  while (y != 0) {
    const Word rest = static_cast<Word>(x % y);
    x = y;
    y = rest;
  }
  return static_cast<T>(x);
}

template <typename T>
void divide(ArrayRef<Tensor> inputs, const Tensor& output, int part, int parts) {
  const T* const a = static_cast<const T*>(inputs[0].impl()->data());
  const T* const b = static_cast<const T*>(inputs[1].impl()->data());
  T* const result = static_cast<T*>(output.impl()->data());
  const std::int64_t count = output.impl()->numel;
  for (std::int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i)
    result[i] = divisor(a[i], b[i]);
}

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  switch (s.inputs[0].dtype) {
    case kByte:
      return divide<std::uint8_t>(inputs, outputs[0], part, parts);
    case kChar:
      return divide<std::int8_t>(inputs, outputs[0], part, parts);
    case kShort:
      return divide<std::int16_t>(inputs, outputs[0], part, parts);
    case kInt:
      return divide<std::int32_t>(inputs, outputs[0], part, parts);
    default:
      return divide<std::int64_t>(inputs, outputs[0], part, parts);
  }
}

// Of one shape and dtype: the function sees to that.
const Op& op = define({
    .name = "gcd",
    .kind = OpKind::kOpaque,
    .inputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      const ScalarType dtype = s.inputs[0].dtype;
      GROOVE_CHECK(s.inputs[0] == s.inputs[1], "gcd: operands {} and {} differ",
                   to_string(s.inputs[0].sizes), to_string(s.inputs[1].sizes));
      GROOVE_CHECK_AS(NotImplementedError, is_integral(dtype) && dtype != kBool,
                      "gcd: not defined for {} tensors, only for integers", name(dtype));
      return {{s.inputs[0]}, dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{
        .run_part = run,
        .nanoseconds =
            [](const Signature& s) {
              return 500 + 60.0 * static_cast<double>(element_count(s.inputs[0].sizes));
            }}),
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature&) {
      return static_cast<double>(
          std::gcd(static_cast<std::int64_t>(x[0]), static_cast<std::int64_t>(x[1])));
    }),
    .domain = {-60, 60},
    .dtypes = {kByte, kChar, kShort, kInt, kLong},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Shape& sizes : {Shape{}, Shape{7}, Shape{3, 50}, Shape{0, 2}})
            samples.push_back({{{dtype, sizes}, {dtype, sizes}}, {}, {}});
          return samples;
        },
    .tolerance_ulp = 0,
});

struct Pair {
  Tensor a, b;
};
Pair alike(const char* name, const Tensor& a, const Tensor& b, Site site) {
  checked(name, a);
  checked(name, b);
  const Type types[] = {type_of(a), type_of(b)};
  const ScalarType dtype = result_type(ArrayRef<Type>(types));
  GROOVE_CHECK_AS(NotImplementedError, is_integral(dtype) && dtype != kBool,
                  "{}: not defined for {} tensors, only for integers", name, groove::name(dtype));
  const Shape sizes = broadcast_of(name, types[0].sizes, types[1].sizes);
  const auto fit = [&](const Tensor& x) {
    return expand({x.to(dtype, false, false, site), site}, sizes);
  };
  return {fit(a), fit(b)};
}

// |a / gcd b|, in an order that does not overflow where the result does not.
Tensor multiple(const Tensor& self, const Tensor& other, Site site) {
  const auto [a, b] = alike("lcm", self, other, site);
  const Tensor common = call(op, {a, b}, site);
  const Tensor share = div(a, masked_fill(common, eq(common, 0), 1), "trunc");
  return abs(mul(share, b));
}

}  // namespace

Tensor gcd(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  const auto [a, b] = alike("gcd", *self.tensor, other, self.site);
  return call(op, {a, b}, self.site);
}
Tensor lcm(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  return multiple(*self.tensor, other, self.site);
}
Tensor ElementwiseMethods::gcd(const Tensor& other, Site site) const {
  return groove::gcd({self(), site}, other);
}
Tensor ElementwiseMethods::lcm(const Tensor& other, Site site) const {
  return groove::lcm({self(), site}, other);
}
Tensor& ElementwiseMethods::gcd_(const Tensor& other, Site site) const {
  const SiteScope scope(site);
  return write_back("gcd_", self(), groove::gcd({self(), site}, other), site);
}
Tensor& ElementwiseMethods::lcm_(const Tensor& other, Site site) const {
  const SiteScope scope(site);
  return write_back("lcm_", self(), multiple(self(), other, site), site);
}

}  // namespace groove
