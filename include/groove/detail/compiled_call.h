// What jit::compile() is made of: the types of a call's arguments as a number, and the scope that
// tells the tracer where the call begins and ends.
#pragma once

#include "groove/tensor.h"

namespace groove::detail {

inline std::uint64_t mix_signature(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}
std::uint64_t add_to_signature(std::uint64_t hash, const Tensor& tensor);  // dtype and shape

// Numbers do not count: the loop may give others each time. Values of other types do not either.
template <typename T>
std::uint64_t signature_of(std::uint64_t hash, const T& value) {
  if constexpr (std::is_convertible_v<const T&, const Tensor&>) {
    return add_to_signature(hash, value);
  } else if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
    return mix_signature(hash, static_cast<std::uint64_t>(value));
  } else if constexpr (requires { groove_fields(const_cast<T&>(value)); }) {
    return signature_of(hash, groove_fields(const_cast<T&>(value)));
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    hash = mix_signature(hash, value.has_value() ? 1 : 2);
    return value.has_value() ? signature_of(hash, *value) : hash;
  } else if constexpr (requires {
                         value.begin() != value.end();
                         value.size();
                       }) {
    hash = mix_signature(hash, value.size());
    for (const auto& one : value) hash = signature_of(hash, one);
    return hash;
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](const auto&... one) { ((hash = signature_of(hash, one)), ...); }, value);
    return hash;
  } else {
    return hash;
  }
}

std::uint64_t new_function_id();

class CompiledCall {
 public:
  explicit CompiledCall(std::uint64_t key);
  ~CompiledCall();
  CompiledCall(const CompiledCall&) = delete;
  CompiledCall& operator=(const CompiledCall&) = delete;

 private:
  void* context_;
  int exceptions_;
};

}  // namespace groove::detail

namespace groove::jit {

/// A function whose calls are compiled, each for itself, without waiting for them to repeat in a
/// loop. It can be copied; copies are the same function.
template <typename F>
class Compiled {
 public:
  explicit Compiled(F function)
      : function_(std::move(function)), id_(groove::detail::new_function_id()) {}

  template <typename... Args>
  decltype(auto) operator()(Args&&... arguments) const {
    std::uint64_t key = id_;
    ((key = groove::detail::signature_of(key, arguments)), ...);
    const groove::detail::CompiledCall call(key);
    return function_(std::forward<Args>(arguments)...);
  }

 private:
  F function_;
  std::uint64_t id_;
};

/// `function` as it is, with the same results and effects; from its second call with arguments of
/// the same types on (GROOVE_HOT) what it does is compiled. Arguments may be tensors, numbers,
/// optionals, lists, tuples and structs with groove_fields(); others count as the same type.
template <typename F>
Compiled<std::decay_t<F>> compile(F&& function) {
  return Compiled<std::decay_t<F>>(std::forward<F>(function));
}

}  // namespace groove::jit
