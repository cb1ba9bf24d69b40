// Implicit arguments of operators that cannot take a trailing location: `x[i]`, `x[i] = 2`.
#pragma once

#include <concepts>

#include "groove/detail/tensor_base.h"

namespace groove::detail {

// What `x[…]` takes: an integer or an index tensor, and the user's place.
struct SubscriptArg {
  template <std::integral T>
  SubscriptArg(T value, Site place = Site::current())
      : integer(static_cast<std::int64_t>(value)), site(place) {}
  SubscriptArg(const Tensor& value, Site place = Site::current()) : tensor(&value), site(place) {}
  SubscriptArg(const Scalar& value, Site place = Site::current())
      : integer(value.to_int()), site(place) {}
  std::int64_t integer = 0;
  const Tensor* tensor = nullptr;
  Site site;
};

// The right side of `x[i] = 2.5`.
struct ScalarArg {
  template <typename T>
  requires std::is_arithmetic_v<T> ScalarArg(T number, Site place = Site::current())
      : value(number), site(place) {}
  ScalarArg(const Scalar& number, Site place = Site::current()) : value(number), site(place) {}
  Scalar value;
  Site site;
};

}  // namespace groove::detail
