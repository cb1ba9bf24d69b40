// Complex tensors: a geometry and a dtype of their own over a real tensor, which is all that
// operators, tape and compiler ever see.
#pragma once

#include "groove/tensor.h"
#include "src/core/tensor_impl.h"

namespace groove {

struct ComplexParts {
  Tensor pair;  // [..., 2]: real and imaginary parts side by side
  Tensor grad;  // the complex form of the pair's gradient, as last asked for
};

inline bool is_complex_tensor(const TensorBase& tensor) {
  return tensor.defined() && tensor.impl()->complex;
}
/// The real tensor behind a complex one.
inline const Tensor& pair_of(const TensorBase& tensor) { return tensor.impl()->complex->pair; }
/// The same, of any tensor: what the tape knows it by. Real and undefined ones stay.
inline const Tensor& taped(const Tensor& tensor) {
  return is_complex_tensor(tensor) ? pair_of(tensor) : tensor;
}

/// A complex tensor over a real one, f32 or f64, with a last axis of size 2 and stride 1 and even
/// strides otherwise; see can_pair.
Tensor from_pair(const Tensor& pair);
bool can_pair(const Geometry& geometry);
/// That of the pair, given that of the complex tensor.
Geometry pair_geometry(Geometry geometry);

}  // namespace groove
