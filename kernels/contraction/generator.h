// Contractions computed by generated tile kernels.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/asmjit/isa.h"
#include "kernels/contraction/contraction.h"

namespace groove::kernels {

/// Code of one instruction set, which a CPU that runs it must have. f32 and f64; integer dtypes get
/// the reference loops. Epilogues that cannot be applied in
/// registers are compiled by the "asmjit" backend.
std::shared_ptr<const ContractionCallable> make_asmjit_contraction(const Contraction& contraction,
                                                                   Isa isa);

// A further product whose value is added to the sum before the epilogue: batch, m and n are those
// of the first, k is one chunk at most.
struct FurtherProduct {
  ContractionShape shape;
  std::ptrdiff_t left = 0, right = 0;  // its matrices, among the pointers of a launch
};
inline constexpr std::size_t kMostFurtherProducts = 127;

/// Can code for `contraction` (f32 or f64, a chain) take the product in?
bool takes_in(const ContractionShape& first, const FurtherProduct& further);
/// The sum of products in their order, each value with its own order of k.
std::shared_ptr<const ContractionCallable> make_asmjit_sum(const Contraction& contraction,
                                                           std::vector<FurtherProduct> further,
                                                           Isa isa);

}  // namespace groove::kernels
