// softmax: exp(x - max) times one reciprocal of the sum.
#include <algorithm>
#include <cmath>

#include "kernels/ops/reference.h"
#include "kernels/ops/softmax.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "softmax",
    .kind = OpKind::kComposite,
    .attributes = {{"dim", AttrType::kInt}},
    .type = softmax_type,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          if (s.inputs[0].sizes.empty() || element_count(s.inputs[0].sizes) == 0)
            return Tensors{ones_like(inputs[0])};
          const std::int64_t dim = s.attr().integer(0);
          const Tensor e = exp(inputs[0] - amax(inputs[0], dim, true));
          return Tensors{e * (1 / sum(e, dim, true))};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& y = g.output();
          const std::int64_t dim = g.attr().integer(0);
          if (type_of(y).sizes.empty()) return Tensors{zeros_like(g.cotangent())};
          const Tensor along = sum(g.cotangent() * y, dim, true);
          return Tensors{y * (g.cotangent() - along)};
        },
    .saves_outputs = 1,
    .has_inplace = false,
    .reference = softmax_reference(
        [](double x, double maximum, double total) { return std::exp(x - maximum) / total; }),
    .domain = {-4, 4},
    .dtypes = floating_dtypes(),
    .samples = softmax_samples,
    .tolerance_ulp = 16,
});

}  // namespace

TypeResult softmax_type(const Signature& s) {
  check_defined(s);
  GROOVE_CHECK_AS(
      NotImplementedError, is_floating(s.inputs[0].dtype) || element_count(s.inputs[0].sizes) == 0,
      "{}: not defined for {} tensors; give a floating dtype", s.op.name, name(s.inputs[0].dtype));
  return {{s.inputs[0]}, s.inputs[0].dtype};
}

ReferenceRule softmax_reference(double (*value)(double x, double maximum, double total)) {
  return [value](const Signature& s, const std::vector<Reference>& inputs) {
    const Reference& x = inputs[0];
    const auto dim = static_cast<std::size_t>(s.attr().integer(0));
    return std::vector<Reference>{make_reference(x.type, [&](const Shape& index) {
      if (index.empty()) return value(0, 0, 1);
      Shape at = index;
      double maximum = -INFINITY, total = 0;
      const auto element = [&] {
        return x.values[static_cast<std::size_t>(flat_position(x.type.sizes, at))];
      };
      for (at[dim] = 0; at[dim] < x.type.sizes[dim]; ++at[dim])
        maximum = std::max(maximum, element());
      for (at[dim] = 0; at[dim] < x.type.sizes[dim]; ++at[dim])
        total += std::exp(element() - maximum);
      at = index;
      return value(element(), maximum, total);
    })};
  };
}

std::vector<Sample> softmax_samples(ScalarType dtype) {
  return {{{{dtype, {}}}, Attrs().add(0), {}},     {{{dtype, {1}}}, Attrs().add(0), {}},
          {{{dtype, {7}}}, Attrs().add(0), {}},    {{{dtype, {3, 10}}}, Attrs().add(1), {}},
          {{{dtype, {3, 5}}}, Attrs().add(0), {}}, {{{dtype, {2, 3, 4}}}, Attrs().add(1), {}},
          {{{dtype, {0, 4}}}, Attrs().add(1), {}}, {{{dtype, {2, 70}}}, Attrs().add(1), {}}};
}

Attrs softmax_attrs(const char* op, const Tensor& self, std::int64_t dim) {
  return Attrs().add(normal_dim(op, dim, checked(op, self).geometry.sizes.size()));
}

Tensor softmax(Arg self, std::int64_t dim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  const Attrs attrs = softmax_attrs("softmax", *self.tensor, dim);
  if (dtype) return call(op, {self.tensor->to(*dtype, false, false, self.site)}, self.site, attrs);
  return call(op, {*self.tensor}, self.site, attrs);
}
Tensor ReductionMethods::softmax(std::int64_t dim, std::optional<ScalarType> dtype,
                                 Site site) const {
  return groove::softmax({self(), site}, dim, dtype);
}

}  // namespace groove
