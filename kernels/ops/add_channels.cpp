// add_channels: a bias for each channel, as after a convolution.
#include "groove/ops/views.h"
#include "kernels/ops/channels.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "add_channels",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      const Type &x = s.inputs[0], &bias = s.inputs[1];
      GROOVE_CHECK(x.sizes.size() >= 2 && bias.sizes == Shape{x.sizes[1]} && is_floating(x.dtype) &&
                       x.dtype == bias.dtype,
                   "add_channels: bias {} of {} does not fit {} of {}; it must have an element for "
                   "each channel",
                   to_string(bias.sizes), name(bias.dtype), to_string(x.sizes), name(x.dtype));
      return {{x}, x.dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          return Tensors{add(inputs[0], as_channels(inputs[1], s.inputs[0].sizes.size()))};
        }}),
    .gradient =
        [](const Grad& g) {
          Tensors result = {g.cotangent(), Tensor()};
          if (g.needs[1]) result[1] = channel_sum(g.cotangent()).reshape(g.input_types[1].sizes);
          return result;
        },
    .autocast = Precision::kShort,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          std::size_t at = 0;
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                return inputs[0].values[at++] +
                       inputs[1].values[static_cast<std::size_t>(index[1])];
              })};
        },
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto sample = [dtype](const Shape& sizes) {
            return Sample{{{dtype, sizes}, {dtype, {sizes[1]}}}, {}, {}};
          };
          return std::vector<Sample>{sample({2, 3, 2, 1}), sample({4, 3, 5, 7}), sample({5, 2}),
                                     sample({2, 3, 6}), sample({0, 3, 2, 2})};
        },
    .tolerance_ulp = 1,
});

}  // namespace

Tensor as_channels(const Tensor& vector, std::size_t rank) {
  Shape sizes(rank, 1);
  sizes[1] = -1;
  return vector.reshape(sizes);
}

Tensor channel_sum(const Tensor& x) {
  const std::size_t rank = type_of(x).sizes.size();
  Tensor planes = x;
  if (rank > 2) {
    Shape dims;
    for (std::size_t axis = 2; axis < rank; ++axis) dims.push_back(std::int64_t(axis));
    planes = sum(x, dims, true);
  }
  return sum(planes, 0, true);
}

Tensor add_channels(Arg x, const Tensor& bias) { return call(op, x, bias); }

}  // namespace groove
