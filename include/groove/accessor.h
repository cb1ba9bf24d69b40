// TensorAccessor: multi-dimensional host access to a tensor's memory without a call per element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "groove/array_ref.h"

namespace groove {

/// `accessor[i][j]`; valid while the tensor's storage lives. Indices are not checked.
template <typename T, std::size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  TensorAccessor<T, N - 1> operator[](std::int64_t i) const {
    return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
  IntArrayRef sizes() const { return IntArrayRef(sizes_, N); }
  IntArrayRef strides() const { return IntArrayRef(strides_, N); }
  std::int64_t size(std::int64_t i) const { return sizes_[i]; }
  std::int64_t stride(std::int64_t i) const { return strides_[i]; }
  T* data() const { return data_; }

 private:
  T* data_;
  const std::int64_t* sizes_;
  const std::int64_t* strides_;
};

template <typename T>
class TensorAccessor<T, 1> {
 public:
  TensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  T& operator[](std::int64_t i) const { return data_[i * strides_[0]]; }
  IntArrayRef sizes() const { return IntArrayRef(sizes_, 1); }
  IntArrayRef strides() const { return IntArrayRef(strides_, 1); }
  std::int64_t size(std::int64_t i) const { return sizes_[i]; }
  std::int64_t stride(std::int64_t i) const { return strides_[i]; }
  T* data() const { return data_; }

 private:
  T* data_;
  const std::int64_t* sizes_;
  const std::int64_t* strides_;
};

/// As an accessor, with sizes and strides of its own: it can outlive the tensor's handle.
template <typename T, std::size_t N>
class PackedTensorAccessor {
 public:
  PackedTensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data) {
    for (std::size_t i = 0; i < N; ++i) {
      sizes_[i] = sizes[i];
      strides_[i] = strides[i];
    }
  }
  decltype(auto) operator[](std::int64_t i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
  std::int64_t size(std::int64_t i) const { return sizes_[i]; }
  std::int64_t stride(std::int64_t i) const { return strides_[i]; }
  T* data() const { return data_; }

 private:
  T* data_;
  std::int64_t sizes_[N], strides_[N];
};

}  // namespace groove
