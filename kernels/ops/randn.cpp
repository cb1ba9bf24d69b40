// randn: normal numbers by Box and Muller over pairs of elements (2j, 2j + 1): one takes the
// cosine, the other the sine of the same angle.
#include <cmath>
#include <numbers>

#include "kernels/functions/parts.h"
#include "kernels/ops/random.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

using kernels::Expr;

struct Normals {
  Expr even, odd;
};
Normals normals(Expr u, Expr v) {
  const Expr radius = sqrt(log(1.0 - u) * -2.0);  // 1 - u is never 0
  const auto [sine, cosine] = kernels::functions::sine_and_cosine(v * 6.283185307179586);
  return {radius * cosine, radius * sine};
}

kernels::Exprs body(kernels::Body& b) {
  const Expr index = b.flat_index();
  const Expr one = b.builder.constant_int(kLong, 1);
  const Expr pair = shift_right_logical(index, one);
  const UniformPair drawn = uniform_pair(b.numbers[0], b.numbers[1], pair, b.compute);
  const Normals both = normals(drawn.even, drawn.odd);
  return {select(ne(index & one, 0.0), both.odd, both.even)};
}

kernels::Exprs fours(kernels::Body& b) {
  const kernels::Exprs u = four_uniform(b.numbers[0], b.numbers[1], b.flat_index(), b.compute);
  const Normals first = normals(u[0], u[1]), second = normals(u[2], u[3]);
  return {first.even, first.odd, second.even, second.odd};
}

const Op& op = define_random({
    .name = "randn",
    .inputs = 0,
    .attributes = factory_attributes(),
    .number_names = {"seed", "draw"},
    .type = random_type,
    .lowering = kernels::lower(
        kernels::ElementwiseLowering{.body = body, .raw_numbers = 3, .uses_flat_index = true}),
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>&) {
          const Type type = s.op.type(s).outputs[0];
          std::int64_t at = 0;
          return std::vector<Reference>{make_reference(type, [&](const Shape&) {
            const std::int64_t i = at++, even = i - i % 2;
            const double u = reference_uniform(s, 0, even, type.dtype);
            const double v = reference_uniform(s, 0, even + 1, type.dtype);
            const double angle = v * 6.283185307179586;
            return std::sqrt(-2 * std::log(1 - u)) * (i % 2 ? std::sin(angle) : std::cos(angle));
          })};
        },
    .dtypes = floating_dtypes(),
    .samples = random_samples,
    .tolerance_ulp = 64,  // the angle is rounded before its cosine is taken
});
[[maybe_unused]] const bool has_fours = draws_fours(op, fours);

}  // namespace

Tensor randn(IntArrayRef size, TensorOptions options, Site site) {
  const CallFrame frame(site);
  if (!is_complex(options.dtype())) return random_tensor(op, size, options, site);
  // Each part has half of the variance.
  const Tensor numbers = random_tensor(op, size, options.requires_grad(false), site);
  Tensor result = numbers.mul(std::numbers::sqrt2 / 2, site);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}
Tensor randn_like(Arg self, TensorOptions options) {
  const CallFrame frame(self.site);
  const ScalarType dtype = options.dtype_opt().value_or(checked("randn_like", *self.tensor).dtype);
  return randn(type_of(*self.tensor).sizes, options.dtype(dtype), self.site);
}

namespace {

void check_deviation(double std) {
  GROOVE_CHECK(std >= 0, "normal: std is {}; it must not be negative", std);
}

}  // namespace

Tensor normal(double mean, double std, IntArrayRef size, const std::optional<Generator>& generator,
              TensorOptions options, Site site) {
  const CallFrame frame(site);
  const DrawsFrom scope(generator);
  check_deviation(std);
  const Tensor values = randn(size, options.requires_grad(false), site);
  Tensor result = values.mul(std, site).add(mean, 1, site);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}
Tensor normal(Arg mean, double std) {
  const CallFrame frame(mean.site);
  check_deviation(std);
  const Tensor values = randn_like(mean);
  return values.mul(std, mean.site).add(*mean.tensor, 1, mean.site);
}
Tensor normal(double mean, Arg std) {
  const CallFrame frame(std.site);
  const Tensor values = randn_like(std);
  return values.mul(*std.tensor, std.site).add(mean, 1, std.site);
}
Tensor normal(Arg mean, const Tensor& std) {
  const CallFrame frame(mean.site);
  const Shape sizes = broadcast_of("normal", checked("normal", *mean.tensor).geometry.sizes,
                                   checked("normal", std).geometry.sizes);
  const Tensor values = randn(sizes, mean.tensor->scalar_type(), mean.site);
  return values.mul(std, mean.site).add(*mean.tensor, 1, mean.site);
}
Tensor& MathMethods::normal_(double mean, double std, Site site) const {
  const CallFrame frame(site);
  const Tensor values = groove::randn_like({self(), site});
  return copy_(values.mul(std, site).add(mean, 1, site), false, site);
}

}  // namespace groove
