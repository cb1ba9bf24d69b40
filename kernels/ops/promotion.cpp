// result_type and can_cast: what promotion says of dtypes, for people.
#include "src/core/promotion.h"

#include "groove/ops/elementwise.h"
#include "kernels/ops/rules.h"

namespace groove {

ScalarType result_type(Arg tensor, const Tensor& other) {
  const CallFrame frame(tensor.site);
  checked("result_type", *tensor.tensor);
  checked("result_type", other);
  const Type types[] = {type_of(*tensor.tensor), type_of(other)};
  return result_type(ArrayRef<Type>(types));
}
ScalarType result_type(Arg tensor, Scalar other) {
  const CallFrame frame(tensor.site);
  checked("result_type", *tensor.tensor);
  const Type types[] = {type_of(*tensor.tensor)};
  return result_type(ArrayRef<Type>(types), ArrayRef<Scalar>(&other, 1));
}
ScalarType result_type(Scalar scalar, Arg tensor) { return result_type(tensor, scalar); }
ScalarType result_type(Scalar scalar1, Scalar scalar2) {
  const Scalar both[] = {scalar1, scalar2};
  return result_type(ArrayRef<Type>(), both);
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_floating(to)) return true;
  return !is_floating(from) && (to != kBool || from == kBool);
}

}  // namespace groove
