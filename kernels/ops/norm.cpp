// norm: (sum of |self|^p)^(1/p). p is part of the structure, as each of 0, 1, 2 and infinity has a
// form of its own. Slopes where the norm is 0 are taken as 0.
#include <algorithm>
#include <cmath>
#include <limits>

#include "groove/ops/creation.h"
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

enum { kDims, kKeepdim, kP };

Tensor composed(const Tensor& x, IntArrayRef dims, bool keepdim, double p) {
  if (p == 0) return sum(ne(x, 0).to(type_of(x).dtype), dims, keepdim);
  if (p == 1) return sum(abs(x), dims, keepdim);
  if (p == 2) return sqrt(sum(square(x), dims, keepdim));
  if (p == INFINITY) return amax(abs(x), dims, keepdim);
  if (p == -INFINITY) return amin(abs(x), dims, keepdim);
  return pow(sum(pow(abs(x), p), dims, keepdim), 1 / p);
}

Tensor gradient(const Grad& g) {
  const double p = g.attr().real(kP);
  const Tensor& x = g.input(0);
  const Tensor grad = unreduced(g.cotangent(), g);
  if (p == 0) return zeros_like(x);
  if (p == 1) return sign(x) * grad;
  const Tensor y = unreduced(g.output(), g);
  const Tensor is_zero = eq(y, 0);
  if (p == 2) return x * masked_fill(grad / y, is_zero, 0);
  if (std::isinf(p)) {  // elements that tie share
    const Tensor chosen = eq(abs(x), y);
    const Tensor ties = sum(chosen.to(type_of(x).dtype), g.attr().integers(kDims), true);
    return where(chosen, sign(x) * (grad / ties), 0);
  }
  const Tensor share = masked_fill(grad * pow(y, 1 - p), is_zero, 0);
  const Tensor slope = masked_fill(sign(x) * pow(abs(x), p - 1), eq(x, 0), 0);
  return slope * share;
}

double reference(const std::vector<double>& row, double p) {
  double total = 0, most = 0, least = INFINITY;
  for (const double element : row) {
    const double x = std::fabs(element);
    total += p == 0 ? static_cast<double>(x != 0) : std::pow(x, p);
    most = std::max(most, x);
    least = std::min(least, x);
  }
  if (std::isinf(p)) return p > 0 ? most : least;
  return p == 0 ? total : std::pow(total, 1 / p);
}

const Op& op = define({
    .name = "norm",
    .kind = OpKind::kComposite,
    .attributes = {{"dims", AttrType::kInts},
                   {"keepdim", AttrType::kBool},
                   {"p", AttrType::kDouble}},
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      const ScalarType dtype = s.inputs[0].dtype;
      GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                      "norm: not defined for {} tensors; convert to a floating dtype", name(dtype));
      if (std::isinf(s.attr().real(kP))) check_not_empty(s);
      return {{{dtype, sizes}}, dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const AttrReader attr = s.attr();
          return Tensors{
              composed(inputs[0], attr.integers(kDims), attr.boolean(kKeepdim), attr.real(kP))};
        }}),
    .gradient = [](const Grad& g) { return Tensors{gradient(g)}; },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .complex = [](const Call& c) { return call(*c.op, {abs(c.inputs[0])}, c.site, *c.attrs); },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const double p = s.attr().real(kP);
          return reduction_reference(
              [p](const std::vector<double>& row) { return reference(row, p); })(s, inputs);
        },
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          constexpr double kInfinity = std::numeric_limits<double>::infinity();
          for (const double p : {2.0, 1.0, 0.0, 3.0, 1.5, -1.0, kInfinity, -kInfinity}) {
            for (Sample& sample : reduction_samples(dtype, !std::isinf(p))) {
              sample.attrs.add_double(p);
              samples.push_back(std::move(sample));
            }
          }
          return samples;
        },
    .tolerance_ulp = 300,
});

Tensor of(Arg self, double p, IntArrayRef dims, bool keepdim) {
  return call(op, {*self.tensor}, self.site,
              reduction_attrs("norm", *self.tensor, dims, keepdim).add_double(p));
}

}  // namespace

Tensor norm(Arg self, Scalar p) {
  const CallFrame frame(self.site);
  return of(self, p.to_double(), {}, false);
}
Tensor norm(Arg self, std::optional<Scalar> p, IntArrayRef dim, bool keepdim) {
  const CallFrame frame(self.site);
  return of(self, p ? p->to_double() : 2, dim, keepdim);
}
Tensor ReductionMethods::norm(Scalar p, Site site) const {
  const CallFrame frame(site);
  return of({self(), site}, p.to_double(), {}, false);
}
Tensor ReductionMethods::norm(std::optional<Scalar> p, IntArrayRef dim, bool keepdim,
                              Site site) const {
  const CallFrame frame(site);
  return of({self(), site}, p ? p->to_double() : 2, dim, keepdim);
}

Tensor norm(Arg self, std::optional<Scalar> p, ScalarType dtype) {
  const CallFrame frame(self.site);
  checked("norm", *self.tensor);
  return norm({self.tensor->to(dtype, false, false, self.site), self.site}, p.value_or(2));
}
Tensor norm(Arg self, std::optional<Scalar> p, IntArrayRef dim, bool keepdim, ScalarType dtype) {
  const CallFrame frame(self.site);
  checked("norm", *self.tensor);
  return norm({self.tensor->to(dtype, false, false, self.site), self.site}, p, dim, keepdim);
}
Tensor ReductionMethods::norm(std::optional<Scalar> p, ScalarType dtype, Site site) const {
  return groove::norm({self(), site}, p, dtype);
}
Tensor ReductionMethods::norm(std::optional<Scalar> p, IntArrayRef dim, bool keepdim,
                              ScalarType dtype, Site site) const {
  return groove::norm({self(), site}, p, dim, keepdim, dtype);
}

}  // namespace groove
