// average_pool2d: the sum of each window, ascending by rows and columns, divided once.
#include "groove/ops/convolutions.h"
#include "groove/ops/reductions.h"
#include "kernels/ops/average_pool2d.h"

namespace groove {
namespace {

template <typename T>
void run_as(const Signature& s, const T* x, T* result, int part, int parts) {
  const Shape& sizes = s.inputs[0].sizes;
  const AttrReader attr = s.attr();
  const PoolAttrs pool = pool_attrs(attr);
  const PoolAxis height(pool, 0, sizes[2]), width(pool, 1, sizes[3]);
  const PooledVector<PoolWindow> columns = windows_of(width);
  const std::vector<std::int64_t> of_row = window_counts(height, attr.boolean(kPoolCountsPadding));
  const std::vector<std::int64_t> of_column =
      window_counts(width, attr.boolean(kPoolCountsPadding));
  const std::int64_t divisor = attr.integer(kPoolDivisor);
  const PlaneRange planes = planes_of(sizes, part, parts);
  for (std::int64_t p = planes.begin; p < planes.end; ++p) {
    const T* plane = x + p * height.in * width.in;
    for (std::int64_t oh = 0; oh < height.out; ++oh) {
      const PoolWindow rows = height.window(oh);
      T* sums = result + (p * height.out + oh) * width.out;
      std::fill_n(sums, width.out, T(-0.0));  // which adds nothing to any number
      for (std::int64_t t = 0; t < rows.count; ++t) {
        const T* row = plane + (rows.first + t) * width.in;
        walk_windows(width, columns, [&](std::int64_t o, std::int64_t position) {
          sums[o] += row[position];
        });
      }
      for (std::int64_t ow = 0; ow < width.out; ++ow) {
        sums[ow] /= static_cast<T>(divisor != 0 ? divisor
                                                : of_row[static_cast<std::size_t>(oh)] *
                                                      of_column[static_cast<std::size_t>(ow)]);
      }
    }
  }
}

void run_part(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
              int parts) {
  const void* x = inputs[0].impl()->data();
  void* result = outputs[0].impl()->data();
  if (s.inputs[0].dtype == kDouble) {
    run_as(s, static_cast<const double*>(x), static_cast<double*>(result), part, parts);
  } else {
    run_as(s, static_cast<const float*>(x), static_cast<float*>(result), part, parts);
  }
}

const Op& op = define({
    .name = "average_pool2d",
    .kind = OpKind::kOpaque,
    .attributes = average_pool_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      return {{{s.inputs[0].dtype, pooled_sizes(s)}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run_part}),
    .gradient =
        [](const Grad& g) {
          return Tensors{
              average_pool2d_backward(g.cotangent(), g.attrs, g.input_types[0].sizes)};
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const AttrReader attr = s.attr();
          const Shape& sizes = inputs[0].type.sizes;
          const PoolAttrs pool = pool_attrs(attr);
          const PoolAxis height(pool, 0, sizes[2]), width(pool, 1, sizes[3]);
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                const PoolWindow rows = height.window(index[2]), columns = width.window(index[3]);
                double total = 0;
                for (std::int64_t i = 0; i < rows.count * columns.count; ++i) {
                  const Shape at = {index[0], index[1], rows.first + i / columns.count,
                                    columns.first + i % columns.count};
                  total += inputs[0].values[static_cast<std::size_t>(flat_position(sizes, at))];
                }
                std::int64_t count = rows.count * columns.count;
                if (attr.boolean(kPoolCountsPadding))
                  count = height.padded_count(index[2]) * width.padded_count(index[3]);
                if (attr.integer(kPoolDivisor) != 0) count = attr.integer(kPoolDivisor);
                return total / static_cast<double>(count);
              })};
        },
    .dtypes = floating_dtypes(),
    .samples = average_pool_samples,
    .tolerance_ulp = 100,
});

Tensor pooled(Arg input, const PoolAttrs& pool, std::size_t axes, bool counts_padding,
              std::int64_t divisor) {
  const Tensor images = as_images(input, axes);
  const Attrs attrs = add_pool(pool).add(counts_padding).add(divisor);
  return from_images(call(op, {images}, input.site, attrs), *input.tensor, axes, input.site);
}

Tensor adaptive(const char* name, Arg input, IntArrayRef output_size, std::size_t axes) {
  const Shape& sizes = checked(name, *input.tensor).geometry.sizes;
  PoolAttrs pool = adaptive_pool_of(name, sizes, output_size);
  // The mean over whole planes is a reduction, which fuses.
  if (pool.output[0] == 1 && pool.output[1] == 1) {
    if (axes == 1) return mean(input, {-1}, true);
    return mean(input, {-2, -1}, true);
  }
  return pooled(input, pool, axes, false, 0);
}

}  // namespace

std::vector<std::int64_t> window_counts(const PoolAxis& axis, bool counts_padding) {
  std::vector<std::int64_t> counts;
  for (std::int64_t o = 0; o < axis.out; ++o)
    counts.push_back(counts_padding ? axis.padded_count(o) : axis.window(o).count);
  return counts;
}

std::vector<AttrField> average_pool_attributes() {
  std::vector<AttrField> fields = pool_attributes();
  fields.push_back({"count_include_pad", AttrType::kBool});
  fields.push_back({"divisor", AttrType::kInt});
  return fields;
}

std::vector<Sample> average_pool_samples(ScalarType dtype) {
  std::vector<Sample> samples;
  for (const bool counts_padding : {false, true}) {
    for (const std::int64_t divisor : {0, 3}) {
      for (Sample& sample : pool_samples(dtype, false, [&](Attrs attrs) {
             return attrs.add(counts_padding).add(divisor);
           }))
        samples.push_back(std::move(sample));
    }
  }
  return samples;
}

Tensor average_pool2d(const Tensor& input, const Attrs& attrs) {
  return call(op, {input}, Site::current(), attrs);
}

Tensor avg_pool2d(Arg input, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override) {
  const CallFrame frame(input.site);
  GROOVE_CHECK(divisor_override != 0, "avg_pool2d: divisor_override is 0");
  const Shape& sizes = checked("avg_pool2d", *input.tensor).geometry.sizes;
  return pooled(input, pool_of("avg_pool2d", sizes, kernel_size, stride, padding, 1, ceil_mode), 2,
                count_include_pad, divisor_override.value_or(0));
}
Tensor avg_pool1d(Arg input, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  bool ceil_mode, bool count_include_pad) {
  const CallFrame frame(input.site);
  const Shape& sizes = checked("avg_pool1d", *input.tensor).geometry.sizes;
  return pooled(input, pool_of("avg_pool1d", sizes, kernel_size, stride, padding, 1, ceil_mode), 1,
                count_include_pad, 0);
}
Tensor adaptive_avg_pool1d(Arg self, IntArrayRef output_size) {
  const CallFrame frame(self.site);
  return adaptive("adaptive_avg_pool1d", self, output_size, 1);
}
Tensor adaptive_avg_pool2d(Arg self, IntArrayRef output_size) {
  const CallFrame frame(self.site);
  return adaptive("adaptive_avg_pool2d", self, output_size, 2);
}

}  // namespace groove
