// Products of one left matrix with several narrow right ones, computed as one product: their
// columns lie side by side, so that vectors are full and the left matrix is brought into form
// once. Each result keeps its own right matrix, epilogue and memory, and each element the order of
// its sum.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/backend.h"

namespace groove::kernels {

struct JoinedPiece {
  Contraction contraction;  // what it is alone; of the chain order
  ContractionShape shape;   // batch, m, k and the left matrix are the same for all
  // Where a launch has its operands: among the pointers, its right matrix (-1: the launch's own)
  // and the first one of its epilogue; and its first scalar.
  std::ptrdiff_t right = -1, first_pointer = 0, first_scalar = 0;
};

std::shared_ptr<const ContractionCallable> join_contractions(std::vector<JoinedPiece> pieces,
                                                             Backend& backend, Isa isa);

/// Cycles that one thread takes, roughly: for each piece on its own, and for all of them joined.
struct JoinedCycles {
  double apart = 0, joined = 0;
};
JoinedCycles joined_cycles(const std::vector<JoinedPiece>& pieces, Isa isa);

}  // namespace groove::kernels
