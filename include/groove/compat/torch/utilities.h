// Small helpers of c10 and ATen that programs borrow.
#pragma once

#include "groove/compat/c10/util/irange.h"
#include "groove/compat/torch/dispatch.h"

#define C10_EXPORT
#define C10_IMPORT
#define C10_HIDDEN
#define C10_NOINLINE __attribute__((noinline))
#define C10_RESTRICT __restrict
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_ANONYMOUS_VARIABLE(text) C10_CONCATENATE(text, __COUNTER__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOTNULL(pointer)                                  \
  ([](auto&& value) -> decltype(auto) {                               \
    TORCH_CHECK(value != nullptr, "'" #pointer "' must not be null"); \
    return std::forward<decltype(value)>(value);                      \
  }(pointer))
// Profilers of LibTorch would see a span here; Groove's own is GROOVE_TRACE.
#define RECORD_FUNCTION(...)

namespace c10 {
/// A vector; the elements that LibTorch holds inside of it are not.
template <typename T, unsigned inside = 0>
using SmallVector = std::vector<T>;
inline std::size_t elementSize(ScalarType dtype) { return groove::element_size(dtype); }
constexpr bool isFloatingType(ScalarType dtype) { return groove::is_floating(dtype); }
constexpr bool isReducedFloatingType(ScalarType dtype) {
  return dtype == ScalarType::Half || dtype == ScalarType::BFloat16;
}
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return groove::promote_types(a, b); }
using groove::get_default_dtype;
inline ScalarType get_default_dtype_as_scalartype() { return groove::get_default_dtype(); }
template <typename Numbers>
std::int64_t multiply_integers(const Numbers& numbers) {
  std::int64_t product = 1;
  for (const auto number : numbers) product *= static_cast<std::int64_t>(number);
  return product;
}
template <typename Numbers>
std::int64_t sum_integers(const Numbers& numbers) {
  std::int64_t sum = 0;
  for (const auto number : numbers) sum += static_cast<std::int64_t>(number);
  return sum;
}
inline std::int64_t maybe_wrap_dim(std::int64_t dim, std::int64_t rank, bool wrap_scalar = true) {
  const std::int64_t axes = rank == 0 && wrap_scalar ? 1 : rank;
  TORCH_CHECK_INDEX(dim >= -axes && dim < axes,
                    "Dimension out of range (expected to be in range of [", -axes, ", ", axes - 1,
                    "], but got ", dim, ")");
  return dim < 0 ? dim + axes : dim;
}
/// There is one device: nothing is switched.
struct DeviceGuard {
  explicit DeviceGuard(Device) {}
};
struct OptionalDeviceGuard {
  explicit OptionalDeviceGuard(std::optional<Device> = std::nullopt) {}
};
}  // namespace c10

namespace at {
using c10::DeviceGuard;
using c10::elementSize;
using c10::get_default_dtype_as_scalartype;
using c10::irange;
using c10::isFloatingType;
using c10::maybe_wrap_dim;
using c10::OptionalDeviceGuard;
using c10::promoteTypes;
using c10::SmallVector;
using DimVector = std::vector<std::int64_t>;
/// The shape that both broadcast to.
inline DimVector infer_size(IntArrayRef a, IntArrayRef b) {
  const std::size_t rank = std::max(a.size(), b.size());
  DimVector result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                       y = i < b.size() ? b[b.size() - 1 - i] : 1;
    TORCH_CHECK(x == y || x == 1 || y == 1, "The size of tensor a (", x,
                ") must match the size of tensor b (", y, ") at non-singleton dimension ",
                rank - 1 - i);
    result[rank - 1 - i] = x == 1 ? y : x;
  }
  return result;
}
/// One call over the whole range, as parallel_for.
template <typename Value, typename Function, typename Combine>
Value parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t, const Value& neutral,
                      const Function& function, const Combine&) {
  return begin < end ? function(begin, end, neutral) : neutral;
}

// torch::fft under the names of the operators.
using FftNorm = std::optional<std::string_view>;
#define GROOVE_FFT(name)                                                                   \
  inline Tensor fft_##name(groove::Arg self, std::optional<std::int64_t> n = std::nullopt, \
                           std::int64_t dim = -1, FftNorm norm = std::nullopt) {           \
    return groove::fft::name(self, n, dim, norm);                                          \
  }
GROOVE_FFT(fft)
GROOVE_FFT(ifft)
GROOVE_FFT(rfft)
GROOVE_FFT(irfft)
GROOVE_FFT(hfft)
GROOVE_FFT(ihfft)
#undef GROOVE_FFT
#define GROOVE_FFT(name)                                                                   \
  inline Tensor fft_##name(groove::Arg self, groove::OptionalIntArrayRef s = std::nullopt, \
                           groove::OptionalIntArrayRef dim = std::nullopt,                 \
                           FftNorm norm = std::nullopt) {                                  \
    return groove::fft::name(self, s, dim, norm);                                          \
  }
GROOVE_FFT(fftn)
GROOVE_FFT(ifftn)
GROOVE_FFT(rfftn)
GROOVE_FFT(irfftn)
#undef GROOVE_FFT
#define GROOVE_FFT(name)                                                                   \
  inline Tensor fft_##name(groove::Arg self, groove::OptionalIntArrayRef s = std::nullopt, \
                           IntArrayRef dim = {-2, -1}, FftNorm norm = std::nullopt) {      \
    return groove::fft::name(self, s, dim, norm);                                          \
  }
GROOVE_FFT(fft2)
GROOVE_FFT(ifft2)
GROOVE_FFT(rfft2)
GROOVE_FFT(irfft2)
#undef GROOVE_FFT
inline Tensor fft_fftshift(groove::Arg self, groove::OptionalIntArrayRef dim = std::nullopt) {
  return groove::fft::fftshift(self, dim);
}
inline Tensor fft_ifftshift(groove::Arg self, groove::OptionalIntArrayRef dim = std::nullopt) {
  return groove::fft::ifftshift(self, dim);
}
}  // namespace at

namespace torch {
using c10::get_default_dtype_as_scalartype;
#define GROOVE_USING(name) using at::fft_##name;
GROOVE_USING(fft)
GROOVE_USING(fft2)
GROOVE_USING(fftn)
GROOVE_USING(fftshift)
GROOVE_USING(hfft)
GROOVE_USING(ifft)
GROOVE_USING(ifft2)
GROOVE_USING(ifftn)
GROOVE_USING(ifftshift)
GROOVE_USING(ihfft)
GROOVE_USING(irfft)
GROOVE_USING(irfft2)
GROOVE_USING(irfftn)
GROOVE_USING(rfft)
GROOVE_USING(rfft2)
GROOVE_USING(rfftn)
#undef GROOVE_USING
}  // namespace torch
