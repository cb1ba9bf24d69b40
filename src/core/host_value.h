// Single elements on the host.
#pragma once

#include "groove/scalar.h"

namespace groove {

Scalar host_value(const void* address, ScalarType dtype);
void store_host_value(void* address, ScalarType dtype, const Scalar& value);

}  // namespace groove
