// A vector of trivially copyable values with room for N of them inside: shapes, attributes. More of
// them come from the caching allocator, so that a steady step asks nothing of the system's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "groove/array_ref.h"

namespace groove {

// Of allocator.h, which knows tensors and so this file.
void* allocate_object(std::size_t bytes);
void deallocate_object(void* block, std::size_t bytes) noexcept;

template <typename T, std::uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  SmallVector() = default;
  SmallVector(std::initializer_list<T> list) { assign(list.begin(), list.size()); }
  SmallVector(const T* values, std::size_t count) { assign(values, count); }
  explicit SmallVector(std::size_t count, T value = T()) { resize(count, value); }
  SmallVector(ArrayRef<T> values) { assign(values.data(), values.size()); }
  SmallVector(const SmallVector& other) { assign(other.data(), other.size()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.data(), other.size());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  void clear() { size_ = 0; }
  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void append(const T* values, std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    if (count) std::memcpy(data_ + size_, values, count * sizeof(T));
    size_ += static_cast<std::uint32_t>(count);
  }
  void insert(std::size_t at, T value) {
    push_back(value);
    for (std::size_t i = size_ - 1; i > at; --i) data_[i] = data_[i - 1];
    data_[at] = value;
  }
  void erase(std::size_t at) {
    for (std::size_t i = at; i + 1 < size_; ++i) data_[i] = data_[i + 1];
    --size_;
  }
  void resize(std::size_t count, T value = T()) {
    if (count > capacity_) grow(count);
    for (std::size_t i = size_; i < count; ++i) data_[i] = value;
    size_ = static_cast<std::uint32_t>(count);
  }
  void assign(const T* values, std::size_t count) {
    size_ = 0;
    append(values, count);
  }
  operator ArrayRef<T>() const { return ArrayRef<T>(data_, size_); }
  bool operator==(const SmallVector& other) const {
    return size_ == other.size_ && std::memcmp(data_, other.data_, size_ * sizeof(T)) == 0;
  }

 private:
  void grow(std::size_t need) {
    std::size_t capacity = capacity_ * 2 > need ? capacity_ * 2 : need;
    T* fresh = static_cast<T*>(allocate_object(capacity * sizeof(T)));
    if (size_) std::memcpy(fresh, data_, size_ * sizeof(T));
    release();
    data_ = fresh;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void release() {
    if (data_ != inline_values()) deallocate_object(data_, capacity_ * sizeof(T));
    data_ = inline_values();
    capacity_ = N;
  }
  void take(SmallVector& other) {
    if (other.data_ == other.inline_values()) {
      data_ = inline_values();
      capacity_ = N;
      std::memcpy(data_, other.data_, other.size_ * sizeof(T));
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_values();
      other.capacity_ = N;
    }
    size_ = other.size_;
    other.size_ = 0;
  }
  T* inline_values() { return reinterpret_cast<T*>(room_); }

  T* data_ = inline_values();
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = N;
  alignas(T) unsigned char room_[N * sizeof(T)];
};

using Shape = SmallVector<std::int64_t, 6>;

std::string to_string(IntArrayRef values);  // "[2, 3]"
inline std::string to_string(const Shape& shape) { return to_string(IntArrayRef(shape)); }
std::int64_t element_count(IntArrayRef sizes);
Shape contiguous_strides(IntArrayRef sizes);

}  // namespace groove
