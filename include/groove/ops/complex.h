// Complex tensors. Each is a handle over a real tensor of one more axis of size 2, which operators,
// tape and compiler work on; so gradients are LibTorch's: dL/dRe + i dL/dIm.
#pragma once

#include "groove/complex.h"
#include "groove/ops/math.h"

namespace groove {

/// real + i imag; both of one dtype, f32 or f64, and shapes that broadcast.
Tensor complex(Arg real, const Tensor& imag);
/// abs (cos(angle) + i sin(angle)); both of one dtype, f32 or f64, and shapes that broadcast.
Tensor polar(Arg abs, const Tensor& angle);
/// [..., 2] of a complex [...], without a copy; throws for real tensors.
Tensor view_as_real(Arg self);
/// The other way round, without a copy; self is f32 or f64 with a last axis of size 2 and stride 1.
Tensor view_as_complex(Arg self);
/// The real parts, as a view; a real tensor itself.
Tensor real(Arg self);
/// The imaginary parts, as a view; throws for real tensors.
Tensor imag(Arg self);
/// With the imaginary parts negated; a real tensor itself. Always done at once: is_conj() is false.
Tensor conj(Arg self);
Tensor conj_physical(Arg self);
Tensor resolve_conj(Arg self);  // self
Tensor resolve_neg(Arg self);   // self
/// In (-pi, pi]; of real tensors 0 and pi.
Tensor angle(Arg self);
inline bool is_complex(const Tensor& self) { return self.is_complex(); }

namespace detail {
Tensor complex_tensor(IntArrayRef size, const std::complex<double>& value, ScalarType dtype,
                      const TensorOptions& options, Site site);
// A number beside `operand`, as a 0-d tensor that promotes like it.
Tensor complex_operand(const std::complex<double>& value, Arg operand);
}  // namespace detail

/// A 0-d tensor; of the number's own dtype unless one is given.
template <typename T>
Tensor scalar_tensor(const std::complex<T>& value, TensorOptions options = {},
                     Site site = Site::current()) {
  return detail::complex_tensor({}, value, dtype_of<std::complex<T>>, options, site);
}
/// Of the default dtype's complex one unless one is given.
template <typename T>
Tensor full(IntArrayRef size, const std::complex<T>& value, TensorOptions options = {},
            Site site = Site::current()) {
  return detail::complex_tensor(size, value, ScalarType::Undefined, options, site);
}

// A tensor with a complex number, which promotes as numbers do.
#define GROOVE_COMPLEX_OPERATOR(symbol)                                                 \
  template <typename T>                                                                 \
  Tensor operator symbol(Arg self, const std::complex<T>& other) {                      \
    return self symbol detail::complex_operand(other, self);                            \
  }                                                                                     \
  template <typename T>                                                                 \
  Tensor operator symbol(const std::complex<T>& self, Arg other) {                      \
    return Arg(detail::complex_operand(self, other), other.site) symbol(*other.tensor); \
  }
GROOVE_COMPLEX_OPERATOR(+)
GROOVE_COMPLEX_OPERATOR(-)
GROOVE_COMPLEX_OPERATOR(*)
GROOVE_COMPLEX_OPERATOR(/)
#undef GROOVE_COMPLEX_OPERATOR

}  // namespace groove
