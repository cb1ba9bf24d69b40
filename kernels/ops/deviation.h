// What var and std share: reduction attributes and `correction`, what the number of elements is
// lessened by.
#pragma once

#include "kernels/ops/reduce.h"

namespace groove {

std::vector<AttrField> deviation_attributes();  // dims, keepdim, correction
TypeResult deviation_type(const Signature& signature);
std::vector<Sample> deviation_samples(ScalarType dtype);
/// var and std with any correction.
Tensor variance(Arg self, IntArrayRef dims, std::int64_t correction, bool keepdim);
Tensor deviation(Arg self, IntArrayRef dims, std::int64_t correction, bool keepdim);
/// The variance's slope by the input, times `grad` of the variance.
Tensor variance_gradient(const Grad& g, const Tensor& grad);
/// The mean squared deviation of a row.
double reference_variance(const std::vector<double>& row, std::int64_t correction);
ReferenceRule deviation_reference(double (*value)(double variance));

}  // namespace groove
