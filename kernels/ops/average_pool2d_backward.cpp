// average_pool2d_backward: the gradient of each window, divided, goes to all its elements, in
// ascending order of windows.
#include "kernels/ops/average_pool2d.h"

namespace groove {
namespace {

template <typename T>
void run_as(const Signature& s, const T* grad, T* result, int part, int parts) {
  const AttrReader attr = s.attr();
  const IntArrayRef size = attr.integers(kPoolInput);
  const PoolAttrs pool = pool_attrs(attr);
  const PoolAxis height(pool, 0, size[0]), width(pool, 1, size[1]);
  const PooledVector<PoolWindow> columns = windows_of(width);
  const std::vector<std::int64_t> of_row = window_counts(height, attr.boolean(kPoolCountsPadding));
  const std::vector<std::int64_t> of_column =
      window_counts(width, attr.boolean(kPoolCountsPadding));
  const std::int64_t divisor = attr.integer(kPoolDivisor), plane = size[0] * size[1];
  const PlaneRange planes = planes_of(s.inputs[0].sizes, part, parts);
  std::fill(result + planes.begin * plane, result + planes.end * plane, T(0));
  for (std::int64_t p = planes.begin; p < planes.end; ++p) {
    for (std::int64_t oh = 0; oh < height.out; ++oh) {
      const PoolWindow rows = height.window(oh);
      const T* from = grad + (p * height.out + oh) * width.out;
      for (std::int64_t ow = 0; ow < width.out; ++ow) {
        const PoolWindow& window = columns[static_cast<std::size_t>(ow)];
        const T share =
            from[ow] / static_cast<T>(divisor != 0 ? divisor
                                                   : of_row[static_cast<std::size_t>(oh)] *
                                                         of_column[static_cast<std::size_t>(ow)]);
        for (std::int64_t t = 0; t < rows.count; ++t) {
          T* to = result + p * plane + (rows.first + t) * width.in + window.first;
          for (std::int64_t i = 0; i < window.count; ++i) to[i] += share;
        }
      }
    }
  }
}

void run_part(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
              int parts) {
  const void* grad = inputs[0].impl()->data();
  void* result = outputs[0].impl()->data();
  if (s.inputs[0].dtype == kDouble) {
    run_as(s, static_cast<const double*>(grad), static_cast<double*>(result), part, parts);
  } else {
    run_as(s, static_cast<const float*>(grad), static_cast<float*>(result), part, parts);
  }
}

std::vector<AttrField> attributes() {
  std::vector<AttrField> fields = average_pool_attributes();
  fields.push_back({"input_size", AttrType::kInts});
  return fields;
}

// The attributes of the pool itself: all but the last list.
Attrs pool_only(const AttrReader& attr) {
  return add_pool(pool_attrs(attr))
      .add(attr.boolean(kPoolCountsPadding))
      .add(attr.integer(kPoolDivisor));
}

const Op& op = define({
    .name = "average_pool2d_backward",
    .kind = OpKind::kOpaque,
    .attributes = attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Type& grad = s.inputs[0];
      const IntArrayRef image = s.attr().integers(kPoolInput);
      GROOVE_CHECK(image.size() == 2 && image[0] < (1 << 24) && image[1] < (1 << 24),
                   "average_pool2d_backward: an image of {}", to_string(image));
      const Shape output = pooled_sizes(s, image);
      GROOVE_CHECK(grad.sizes == output, "average_pool2d_backward: gradient {} is not {}",
                   to_string(grad.sizes), to_string(output));
      const IntArrayRef size = s.attr().integers(kPoolInput);
      return {{{grad.dtype, {grad.sizes[0], grad.sizes[1], size[0], size[1]}}}, grad.dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run_part}),
    .gradient =
        [](const Grad& g) { return Tensors{average_pool2d(g.cotangent(), pool_only(g.attr()))}; },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const AttrReader attr = s.attr();
          const IntArrayRef size = attr.integers(kPoolInput);
          const PoolAttrs pool = pool_attrs(attr);
          const PoolAxis height(pool, 0, size[0]), width(pool, 1, size[1]);
          const Shape& outputs = inputs[0].type.sizes;
          // From the other side: every element asks all windows.
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                double total = 0;
                for_each_index({outputs[2], outputs[3]}, [&](const Shape& o) {
                  const PoolWindow rows = height.window(o[0]), columns = width.window(o[1]);
                  if (index[2] < rows.first || index[2] >= rows.first + rows.count ||
                      index[3] < columns.first || index[3] >= columns.first + columns.count)
                    return;
                  std::int64_t count = rows.count * columns.count;
                  if (attr.boolean(kPoolCountsPadding))
                    count = height.padded_count(o[0]) * width.padded_count(o[1]);
                  if (attr.integer(kPoolDivisor) != 0) count = attr.integer(kPoolDivisor);
                  const Shape at = {index[0], index[1], o[0], o[1]};
                  total += inputs[0].values[static_cast<std::size_t>(flat_position(outputs, at))] /
                           static_cast<double>(count);
                });
                return total;
              })};
        },
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = average_pool_samples(dtype);
          for (Sample& sample : samples) {
            const AttrReader attr(*find_op("average_pool2d"), sample.attrs);
            const IntArrayRef output = attr.integers(kPoolOutput);
            Shape& sizes = sample.inputs[0].sizes;
            sample.attrs.add(IntArrayRef(sizes).slice(2, 2));
            sizes = {sizes[0], sizes[1], output[0], output[1]};
          }
          return samples;
        },
    .tolerance_ulp = 100,
});

}  // namespace

Tensor average_pool2d_backward(const Tensor& grad, const Attrs& attrs, IntArrayRef sizes) {
  Attrs own = attrs;
  return call(op, {grad}, Site::current(), own.add(sizes.slice(2, 2)));
}

}  // namespace groove
