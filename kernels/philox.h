// A whole counter of Philox 4x32-10, for those that use more than one of its words.
#pragma once

#include "kernels/expr.h"

namespace groove::kernels {

// The i32 words of elements 4 block … 4 block + 3 of draw `draw` under key `seed` (all i64).
struct PhiloxBlock {
  Expr words[4];
};
PhiloxBlock philox_block(Expr seed, Expr draw, Expr block);

}  // namespace groove::kernels
