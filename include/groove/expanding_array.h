// ExpandingArray: one number for each of D axes, from a single number or from D of them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "groove/array_ref.h"

namespace groove {

namespace detail {
[[noreturn]] void throw_expanding_array(std::size_t expected, std::size_t actual);

template <typename List, typename T>
concept ListOf = requires(const List& list) {
  list.size();
  { *list.begin() } -> std::convertible_to<T>;
};
}  // namespace detail

template <std::size_t D, typename T = std::int64_t>
class ExpandingArray {
 public:
  /// Throws groove::Error unless there are D values.
  ExpandingArray(std::initializer_list<T> list) { take(list); }
  /// From a vector, an array, an ArrayRef of T or of another type that becomes T.
  template <detail::ListOf<T> List>
  ExpandingArray(const List& values) {
    take(values);
  }
  ExpandingArray(T single) { values_.fill(single); }

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return ArrayRef<T>(values_.data(), D); }
  std::size_t size() const { return D; }

 private:
  template <typename List>
  void take(const List& list) {
    if (list.size() != D) detail::throw_expanding_array(D, list.size());
    std::size_t i = 0;
    for (const auto& value : list) values_[i++] = static_cast<T>(value);
  }
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
  ExpandingArrayWithOptionalElem(std::initializer_list<std::int64_t> list)
      : ExpandingArray<D, std::optional<std::int64_t>>(ArrayRef<std::int64_t>(list)) {}
};

/// "[2, 3]", and the number alone for one axis; None where an axis keeps its size.
template <typename Stream, std::size_t D>
Stream& operator<<(Stream& out, const ExpandingArray<D>& values) {
  if constexpr (D == 1) {
    out << (*values)[0];
  } else {
    out << ArrayRef<std::int64_t>(values);
  }
  return out;
}
template <typename Stream, std::size_t D>
Stream& operator<<(Stream& out, const ExpandingArrayWithOptionalElem<D>& values) {
  if constexpr (D > 1) out << "[";
  for (std::size_t i = 0; i < D; ++i) {
    if (i > 0) out << ", ";
    if ((*values)[i]) {
      out << *(*values)[i];
    } else {
      out << "None";
    }
  }
  if constexpr (D > 1) out << "]";
  return out;
}

}  // namespace groove
