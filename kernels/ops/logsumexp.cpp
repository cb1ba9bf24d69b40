// logsumexp: log(sum(exp(self))), with the greatest element taken out of the sum.
#include <algorithm>
#include <cmath>

#include "groove/ops/complex.h"
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

// An infinite greatest element is not taken out: infinity - infinity is NaN.
Tensor taken_out(const Tensor& greatest) {
  return masked_fill(greatest, logical_not(isfinite(greatest)), 0);
}

// With the greatest real part, which changes nothing but the rounding: it is no variable.
Tensor of_complex(const Call& call) {
  const Tensor& z = call.inputs[0];
  const AttrReader attr(*call.op, *call.attrs);
  const IntArrayRef dims = attr.integers(0);
  const bool keepdim = attr.boolean(1);
  if (z.numel() == 0) return log(sum(exp(z), dims, keepdim));
  const Tensor base = taken_out(amax(real(z).detach(), dims, true));
  const Tensor result = log(sum(exp(z - base), dims, keepdim));
  return result + base.reshape(result.sizes());
}

const Op& op = define({
    .name = "logsumexp",
    .kind = OpKind::kComposite,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      const ScalarType dtype = s.inputs[0].dtype;
      GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                      "logsumexp: not defined for {} tensors", name(dtype));
      return {{{dtype, sizes}}, dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor& x = inputs[0];
          const IntArrayRef dims = s.attr().integers(0);
          const bool keepdim = s.attr().boolean(1);
          if (element_count(s.inputs[0].sizes) == 0)
            return Tensors{log(sum(exp(x), dims, keepdim))};
          const Tensor greatest = amax(x, dims, keepdim);
          const Tensor base = taken_out(greatest);
          const Tensor kept = base.reshape(kept_sizes(s));
          return Tensors{log(sum(exp(x - kept), dims, keepdim)) + base};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor share = exp(g.input(0) - unreduced(g.output(), g));
          return Tensors{share * unreduced(g.cotangent(), g)};
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .complex = of_complex,
    .has_inplace = false,
    .reference = reduction_reference([](const std::vector<double>& row) {
      if (row.empty()) return double{-INFINITY};
      const double greatest = *std::max_element(row.begin(), row.end());
      double total = 0;
      for (double x : row) total += std::exp(x - greatest);
      return greatest + std::log(total);
    }),
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return reduction_samples(dtype); },
    .tolerance_ulp = 64,
});

}  // namespace

Tensor logsumexp(Arg self, IntArrayRef dim, bool keepdim) {
  const CallFrame frame(self.site);
  const ScalarType dtype = checked("logsumexp", *self.tensor).dtype;
  const Tensor x = is_floating(dtype) || is_complex(dtype)
                       ? *self.tensor
                       : self.tensor->to(get_default_dtype(), false, false, self.site);
  return call(op, {x}, self.site, reduction_attrs("logsumexp", x, dim, keepdim));
}
Tensor ReductionMethods::logsumexp(IntArrayRef dim, bool keepdim, Site site) const {
  return groove::logsumexp({self(), site}, dim, keepdim);
}

}  // namespace groove
