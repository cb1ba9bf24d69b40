// polygamma: the derivative of an order of digamma.
#include <cmath>

#include "groove/ops/special_functions.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

constexpr std::int64_t kMostOrder = 12;

// By the recurrence up to 60, then the formula of Euler and Maclaurin, in long double; x > 0.
double reference_of(std::int64_t order, double x) {
  const auto n = static_cast<long double>(order);
  long double y = x, sum = 0;
  for (; y < 60; y += 1) sum += std::pow(y, -n - 1);
  sum += std::pow(y, -n) / n + std::pow(y, -n - 1) / 2 + (n + 1) / 12 * std::pow(y, -n - 2) -
         (n + 1) * (n + 2) * (n + 3) / 720 * std::pow(y, -n - 4) +
         (n + 1) * (n + 2) * (n + 3) * (n + 4) * (n + 5) / 30240 * std::pow(y, -n - 6);
  return static_cast<double>((order % 2 == 0 ? -1 : 1) * std::tgamma(n + 1) * sum);
}

const Op& op = define({
    .name = "polygamma",
    .attributes = {{"order", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      const std::int64_t order = s.attr().integer(0);
      GROOVE_CHECK(order >= 1 && order <= kMostOrder, "polygamma: order {} is not in [1, {}]", order,
                   kMostOrder);
      return floating_result(s);
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const auto order = static_cast<int>(b.attr().integer(0));
              return kernels::Exprs{kernels::polygamma(order, b.inputs[0])};
            }}),
    .gradient =
        [](const Grad& g) {
          return Tensors{mul(g.cotangent(), polygamma(g.attr().integer(0) + 1, g.input(0)))};
        },
    .saves_inputs = 1,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return reference_of(s.attr().integer(0), x[0]);
    }),
    .domain = {0.5, 6},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const std::int64_t order : {1, 2, 5}) {
            for (Sample& sample : unary_samples(dtype)) {
              sample.attrs = Attrs().add(order);
              samples.push_back(std::move(sample));
            }
          }
          return samples;
        },
    .tolerance_ulp = 32,
});

}  // namespace

Tensor polygamma(std::int64_t order, Arg self) {
  const CallFrame frame(self.site);
  GROOVE_CHECK(order >= 0, "polygamma: order {} must not be negative", order);
  if (order == 0) return digamma(self);
  if (order > kMostOrder) {
    const SiteScope scope(self.site);
    const double n = static_cast<double>(order), sign = order % 2 == 0 ? -1 : 1;
    return special_zeta(n + 1, self) * (sign * std::exp(std::lgamma(n + 1)));
  }
  return call(op, {*self.tensor}, self.site, Attrs().add(order));
}

}  // namespace groove
