// What reductions share: their attributes, their type and the way back to the input's shape.
#pragma once

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

inline std::vector<AttrField> reduction_attributes() {
  return {{"dims", AttrType::kInts}, {"keepdim", AttrType::kBool}};
}
/// Dims in canonical form: sorted, non-negative; none for all of them.
Attrs reduction_attrs(const char* op, const Tensor& self, IntArrayRef dims, bool keepdim);
/// The call of an op whose attributes these are; no dims are all of them.
Tensor reduce(const Op& op, Arg self, IntArrayRef dims, bool keepdim);
/// The record of all and any: 0 and 1 for what is 0 and what is not, reduced by `reduction`. Bool,
/// but bytes give a byte.
const Op& define_truth(const char* name, kernels::Prim reduction,
                       std::function<double(const std::vector<double>& row)> reference);
/// The result's shape.
Shape reduced_sizes(const Signature& signature);
/// The same with size 1 in place of the axes that go.
Shape kept_sizes(const Signature& signature);
/// Throws when the reduced axes have no elements although the result has.
void check_not_empty(const Signature& signature);
/// A reduced tensor with its axes put back as size 1, so that it broadcasts against the input.
Tensor unreduced(const Tensor& reduced, const Grad& g);
std::int64_t reduced_count(const Grad& g);

}  // namespace groove
