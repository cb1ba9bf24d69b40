// gather: one element per element of the index, along an axis.
#include "groove/ops/index.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/indexed_write.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

void check_operands(const Signature& s) {
  check_index_dtype("gather", s.inputs[1]);
  const Shape &own = s.inputs[0].sizes, &index = s.inputs[1].sizes;
  const std::size_t dim = axis_of(s, 0);
  bool fits = own.size() == index.size();
  for (std::size_t axis = 0; fits && axis < own.size(); ++axis)
    fits = axis == dim || index[axis] <= own[axis];
  GROOVE_CHECK(fits, "gather: index {} does not fit {}: as many axes, no larger outside dim {}",
               to_string(index), to_string(own), dim);
}

const Op& op = define({
    .name = "gather",
    .kind = OpKind::kIndexMap,
    .inputs = 2,
    .attributes = {{"dim", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_operands(s);
      return {{{s.inputs[0].dtype, s.inputs[1].sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::GatherLowering{.index_is_full = true}),
    .gradient =
        [](const Grad& g) {
          return Tensors{
              scatter_sum(g.input(1), g.cotangent(), g.attr().integer(0), g.input_types[0].sizes),
              Tensor()};
        },
    .saves_inputs = 2,
    .complex = complex_rules::with_full_index,
    .check =
        [](const Signature& s, ArrayRef<Tensor> inputs) {
          check_operands(s);  // shapes first: the range is read from them
          const auto dim = static_cast<std::size_t>(s.attr().integer(0));
          check_index_range("gather", "index", inputs[1], s.inputs[0].sizes[dim]);
        },
    .check_reads = 1,
    .allowed =
        [](const Signature& s) {
          return positions_below(s.inputs[0].sizes[static_cast<std::size_t>(s.attr().integer(0))]);
        },
    .range = first_range,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const auto dim = static_cast<std::size_t>(s.attr().integer(0));
          std::size_t position = 0;
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            index[dim] = static_cast<std::int64_t>(inputs[1].values[position++]);
            return inputs[0]
                .values[static_cast<std::size_t>(flat_position(inputs[0].type.sizes, index))];
          })};
        },
    .domain = {0, 2},
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{
              {{{dtype, {5}}, {kLong, {3}}}, Attrs().add(0), {}},
              {{{dtype, {3, 4}}, {kLong, {5, 4}}}, Attrs().add(0), {}},
              {{{dtype, {3, 4}}, {kLong, {2, 6}}}, Attrs().add(1), {}},
              {{{dtype, {3, 4}}, {kInt, {3, 0}}}, Attrs().add(1), {}},
              {{{dtype, {2, 3, 4}}, {kLong, {2, 1, 4}}}, Attrs().add(1), {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor gather(Arg self, std::int64_t dim, const Tensor& index, bool) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("gather", *self.tensor).geometry.sizes.size();
  GROOVE_CHECK(rank > 0, "gather: a 0-d tensor has no axis to gather from");
  checked("gather", index);
  return call(op, {*self.tensor, index}, self.site, Attrs().add(normal_dim("gather", dim, rank)));
}
Tensor IndexMethods::gather(std::int64_t dim, const Tensor& index, Site site) const {
  return groove::gather({self(), site}, dim, index);
}
Tensor IndexMethods::gather(std::int64_t dim, const Tensor& index, bool, Site site) const {
  return groove::gather({self(), site}, dim, index);
}

}  // namespace groove
