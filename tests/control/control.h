// What the tests of control flow share: equal bits, and every way a function can run.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "groove/control_flow.h"
#include "groove/groove.h"
#include "kernels/backend.h"
#include "src/core/tensor_impl.h"
#include "tracer/tell/testing.h"

namespace groove::testing {

inline ::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined())
    return ::testing::AssertionFailure() << "only one of the tensors is defined";
  if (!a.defined()) return ::testing::AssertionSuccess();
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type())
    return ::testing::AssertionFailure() << "types differ";
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  const std::size_t size = element_size(x.scalar_type());
  const auto *p = static_cast<const char*>(x.const_data_ptr()),
             *q = static_cast<const char*>(y.const_data_ptr());
  for (std::int64_t i = 0; i < x.numel(); ++i)
    if (std::memcmp(p + static_cast<std::size_t>(i) * size, q + static_cast<std::size_t>(i) * size,
                    size) != 0)
      return ::testing::AssertionFailure()
             << "element " << i << " differs: " << x.flatten()[i].to(kDouble).item<double>()
             << " and " << y.flatten()[i].to(kDouble).item<double>();
  return ::testing::AssertionSuccess();
}

inline void expect_same(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << "value " << i;
}

// `ours` in every tier, so often that its functions run node by node and compiled, gives the bits
// of `by_hand` in eager mode.
inline void expect_as_by_hand(const std::function<Tensors()>& ours,
                              const std::function<Tensors()>& by_hand) {
  jit::set_mode(jit::Mode::kEager);
  const Tensors expected = by_hand();
  kernels::Backend& usual = kernels::current_backend();
  tracer::testing::set_synchronous(true);
  for (const char* tier : {"asmjit", "interpreter"}) {
    SCOPED_TRACE(tier);
    kernels::Backend* const backend = kernels::find_backend(tier);
    if (!backend) continue;
    kernels::set_current_backend(*backend);
    for (int time = 0; time < 4; ++time) {
      SCOPED_TRACE("time " + std::to_string(time));
      expect_same(ours(), expected);
    }
  }
  kernels::set_current_backend(usual);
  jit::set_mode(jit::Mode::kAuto);
}

inline std::string error_text(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.msg();
  }
  return "(no error)";
}

}  // namespace groove::testing
