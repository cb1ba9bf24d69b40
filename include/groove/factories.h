// Tensors from values and memory of the host. Factories that compute are in ops/creation.h.
#pragma once

#include <functional>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "groove/complex.h"
#include "groove/tensor.h"

namespace groove {
namespace detail {

// The argument of tensor(): a number, or lists of equal length nested to any depth.
class TensorData {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> TensorData(T value)
      : number_(value), dtype_(dtype_of_value<T>()) {}
  TensorData(const Scalar& value) : number_(value), dtype_(value.type()) {}
  TensorData(std::initializer_list<TensorData> items);
  template <typename T>
  requires std::is_arithmetic_v<T> TensorData(ArrayRef<T> values)
      : TensorData(values.begin(), values.end(), dtype_of_value<T>()) {}
  template <typename T, typename A>
  requires std::is_arithmetic_v<T> TensorData(const std::vector<T, A>& values)
      : TensorData(values.begin(), values.end(), dtype_of_value<T>()) {}

  // Complex numbers are two values each.
  template <typename T>
  TensorData(const std::complex<T>& value)
      : dtype_(dtype_of<std::complex<T>>),
        is_number_(false),
        values_{Scalar(value.real()), Scalar(value.imag())} {}
  template <typename T>
  TensorData(ArrayRef<std::complex<T>> values) : TensorData(values.begin(), values.end()) {}
  template <typename T, typename A>
  TensorData(const std::vector<std::complex<T>, A>& values)
      : TensorData(values.data(), values.data() + values.size()) {}

  ScalarType dtype() const { return dtype_; }
  IntArrayRef sizes() const { return sizes_; }
  bool is_number() const { return is_number_; }
  const Scalar& number() const { return number_; }
  const std::vector<Scalar>& values() const { return values_; }

 private:
  template <typename Iterator>
  TensorData(Iterator first, Iterator last, ScalarType dtype)
      : dtype_(dtype), is_number_(false), values_(first, last) {
    sizes_.push_back(static_cast<std::int64_t>(values_.size()));
  }
  template <typename T>
  TensorData(const std::complex<T>* first, const std::complex<T>* last)
      : dtype_(dtype_of<std::complex<T>>), is_number_(false) {
    sizes_.push_back(last - first);
    for (; first != last; ++first) values_.insert(values_.end(), {first->real(), first->imag()});
  }
  // As the number was written: integers of 32 and 64 bits give i64, reals the default dtype.
  template <typename T>
  static constexpr ScalarType dtype_of_value() {
    if constexpr (std::is_floating_point_v<T>)
      return kDouble;
    else if constexpr (std::is_same_v<T, bool>)
      return kBool;
    else if constexpr (sizeof(T) >= 4)
      return kLong;
    else
      return dtype_of<T>;
  }

  Scalar number_;
  ScalarType dtype_;
  bool is_number_ = true;
  std::vector<std::int64_t> sizes_;
  std::vector<Scalar> values_;  // row-major
};

}  // namespace detail

/// tensor(2.5), tensor({1, 2}), tensor({{1., 2.}, {3., 4.}}), tensor(a_vector). Without a dtype:
/// i64 for integers, the default dtype for reals, bool for bools. Throws groove::Error when lists
/// differ in length or kind.
Tensor tensor(const detail::TensorData& data, TensorOptions options = {},
              Site site = Site::current());
/// A 0-d tensor; the default dtype unless one is given.
Tensor scalar_tensor(const Scalar& value, TensorOptions options = {}, Site site = Site::current());

/// A tensor over the caller's memory, which must outlive it (or be given back by `deleter`).
/// Groove assumes that the caller reads and writes it at any time.
Tensor from_blob(void* data, IntArrayRef sizes, TensorOptions options = {},
                 Site site = Site::current());
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {},
                 Site site = Site::current());
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 TensorOptions options = {}, Site site = Site::current());
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const std::function<void(void*)>& deleter, TensorOptions options = {},
                 Site site = Site::current());

}  // namespace groove
