// clamp: both bounds, one after the other; so the upper one wins where they cross, as in LibTorch.
#include <algorithm>
#include <cmath>

#include "kernels/ops/reference.h"
#include "kernels/ops/spelled.h"
#include "src/core/held_numbers.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

enum { kMin, kMax };

// Of floating tensors, whose dtype no bound changes: clamp_min and clamp_max in one.
const Op& op = define({
    .name = "clamp",
    .number_names = {"min", "max"},
    .type = floating_only,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const kernels::Expr least = b.numbers[kMin], most = b.numbers[kMax];
              // The primitives give their second operand where they are equal, or either is NaN.
              const kernels::Expr raised = select(is_nan(least), least, max(least, b.inputs[0]));
              return kernels::Exprs{select(is_nan(most), most, min(most, raised))};
            }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          const Tensor is_inside = logical_and(gt(x, g.numbers[kMin]), lt(x, g.numbers[kMax]));
          return Tensors{where(is_inside, g.cotangent(), 0)};
        },
    .saves_inputs = 1,
    .range =
        [](const Signature& s, ArrayRef<ValueRange> inputs, int) {
          const ScalarType dtype = s.inputs[0].dtype;
          const ValueRange x = in_dtype(inputs[0], dtype), least = range_of(s.numbers[kMin], dtype),
                           most = range_of(s.numbers[kMax], dtype);
          return ValueRange{std::min(std::max(x.low, least.low), most.low),
                            std::min(std::max(x.high, least.high), most.high)};
        },
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      const double least = s.numbers[kMin].to_double(), most = s.numbers[kMax].to_double();
      const double raised = x[0] < least || std::isnan(least) ? least : x[0];
      return raised > most || std::isnan(most) ? most : raised;
    }),
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const double most : {0.75, -1.0}) {  // the second below the least
            for (Sample& sample : unary_samples(dtype)) {
              sample.numbers = {Scalar(-0.5), Scalar(most)};
              samples.push_back(std::move(sample));
            }
          }
          return samples;
        },
    .tolerance_ulp = 0,
});

std::vector<Scalar> bounds(const char* name, const Tensor& self, Scalar min, Scalar max) {
  return {bound_for(name, self, min, true), bound_for(name, self, max, false)};
}

// The gradient goes to what the element is; where that is two of them, half to each: unless the
// bounds themselves are equal, and x has it. Where they cross it is the upper one's.
Tensor between(const Tensor& x, const Tensor& min, const Tensor& max) {
  const Tensor are_apart = lt(min, max);
  const Tensor raised = where(lt(x, min), min, x);
  const Tensor is_above = logical_or(gt(x, max), lt(max, min));
  Tensor result = where(logical_and(is_above, logical_not(isnan(x))), max, raised);
  result = where(logical_and(are_apart, eq(x, min)), maximum(x, min), result);
  result = where(logical_and(are_apart, eq(x, max)), minimum(x, max), result);
  result = where(isnan(min), min, result);
  return where(isnan(max), max, result);
}

}  // namespace

Tensor clamp(Arg self, std::optional<Scalar> min, std::optional<Scalar> max) {
  const CallFrame frame(self.site);
  GROOVE_CHECK(min || max, "clamp: neither min nor max is given");
  if (!min) return clamp_max(self, *max);
  if (max && is_floating(checked("clamp", *self.tensor).dtype))
    return call(op, {*self.tensor}, self.site, {}, bounds("clamp", *self.tensor, *min, *max));
  const Tensor raised = clamp_min(self, *min);
  return max ? clamp_max({raised, self.site}, *max) : raised;
}
Tensor MathMethods::clamp(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const {
  return groove::clamp({self(), site}, min, max);
}
Tensor& MathMethods::clamp_(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(min || max, "clamp_: neither min nor max is given");
  if (min && max && is_floating(checked("clamp_", self()).dtype))
    return call_inplace(op, writable(self()), {}, site, {}, bounds("clamp_", self(), *min, *max));
  if (min) clamp_min_(*min, site);
  if (max) clamp_max_(*max, site);
  return writable(self());
}
Tensor clamp(Arg self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  const SiteScope scope(self.site);
  const bool has_min = min && min->defined(), has_max = max && max->defined();
  checked("clamp", *self.tensor);
  GROOVE_CHECK(has_min || has_max, "clamp: neither min nor max is given");
  if (!has_max) return maximum(self, *min);
  if (!has_min) return minimum(self, *max);
  const Type types[] = {type_of(*self.tensor), type_of(*min), type_of(*max)};
  const ScalarType dtype = result_type(ArrayRef<Type>(types));
  return between(self.tensor->to(dtype), min->to(dtype), max->to(dtype));
}
Tensor MathMethods::clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                          Site site) const {
  return groove::clamp({self(), site}, min, max);
}
Tensor& MathMethods::clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                            Site site) const {
  const SiteScope scope(site);
  return write_back("clamp_", self(), groove::clamp({self(), site}, min, max), site);
}

Tensor MathMethods::clamp(const Tensor& min, Site site) const {
  return groove::clamp({self(), site}, std::optional<Tensor>(min), std::nullopt);
}
Tensor& MathMethods::clamp_(const Tensor& min, Site site) const {
  return clamp_(std::optional<Tensor>(min), std::nullopt, site);
}

Tensor clamp_min(Arg self, const Tensor& min) {
  const CallFrame frame(self.site);
  return clamp(self, min, std::nullopt);
}
Tensor clamp_max(Arg self, const Tensor& max) {
  const CallFrame frame(self.site);
  return clamp(self, std::optional<Tensor>(), max);
}
Tensor MathMethods::clamp_min(const Tensor& min, Site site) const {
  return groove::clamp_min({self(), site}, min);
}
Tensor& MathMethods::clamp_min_(const Tensor& min, Site site) const {
  const CallFrame frame(site);
  return clamp_(std::optional<Tensor>(min), std::optional<Tensor>(), site);
}
Tensor MathMethods::clamp_max(const Tensor& max, Site site) const {
  return groove::clamp_max({self(), site}, max);
}
Tensor& MathMethods::clamp_max_(const Tensor& max, Site site) const {
  const CallFrame frame(site);
  return clamp_(std::optional<Tensor>(), std::optional<Tensor>(max), site);
}

}  // namespace groove
