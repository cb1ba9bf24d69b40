// linear_recurrence: h[j] = a[j] h[j - 1] + b[j]. Closed under differentiation, so cumprod has
// gradients of every order that are right where elements are 0.
#include "kernels/ops/scan.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "linear_recurrence",
    .kind = OpKind::kOpaque,
    .inputs = 2,
    .attributes = scan_attributes(),
    .type = scan_type,
    .lowering = scan_lowering<2>(0.0, [](auto h, auto a, auto b) { return a * h + b; }),
    .gradient =
        [](const Grad& g) {
          const std::int64_t dim = g.attr().integer(0);
          const bool reverse = g.attr().boolean(1);
          const Tensor next_a = shifted(g.input(0), dim, reverse, 0);
          const Tensor reached = linear_recurrence(next_a, g.cotangent(), dim, !reverse);
          Tensors result(2);
          if (g.needs[0]) result[0] = reached * shifted(g.output(), dim, !reverse, 0);
          if (g.needs[1]) result[1] = reached;
          return result;
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .has_inplace = false,
    .reference = scan_reference([](const std::vector<std::vector<double>>& lines) {
      std::vector<double> result;
      double h = 0;
      for (std::size_t j = 0; j < lines[0].size(); ++j)
        result.push_back(h = lines[0][j] * h + lines[1][j]);
      return result;
    }),
    .domain = {-1, 1},
    .dtypes = {kFloat, kDouble, kHalf, kBFloat16},
    .samples = [](ScalarType dtype) { return scan_samples(dtype, 2); },
    .tolerance_ulp = 16,
});

}  // namespace

Tensor linear_recurrence(const Tensor& a, const Tensor& b, std::int64_t dim, bool reverse) {
  return call(op, {a, b}, Site::current(), Attrs().add(dim).add(reverse));
}

}  // namespace groove
