// What addcmul and addcdiv share: self + value * (two operands combined).
#pragma once

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

/// `value` does not take part in promotion, it only has to fit.
TypeResult addc_type(const Signature& signature);
std::vector<Sample> addc_samples(ScalarType dtype);

}  // namespace groove
