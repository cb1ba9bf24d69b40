// max_pool2d_backward: the gradient of each window goes to the element it took.
#include "kernels/ops/max_pool2d.h"

#include "groove/ops/index.h"
#include "groove/ops/views.h"

namespace groove {
namespace {

template <typename T>
void run_as(const Signature& s, const T* grad, const std::int64_t* positions, T* result, int part,
            int parts) {
  const IntArrayRef size = s.attr().integers(0);
  const Shape& sizes = s.inputs[0].sizes;
  const std::int64_t plane = size[0] * size[1], count = sizes[2] * sizes[3];
  const PlaneRange planes = planes_of(sizes, part, parts);
  std::fill(result + planes.begin * plane, result + planes.end * plane, T(0));
  for (std::int64_t p = planes.begin; p < planes.end; ++p) {
    T* target = result + p * plane;
    for (std::int64_t i = p * count; i < (p + 1) * count; ++i) {
      GROOVE_CHECK(static_cast<std::uint64_t>(positions[i]) < static_cast<std::uint64_t>(plane),
                   "max_pool2d_backward: position {} in an image of {} elements", positions[i],
                   plane);
      target[positions[i]] += grad[i];
    }
  }
}

void run_part(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
              int parts) {
  const auto* positions = static_cast<const std::int64_t*>(inputs[1].impl()->data());
  const void* grad = inputs[0].impl()->data();
  void* result = outputs[0].impl()->data();
  if (s.inputs[0].dtype == kDouble) {
    run_as(s, static_cast<const double*>(grad), positions, static_cast<double*>(result), part,
           parts);
  } else {
    run_as(s, static_cast<const float*>(grad), positions, static_cast<float*>(result), part,
           parts);
  }
}

const Op& op = define({
    .name = "max_pool2d_backward",
    .kind = OpKind::kOpaque,
    .inputs = 2,
    .attributes = {{"input_size", AttrType::kInts}},
    .type = [](const Signature& s) -> TypeResult {
      const Type& grad = s.inputs[0];
      GROOVE_CHECK(grad.sizes.size() == 4 && grad.sizes == s.inputs[1].sizes &&
                       is_floating(grad.dtype) && s.inputs[1].dtype == kLong,
                   "max_pool2d_backward: gradient {} and positions {} do not fit",
                   to_string(grad.sizes), to_string(s.inputs[1].sizes));
      const IntArrayRef size = s.attr().integers(0);
      GROOVE_CHECK(size.size() == 2 && size[0] >= 0 && size[1] >= 0 && size[0] < (1 << 24) &&
                       size[1] < (1 << 24),
                   "max_pool2d_backward: an image of {}", to_string(size));
      return {{{grad.dtype, {grad.sizes[0], grad.sizes[1], size[0], size[1]}}}, grad.dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run_part}),
    .gradient =
        [](const Grad& g) {
          const Tensor& positions = g.input(1);
          const Tensor taken = gather(flatten(g.cotangent(), 2), 2, flatten(positions, 2));
          return Tensors{taken.reshape(g.input_types[0].sizes), Tensor()};
        },
    .saves_inputs = 2,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          Reference result =
              make_reference(s.op.type(s).outputs[0], [](const Shape&) { return 0.0; });
          std::size_t from = 0;
          const Shape& sizes = result.type.sizes;
          for_each_index(inputs[0].type.sizes, [&](const Shape& index) {
            const auto position = static_cast<std::int64_t>(inputs[1].values[from]);
            const Shape to = {index[0], index[1], position / sizes[3], position % sizes[3]};
            result.values[static_cast<std::size_t>(flat_position(sizes, to))] +=
                inputs[0].values[from++];
          });
          return std::vector<Reference>{result};
        },
    .domain = {0, 3},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto sample = [dtype](const Shape& sizes, const Shape& size) {
            return Sample{{{dtype, sizes}, {kLong, sizes}}, Attrs().add(IntArrayRef(size)), {}};
          };
          return std::vector<Sample>{sample({1, 2, 2, 2}, {2, 2}), sample({2, 3, 3, 4}, {2, 3}),
                                     sample({0, 3, 3, 4}, {6, 8})};
        },
    .tolerance_ulp = 16,
});

}  // namespace

Tensor max_pool2d_backward(const Tensor& grad, const Tensor& positions, IntArrayRef sizes) {
  return call(op, {grad, positions}, Site::current(), Attrs().add(sizes.slice(2, 2)));
}

}  // namespace groove
