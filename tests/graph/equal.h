// Equal bits, any NaN counting as any other.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "groove/groove.h"

namespace groove::testing {

inline ::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return ::testing::AssertionFailure() << "one is undefined";
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type())
    return ::testing::AssertionFailure() << "types differ";
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  const std::size_t size = element_size(x.scalar_type());
  const auto *p = static_cast<const char*>(x.const_data_ptr()),
             *q = static_cast<const char*>(y.const_data_ptr());
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    if (std::memcmp(p + at, q + at, size) == 0) continue;
    const double u = x.flatten()[i].to(kDouble).item<double>();
    const double v = y.flatten()[i].to(kDouble).item<double>();
    if (u != u && v != v) continue;
    return ::testing::AssertionFailure() << "element " << i << " differs: " << u << " and " << v;
  }
  return ::testing::AssertionSuccess();
}

inline void expect_same(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << "value " << i;
}

}  // namespace groove::testing
