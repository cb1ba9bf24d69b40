// one_hot, and class_mask: the same without check and as bool.
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/class_mask.h"
#include "kernels/ops/indices.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

Shape with_classes(const Signature& s) {
  Shape sizes = s.inputs[0].sizes;
  const std::int64_t classes = s.attr().integer(0);
  GROOVE_CHECK(!sizes.empty() && sizes.back() == 1 && classes >= 0,
               "{}: positions of shape {} among {} classes", s.op.name, to_string(sizes), classes);
  sizes.back() = classes;
  return sizes;
}

kernels::Exprs is_class(kernels::Body& b) {
  return {eq(b.builder.index(0), convert(b.inputs[0], kLong))};
}

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  return {make_reference(s.op.type(s).outputs[0], [&](const Shape& index) -> double {
    return broadcast_at(inputs[0], index) == static_cast<double>(index.back());
  })};
}

std::vector<Sample> samples(ScalarType dtype) {
  return {{{{dtype, {1}}}, Attrs().add(3), {}},
          {{{dtype, {4, 1}}}, Attrs().add(5), {}},
          {{{dtype, {2, 3, 1}}}, Attrs().add(3), {}},
          {{{dtype, {0, 1}}}, Attrs().add(3), {}},
          {{{dtype, {6, 1}}}, Attrs().add(3), {}}};
}

const Op& op_mask = define({
    .name = "class_mask",
    .attributes = {{"classes", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_index_dtype("class_mask", s.inputs[0]);
      return {{{kBool, with_classes(s)}}, kLong};
    },
    .lowering =
        kernels::lower(kernels::ElementwiseLowering{.body = is_class, .uses_last_index = true}),
    .has_inplace = false,
    .reference = reference,
    .domain = {0, 3},
    .dtypes = {kLong, kInt},
    .samples = samples,
    .tolerance_ulp = 0,
});

const Op& op = define({
    .name = "one_hot",
    .attributes = {{"classes", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_index_dtype("one_hot", s.inputs[0]);
      return {{{kLong, with_classes(s)}}, kLong};
    },
    .lowering =
        kernels::lower(kernels::ElementwiseLowering{.body = is_class, .uses_last_index = true}),
    .check =
        [](const Signature& s, ArrayRef<Tensor> inputs) {
          s.op.type(s);  // the dtype first
          check_index_range("one_hot", "class", inputs[0], s.attr().integer(0));
        },
    .allowed = [](const Signature& s) { return positions_below(s.attr().integer(0)); },
    .range = [](const Signature&, ArrayRef<ValueRange>, int) { return ValueRange{0, 1}; },
    .has_inplace = false,
    .reference = reference,
    .domain = {0, 2},
    .dtypes = {kLong, kInt},
    .samples = samples,
    .tolerance_ulp = 0,
});

}  // namespace

Tensor class_mask(const Tensor& index, std::int64_t classes) {
  return call(op_mask, {index}, Site::current(), Attrs().add(classes));
}

Tensor one_hot(Arg self, std::int64_t num_classes) {
  const CallFrame frame(self.site);
  checked("one_hot", *self.tensor);
  if (num_classes < 0) {
    GROOVE_CHECK(self.tensor->impl()->numel > 0,
                 "one_hot: no elements to take the number of classes from; give num_classes");
    num_classes = max(self).item<std::int64_t>() + 1;
  }
  return call(op, {self.tensor->unsqueeze(-1, self.site)}, self.site, Attrs().add(num_classes));
}

}  // namespace groove
