// Small helpers of c10 and ATen that programs borrow.
#pragma once

#include <typeinfo>
#include <variant>

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
using groove::DeviceTypeName;
using groove::get_default_dtype;
using groove::isComplexType;
using groove::isIntegralType;
using groove::scalarTypeToTypeMeta;
using groove::toComplexType;
using groove::toRealValueType;
using groove::toString;
constexpr bool isQIntType(ScalarType dtype) {
  return dtype == kQInt8 || dtype == kQUInt8 || dtype == kQInt32;
}
constexpr bool isSignedType(ScalarType dtype) { return dtype != kByte && dtype != kBool; }
inline bool canCast(ScalarType from, ScalarType to) { return groove::can_cast(from, to); }
template <typename... Source>
auto makeArrayRef(const Source&... source) {
  return groove::ArrayRef(source...);
}
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
using c10::canCast;
using c10::DeviceGuard;
using c10::elementSize;
using c10::get_default_dtype_as_scalartype;
using c10::irange;
using c10::isFloatingType;
using c10::isQIntType;
using c10::isSignedType;
using c10::makeArrayRef;
using c10::maybe_wrap_dim;
using c10::OptionalDeviceGuard;
using c10::promoteTypes;
using c10::SmallVector;
using DimVector = std::vector<std::int64_t>;
inline groove::DeprecatedTypeProperties CPU(ScalarType dtype) { return {kCPU, dtype}; }
inline groove::DeprecatedTypeProperties CUDA(ScalarType dtype) { return {kCUDA, dtype}; }
inline bool hasMKL() { return false; }
inline bool hasOpenMP() { return false; }
inline bool hasLAPACK() { return true; }
inline bool is_inference(const Tensor& self) { return self.is_inference(); }
constexpr std::int64_t divup(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }
/// Whether expand() of the one gives the other.
inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (std::size_t i = 1; i <= shape.size(); ++i)
    if (shape[shape.size() - i] != desired[desired.size() - i] && shape[shape.size() - i] != 1)
      return false;
  return true;
}
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
using at::is_inference;
using c10::get_default_dtype_as_scalartype;
inline TensorOptions memory_format(MemoryFormat format) {
  return TensorOptions().memory_format(format);
}
namespace enumtype {
/// "kReLU" of an enumerator, or of a std::variant of some.
template <typename... Kinds>
std::string get_enum_name(const std::variant<Kinds...>& kind) {
  return std::visit(
      [](auto held) {
        const std::string type = groove::nn::detail::type_name(typeid(held));
        return type.substr(type.rfind(':') + 1);
      },
      kind);
}
template <typename... Kinds>
at::Reduction::Reduction reduction_get_enum(const std::variant<Kinds...>& kind) {
  const std::string name = get_enum_name(kind);
  if (name == "kNone") return at::Reduction::None;
  if (name == "kMean") return at::Reduction::Mean;
  TORCH_CHECK(name == "kSum", name, " is not a valid value for reduction");
  return at::Reduction::Sum;
}
inline at::Reduction::Reduction reduction_get_enum(groove::reduction_t kind) {
  return static_cast<at::Reduction::Reduction>(kind.code());
}
}  // namespace enumtype
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
