// The record of what rounds to integers: those stay as they are, the slope is 0.
#pragma once

#include "groove/ops/creation.h"
#include "kernels/ops/rules.h"

namespace groove {

template <kernels::Expr (*round)(kernels::Expr)>
const Op& define_rounding(const char* name, ScalarFunction reference) {
  return define(UnarySpec{
      .name = name,
      .body = [](kernels::Expr x) { return is_floating(x.dtype()) ? round(x) : x; },
      .gradient = [](const Grad& g) { return Tensors{zeros_like(g.cotangent())}; },
      .reference = reference,
      .domain = {-3, 3},
      .type = numeric_result,
      .tolerance_ulp = 0,
  });
}

}  // namespace groove
