// Runs kernels on plain vectors through the interpreter: what the tests of this folder share.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/backend.h"
#include "kernels/expr.h"

namespace groove::kernels::testing {

inline Backend& interpreter() { return *find_backend("interpreter"); }

// Operands of one launch: pointers and element strides, in the order of the kernel's accesses.
class Operands {
 public:
  Operands& add(const void* pointer, std::vector<std::int64_t> strides) {
    pointers_.push_back(const_cast<void*>(pointer));
    strides_.emplace_back();
    std::copy(strides.begin(), strides.end(), strides_.back().begin());
    return *this;
  }
  Launch launch(std::vector<std::int64_t> counts, std::vector<std::int64_t> begins = {}) {
    Launch launch;
    launch.rank = static_cast<int>(counts.size());
    std::copy(counts.begin(), counts.end(), launch.count);
    std::copy(begins.begin(), begins.end(), launch.begin);
    launch.pointers = pointers_.data();
    launch.strides = reinterpret_cast<const std::int64_t(*)[kMaxAxes]>(strides_.data());
    launch.scalars = scalars.data();
    return launch;
  }
  std::vector<std::uint64_t> scalars;

 private:
  std::vector<void*> pointers_;
  std::vector<std::array<std::int64_t, kMaxAxes>> strides_;
};

inline void run(const Kernel& kernel, Operands operands, std::vector<std::int64_t> counts,
                std::vector<std::int64_t> begins = {}) {
  interpreter().compile(kernel)->run(operands.launch(std::move(counts), std::move(begins)));
}

/// f applied to contiguous arrays of one length.
template <typename Out, typename In>
std::vector<Out> map(const std::function<Expr(Expr)>& f, const std::vector<In>& x) {
  Builder b;
  const Expr a = b.load(dtype_of<In>, StrideClass::kContiguous);
  b.store(dtype_of<Out>, StrideClass::kContiguous, f(a));
  std::vector<Out> out(x.size());
  run(b.finish(), Operands().add(x.data(), {1}).add(out.data(), {1}),
      {static_cast<std::int64_t>(x.size())});
  return out;
}
template <typename Out, typename In>
std::vector<Out> map(const std::function<Expr(Expr, Expr)>& f, const std::vector<In>& x,
                     const std::vector<In>& y) {
  Builder b;
  const Expr p = b.load(dtype_of<In>, StrideClass::kContiguous);
  const Expr q = b.load(dtype_of<In>, StrideClass::kContiguous);
  b.store(dtype_of<Out>, StrideClass::kContiguous, f(p, q));
  std::vector<Out> out(x.size());
  run(b.finish(), Operands().add(x.data(), {1}).add(y.data(), {1}).add(out.data(), {1}),
      {static_cast<std::int64_t>(x.size())});
  return out;
}

/// Bits compared, a NaN equal to any NaN.
template <typename T>
bool same_bits(T a, T b) {
  if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace groove::kernels::testing
