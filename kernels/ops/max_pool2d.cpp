// max_pool2d: the greatest element of each window with its flat position in the plane; NaN if one
// is. Of equal elements, and of several NaN, the first counts.
#include <immintrin.h>

#include <cmath>
#include <limits>

#include "groove/ops/convolutions.h"
#include "groove/ops/pooling.h"
#include "kernels/ops/max_pool2d.h"

namespace groove {
namespace {

// One row of windows, whatever their form: tap by tap over all outputs.
template <typename T>
struct RowWalk {
  void operator()(const T* plane, const PoolWindow& rows, std::int64_t row_dilation, T* best,
                  std::int64_t* positions) const {
    for (std::int64_t ow = 0; ow < width.out; ++ow) {
      best[ow] = -std::numeric_limits<T>::infinity();
      positions[ow] = rows.first * width.in + columns[static_cast<std::size_t>(ow)].first;
    }
    for (std::int64_t t = 0; t < rows.count; ++t) {
      const std::int64_t start = (rows.first + t * row_dilation) * width.in;
      walk_windows(width, columns, [&](std::int64_t o, std::int64_t position) {
        const T value = plane[start + position], old = best[o];
        if (!(value > old) && !(value != value && old == old)) return;
        best[o] = value;
        positions[o] = start + position;
      });
    }
  }

  const PoolAxis& width;
  const PooledVector<PoolWindow>& columns;
};

// f32 at strides 1 and 2: eight outputs at a time stay in registers over all their taps. Which
// elements exist is the same for all rows, so it is worked out once.
class VectorWalk {
 public:
  static bool fits(const PoolAxis& height, const PoolAxis& width) {
    return !width.is_adaptive && width.stride <= 2 && height.in * width.in < (1 << 30);
  }

  VectorWalk(const PoolAxis& width, const PooledVector<PoolWindow>& columns) : width_(width) {
    for (std::int64_t o = 0; o < width.out; o += 8) {
      const std::int64_t count = std::min<std::int64_t>(8, width.out - o);
      alignas(32) std::int32_t first[8] = {};
      for (std::int64_t i = 0; i < count; ++i)
        first[i] = static_cast<std::int32_t>(columns[static_cast<std::size_t>(o + i)].first);
      firsts_.push_back({_mm256_load_si256(reinterpret_cast<const __m256i*>(first))});
      for (std::int64_t tap = 0; tap < width.kernel; ++tap) {
        const std::int64_t step = width.stride;
        const std::int64_t from = o * step + tap * width.dilation - width.padding;
        // Elements [begin, end) from `from` on exist and belong to an output.
        const std::int64_t begin = std::max<std::int64_t>(0, -from);
        const std::int64_t end = std::min(width.in - from, (count - 1) * step + 1);
        taps_.push_back({lanes_between(begin, end), lanes_between(begin - 8, end - 8),
                         lanes_between((begin + step - 1) / step, (end + step - 1) / step), from});
      }
    }
  }

  void operator()(const float* plane, const PoolWindow& rows, std::int64_t row_dilation,
                  float* values, std::int64_t* positions) const {
    if (width_.stride == 1) return walk<1>(plane, rows, row_dilation, values, positions);
    walk<2>(plane, rows, row_dilation, values, positions);
  }

 private:
  struct Tap {
    __m256i low, high, lanes;  // which of sixteen elements exist, and which outputs they reach
    std::int64_t from;         // lane i reads row[from + i * stride]
  };
  struct Lanes {
    __m256i value;
  };

  static __m256i lanes_between(std::int64_t begin, std::int64_t end) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(begin)), lane),
                               _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(end)), lane));
  }

  template <int kStep>
  void walk(const float* plane, const PoolWindow& rows, std::int64_t row_dilation, float* values,
            std::int64_t* positions) const {
    const Tap* taps = taps_.data();
    for (std::int64_t o = 0; o < width_.out; o += 8, taps += width_.kernel) {
      __m256 best = _mm256_set1_ps(-std::numeric_limits<float>::infinity());
      __m256i at = _mm256_add_epi32(firsts_[static_cast<std::size_t>(o / 8)].value,
                                    _mm256_set1_epi32(static_cast<int>(rows.first * width_.in)));
      for (std::int64_t t = 0; t < rows.count; ++t) {
        const std::int64_t start = (rows.first + t * row_dilation) * width_.in;
        for (std::int64_t tap = 0; tap < width_.kernel; ++tap)
          take<kStep>(plane + start, static_cast<std::int32_t>(start), taps[tap], best, at);
      }
      store(best, at, std::min<std::int64_t>(8, width_.out - o), values + o, positions + o);
    }
  }

  template <int kStep>
  static void take(const float* row, std::int32_t start, const Tap& tap, __m256& best,
                   __m256i& at) {
    __m256 value = _mm256_maskload_ps(row + tap.from, tap.low);
    if constexpr (kStep == 2) {
      const __m256 high = _mm256_maskload_ps(row + tap.from + 8, tap.high);
      value = _mm256_castpd_ps(
          _mm256_permute4x64_pd(_mm256_castps_pd(_mm256_shuffle_ps(value, high, 0x88)), 0xd8));
    }
    const __m256 first_nan = _mm256_and_ps(_mm256_cmp_ps(value, value, _CMP_UNORD_Q),
                                           _mm256_cmp_ps(best, best, _CMP_ORD_Q));
    const __m256 better =
        _mm256_and_ps(_mm256_or_ps(_mm256_cmp_ps(value, best, _CMP_GT_OQ), first_nan),
                      _mm256_castsi256_ps(tap.lanes));
    const __m256i steps = kStep == 1 ? _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
                                     : _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    const __m256i position =
        _mm256_add_epi32(_mm256_set1_epi32(start + static_cast<std::int32_t>(tap.from)), steps);
    best = _mm256_blendv_ps(best, value, better);
    at = _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(at), _mm256_castsi256_ps(position), better));
  }

  static void store(__m256 best, __m256i at, std::int64_t count, float* values,
                    std::int64_t* positions) {
    const __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(at));
    const __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(at, 1));
    if (count == 8) {
      _mm256_storeu_ps(values, best);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(positions), low);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(positions + 4), high);
      return;
    }
    alignas(32) std::int64_t wide[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(wide), low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(wide + 4), high);
    _mm256_maskstore_ps(values, lanes_between(0, count), best);
    std::copy_n(wide, count, positions);
  }

  const PoolAxis& width_;
  std::vector<Lanes> firsts_;
  std::vector<Tap> taps_;
};

template <typename T, typename Walk>
void walk_planes(const PoolAxis& height, const PoolAxis& width, const PlaneRange& planes,
                 Walk&& walk, const T* x, T* values, std::int64_t* positions) {
  for (std::int64_t p = planes.begin; p < planes.end; ++p) {
    for (std::int64_t oh = 0; oh < height.out; ++oh) {
      const std::int64_t out = (p * height.out + oh) * width.out;
      walk(x + p * height.in * width.in, height.window(oh), height.dilation, values + out,
           positions + out);
    }
  }
}

template <typename T>
void run_as(const Signature& s, const T* x, T* values, std::int64_t* positions, int part,
            int parts) {
  const Shape& sizes = s.inputs[0].sizes;
  const PoolAttrs pool = pool_attrs(s.attr());
  const PoolAxis height(pool, 0, sizes[2]), width(pool, 1, sizes[3]);
  const PooledVector<PoolWindow> columns = windows_of(width);
  const PlaneRange planes = planes_of(sizes, part, parts);
  if constexpr (sizeof(T) == 4) {
    if (VectorWalk::fits(height, width)) {
      walk_planes(height, width, planes, VectorWalk(width, columns), x, values, positions);
      return;
    }
  }
  walk_planes(height, width, planes, RowWalk<T>{width, columns}, x, values, positions);
}

void run_part(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
              int parts) {
  auto* positions = static_cast<std::int64_t*>(outputs[1].impl()->data());
  if (s.inputs[0].dtype == kDouble) {
    run_as(s, static_cast<const double*>(inputs[0].impl()->data()),
           static_cast<double*>(outputs[0].impl()->data()), positions, part, parts);
  } else {
    run_as(s, static_cast<const float*>(inputs[0].impl()->data()),
           static_cast<float*>(outputs[0].impl()->data()), positions, part, parts);
  }
}

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  const Shape& sizes = inputs[0].type.sizes;
  const PoolAttrs pool = pool_attrs(s.attr());
  const PoolAxis height(pool, 0, sizes[2]), width(pool, 1, sizes[3]);
  const std::vector<Type> types = s.op.type(s).outputs;
  std::vector<double> positions;
  Reference values = make_reference(types[0], [&](const Shape& index) {
    const PoolWindow rows = height.window(index[2]), columns = width.window(index[3]);
    std::int64_t best = -1;
    double greatest = 0;
    for (std::int64_t i = 0; i < rows.count * columns.count; ++i) {
      const std::int64_t h = rows.first + i / columns.count * pool.dilation[0];
      const std::int64_t w = columns.first + i % columns.count * pool.dilation[1];
      const double value =
          inputs[0]
              .values[static_cast<std::size_t>(flat_position(sizes, {index[0], index[1], h, w}))];
      if (best < 0 || (!std::isnan(greatest) && !(value <= greatest))) {
        best = h * sizes[3] + w;
        greatest = value;
      }
    }
    positions.push_back(static_cast<double>(best));
    return greatest;
  });
  return {values, Reference{types[1], positions}};
}

const Op& op = define({
    .name = "max_pool2d_with_indices",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .attributes = pool_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = pooled_sizes(s);
      return {{{s.inputs[0].dtype, sizes}, {kLong, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run_part}),
    .gradient =
        [](const Grad& g) {
          if (!g.cotangent().defined()) return Tensors(1);
          return Tensors{max_pool2d_backward(g.cotangent(), g.output(1), g.input_types[0].sizes)};
        },
    .saves_outputs = 2,
    .has_inplace = false,
    .reference = reference,
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return pool_samples(dtype, true, [](Attrs attrs) { return attrs; });
        },
    .tolerance_ulp = 0,
});

std::tuple<Tensor, Tensor> pooled(Arg input, const PoolAttrs& pool, std::size_t axes) {
  const Tensor images = as_images(input, axes);
  const Attrs attrs = add_pool(pool);
  Tensor outputs[2];
  dispatch(Call{&op, ArrayRef<Tensor>(images), &attrs, {}, input.site}, outputs);
  return {from_images(outputs[0], *input.tensor, axes, input.site),
          from_images(outputs[1], *input.tensor, axes, input.site)};
}

IntArrayRef sizes_of(const char* name, Arg input) {
  return checked(name, *input.tensor).geometry.sizes;
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool2d_with_indices(Arg input, IntArrayRef kernel_size,
                                                   IntArrayRef stride, IntArrayRef padding,
                                                   IntArrayRef dilation, bool ceil_mode) {
  const CallFrame frame(input.site);
  const char* name = "max_pool2d";
  return pooled(
      input,
      pool_of(name, sizes_of(name, input), kernel_size, stride, padding, dilation, ceil_mode), 2);
}
Tensor max_pool2d(Arg input, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  const CallFrame frame(input.site);
  return std::get<0>(
      max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode));
}
Tensor max_pool1d(Arg input, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  const CallFrame frame(input.site);
  const char* name = "max_pool1d";
  return std::get<0>(pooled(
      input,
      pool_of(name, sizes_of(name, input), kernel_size, stride, padding, dilation, ceil_mode), 1));
}
std::tuple<Tensor, Tensor> max_pool1d_with_indices(Arg self, IntArrayRef kernel_size,
                                                   IntArrayRef stride, IntArrayRef padding,
                                                   IntArrayRef dilation, bool ceil_mode) {
  const CallFrame frame(self.site);
  const char* name = "max_pool1d";
  return pooled(
      self, pool_of(name, sizes_of(name, self), kernel_size, stride, padding, dilation, ceil_mode),
      1);
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d(Arg self, IntArrayRef output_size) {
  const CallFrame frame(self.site);
  const char* name = "adaptive_max_pool1d";
  return pooled(self, adaptive_pool_of(name, sizes_of(name, self), output_size), 1);
}
std::tuple<Tensor, Tensor> adaptive_max_pool2d(Arg self, IntArrayRef output_size) {
  const CallFrame frame(self.site);
  const char* name = "adaptive_max_pool2d";
  return pooled(self, adaptive_pool_of(name, sizes_of(name, self), output_size), 2);
}

}  // namespace groove
