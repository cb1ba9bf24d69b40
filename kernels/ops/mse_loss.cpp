// mse_loss: squared differences, their mean or sum.
#include "groove/ops/losses.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "mse_loss",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .attributes = {{"reduction", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = broadcast_shapes("mse_loss", s.inputs);
      const ScalarType dtype = result_type(s.inputs);
      GROOVE_CHECK(is_floating(dtype),
                   "mse_loss: not defined for {} tensors; convert to a "
                   "floating dtype",
                   name(dtype));
      const std::int64_t reduction = s.attr().integer(0);
      GROOVE_CHECK(reduction >= Reduction::None && reduction <= Reduction::Sum,
                   "mse_loss: reduction {} is none of None, Mean, Sum", reduction);
      return {{{dtype, reduction == Reduction::None ? sizes : Shape{}}}, dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor squares = square(inputs[0] - inputs[1]);
          switch (s.attr().integer(0)) {
            case Reduction::None:
              return Tensors{squares};
            case Reduction::Sum:
              return Tensors{sum(squares)};
            default:
              return Tensors{mean(squares)};
          }
        }}),
    .gradient =
        [](const Grad& g) {
          double scale = 2;
          if (g.attr().integer(0) == Reduction::Mean)
            scale /= static_cast<double>(element_count(
                broadcast_of("mse_loss", g.input_types[0].sizes, g.input_types[1].sizes)));
          const Tensor slope = (g.input(0) - g.input(1)) * (g.cotangent() * scale);
          Tensors result(2);
          if (g.needs[0]) result[0] = reduced_to(slope, g.input_types[0]);
          if (g.needs[1]) result[1] = reduced_to(neg(slope), g.input_types[1]);
          return result;
        },
    .saves_inputs = 3,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const Shape sizes = broadcast_shapes("mse_loss", s.inputs);
          Reference squares =
              make_reference({inputs[0].type.dtype, sizes}, [&](const Shape& index) {
                const double d = broadcast_at(inputs[0], index) - broadcast_at(inputs[1], index);
                return d * d;
              });
          squares.type = s.op.type(s).outputs[0];
          if (s.attr().integer(0) == Reduction::None) return std::vector<Reference>{squares};
          double total = 0;
          for (double x : squares.values) total += x;
          if (s.attr().integer(0) == Reduction::Mean)
            total /= static_cast<double>(squares.values.size());
          squares.values = {total};
          return std::vector<Reference>{squares};
        },
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (std::int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
            for (Sample& sample : binary_samples(dtype)) {
              sample.attrs = Attrs().add(reduction);
              samples.push_back(std::move(sample));
            }
          }
          return samples;
        },
    .tolerance_ulp = 16,
});

}  // namespace

Tensor mse_loss(Arg input, const Tensor& target, std::int64_t reduction) {
  return call(op, {*input.tensor, target}, input.site, Attrs().add(reduction));
}

}  // namespace groove
