// Device and TensorOptions: where a new tensor lives and what it holds.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "groove/detail/site.h"
#include "groove/dtype.h"

namespace groove {

/// With LibTorch's numbers. Tensors live on the CPU; asking for another place throws groove::Error.
enum class DeviceType : std::int8_t {
  CPU = 0,
  CUDA = 1,
  HIP = 6,
  XLA = 9,
  Vulkan = 10,
  XPU = 12,
  MPS = 13,
  Meta = 14,
  HPU = 15,
  PrivateUse1 = 20
};
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kHIP = DeviceType::HIP, kXLA = DeviceType::XLA, kVulkan = DeviceType::Vulkan;
constexpr DeviceType kXPU = DeviceType::XPU, kMeta = DeviceType::Meta, kHPU = DeviceType::HPU;
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

class Device {
 public:
  constexpr Device() = default;
  constexpr Device(DeviceType type, int index = -1)
      : type_(type), index_(static_cast<std::int8_t>(index)) {}
  /// "cpu", "cuda", "cuda:1", "mps", …; throws groove::Error on anything else.
  Device(const std::string& text, Site site = Site::current());
  Device(const char* text, Site site = Site::current()) : Device(std::string(text), site) {}
  constexpr DeviceType type() const { return type_; }
  constexpr int index() const { return index_; }
  constexpr bool is_cpu() const { return type_ == kCPU; }
  constexpr bool is_cuda() const { return type_ == kCUDA; }
  constexpr bool is_mps() const { return type_ == kMPS; }
  constexpr bool is_hip() const { return type_ == kHIP; }
  constexpr bool is_xla() const { return type_ == kXLA; }
  constexpr bool is_xpu() const { return type_ == kXPU; }
  constexpr bool is_vulkan() const { return type_ == kVulkan; }
  constexpr bool is_meta() const { return type_ == kMeta; }
  constexpr bool is_hpu() const { return type_ == kHPU; }
  constexpr bool is_privateuseone() const { return type_ == kPrivateUse1; }
  constexpr void set_index(int index) { index_ = static_cast<std::int8_t>(index); }
  constexpr bool has_index() const { return index_ >= 0; }
  std::string str() const;
  constexpr bool operator==(const Device& other) const {
    return type_ == other.type_ &&
           (index_ < 0 ? 0 : index_) == (other.index_ < 0 ? 0 : other.index_);
  }

 private:
  DeviceType type_ = kCPU;
  std::int8_t index_ = -1;
};
std::ostream& operator<<(std::ostream& out, const Device& device);
std::ostream& operator<<(std::ostream& out, DeviceType type);
/// "CUDA", or "cuda".
std::string DeviceTypeName(DeviceType type, bool lower_case = false);

/// Tensors are strided; asking for a sparse one throws groove::Error.
enum class Layout : std::int8_t { Strided, Sparse };
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
enum class MemoryFormat : std::int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
std::ostream& operator<<(std::ostream& out, Layout layout);
std::ostream& operator<<(std::ostream& out, MemoryFormat format);

class TensorOptions;

namespace detail {
// Throws groove::Error for devices and layouts that are not built, and orders of memory.
void check_place(const char* op, const TensorOptions& options);
void check_memory_format(const char* op, std::optional<MemoryFormat> format);
}  // namespace detail

class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  constexpr TensorOptions(TypeMeta dtype) : dtype_(dtype.toScalarType()) {}
  constexpr TensorOptions(Device device) : device_(device) {}
  constexpr TensorOptions(DeviceType device) : device_(Device(device)) {}
  constexpr TensorOptions dtype(std::optional<ScalarType> value) const {
    TensorOptions r = *this;
    r.dtype_ = value;
    return r;
  }
  template <typename T>
  constexpr TensorOptions dtype() const {
    return dtype(dtype_of<T>);
  }
  constexpr TensorOptions device(Device value) const {
    TensorOptions r = *this;
    r.device_ = value;
    return r;
  }
  constexpr TensorOptions device(DeviceType type, int index = -1) const {
    return device(Device(type, index));
  }
  constexpr TensorOptions device_index(int index) const {
    return device(Device(DeviceType::CUDA, index));
  }
  constexpr TensorOptions requires_grad(std::optional<bool> value) const {
    TensorOptions r = *this;
    r.requires_grad_ = value;
    return r;
  }
  constexpr TensorOptions layout(std::optional<Layout> value) const {
    TensorOptions r = *this;
    r.layout_ = value;
    return r;
  }
  /// Without effect: there is no device that copies from pinned memory.
  constexpr TensorOptions pinned_memory(std::optional<bool> value) const {
    TensorOptions r = *this;
    r.pinned_memory_ = value;
    return r;
  }
  /// Contiguous or Preserve; groove::Error for others.
  TensorOptions memory_format(std::optional<MemoryFormat> format) const;

  TypeMeta dtype() const;  // get_default_dtype() when unset
  constexpr Device device() const { return device_.value_or(Device()); }
  constexpr bool requires_grad() const { return requires_grad_.value_or(false); }
  constexpr bool has_dtype() const { return dtype_.has_value(); }
  constexpr bool has_device() const { return device_.has_value(); }
  constexpr bool has_requires_grad() const { return requires_grad_.has_value(); }
  constexpr Layout layout() const { return layout_.value_or(kStrided); }
  constexpr bool has_layout() const { return layout_.has_value(); }
  constexpr bool pinned_memory() const { return pinned_memory_.value_or(false); }
  constexpr bool has_pinned_memory() const { return pinned_memory_.has_value(); }
  constexpr bool has_memory_format() const { return false; }
  constexpr int device_index() const { return device().index(); }
  constexpr std::optional<ScalarType> dtype_opt() const { return dtype_; }
  constexpr std::optional<Device> device_opt() const { return device_; }
  constexpr std::optional<Layout> layout_opt() const { return layout_; }
  constexpr std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  constexpr std::optional<bool> pinned_memory_opt() const { return pinned_memory_; }
  constexpr bool is_sparse() const { return layout() == kSparse; }

 private:
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_;
  std::optional<bool> pinned_memory_;
  std::optional<Layout> layout_;
};
/// "TensorOptions(dtype=float (default), device=cpu, …)", as LibTorch writes it.
std::ostream& operator<<(std::ostream& out, const TensorOptions& options);

inline TensorOptions dtype(ScalarType value) { return TensorOptions(value); }
inline TensorOptions dtype(std::nullopt_t) { return TensorOptions(); }
template <typename T>
TensorOptions dtype() {
  return TensorOptions(dtype_of<T>);
}
inline TensorOptions device(Device value) { return TensorOptions(value); }
inline TensorOptions layout(Layout value) { return TensorOptions().layout(value); }
inline TensorOptions device_index(int index) { return TensorOptions().device_index(index); }
inline TensorOptions requires_grad(bool value = true) {
  return TensorOptions().requires_grad(value);
}

ScalarType get_default_dtype();
void set_default_dtype(ScalarType dtype, Site site = Site::current());

}  // namespace groove

namespace std {
/// Devices that are equal have one hash, with or without an index of 0.
template <>
struct hash<groove::Device> {
  std::size_t operator()(const groove::Device& device) const noexcept {
    const int index = device.has_index() ? device.index() : 0;
    return static_cast<std::size_t>(device.type()) << 8 | static_cast<std::size_t>(index);
  }
};
}  // namespace std
