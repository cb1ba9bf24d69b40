// TORCH_LIBRARY and the dispatcher as programs name them. Groove has no registry of operators by
// name: what a program registers compiles and is not run, and a look-up throws.
#pragma once

#include <string>

#include "groove/compat/torch/types.h"

namespace c10 {

namespace detail {
[[noreturn]] inline void throw_no_dispatcher(const std::string& name) {
  throw groove::Error("Dispatcher: no operator " + name +
                      " can be looked up by name; call the C++ function itself");
}
}  // namespace detail

class OperatorHandle {
 public:
  template <typename Signature>
  struct Typed;
  template <typename Result, typename... Args>
  struct Typed<Result(Args...)> {
    Result call(Args...) const { detail::throw_no_dispatcher("handle"); }
  };
  template <typename Signature>
  Typed<Signature> typed() const {
    return {};
  }
};
class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher dispatcher;
    return dispatcher;
  }
  OperatorHandle findSchemaOrThrow(const char* name, const char*) const {
    detail::throw_no_dispatcher(name);
  }
};

}  // namespace c10

namespace torch {

class Library {
 public:
  template <typename... Args>
  Library& def(Args&&...) & {
    return *this;
  }
  template <typename... Args>
  Library& impl(Args&&...) & {
    return *this;
  }
  template <typename... Args>
  Library& fallback(Args&&...) & {
    return *this;
  }
};

}  // namespace torch

#define TORCH_FN(function) (function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
#define GROOVE_LIBRARY_NAME_(a, b) a##b
#define GROOVE_LIBRARY_NAME(a, b) GROOVE_LIBRARY_NAME_(a, b)
#define TORCH_LIBRARY(space, library)                                 \
  [[maybe_unused]] static void GROOVE_LIBRARY_NAME(register_library_, \
                                                   __COUNTER__)(::torch::Library & library)
#define TORCH_LIBRARY_FRAGMENT(space, library) TORCH_LIBRARY(space, library)
#define TORCH_LIBRARY_IMPL(space, key, library) TORCH_LIBRARY(space, library)
