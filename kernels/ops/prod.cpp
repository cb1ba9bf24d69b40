// prod: the product over all axes or one; integers and bool as i64. 1 over nothing.
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/reduce.h"
#include "kernels/ops/scan.h"

namespace groove {
namespace {

// The halves of an axis by each other, until one element is left.
Tensor product_along(Tensor z, std::int64_t dim) {
  std::int64_t count = z.size(dim);
  while (count > 1) {
    const std::int64_t half = count / 2;
    const Tensor pairs = z.narrow(dim, 0, half) * z.narrow(dim, half, half);
    z = count % 2 ? cat({pairs, z.narrow(dim, count - 1, 1)}, dim) : pairs;
    count -= half;
  }
  return z;
}

Tensor of_complex(const Call& call) {
  const Tensor& z = call.inputs[0];
  const Type type = type_of(z);
  const Signature s{*call.op, ArrayRef<Type>(type), *call.attrs, {}};
  const IntArrayRef dims = s.attr().integers(0);
  const Tensor line = dims.empty() ? z.reshape({-1}) : z;
  const std::int64_t dim = dims.empty() ? 0 : dims[0];
  const Shape sizes = reduced_sizes(s);
  if (line.size(dim) == 0) return ones(sizes, z.scalar_type());
  return product_along(line, dim).reshape(sizes);
}

const Op& op = define({
    .name = "prod",
    .kind = OpKind::kReduction,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      GROOVE_CHECK(s.attr().integers(0).size() <= 1, "prod: {} axes; it takes one or all",
                   s.attr().integers(0).size());
      const ScalarType dtype = is_floating(s.inputs[0].dtype) ? s.inputs[0].dtype : kLong;
      return {{{dtype, sizes}}, dtype};
    },
    .lowering =
        kernels::lower(kernels::ReductionLowering{.reductions = {kernels::Prim::kReduceProd}}),
    // The product of all others, without a division: elements may be 0.
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          const IntArrayRef dims = g.attr().integers(0);
          const Tensor line = dims.empty() ? x.reshape(-1) : x;
          const std::int64_t dim = dims.empty() ? 0 : dims[0];
          const Tensor others = product_before(line, dim, false) * product_before(line, dim, true);
          return Tensors{others.reshape(g.input_types[0].sizes) * unreduced(g.cotangent(), g)};
        },
    .saves_inputs = 1,
    .complex = of_complex,
    .autocast = Precision::kFloat,
    .has_inplace = false,
    .reference = reduction_reference([](const std::vector<double>& row) {
      double product = 1;
      for (double x : row) product *= x;
      return product;
    }),
    .domain = {-1, 1.5},
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> kept;
          for (Sample& sample : reduction_samples(dtype)) {
            if (sample.attrs.words()[0] <= 1) kept.push_back(std::move(sample));
          }
          return kept;
        },
    .tolerance_ulp = 64,
});

Tensor reduced(Arg self, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype) {
  const Attrs attrs = reduction_attrs("prod", *self.tensor, dims, keepdim);
  if (!dtype) return call(op, {*self.tensor}, self.site, attrs);
  // Integers come as i64, whose low bits are those of a narrower one.
  const Tensor x = self.tensor->to(*dtype, false, false, self.site);
  return call(op, {x}, self.site, attrs).to(*dtype, false, false, self.site);
}

}  // namespace

Tensor prod(Arg self) {
  const CallFrame frame(self.site);
  return reduced(self, {}, false, {});
}
Tensor prod(Arg self, ScalarType dtype) {
  const CallFrame frame(self.site);
  return reduced(self, {}, false, dtype);
}
Tensor prod(Arg self, std::int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  return reduced(self, dim, keepdim, dtype);
}
Tensor ReductionMethods::prod(Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, {}, false, {});
}
Tensor ReductionMethods::prod(ScalarType dtype, Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, {}, false, dtype);
}
Tensor ReductionMethods::prod(std::int64_t dim, bool keepdim, std::optional<ScalarType> dtype,
                              Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, dim, keepdim, dtype);
}

}  // namespace groove
