// What functions that are spelled with others share: numbers among tensors, and results that go
// back into a tensor.
#pragma once

#include "groove/ops/creation.h"
#include "groove/ops/elementwise.h"
#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"

namespace groove {

/// A number as a 0-d tensor that gives the dtype which the number itself would.
inline Tensor number_beside(const Tensor& tensor, Scalar number, Site site) {
  const ScalarType dtype = result_type(Arg(tensor, site), number);
  if (is_held(number, dtype)) return full({}, number, dtype, site);
  return full({}, number, number.type(), site).to(dtype, false, false, site);
}

/// The number in a 0-d tensor, which is waited for.
inline Scalar value_at(const char* op, const Tensor& bound, Site site) {
  const Shape& sizes = checked(op, bound).geometry.sizes;
  GROOVE_CHECK(sizes.empty(), "{}: start and end must be numbers or 0-d tensors, not of shape {}",
               op, to_string(sizes));
  return bound.item(site);
}

/// The in-place form of what is computed aside; throws unless shape and dtype fit.
inline Tensor& write_back(const char* op, const Tensor& self, const Tensor& result, Site site) {
  const Type from = type_of(result), to = type_of(self);
  GROOVE_CHECK(from.sizes == to.sizes,
               "{}: the output shape {} does not match the broadcast shape {}", op,
               to_string(to.sizes), to_string(from.sizes));
  GROOVE_CHECK(can_cast(from.dtype, to.dtype),
               "{}: result type {} cannot be cast to the tensor's type {}; convert it first", op,
               name(from.dtype), name(to.dtype));
  return self.copy_(result, false, site);
}

}  // namespace groove
