// ExpandingArray: one number for each of D axes, from a single number or from D of them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "groove/array_ref.h"

namespace groove {

namespace detail {
[[noreturn]] void throw_expanding_array(std::size_t expected, std::size_t actual);
}

template <std::size_t D, typename T = std::int64_t>
class ExpandingArray {
 public:
  /// Throws groove::Error unless there are D values.
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}
  ExpandingArray(ArrayRef<T> values) {
    if (values.size() != D) detail::throw_expanding_array(D, values.size());
    for (std::size_t i = 0; i < D; ++i) values_[i] = values[i];
  }
  ExpandingArray(T single) { values_.fill(single); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return ArrayRef<T>(values_.data(), D); }
  std::size_t size() const { return D; }

 private:
  std::array<T, D> values_;
};

/// With std::nullopt where an axis keeps its size.
template <std::size_t D>
class ExpandingArrayWithOptionalElem
    : public ExpandingArray<D, std::optional<std::int64_t>> {
 public:
  using ExpandingArray<D, std::optional<std::int64_t>>::ExpandingArray;
  ExpandingArrayWithOptionalElem(std::int64_t single)
      : ExpandingArray<D, std::optional<std::int64_t>>(std::optional<std::int64_t>(single)) {}
};

}  // namespace groove
