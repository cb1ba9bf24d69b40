// Contractions computed by generated tile kernels.
#pragma once

#include <memory>

#include "kernels/asmjit/isa.h"
#include "kernels/contraction/contraction.h"

namespace groove::kernels {

/// f32 and f64; integer dtypes get the reference loops. Epilogues that cannot be applied in
/// registers are compiled by the "asmjit" backend.
std::shared_ptr<const ContractionCallable> make_asmjit_contraction(const Contraction& contraction);
/// For a chosen instruction set, which the CPU must have.
std::shared_ptr<const ContractionCallable> make_asmjit_contraction(const Contraction& contraction,
                                                                   Isa isa);

}  // namespace groove::kernels
