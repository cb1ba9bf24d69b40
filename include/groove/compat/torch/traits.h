// Traits and small templates of LibTorch's headers <torch/detail/static.h> and
// <torch/csrc/utils/variadic.h>, as programs that write module code of their own use them.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "groove/nn/module.h"

namespace torch {

template <bool... values>
struct all_of : std::bool_constant<(values && ...)> {};
template <bool... values>
struct any_of : std::bool_constant<(values || ...)> {};
template <bool condition, typename T = void>
using enable_if_t = std::enable_if_t<condition, T>;
template <bool condition, typename T = void>
using disable_if_t = std::enable_if_t<!condition, T>;

/// Calls the function with each of the values.
template <typename Function, typename... Values>
void apply(Function function, Values&&... values) {
  (function(std::forward<Values>(values)), ...);
}

namespace detail {

template <typename M>
using is_module = std::is_base_of<groove::nn::Module, std::decay_t<M>>;
template <typename M, typename T = void>
using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

template <typename... Types>
constexpr bool check_not_lvalue_references() {
  return ((!std::is_lvalue_reference_v<Types> ||
           std::is_same_v<std::remove_cv_t<std::remove_reference_t<Types>>, groove::Tensor>)&&...);
}

/// What forward() gives for such arguments; void where there is none.
template <typename M, typename... Args>
struct return_type_of_forward {
  using type = void;
};
template <typename M, typename... Args>
requires requires(M& module) { module.forward(std::declval<Args>()...); }
struct return_type_of_forward<M, Args...> {
  using type = decltype(std::declval<M&>().forward(std::declval<Args>()...));
};

}  // namespace detail
}  // namespace torch
