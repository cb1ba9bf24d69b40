// index_select: slices at the positions a 1-d tensor holds.
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/indexed_write.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

void check_operands(const Signature& s) {
  check_index_dtype("index_select", s.inputs[1]);
  GROOVE_CHECK(s.inputs[1].sizes.size() == 1,
               "index_select: the index has shape {}, not one "
               "axis",
               to_string(s.inputs[1].sizes));
  axis_of(s, 0);
}

const Op& op = define({
    .name = "index_select",
    .kind = OpKind::kIndexMap,
    .inputs = 2,
    .attributes = {{"dim", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_operands(s);
      Type result = s.inputs[0];
      result.sizes[axis_of(s, 0)] = s.inputs[1].sizes[0];
      return {{result}, result.dtype};
    },
    .lowering = kernels::lower(kernels::GatherLowering{.index_is_full = false}),
    .gradient =
        [](const Grad& g) {
          return Tensors{
              index_sum(g.input(1), g.cotangent(), g.attr().integer(0), g.input_types[0].sizes),
              Tensor()};
        },
    .saves_inputs = 2,
    .complex = complex_rules::on_pairs,
    .check =
        [](const Signature& s, ArrayRef<Tensor> inputs) {
          check_operands(s);  // shapes first: the range is read from them
          const auto dim = static_cast<std::size_t>(s.attr().integer(0));
          check_index_range("index_select", "index", inputs[1], s.inputs[0].sizes[dim]);
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
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            index[dim] =
                static_cast<std::int64_t>(inputs[1].values[static_cast<std::size_t>(index[dim])]);
            return inputs[0]
                .values[static_cast<std::size_t>(flat_position(inputs[0].type.sizes, index))];
          })};
        },
    .domain = {0, 2},
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {5}}, {kLong, {3}}}, Attrs().add(0), {}},
                                     {{{dtype, {3, 4}}, {kLong, {5}}}, Attrs().add(0), {}},
                                     {{{dtype, {3, 4}}, {kInt, {5}}}, Attrs().add(1), {}},
                                     {{{dtype, {3, 4}}, {kLong, {0}}}, Attrs().add(1), {}},
                                     {{{dtype, {2, 3, 4}}, {kLong, {2}}}, Attrs().add(1), {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor index_select(Arg self, std::int64_t dim, const Tensor& index) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("index_select", *self.tensor).geometry.sizes.size();
  const Tensor list = as_list("index_select", index, self.site);
  if (rank == 0) {
    GROOVE_CHECK(list.impl()->numel == 1,
                 "index_select: {} positions of a 0-d tensor, which has one element",
                 list.impl()->numel);
    return squeeze(index_select(unsqueeze(self, 0), dim, list), 0);
  }
  return call(op, {*self.tensor, list}, self.site,
              Attrs().add(normal_dim("index_select", dim, rank)));
}
Tensor IndexMethods::index_select(std::int64_t dim, const Tensor& index, Site site) const {
  return groove::index_select({self(), site}, dim, index);
}

}  // namespace groove
