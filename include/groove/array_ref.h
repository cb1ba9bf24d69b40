// A borrowed view of contiguous values: how shapes and index lists are passed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <vector>

namespace groove {

namespace detail {
[[noreturn]] void throw_out_of_range(std::size_t index, std::size_t size);
}

template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using reference = const T&;
  using pointer = const T*;
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<const T*>;
  using size_type = std::size_t;
  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  // The list lives to the end of the full expression, as long as a call's argument needs it; of its
  // begin() GCC would warn all the same.
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(std::data(list)), size_(list.size()) {}
  template <typename A>
  ArrayRef(const std::vector<T, A>& values) : data_(values.data()), size_(values.size()) {}
  template <std::size_t N>
  constexpr ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
  template <std::size_t N>
  constexpr ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}
  constexpr ArrayRef(const T* first, const T* last)
      : data_(first), size_(static_cast<std::size_t>(last - first)) {}

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr ArrayRef slice(std::size_t first, std::size_t count) const {
    return ArrayRef(data_ + first, count);
  }
  constexpr ArrayRef slice(std::size_t first) const { return slice(first, size_ - first); }
  /// Throws std::out_of_range.
  const T& at(std::size_t i) const {
    if (i >= size_) detail::throw_out_of_range(i, size_);
    return data_[i];
  }
  constexpr const T* cbegin() const { return begin(); }
  constexpr const T* cend() const { return end(); }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  /// Whether the predicate holds for each element.
  template <typename Predicate>
  constexpr bool allMatch(const Predicate& predicate) const {
    for (const T& value : *this)
      if (!predicate(value)) return false;
    return true;
  }
  bool equals(ArrayRef other) const { return *this == other; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  bool operator==(const ArrayRef& other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

using IntArrayRef = ArrayRef<std::int64_t>;

/// "[2, 3]"
std::ostream& operator<<(std::ostream& out, IntArrayRef values);
template <typename Stream, typename T>
Stream& operator<<(Stream& out, ArrayRef<T> values) {
  out << "[";
  for (std::size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
  out << "]";
  return out;
}

}  // namespace groove
