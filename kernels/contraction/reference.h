// The reference contraction: plain loops in the order of numerics.md §4. It is the oracle of the
// generated code and what the interpreter tier runs.
#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/contraction/contraction.h"

namespace groove::kernels {

/// Any dtype and any strides; the epilogue is compiled by `kernel_backend`.
std::shared_ptr<const ContractionCallable> make_reference_contraction(
    const Contraction& contraction, Backend& kernel_backend);

}  // namespace groove::kernels
