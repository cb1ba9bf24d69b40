// Host code that lacks memory while a compiled loop runs: the run is left, its calls run one by
// one, and no tensor that the program had before is changed twice.
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "groove/custom_operator.h"
#include "groove/groove.h"
#include "tests/tracer/at_once.h"

namespace groove::testing {
namespace {

int calls_until_it_lacks = -1;  // below 0: never

const CustomOperator lacking = define_host_operator({
    .name = "test.lacking",
    .run =
        [](const HostCall& call) {
          if (calls_until_it_lacks >= 0 && calls_until_it_lacks-- == 0) throw std::bad_alloc();
          const float* x = call.input().data<const float>();
          float* y = call.output().data<float>();
          for (std::int64_t i = 0; i < call.input().numel(); ++i) y[i] = x[i] + 1;
        },
});

struct Loop {
  std::vector<float> shown;
  Tensor first, second;
};

// Two tensors are written in place. A product of the same step reads the first, which could so be
// overwritten before the host code is called.
Loop run(int lacks_at, int threads) {
  const int threads_before = get_num_threads();
  set_num_threads(threads);
  calls_until_it_lacks = lacks_at;
  Loop loop;
  loop.first = full({1024}, 0.5);
  loop.second = arange(0, 4096, kFloat).view({64, 64}) / 4096;
  for (int step = 0; step < 60; ++step) {
    loop.first.mul_(1.001);
    const Tensor product = loop.first.view({16, 64}).mm(loop.second);
    const Tensor late = lacking({(loop.second.softmax(1).mm(loop.second) * 2).sum(0)});
    loop.second.sub_(late * 1e-4);
    loop.shown.push_back((late.mean() + product.sum() + loop.second.sum()).item<float>());
  }
  set_num_threads(threads_before);
  calls_until_it_lacks = -1;
  return loop;
}

using Failing = CompiledAtOnce;

TEST_F(Failing, RunsThatAreLeftHaveOverwrittenNothing) {
  jit::set_mode(jit::Mode::kEager);
  const Loop eager = run(-1, 1);
  jit::set_mode(jit::Mode::kAuto);
  for (const int threads : {1, 2}) {
    for (const int lacks_at : {20, 40, 59}) {
      tracer::testing::forget_everything();
      const Loop loop = run(lacks_at, threads);
      EXPECT_EQ(loop.shown, eager.shown) << threads << " threads, call " << lacks_at;
      EXPECT_TRUE(equal(loop.first, eager.first));
      EXPECT_TRUE(equal(loop.second, eager.second));
    }
  }
}

}  // namespace
}  // namespace groove::testing
