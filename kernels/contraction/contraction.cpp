// What a contraction is: identity, the order class of the type rule and the plain epilogue.
#include "kernels/contraction/contraction.h"

#include "kernels/order.h"

namespace groove::kernels {
namespace {

void mix(std::uint64_t& seed, std::uint64_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
  seed *= 0xff51afd7ed558ccdull;
}

}  // namespace

std::uint64_t hash(const Contraction& c) {
  std::uint64_t seed = hash(c.epilogue);
  mix(seed, static_cast<std::uint64_t>(c.dtype) << 24 | static_cast<std::uint64_t>(c.order) << 16 |
                static_cast<std::uint64_t>(c.a) << 8 | static_cast<std::uint64_t>(c.b));
  if (!c.is_exact) return seed;
  const ContractionShape& s = c.shape;
  for (std::int64_t value :
       {s.batch, s.m, s.n, s.k, s.a_batch, s.a_row, s.a_col, s.b_batch, s.b_row, s.b_col}) {
    mix(seed, static_cast<std::uint64_t>(value));
  }
  return seed;
}

OrderClass order_class(std::int64_t m, std::int64_t n, std::int64_t) {
  return m < order::kDotBound && n < order::kDotBound ? OrderClass::kDot : OrderClass::kChain;
}

Kernel plain_epilogue(ScalarType dtype) {
  Kernel kernel;
  kernel.accesses = {{dtype, false, StrideClass::kContiguous},
                     {dtype, true, StrideClass::kContiguous}};
  Instr load{Prim::kLoad, dtype, {-1, -1, -1}, 0};
  Instr store{Prim::kStore, dtype, {0, -1, -1}, 1};
  kernel.code = {load, store};
  kernel.phases = {{0, 2}};
  return kernel;
}

}  // namespace groove::kernels
