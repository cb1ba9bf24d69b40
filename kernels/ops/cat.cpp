// cat: tensors one after the other along an axis; stack makes a new axis for it.
#include <algorithm>

#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/slice.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "cat",
    .kind = OpKind::kIndexMap,
    .inputs = -1,
    .attributes = {{"dim", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      GROOVE_CHECK(!s.inputs.empty(), "cat: the list of tensors is empty");
      const std::size_t dim = axis_of(s, 0);
      Type result = s.inputs[0];
      for (std::size_t i = 1; i < s.inputs.size(); ++i) {
        Shape sizes = s.inputs[i].sizes;
        if (sizes.size() == result.sizes.size()) {
          result.sizes[dim] += sizes[dim];
          sizes[dim] = result.sizes[dim];
        }
        GROOVE_CHECK(sizes == result.sizes,
                     "cat: shape {} of tensor {} does not fit {} along dim {}; all other sizes "
                     "must agree",
                     to_string(s.inputs[i].sizes), i, to_string(s.inputs[0].sizes), dim);
      }
      // cat() converts its tensors to their common dtype first: the kernels only move elements.
      for (const Type& input : s.inputs)
        GROOVE_CHECK(input.dtype == result.dtype, "cat: dtypes {} and {} differ; convert first",
                     name(result.dtype), name(input.dtype));
      return {{result}, result.dtype};
    },
    .lowering = kernels::lower(kernels::ConcatenateLowering{}),
    .gradient =
        [](const Grad& g) {
          const std::int64_t dim = g.attr().integer(0);
          Tensors result(g.input_types.size());
          std::int64_t start = 0;
          for (std::size_t i = 0; i < result.size(); ++i) {
            const std::int64_t length = g.input_types[i].sizes[static_cast<std::size_t>(dim)];
            if (g.needs[i])
              result[i] =
                  slice_exact(g.cotangent(), dim, start, length, 1).to(g.input_types[i].dtype);
            start += length;
          }
          return result;
        },
    .complex = complex_rules::on_pairs,
    .range =
        [](const Signature&, ArrayRef<ValueRange> inputs, int) {
          ValueRange all = inputs[0];
          for (const ValueRange& one : inputs) all = joined(all, one);
          return all;
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const auto dim = static_cast<std::size_t>(s.attr().integer(0));
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            std::size_t which = 0;
            while (index[dim] >= inputs[which].type.sizes[dim])
              index[dim] -= inputs[which++].type.sizes[dim];
            return inputs[which]
                .values[static_cast<std::size_t>(flat_position(inputs[which].type.sizes, index))];
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{
              {{{dtype, {3}}}, Attrs().add(0), {}},
              {{{dtype, {3}}, {dtype, {4}}}, Attrs().add(0), {}},
              {{{dtype, {2, 3}}, {dtype, {2, 1}}, {dtype, {2, 5}}}, Attrs().add(1), {}},
              {{{dtype, {2, 3}}, {dtype, {0, 3}}, {dtype, {4, 3}}}, Attrs().add(0), {}},
              {{{dtype, {2, 3, 2}}, {dtype, {2, 2, 2}}}, Attrs().add(1), {}},
              {{{dtype, {0, 3}}, {dtype, {0, 3}}}, Attrs().add(1), {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor cat(TensorList tensors, std::int64_t dim, Site site) {
  const CallFrame frame(site);
  Tensors kept;
  for (const Tensor& tensor : tensors) {
    const Shape& sizes = checked("cat", tensor).geometry.sizes;
    GROOVE_CHECK(!sizes.empty(), "cat: a 0-d tensor cannot be joined; use stack");
    if (sizes.size() != 1 || sizes[0] != 0) kept.push_back(tensor);
  }
  GROOVE_CHECK_AS(ValueError, !tensors.empty(), "cat: the list of tensors is empty");
  if (kept.empty()) kept.push_back(tensors[0]);
  const std::size_t rank = kept[0].impl()->geometry.sizes.size();
  const Attrs attrs = Attrs().add(normal_dim("cat", dim, rank));
  // One dtype from here on: compilers may let an operand be made in its place in the result.
  const auto is_as_first = [&](const Tensor& tensor) {
    return tensor.impl()->dtype == kept[0].impl()->dtype;
  };
  if (!std::all_of(kept.begin(), kept.end(), is_as_first)) {
    std::vector<Type> types;
    for (const Tensor& tensor : kept) types.push_back({tensor.scalar_type(), tensor.sizes()});
    const ScalarType dtype = result_type(types);
    for (Tensor& tensor : kept) tensor = tensor.to(dtype, false, false, site);
  }
  Tensor result;
  dispatch(Call{&op, kept, &attrs, {}, site}, &result);
  return result;
}
Tensor stack(TensorList tensors, std::int64_t dim, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(!tensors.empty(), "stack: the list of tensors is empty");
  const Shape first = checked("stack", tensors[0]).geometry.sizes;
  const std::int64_t axis = normal_dim("stack", dim, first.size() + 1);
  Tensors rows;
  for (const Tensor& tensor : tensors) {
    GROOVE_CHECK(checked("stack", tensor).geometry.sizes == first,
                 "stack: shapes {} and {} differ; all must be equal", to_string(first),
                 to_string(tensor.impl()->geometry.sizes));
    rows.push_back(tensor.unsqueeze(axis, site));
  }
  return cat(rows, axis, site);
}

}  // namespace groove
