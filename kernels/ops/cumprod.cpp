// cumprod: products of all elements up to each along one axis, one multiplication after the other.
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/scan.h"

namespace groove {
namespace {

// A complex line is multiplied by itself 1, 2, 4 … places on.
Tensor by_doubling(const Call& call) {
  const AttrReader attr(*call.op, *call.attrs);
  const std::int64_t dim = attr.integer(0);
  const bool reverse = attr.boolean(1);
  Tensor x = complex_rules::operand(call, 0);
  if (reverse) x = flip(x, dim);
  const std::int64_t count = x.size(dim);
  for (std::int64_t step = 1; step < count; step *= 2) {
    const Tensor further = complex_rules::product(narrow(x, dim, step, count - step),
                                                  narrow(x, dim, std::int64_t{0}, count - step));
    x = cat(Tensors{narrow(x, dim, std::int64_t{0}, step), further}, dim);
  }
  return reverse ? flip(x, dim) : x;
}

// The slope of the cotangents' sum by element j: the product before it, times what each cotangent
// from j on takes of the product after it, which is a recurrence from the end.
const Op& op = define({
    .name = "cumprod",
    .kind = OpKind::kOpaque,
    .attributes = scan_attributes(),
    .type = scan_type,
    .lowering = scan_lowering<1>(1.0, [](auto product, auto x) { return product * x; }),
    .gradient =
        [](const Grad& g) {
          const std::int64_t dim = g.attr().integer(0);
          const bool reverse = g.attr().boolean(1);
          const Tensor before = shifted(g.output(), dim, !reverse, 1);
          const Tensor next = shifted(g.input(0), dim, reverse, 0);
          return Tensors{before * linear_recurrence(next, g.cotangent(), dim, !reverse)};
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .complex = by_doubling,
    .reference = scan_reference([](const std::vector<std::vector<double>>& lines) {
      std::vector<double> result;
      double product = 1;
      for (double x : lines[0]) result.push_back(product *= x);
      return result;
    }),
    .domain = {-2, 2},
    .dtypes = {kFloat, kDouble, kLong, kHalf, kBFloat16},
    .samples = [](ScalarType dtype) { return scan_samples(dtype); },
    .tolerance_ulp = 16,
});

}  // namespace

Tensor cumprod(Arg self, std::int64_t dim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  return scan(op, self, dim, dtype);
}
Tensor ReductionMethods::cumprod(std::int64_t dim, std::optional<ScalarType> dtype,
                                 Site site) const {
  const CallFrame frame(site);
  return scan(op, {self(), site}, dim, dtype);
}

Tensor product_before(const Tensor& x, std::int64_t dim, bool after) {
  return shifted(call(op, {x}, Site::current(), Attrs().add(dim).add(after)), dim, !after, 1);
}

}  // namespace groove
