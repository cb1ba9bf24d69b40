// cumsum: sums of all elements up to each along one axis, one addition after the other.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/scan.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "cumsum",
    .kind = OpKind::kOpaque,
    .attributes = scan_attributes(),
    .type = scan_type,
    // -0.0 changes no first element
    .lowering = scan_lowering<1>(-0.0, [](auto total, auto x) { return total + x; }),
    .gradient =
        [](const Grad& g) {
          const Attrs back =
              Attrs().add(g.attr().integer(0)).add(static_cast<std::int64_t>(!g.attr().boolean(1)));
          return Tensors{call(g.op, {g.cotangent()}, Site::current(), back)};
        },
    .complex = complex_rules::on_pairs,
    .reference = scan_reference([](const std::vector<std::vector<double>>& lines) {
      std::vector<double> result;
      double total = 0;
      for (double x : lines[0]) result.push_back(total += x);
      return result;
    }),
    .dtypes = {kFloat, kDouble, kLong, kHalf, kBFloat16},
    .samples = [](ScalarType dtype) { return scan_samples(dtype); },
    .tolerance_ulp = 16,
});

}  // namespace

Tensor cumsum(Arg self, std::int64_t dim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  return scan(op, self, dim, dtype);
}
Tensor ReductionMethods::cumsum(std::int64_t dim, std::optional<ScalarType> dtype,
                                Site site) const {
  const CallFrame frame(site);
  return scan(op, {self(), site}, dim, dtype);
}

}  // namespace groove
