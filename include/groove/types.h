// Names that LibTorch programs use for types of the standard library.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "groove/optional_array_ref.h"
#include "groove/tensor.h"

namespace groove {

using std::nullopt;
using std::optional;
using OptionalTensorRef = std::optional<Tensor>;

/// What Tensor::type() gives.
class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(Device device, ScalarType dtype) : device_(device), dtype_(dtype) {}
  ScalarType scalarType() const { return dtype_; }
  TypeMeta typeMeta() const { return TypeMeta(dtype_); }
  DeviceType device_type() const { return device_.type(); }
  bool is_cuda() const { return device_.is_cuda(); }
  bool is_sparse() const { return false; }
  TensorOptions options() const { return TensorOptions(dtype_).device(device_); }
  operator TensorOptions() const { return options(); }
  /// "CPUFloatType"
  std::string toString() const;
  bool operator==(const DeprecatedTypeProperties& other) const {
    return device_ == other.device_ && dtype_ == other.dtype_;
  }

 private:
  Device device_;
  ScalarType dtype_;
};
std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type);

}  // namespace groove
