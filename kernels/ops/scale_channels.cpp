// scale_channels: a factor and a bias for each channel, as after group_norm.
#include "groove/ops/views.h"
#include "kernels/ops/channels.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kX, kWeight, kBias };

const Op& op = define({
    .name = "scale_channels",
    .kind = OpKind::kComposite,
    .inputs = 3,
    .type = [](const Signature& s) -> TypeResult {
      const Type& x = s.inputs[kX];
      for (const Type* each : {&s.inputs[kWeight], &s.inputs[kBias]})
        GROOVE_CHECK(x.sizes.size() >= 2 && each->sizes == Shape{x.sizes[1]} &&
                         is_floating(x.dtype) && x.dtype == each->dtype,
                     "scale_channels: {} {} does not fit {} {}; it must have an element for each "
                     "channel",
                     name(each->dtype), to_string(each->sizes), name(x.dtype), to_string(x.sizes));
      return {{x}, x.dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const std::size_t rank = s.inputs[kX].sizes.size();
          return Tensors{add(mul(inputs[kX], as_channels(inputs[kWeight], rank)),
                             as_channels(inputs[kBias], rank))};
        }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          const Tensor& grad = g.cotangent();
          const auto sum = [&g](const Tensor& x) {
            return channel_sum(x).reshape(g.input_types[kWeight].sizes);
          };
          if (g.needs[kX])
            result[kX] = mul(grad, as_channels(g.input(kWeight), g.input_types[kX].sizes.size()));
          if (g.needs[kWeight]) result[kWeight] = sum(mul(grad, g.input(kX)));
          if (g.needs[kBias]) result[kBias] = sum(grad);
          return result;
        },
    .saves_inputs = 3,
    .autocast = Precision::kShort,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          std::size_t at = 0;
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                const auto channel = static_cast<std::size_t>(index[1]);
                return inputs[kX].values[at++] * inputs[kWeight].values[channel] +
                       inputs[kBias].values[channel];
              })};
        },
    .domain = {0.5, 2},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto sample = [dtype](const Shape& sizes) {
            const Type channels{dtype, {sizes[1]}};
            return Sample{{{dtype, sizes}, channels, channels}, {}, {}};
          };
          return std::vector<Sample>{sample({2, 3, 2, 1}), sample({4, 3, 5, 7}), sample({5, 2}),
                                     sample({2, 3, 6}), sample({0, 3, 2, 2})};
        },
});

}  // namespace

Tensor scale_channels(Arg x, const Tensor& weight, const Tensor& bias) {
  const CallFrame frame(x.site);
  return call(op, {*x.tensor, weight, bias}, x.site);
}

}  // namespace groove
