// logcumsumexp: log of the sum of exp up to each element along an axis, one after the other.
#include <cmath>

#include "groove/ops/statistics.h"
#include "kernels/ops/scan.h"

namespace groove {
namespace {

// log(exp(a) + exp(b))
template <typename T>
T added(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a + b;  // never called: the type rule refuses integers
  } else {
    const T low = b < a ? b : a, high = b < a ? a : b;
    if (std::isnan(a) || std::isnan(b)) return a + b;
    // also where both are infinite, whose difference is NaN
    return low == high && std::isinf(low) ? low : high + std::log1p(std::exp(low - high));
  }
}

// The sum over all later j of grad[j] exp(x[i] - y[j]) is exp(x[i] - y[i]) times a recurrence from
// the end, whose factors exp(y[i] - y[i + 1]) are at most 1.
Tensor gradient(const Grad& g) {
  const std::int64_t dim = g.attr().integer(0);
  const bool reverse = g.attr().boolean(1);
  const Tensor factors = exp(g.output() - shifted(g.output(), dim, reverse, INFINITY));
  return exp(g.input(0) - g.output()) * linear_recurrence(factors, g.cotangent(), dim, !reverse);
}

const Op& op = define({
    .name = "logcumsumexp",
    .kind = OpKind::kOpaque,
    .attributes = scan_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      GROOVE_CHECK_AS(NotImplementedError, is_floating(s.inputs[0].dtype),
                      "logcumsumexp: not defined for {} tensors", name(s.inputs[0].dtype));
      return scan_type(s);
    },
    .lowering = scan_lowering<1>(-INFINITY, [](auto total, auto x) { return added(total, x); }),
    .gradient = [](const Grad& g) { return Tensors{gradient(g)}; },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .has_inplace = false,
    .reference = scan_reference([](const std::vector<std::vector<double>>& lines) {
      std::vector<double> result;
      double total = 0;
      for (const double x : lines[0]) result.push_back(std::log(total += std::exp(x)));
      return result;
    }),
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return scan_samples(dtype); },
    .tolerance_ulp = 64,
});

}  // namespace

Tensor logcumsumexp(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  GROOVE_CHECK_AS(NotImplementedError, is_floating(checked("logcumsumexp", *self.tensor).dtype),
                  "logcumsumexp: not defined for {} tensors; convert to a floating dtype",
                  name(self.tensor->scalar_type()));
  return scan(op, self, dim, {});
}
Tensor StatisticsMethods::logcumsumexp(std::int64_t dim, Site site) const {
  return groove::logcumsumexp({self(), site}, dim);
}

}  // namespace groove
