// Shapes and dims of reductions.
#include "kernels/ops/reduce.h"

#include <algorithm>

#include "kernels/ops/complex_rules.h"

namespace groove {
namespace {

bool is_reduced(IntArrayRef dims, std::size_t axis) {
  return dims.empty() ||
         std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(axis)) != dims.end();
}

}  // namespace

Attrs reduction_attrs(const char* op, const Tensor& self, IntArrayRef dims, bool keepdim) {
  Shape normal = normal_dims(op, dims, checked(op, self).geometry.sizes.size());
  if (normal.size() == self.impl()->geometry.sizes.size()) normal.clear();
  return Attrs().add(IntArrayRef(normal)).add(keepdim);
}

Tensor reduce(const Op& op, Arg self, IntArrayRef dims, bool keepdim) {
  const CallFrame frame(self.site);
  return call(op, {*self.tensor}, self.site,
              reduction_attrs(op.name.c_str(), *self.tensor, dims, keepdim));
}

const Op& define_truth(const char* name, kernels::Prim reduction,
                       std::function<double(const std::vector<double>& row)> reference) {
  return define({
      .name = name,
      .kind = OpKind::kReduction,
      .attributes = reduction_attributes(),
      .type = [](const Signature& s) -> TypeResult {
        const Shape sizes = reduced_sizes(s);
        return {{{s.inputs[0].dtype == kByte ? kByte : kBool, sizes}}, kBool};
      },
      .lowering = kernels::lower(kernels::ReductionLowering{
          .reductions = {reduction},
          .before = [](kernels::Body& b) { return kernels::Exprs{convert(b.inputs[0], kInt)}; },
          .after = [](kernels::Body&, const kernels::Exprs& reduced,
                      kernels::Expr) { return kernels::Exprs{gt(reduced[0], 0.0)}; }}),
      .complex = complex_rules::on_truths,
      .has_inplace = false,
      .reference = reduction_reference(std::move(reference)),
      .dtypes = all_dtypes(),
      .samples = [](ScalarType dtype) { return reduction_samples(dtype); },
      .tolerance_ulp = 0,
  });
}

Shape reduced_sizes(const Signature& signature) {
  GROOVE_CHECK(signature.inputs[0].dtype != ScalarType::Undefined,
               "{}: the tensor is undefined; assign it first", signature.op.name);
  const Shape& sizes = signature.inputs[0].sizes;
  const IntArrayRef dims = signature.attr().integers(0);
  const bool keepdim = signature.attr().boolean(1);
  Shape result;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (!is_reduced(dims, axis))
      result.push_back(sizes[axis]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

void check_not_empty(const Signature& signature) {
  const Shape& sizes = signature.inputs[0].sizes;
  const IntArrayRef dims = signature.attr().integers(0);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    GROOVE_CHECK_AS(IndexError, sizes[axis] != 0 || !is_reduced(dims, axis),
                    "{}: nothing to choose from: dim {} of shape {} has size 0", signature.op.name,
                    axis, to_string(sizes));
  }
}

Shape kept_sizes(const Signature& signature) {
  Shape sizes = signature.inputs[0].sizes;
  const IntArrayRef dims = signature.attr().integers(0);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (is_reduced(dims, axis)) sizes[axis] = 1;
  }
  return sizes;
}

Tensor unreduced(const Tensor& reduced, const Grad& g) {
  const Shape sizes = kept_sizes({g.op, g.input_types, g.attrs, g.numbers});
  return type_of(reduced).sizes == sizes ? reduced : reduced.reshape(sizes);
}

std::int64_t reduced_count(const Grad& g) {
  const Shape& sizes = g.input_types[0].sizes;
  const IntArrayRef dims = g.attr().integers(0);
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (is_reduced(dims, axis)) count *= sizes[axis];
  }
  return count;
}

}  // namespace groove
