// What softmax and log_softmax share.
#pragma once

#include "groove/ops/creation.h"
#include "kernels/ops/rules.h"

namespace groove {

TypeResult softmax_type(const Signature& signature);
/// From the element, its row's greatest element and sum of exp(x - greatest).
ReferenceRule softmax_reference(double (*value)(double x, double maximum, double total));
std::vector<Sample> softmax_samples(ScalarType dtype);
Attrs softmax_attrs(const char* op, const Tensor& self, std::int64_t dim);

}  // namespace groove
