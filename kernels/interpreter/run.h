// One call of an interpreted kernel.
#pragma once

#include "kernels/interpreter/plan.h"

namespace groove::kernels::interpreter {

void run(const Plan& plan, const Launch& launch) noexcept;

}  // namespace groove::kernels::interpreter
