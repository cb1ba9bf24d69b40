// AnyValue: a value of any type that can be copied. What goes into and comes out of AnyModule.
#pragma once

#include <any>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "groove/error.h"

namespace groove::nn {

namespace detail {
std::string type_name(const std::type_info& type);
}

class AnyValue {
 public:
  /// Keeps a copy of the decayed value.
  template <typename T, typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  explicit AnyValue(T&& value)
      : value_(std::in_place_type<std::decay_t<T>>, std::forward<T>(value)) {}

  /// Null where the value has another type.
  template <typename T>
  T* try_get() {
    static_assert(!std::is_reference_v<T> && !std::is_array_v<T>, "AnyValue keeps decayed types");
    return std::any_cast<T>(&value_);
  }
  /// Throws groove::Error where the value has another type.
  template <typename T>
  T get() {
    if (T* value = try_get<T>()) return *value;
    throw_cast(typeid(T));
  }
  const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  [[noreturn]] void throw_cast(const std::type_info& wanted) const;
  std::any value_;
};

/// The arguments that a call of forward() may leave out, with their positions.
using ForwardDefaults = std::vector<std::pair<unsigned, AnyValue>>;

}  // namespace groove::nn
