// What max and min share: the record of the best element over axes, with its position, or the
// position alone; and that of the better of two.
#pragma once

#include "kernels/ops/reduce.h"

namespace groove {

using ScalarTest2 = bool (*)(double, double);

struct Extremum {
  const char *value_name, *indexed_name, *position_name;
  kernels::Prim value, position;
  ScalarTest2 is_before;  // is the first the better one?
};
struct ExtremumOps {
  const Op &value, &with_index, &position;
};
ExtremumOps define_extremum(const Extremum& extremum);

Tensor extremum(const Op& op, Arg self, IntArrayRef dims, bool keepdim);
std::tuple<Tensor, Tensor> extremum_with_index(const char* name, const Op& op, Arg self,
                                               std::int64_t dim, bool keepdim);
Tensor extremum_position(const Op& op, Arg self, std::optional<std::int64_t> dim, bool keepdim);

struct Pairwise {
  const char* name;
  kernels::Expr (*body)(kernels::Expr, kernels::Expr);
  Tensor (*loses)(Arg, const Tensor&);  // does the first lose (win) against the second?
  Tensor (*wins)(Arg, const Tensor&);
  ScalarFunction2 reference;
};
const Op& define_pairwise(const Pairwise& pairwise);

}  // namespace groove
