// A NaN has no sign that tells anything: where it would be seen, it is the canonical one's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "groove/groove.h"

namespace groove {
namespace {

TEST(SignOfNaN, IsThatOfTheCanonicalOne) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor x = tensor({nan, -nan, -0.0, -2.0, 3.0}, kDouble).to(dtype);
    const Tensor computed = (x - x) * -1.0;  // whatever the processor makes of it
    const std::vector<bool> expected = {false, false, true, true, false};
    for (std::int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(signbit(x)[i].item<bool>(), expected[static_cast<std::size_t>(i)]) << i;
      EXPECT_EQ(copysign(ones({5}, dtype), x)[i].item<double>(),
                expected[static_cast<std::size_t>(i)] ? -1.0 : 1.0)
          << i;
    }
    EXPECT_FALSE(std::signbit(x[1].item<double>()));
    EXPECT_FALSE(std::signbit(x[1].item<float>()));
    EXPECT_FALSE(signbit(computed)[0].item<bool>());
    EXPECT_FALSE(signbit(-computed)[1].item<bool>());
  }
}

}  // namespace
}  // namespace groove
