// at::autocast. All tensors are on the CPU: for another device the setting is kept, as LibTorch
// keeps it, and changes nothing; for the CPU it is that of groove/amp.h. There is no cache: equal
// conversions are one in compiled code.
#pragma once

#include <optional>

#include "groove/amp.h"
#include "groove/compat/names.h"

namespace at::autocast {
namespace detail {
struct Setting {
  ScalarType dtype;
  bool is_enabled = false;
};
inline Setting& setting(DeviceType device) {
  thread_local Setting cuda{kHalf}, mps{kHalf};
  return device == kCUDA ? cuda : mps;
}
inline thread_local int nesting = 0;
inline thread_local bool is_cache_enabled = true;
}  // namespace detail

inline bool is_autocast_enabled(DeviceType device) {
  return device == kCPU ? groove::amp::is_autocast_enabled() : detail::setting(device).is_enabled;
}
inline void set_autocast_enabled(DeviceType device, bool enabled) {
  if (device == kCPU) return groove::amp::set_autocast_enabled(enabled);
  detail::setting(device).is_enabled = enabled;
}
inline ScalarType get_autocast_dtype(DeviceType device) {
  return device == kCPU ? groove::amp::get_autocast_dtype() : detail::setting(device).dtype;
}
inline void set_autocast_dtype(DeviceType device, ScalarType dtype) {
  if (device == kCPU) return groove::amp::set_autocast_dtype(dtype);
  detail::setting(device).dtype = dtype;
}
inline bool is_enabled() { return is_autocast_enabled(kCUDA); }
inline void set_enabled(bool enabled) { set_autocast_enabled(kCUDA, enabled); }
inline ScalarType get_autocast_gpu_dtype() { return get_autocast_dtype(kCUDA); }
inline void set_autocast_gpu_dtype(ScalarType dtype) { set_autocast_dtype(kCUDA, dtype); }
inline bool is_cpu_enabled() { return is_autocast_enabled(kCPU); }
inline void set_cpu_enabled(bool enabled) { set_autocast_enabled(kCPU, enabled); }
inline ScalarType get_autocast_cpu_dtype() { return get_autocast_dtype(kCPU); }
inline void set_autocast_cpu_dtype(ScalarType dtype) { set_autocast_dtype(kCPU, dtype); }
inline bool is_autocast_cache_enabled() { return detail::is_cache_enabled; }
inline void set_autocast_cache_enabled(bool enabled) { detail::is_cache_enabled = enabled; }
inline void clear_cache() {}
inline int increment_nesting() { return ++detail::nesting; }
inline int decrement_nesting() { return --detail::nesting; }

/// The value in another dtype if it is a floating-point tensor, but for double, on the device.
inline Tensor cached_cast(ScalarType dtype, const Tensor& value, DeviceType device = kCUDA) {
  const bool is_eligible = device == kCPU && value.defined() && value.is_floating_point() &&
                           value.scalar_type() != kDouble;
  return is_eligible ? value.to(dtype) : value;
}
inline std::optional<Tensor> cached_cast(ScalarType dtype, const std::optional<Tensor>& value,
                                         DeviceType device = kCUDA) {
  return value ? std::optional<Tensor>(cached_cast(dtype, *value, device)) : std::nullopt;
}
}  // namespace at::autocast
