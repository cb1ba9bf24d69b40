// Every guard of a replay alone: loops whose inputs differ from the recorded ones in one thing
// only, now and then. They must give what eager mode gives.
#include <gtest/gtest.h>

#include <functional>

#include "groove/groove.h"
#include "groove/jit.h"
#include "tracer/tell/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

// Calls step(0 … 15); the numbers it gives are those of eager mode.
void expect_as_eager(const std::function<double(int)>& step) {
  const auto run = [&](jit::Mode mode) {
    tt::set_hot(1);
    tt::set_synchronous(true);
    tt::forget_everything();
    jit::set_mode(mode);
    std::vector<double> numbers;
    for (int n = 0; n < 16; ++n) numbers.push_back(step(n));
    jit::set_mode(jit::Mode::kEager);
    EXPECT_EQ(tt::longest_segment() > 0, mode == jit::Mode::kAuto);
    tt::forget_everything();
    return numbers;
  };
  const std::vector<double> expected = run(jit::Mode::kEager);
  EXPECT_EQ(run(jit::Mode::kAuto), expected);
  jit::set_mode(jit::Mode::kAuto);
}
bool is_other(int step) { return step % 8 == 7; }

// Weights that tell every element from every other.
Tensor ramp(const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return groove::arange(count).to(kFloat).view(sizes);
}
Tensor mixed(const Tensor& t) { return t * 1.5 + ramp({4, 4}) * t; }
double sum_of(const Tensor& t) { return mixed(t).sum().item<double>(); }
// Does it require gradients, too?
double told(const Tensor& t) { return t.sum().item<double>() + (t.requires_grad() ? 1000 : 0); }

TEST(Guard, Strides) {
  const Tensor plain = ramp({4, 4}), turned = ramp({4, 4}).t();
  expect_as_eager([&](int n) { return sum_of(is_other(n) ? turned : plain); });
}

TEST(Guard, Sizes) {
  const Tensor whole = ramp({4, 4}), row = ramp({1, 4});
  expect_as_eager([&](int n) { return sum_of(is_other(n) ? row : whole); });
}

TEST(Guard, Dtype) {
  const Tensor singles = ramp({4, 4}), integers = ramp({4, 4}).to(kInt);
  expect_as_eager([&](int n) { return sum_of(is_other(n) ? integers : singles); });
}

TEST(Guard, RequiresGrad) {
  const Tensor free = ramp({4, 4}), parameter = ramp({4, 4}).requires_grad_();
  expect_as_eager([&](int n) { return told(mixed(is_other(n) ? parameter : free)); });
  expect_as_eager([&](int n) { return told(mixed(is_other(n) ? free : parameter)); });
}

TEST(Guard, MemoryWrittenAfterItWasRead) {
  const Tensor a = ramp({4, 4}), b = ramp({4, 4}), same = a.detach();
  expect_as_eager([&](int n) {
    const Tensor other = is_other(n) ? same : b;
    const Tensor before = other * 2.0;
    a.mul_(n % 2 == 0 ? 0.5 : 2.0);
    return (before + other + a).sum().item<double>();
  });
}

TEST(Guard, SharedMemory) {
  const Tensor a = ramp({4, 4}), b = ramp({4, 4}), same = a.detach();
  expect_as_eager([&](int n) {
    a.copy_(ramp({4, 4}));
    const Tensor other = is_other(n) ? same : b;
    a.mul_(0.5);
    return (other + a).sum().item<double>();
  });
}

TEST(Guard, GradientMode) {
  const Tensor parameter = ramp({4, 4}).requires_grad_();
  expect_as_eager([&](int n) {
    AutoGradMode mode(!is_other(n));
    return told(mixed(parameter));
  });
}

// Views hold the memory of results whose own handles are gone.
TEST(Guard, MemoryThatKeptViewsShow) {
  const Tensor base = ramp({4, 4});
  for (const bool is_detached : {false, true}) {
    std::vector<Tensor> kept;
    expect_as_eager([&](int n) {
      if (n == 0) kept.clear();
      const Tensor result = mixed(base + n);
      kept.push_back(is_detached ? result.detach() : result.select(0, n % 4));
      double sum = 0;
      for (const Tensor& view : kept) {
        const jit::EagerGuard eager;
        sum = 3 * sum + view.sum().item<double>();
      }
      return sum;
    });
  }
}

TEST(Guard, NumbersInTheCode) {
  const Tensor base = ramp({4, 4});
  expect_as_eager([&](int n) { return sum_of(base.pow(is_other(n) ? 3 : 2)); });
}

TEST(Guard, ErrorsThatDependOnValues) {
  const Tensor table = ramp({4, 4});
  Tensor index = groove::zeros({2}, TensorOptions().dtype(kLong));
  expect_as_eager([&](int n) {
    index.fill_(is_other(n) ? 9 : n % 4);
    try {
      return table.index_select(0, index).sum().item<double>();
    } catch (const Error&) {
      return -1.0;
    }
  });
}

}  // namespace
}  // namespace groove::testing
