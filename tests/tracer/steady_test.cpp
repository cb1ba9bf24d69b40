// How much of a loop runs compiled once it is steady: most of it, whatever objects its user code is
// made of, and however it brings its data in.
#include <groove/groove.h>

#include "tests/tracer/at_once.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

class SteadyLoops : public CompiledAtOnce, public ::testing::WithParamInterface<Loop> {};

TEST_P(SteadyLoops, RunsCompiled) {
  constexpr int kShort = 100, kLong = 300;
  const auto share_of = [&](int from, int to) {
    jit::Summary counts[2];
    for (int i = 0; i < 2; ++i) {
      tracer::testing::forget_everything();
      const jit::Summary before = jit::summary();
      run_loop(GetParam(), i == 0 ? from : to);
      counts[i] = jit::summary();
      counts[i].ops_compiled -= before.ops_compiled;
      counts[i].ops_eager -= before.ops_eager;
    }
    const auto compiled = static_cast<double>(counts[1].ops_compiled - counts[0].ops_compiled);
    return compiled / (compiled + static_cast<double>(counts[1].ops_eager - counts[0].ops_eager));
  };
  EXPECT_GE(share_of(kShort, kLong), GetParam().steady_share) << jit::explain();
}

INSTANTIATE_TEST_SUITE_P(Data, SteadyLoops, ::testing::ValuesIn(data_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(UserCode, SteadyLoops, ::testing::ValuesIn(user_code_loops()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace groove::testing
