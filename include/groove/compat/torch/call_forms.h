// Forms of calls that programs rarely write: an order of memory, which must be Contiguous or
// Preserve, and a generator, behind the other arguments.
#pragma once

#include "groove/compat/names.h"
#include "groove/groove.h"

namespace at {

using MaybeFormat = std::optional<groove::MemoryFormat>;
using MaybeGenerator = std::optional<groove::Generator>;

inline Tensor clone(groove::Arg self, MaybeFormat format) {
  return self.tensor->clone(format, self.site);
}
inline Tensor empty(IntArrayRef size, TensorOptions options, MaybeFormat format,
                    groove::Site site = groove::Site::current()) {
  groove::detail::check_memory_format("empty", format);
  return groove::empty(size, options, site);
}
inline Tensor full_like(groove::Arg self, Scalar value, TensorOptions options, MaybeFormat format) {
  groove::detail::check_memory_format("full_like", format);
  return groove::full_like(self, value, options);
}
#define GROOVE_LIKE(name)                                                           \
  inline Tensor name(groove::Arg self, TensorOptions options, MaybeFormat format) { \
    groove::detail::check_memory_format(#name, format);                             \
    return groove::name(self, options);                                             \
  }
GROOVE_LIKE(empty_like)
GROOVE_LIKE(zeros_like)
GROOVE_LIKE(ones_like)
GROOVE_LIKE(rand_like)
GROOVE_LIKE(randn_like)
#undef GROOVE_LIKE
#define GROOVE_LIKE(name)                                                                    \
  inline Tensor name(groove::Arg self, MaybeGenerator generator, TensorOptions options = {}, \
                     MaybeFormat format = {}) {                                              \
    groove::detail::check_memory_format(#name, format);                                      \
    const groove::DrawsFrom scope(generator);                                                \
    return groove::name(self, options);                                                      \
  }
GROOVE_LIKE(rand_like)
GROOVE_LIKE(randn_like)
#undef GROOVE_LIKE
inline Tensor randint_like(groove::Arg self, std::int64_t high, TensorOptions options,
                           MaybeFormat format) {
  groove::detail::check_memory_format("randint_like", format);
  return groove::randint_like(self, high, options);
}
inline Tensor randint_like(groove::Arg self, std::int64_t low, std::int64_t high,
                           TensorOptions options, MaybeFormat format) {
  groove::detail::check_memory_format("randint_like", format);
  return groove::randint_like(self, low, high, options);
}
inline Tensor randint_like(groove::Arg self, std::int64_t high, MaybeGenerator generator,
                           TensorOptions options = {}, MaybeFormat format = {}) {
  const groove::DrawsFrom scope(generator);
  return at::randint_like(self, high, options, format);
}
inline Tensor randint_like(groove::Arg self, std::int64_t low, std::int64_t high,
                           MaybeGenerator generator, TensorOptions options = {},
                           MaybeFormat format = {}) {
  const groove::DrawsFrom scope(generator);
  return at::randint_like(self, low, high, options, format);
}
inline Tensor rrelu(groove::Arg self, Scalar lower, Scalar upper, bool training,
                    MaybeGenerator generator) {
  const groove::DrawsFrom scope(generator);
  return groove::rrelu(self, lower, upper, training);
}
inline Tensor& rrelu_(groove::Arg self, Scalar lower, Scalar upper, bool training,
                      MaybeGenerator generator) {
  const groove::DrawsFrom scope(generator);
  return groove::rrelu_(self, lower, upper, training);
}

}  // namespace at

namespace torch {
#define GROOVE_USING(name) using at::name;
GROOVE_USING(clone)
GROOVE_USING(empty)
GROOVE_USING(empty_like)
GROOVE_USING(full_like)
GROOVE_USING(ones_like)
GROOVE_USING(rand_like)
GROOVE_USING(randint_like)
GROOVE_USING(randn_like)
GROOVE_USING(rrelu)
GROOVE_USING(rrelu_)
GROOVE_USING(zeros_like)
#undef GROOVE_USING
}  // namespace torch
