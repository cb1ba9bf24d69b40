// A list that may be left out: `std::nullopt`, a list in braces, a vector or one value.
#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>

#include "groove/array_ref.h"

namespace groove {

template <typename T>
class OptionalArrayRef {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(std::optional<ArrayRef<T>> values) : values_(values) {}
  constexpr OptionalArrayRef(const T& one) : values_(ArrayRef<T>(one)) {}
  // The list lives to the end of the full expression, as long as a call's argument needs it.
  constexpr OptionalArrayRef(const std::initializer_list<T>& list)
      : values_(ArrayRef<T>(list.begin(), list.size())) {}
  template <typename Values>
  requires(!std::is_arithmetic_v<Values> &&
           std::is_convertible_v<const Values&,
                                 ArrayRef<T>>) constexpr OptionalArrayRef(const Values& values)
      : values_(static_cast<ArrayRef<T>>(values)) {}
  constexpr bool has_value() const { return values_.has_value(); }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const ArrayRef<T>& value() const { return values_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *values_; }
  constexpr const ArrayRef<T>* operator->() const { return &*values_; }
  constexpr ArrayRef<T> value_or(ArrayRef<T> other) const { return values_.value_or(other); }

 private:
  std::optional<ArrayRef<T>> values_;
};
using OptionalIntArrayRef = OptionalArrayRef<std::int64_t>;

}  // namespace groove
