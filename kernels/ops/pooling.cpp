#include "kernels/ops/pooling.h"

#include "groove/ops/views.h"

namespace groove {
namespace {

Shape pair(const char* op, const char* what, IntArrayRef values, std::size_t axes) {
  GROOVE_CHECK(values.size() == 1 || values.size() == axes,
               "{}: {} {} must hold one number or {}", op, what, to_string(values), axes);
  Shape result(2, values[0]);
  if (values.size() == 2) result[1] = values[1];
  return result;
}

std::size_t spatial_axes(const char* op) {
  const std::string name = op;
  return name.find("1d") != std::string::npos ? 1 : 2;
}

void check_rank(const char* op, IntArrayRef sizes, std::size_t axes) {
  GROOVE_CHECK(sizes.size() == axes + 1 || sizes.size() == axes + 2,
               "{}: input {} must have {} dimensions, or {} for one image", op, to_string(sizes),
               axes + 2, axes + 1);
  for (std::size_t i = sizes.size() - axes - 1; i < sizes.size(); ++i)
    GROOVE_CHECK(sizes[i] > 0, "{}: input {} has nothing to pool", op, to_string(sizes));
}

}  // namespace

std::vector<AttrField> pool_attributes() {
  return {{"kernel_size", AttrType::kInts}, {"stride", AttrType::kInts},
          {"padding", AttrType::kInts},     {"dilation", AttrType::kInts},
          {"output_size", AttrType::kInts}, {"adaptive", AttrType::kBool}};
}
Attrs add_pool(const PoolAttrs& pool) {
  return Attrs()
      .add(IntArrayRef(pool.kernel))
      .add(IntArrayRef(pool.stride))
      .add(IntArrayRef(pool.padding))
      .add(IntArrayRef(pool.dilation))
      .add(IntArrayRef(pool.output))
      .add(pool.is_adaptive);
}
PoolAttrs pool_attrs(const AttrReader& attr) {
  return {Shape(attr.integers(kPoolKernel)),  Shape(attr.integers(kPoolStride)),
          Shape(attr.integers(kPoolPadding)), Shape(attr.integers(kPoolDilation)),
          Shape(attr.integers(kPoolOutput)),  attr.boolean(kPoolAdaptive)};
}

PoolAttrs pool_of(const char* op, IntArrayRef sizes, IntArrayRef kernel, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const std::size_t axes = spatial_axes(op);
  check_rank(op, sizes, axes);
  PoolAttrs pool;
  pool.kernel = pair(op, "kernel_size", kernel, axes);
  pool.stride = stride.empty() ? pool.kernel : pair(op, "stride", stride, axes);
  pool.padding = pair(op, "padding", padding, axes);
  pool.dilation = pair(op, "dilation", dilation, axes);
  if (axes == 1) {
    pool.kernel[0] = pool.stride[0] = pool.dilation[0] = 1;
    pool.padding[0] = 0;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t in = axes == 1 && i == 0 ? 1 : sizes[sizes.size() - 2 + i];
    const std::int64_t k = pool.kernel[i], s = pool.stride[i], p = pool.padding[i];
    GROOVE_CHECK(k > 0 && s > 0 && pool.dilation[i] > 0 && p >= 0 && 2 * p <= k,
                 "{}: kernel {}, stride {} and dilation {} must be positive, padding {} at most "
                 "half the kernel",
                 op, k, s, pool.dilation[i], p);
    const std::int64_t room = in + 2 * p - pool.dilation[i] * (k - 1) - 1;
    GROOVE_CHECK(room >= 0, "{}: a window of {} does not fit an input of {} (padding {})", op,
                 pool.dilation[i] * (k - 1) + 1, in, p);
    std::int64_t out = (room + (ceil_mode ? s - 1 : 0)) / s + 1;
    // The last window begins inside the input or its left padding.
    if (ceil_mode && (out - 1) * s >= in + p) --out;
    pool.output.push_back(out);
  }
  return pool;
}

PoolAttrs adaptive_pool_of(const char* op, IntArrayRef sizes, IntArrayRef output_size) {
  const std::size_t axes = spatial_axes(op);
  check_rank(op, sizes, axes);
  PoolAttrs pool{{1, 1}, {1, 1}, {0, 0}, {1, 1}, pair(op, "output_size", output_size, axes), true};
  if (axes == 1) pool.output[0] = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t in = axes == 1 && i == 0 ? 1 : sizes[sizes.size() - 2 + i];
    if (pool.output[i] == -1) pool.output[i] = in;
    GROOVE_CHECK(pool.output[i] > 0, "{}: output_size {} must be positive, or -1 to keep an axis",
                 op, to_string(output_size));
  }
  return pool;
}

namespace {

// Attributes as pool_of() and adaptive_pool_of() make them, for images of these sizes.
void check_pool(const Signature& s, IntArrayRef image) {
  constexpr std::int64_t kMost = 1 << 24;  // so that nothing overflows
  const AttrReader attr = s.attr();
  bool is_good = image.size() == 2;
  for (const std::size_t field :
       {kPoolKernel, kPoolStride, kPoolPadding, kPoolDilation, kPoolOutput}) {
    const IntArrayRef values = attr.integers(field);
    is_good = is_good && values.size() == 2;
    for (const std::int64_t value : values) is_good = is_good && value >= 0 && value < kMost;
  }
  GROOVE_CHECK(is_good, "{}: windows need two numbers each, from 0 to {}", s.op.name, kMost);
  const PoolAttrs pool = pool_attrs(attr);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t k = pool.kernel[i], st = pool.stride[i], p = pool.padding[i];
    const std::int64_t reach = pool.dilation[i] * (k - 1), in = image[i];
    const bool fits = pool.is_adaptive
                          ? in > 0 && pool.output[i] > 0
                          : in > 0 && k > 0 && st > 0 && pool.dilation[i] > 0 && 2 * p <= k &&
                                pool.output[i] > 0 && in + 2 * p > reach &&
                                (pool.output[i] - 1) * st < in + p;
    GROOVE_CHECK(fits, "{}: {} windows of {} at steps of {} do not fit an axis of {}, padding {}",
                 s.op.name, pool.output[i], k, st, in, p);
  }
}

}  // namespace

Shape pooled_sizes(const Signature& s, IntArrayRef image) {
  const Type& input = s.inputs[0];
  GROOVE_CHECK(input.sizes.size() == 4, "{}: input {} must have four dimensions", s.op.name,
               to_string(input.sizes));
  GROOVE_CHECK(is_floating(input.dtype), "{}: input is {}; it must be floating", s.op.name,
               name(input.dtype));
  check_pool(s, image.empty() ? IntArrayRef(input.sizes).slice(2, 2) : image);
  const IntArrayRef output = s.attr().integers(kPoolOutput);
  return {input.sizes[0], input.sizes[1], output[0], output[1]};
}

Tensor as_images(Arg input, std::size_t axes) {
  Tensor x = *input.tensor;
  if (x.impl()->geometry.sizes.size() == axes + 1) x = x.unsqueeze(0, input.site);
  return axes == 1 ? x.unsqueeze(2, input.site) : x;
}
Tensor from_images(const Tensor& pooled, const Tensor& input, std::size_t axes, Site site) {
  const Tensor y = axes == 1 ? squeeze({pooled, site}, 2) : pooled;
  return input.impl()->geometry.sizes.size() == axes + 1 ? squeeze({y, site}, 0) : y;
}

PoolAxis::PoolAxis(const PoolAttrs& pool, std::size_t axis, std::int64_t in)
    : in(in),
      out(pool.output[axis]),
      kernel(pool.kernel[axis]),
      stride(pool.stride[axis]),
      padding(pool.padding[axis]),
      dilation(pool.dilation[axis]),
      is_adaptive(pool.is_adaptive) {}

PoolWindow PoolAxis::window(std::int64_t o) const {
  if (is_adaptive) {
    const std::int64_t first = o * in / out;
    return {first, ((o + 1) * in + out - 1) / out - first};
  }
  std::int64_t first = o * stride - padding, count = kernel;
  for (; first < 0; first += dilation) --count;
  while (count > 0 && first + (count - 1) * dilation >= in) --count;
  return {first, count};
}
std::int64_t PoolAxis::padded_count(std::int64_t o) const {
  if (is_adaptive) return window(o).count;
  const std::int64_t first = o * stride - padding;
  return std::min(first + kernel, in + padding) - first;
}

PooledVector<PoolWindow> windows_of(const PoolAxis& axis) {
  PooledVector<PoolWindow> windows;
  for (std::int64_t o = 0; o < axis.out; ++o) windows.push_back(axis.window(o));
  return windows;
}

PlaneRange planes_of(const Shape& sizes, int part, int parts) {
  const std::int64_t planes = sizes[0] * sizes[1];
  return {planes * part / parts, planes * (part + 1) / parts};
}

std::vector<Sample> pool_samples(ScalarType dtype, bool allows_dilation,
                                 const std::function<Attrs(Attrs)>& finish) {
  std::vector<Sample> samples;
  const auto add = [&](const Shape& sizes, const PoolAttrs& pool) {
    samples.push_back({{{dtype, sizes}}, finish(add_pool(pool)), {}});
  };
  const auto pooled = [&](const Shape& sizes, IntArrayRef kernel, IntArrayRef stride,
                          IntArrayRef padding, std::int64_t dilation, bool ceil_mode) {
    add(sizes, pool_of("pool2d", sizes, kernel, stride, padding, dilation, ceil_mode));
  };
  pooled({2, 3, 6, 8}, 2, {}, 0, 1, false);
  pooled({1, 2, 2, 4}, {2, 2}, {}, 0, 1, false);
  pooled({1, 1, 4, 4}, 3, 1, 1, 1, false);
  pooled({2, 2, 7, 9}, {3, 2}, {2, 3}, {1, 0}, 1, true);
  pooled({1, 2, 11, 5}, 3, 2, 1, 1, false);
  pooled({1, 2, 5, 41}, {2, 3}, {1, 2}, 1, 1, true);
  pooled({1, 2, 4, 37}, 3, 1, 1, 1, false);
  pooled({0, 2, 4, 4}, 2, {}, 0, 1, false);
  if (allows_dilation) pooled({1, 2, 8, 9}, {2, 3}, {1, 2}, {1, 1}, 2, true);
  for (const Shape& output : {Shape{1, 1}, Shape{3, 5}, Shape{7, 4}}) {
    const Shape sizes = {2, 2, 5, 8};
    add(sizes, adaptive_pool_of("pool2d", sizes, output));
  }
  return samples;
}

}  // namespace groove
