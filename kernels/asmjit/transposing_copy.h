// Copies that turn memory round: loops would gather or scatter single elements, tiles that are
// transposed in registers read and write whole vectors.
#pragma once

#include <memory>

#include "kernels/ir.h"

namespace groove::kernels {

/// Does the kernel only copy elements of 4 or 8 bytes, along an axis 0 that is not contiguous on
/// one side?
bool may_transpose(const Kernel& kernel);

/// Runs launches of such a kernel that are transpositions, and leaves others to `nest`.
std::shared_ptr<const Callable> make_transposing_copy(const Kernel& kernel,
                                                      std::shared_ptr<const Callable> nest);

}  // namespace groove::kernels
