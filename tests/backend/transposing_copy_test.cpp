// Copies that turn memory round, as a whole and in parts, at both ends of guarded memory.
#include <cstring>

#include "harness.h"
#include "kernels/build.h"

namespace groove::kernels::testing {
namespace {

struct Case {
  std::int64_t rows, cols, outer;
  bool is_target_plain;  // axis 0 runs along the target, else along the source
};

// Source [outer][rows][cols], target [outer][cols][rows].
void expect_turned(Backend& backend, ScalarType dtype, const Case& c, bool at_end, int parts) {
  const auto size = static_cast<std::int64_t>(element_size(dtype));
  const std::int64_t count = c.outer * c.rows * c.cols;
  GuardedBuffer source(static_cast<std::size_t>(count * size), at_end);
  GuardedBuffer target(static_cast<std::size_t>(count * size), at_end);
  Random random(7);
  fill(source.data(), static_cast<std::size_t>(count), dtype, random);
  std::memset(target.data(), 0x5a, target.size());
  Builder builder;
  const auto plain = StrideClass::kContiguous, strided = StrideClass::kStrided;
  builder.store(dtype, c.is_target_plain ? plain : strided,
                builder.load(dtype, c.is_target_plain ? strided : plain));
  const std::int64_t from[3] = {c.cols, 1, c.rows * c.cols}, to[3] = {1, c.rows, c.rows * c.cols};
  std::int64_t strides[2][kMaxAxes] = {};
  Launch launch;
  launch.rank = 3;
  for (int axis = 0; axis < 3; ++axis) {
    const int own = axis < 2 && !c.is_target_plain ? 1 - axis : axis;
    strides[0][axis] = from[own];
    strides[1][axis] = to[own];
    launch.count[axis] = own == 0 ? c.rows : own == 1 ? c.cols : c.outer;
  }
  void* const pointers[] = {source.data(), target.data()};
  launch.pointers = pointers;
  launch.strides = strides;
  const auto callable = compile_cached(backend, builder.finish());
  const std::int64_t all = launch.count[0];
  for (int part = 0; part < parts; ++part) {
    launch.begin[0] = all * part / parts;
    launch.count[0] = all * (part + 1) / parts - launch.begin[0];
    callable->run(launch);
  }
  for (std::int64_t o = 0; o < c.outer; ++o) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.cols; ++j) {
        const std::int64_t base = o * c.rows * c.cols;
        ASSERT_EQ(std::memcmp(source.data() + (base + i * c.cols + j) * size,
                              target.data() + (base + j * c.rows + i) * size,
                              static_cast<std::size_t>(size)),
                  0)
            << c.rows << "x" << c.cols << "x" << c.outer << " at " << o << ", " << i << ", " << j;
      }
    }
  }
}

TEST(TransposingCopy, TurnsEverySizeRound) {
  for (Backend* const backend : code_generators()) {
    for (const ScalarType dtype : {kFloat, kDouble, kInt, kLong}) {
      for (const std::int64_t rows : {1, 2, 3, 7, 8, 9, 17, 65}) {
        for (const std::int64_t cols : {1, 2, 4, 8, 15, 33}) {
          for (const std::int64_t outer : {1, 3}) {
            for (const bool is_target_plain : {true, false}) {
              const Case c{rows, cols, outer, is_target_plain};
              expect_turned(*backend, dtype, c, true, 1);
              expect_turned(*backend, dtype, c, false, 3);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace groove::kernels::testing
