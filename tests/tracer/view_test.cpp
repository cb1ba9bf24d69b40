// How much of the loops that write through views of something with a history runs compiled.
#include <gtest/gtest.h>

#include "groove/jit.h"
#include "tests/tracer/loops.h"
#include "tracer/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

class ViewLoops : public ::testing::TestWithParam<Loop> {};

TEST_P(ViewLoops, RunCompiled) {
  tt::set_hot(2);
  tt::set_synchronous(true);
  tt::forget_everything();
  jit::set_mode(jit::Mode::kAuto);
  for (int i = 0; i < 8; ++i) run_loop(GetParam(), 30);
  const jit::Summary before = jit::summary();
  for (int i = 0; i < 4; ++i) run_loop(GetParam(), 30);
  const jit::Summary after = jit::summary();
  const double compiled = static_cast<double>(after.ops_compiled - before.ops_compiled);
  const double eager = static_cast<double>(after.ops_eager - before.ops_eager);
  EXPECT_GT(compiled, 0.9 * (compiled + eager)) << jit::explain();
  tt::forget_everything();
}

INSTANTIATE_TEST_SUITE_P(Views, ViewLoops, ::testing::ValuesIn(view_loops()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace groove::testing
