// What a user can say to the tracer and what it says back: modes, guards, strictness, reports,
// numbers that change, threads that look at pending tensors, checking against eager.
#include <groove/groove.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tracer/tell/testing.h"
#include "tracer/watch/discovery.h"

namespace groove::tracer {
namespace {

namespace tt = tracer::testing;

class TracerApi : public ::testing::Test {
 protected:
  void SetUp() override {
    tt::set_hot(1);
    tt::set_synchronous(true);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override {
    jit::set_mode(jit::Mode::kAuto);
    tt::force_exit_at(-1);
    tt::forget_everything();
  }
};

double sgd_iteration(Tensor& weight, const Tensor& x, double rate) {
  auto loss = (weight * x).square().mean();
  loss.backward();
  {
    NoGradGuard no_grad;
    weight -= weight.grad() * rate;
  }
  weight.grad().zero_();
  return loss.item<double>();
}

TEST_F(TracerApi, NumbersThatChangeAreInputs) {
  auto weight = groove::ones({3}).requires_grad_();
  for (int i = 0; i < 20; ++i) sgd_iteration(weight, groove::rand({3}), 0.1 / (1 + i));
  const jit::Summary summary = jit::summary();
  EXPECT_GE(summary.hits, 15u) << jit::explain();
  EXPECT_EQ(summary.leaves, 0u) << jit::explain();
}

TEST_F(TracerApi, EagerModeAndGuardTraceNothing) {
  auto weight = groove::ones({3}).requires_grad_();
  {
    const jit::EagerGuard guard;
    for (int i = 0; i < 10; ++i) sgd_iteration(weight, groove::rand({3}), 0.1);
  }
  jit::set_mode(jit::Mode::kEager);
  for (int i = 0; i < 10; ++i) sgd_iteration(weight, groove::rand({3}), 0.1);
  EXPECT_EQ(jit::summary().segments, 0u);
}

TEST_F(TracerApi, StrictModeThrowsAfterRunningEagerly) {
  jit::set_mode(jit::Mode::kStrict);
  auto weight = groove::ones({3}).requires_grad_();
  const auto body = [&weight](bool is_odd) {
    auto product = weight * weight;  // saves what backward frees: no second one is possible
    if (is_odd) product = product.exp();
    auto loss = product.sum();
    loss.backward();
    weight.mutable_grad() = Tensor();
    return loss.item<double>();
  };
  double usual = 0;
  for (int i = 0; i < 8; ++i) usual = body(false);
  EXPECT_EQ(usual, 3.0);
  ASSERT_GT(jit::summary().hits, 0u) << "the loop was not compiled: " << jit::explain();
  EXPECT_THROW(body(true), Error);
  EXPECT_EQ(body(false), 3.0);
}

TEST_F(TracerApi, AShapeErrorInACompiledLoopIsTheEagerOne) {
  auto weight = groove::ones({3}).requires_grad_();
  const auto message = [&](const Tensor& x) {
    try {
      sgd_iteration(weight, x, 0.1);
    } catch (const Error& error) {
      return error.msg();
    }
    return std::string();
  };
  const Tensor good = groove::rand({3}), bad = groove::ones({4});
  const std::string eager = message(bad);
  EXPECT_NE(eager.find(": shapes [3] and [4] do not broadcast"), std::string::npos) << eager;
  for (int i = 0; i < 8; ++i) EXPECT_EQ(message(good), "");
  const auto hits = jit::summary().hits;
  EXPECT_GT(hits, 0u) << jit::explain();
  EXPECT_EQ(message(bad), eager);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(message(good), "");
  EXPECT_GT(jit::summary().hits, hits) << jit::explain();
}

TEST_F(TracerApi, AnotherThreadMayLookAtAPendingTensor) {
  auto weight = groove::ones({3}).requires_grad_();
  for (int i = 0; i < 12; ++i) {
    auto loss = (weight * 3.0).sum();
    double seen = 0;
    std::thread([&loss, &seen] { seen = loss.item<double>(); }).join();
    EXPECT_EQ(seen, 9.0);
    loss.backward();
    weight.grad().zero_();
  }
}

// What another thread takes away between forward and backward was there when the loop began.
TEST_F(TracerApi, AnotherThreadMayRemoveHooks) {
  const auto calls_of = [](jit::Mode mode) {
    jit::set_mode(mode);
    manual_seed(1);
    const Tensor weight = groove::randn({8, 8}).requires_grad_();
    const Tensor data = groove::randn({8, 8}), more = groove::randn({8, 8});
    std::vector<unsigned> hooks;
    std::vector<int> called;
    int i = 0;
    for (; i < 60; ++i) {
      Tensor loss = groove::zeros({});
      const Tensor first = data.clone(), second = more.clone();
      const Tensor hidden = weight.mm(data.detach()).relu();
      loss = loss + hidden.square().mean();
      std::thread([&] {
        if (i % 10 != 8) return;
        for (const unsigned hook : hooks) weight.remove_hook(hook);
        hooks.clear();
      }).join();
      loss.backward();
      if (i % 10 == 3)
        hooks.push_back(weight.register_hook([&called, &i](const Tensor& gradient) {
          called.push_back(i);
          return gradient * 1.0;
        }));
    }
    jit::set_mode(jit::Mode::kEager);
    return called;
  };
  const std::vector<int> expected = calls_of(jit::Mode::kEager);
  EXPECT_EQ(calls_of(jit::Mode::kAuto), expected);
  jit::set_mode(jit::Mode::kAuto);
}

TEST_F(TracerApi, AThreadMayEndWithWorkPending) {
  Tensor last;
  std::thread([&last] {
    auto x = groove::ones({4});
    for (int i = 0; i < 30; ++i) x = x * 1.5 - 0.25;
    last = x;
  }).join();
  jit::set_mode(jit::Mode::kEager);
  auto x = groove::ones({4});
  for (int i = 0; i < 30; ++i) x = x * 1.5 - 0.25;
  EXPECT_EQ((last - x).abs().sum().item<double>(), 0.0);
}

// A run that is checked runs twice; nobody else gets what it makes or writes before both are over.
TEST_F(TracerApi, CheckedRunsShowNothingHalfway) {
  tt::set_check(1);
  for (int attempt = 0; attempt < 40; ++attempt) {
    Tensor made, written = groove::zeros({100'000});
    std::atomic<bool> is_made{false};
    std::thread maker([&] {
      Tensor x = groove::ones({100'000});
      for (int i = 0; i < 24; ++i) {
        made = x * 1.5 - 0.5;  // 1, each time
        written.add_(made);
      }
      is_made = true;
    });
    while (!is_made) std::this_thread::yield();
    for (int turn = 0; turn < attempt * 60; ++turn) std::this_thread::yield();
    made.add_(1);
    written.add_(1);
    maker.join();
    EXPECT_EQ(made.sum().item<float>(), 200'000.0F) << attempt;
    EXPECT_EQ(written.sum().item<float>(), 2'500'000.0F) << attempt;
  }
  tt::set_check(-1);
}

// A run that is left runs its calls one by one; a result is looked at when they are all over.
TEST_F(TracerApi, RunsThatAreLeftShowNothingHalfway) {
  const std::vector<float> expected(100'000, 3.0F);
  for (int attempt = 0; attempt < 60; ++attempt) {
    Tensor made, after;
    std::atomic<bool> is_made{false};
    std::thread maker([&] {
      const Tensor x = groove::ones({100'000});
      for (int i = 0; i < 24; ++i) {
        made = x * 1.5;
        for (int k = 0; k < 6; ++k) made.add_(0.25);
        if (i < 23) after = made - 0.5;
      }
      is_made = true;
    });
    while (!is_made) std::this_thread::yield();
    for (int turn = 0; turn < attempt * 20; ++turn) std::this_thread::yield();
    std::vector<float> seen(100'000);
    std::memcpy(seen.data(), made.const_data_ptr<float>(), seen.size() * sizeof(float));
    maker.join();
    ASSERT_TRUE(seen == expected) << attempt << ": " << seen.front() << " " << seen.back();
  }
}

// Neither do flags that such a run changes go back and forth for others.
TEST_F(TracerApi, RunsThatAreLeftShowNoOtherFlags) {
  for (int attempt = 0; attempt < 60; ++attempt) {
    const Tensor leaf = groove::ones({100'000}).requires_grad_();
    Tensor made, after;
    std::atomic<bool> is_made{false};
    std::thread maker([&] {
      for (int i = 0; i < 24; ++i) {
        leaf.requires_grad_(false);
        made = leaf * 1.5;
        for (int k = 0; k < 6; ++k) made.add_(0.25);
        leaf.requires_grad_(true);
        if (i < 23) after = leaf.detach() - 0.5;
      }
      is_made = true;
    });
    while (!is_made) std::this_thread::yield();
    for (int turn = 0; turn < attempt * 20; ++turn) std::this_thread::yield();
    const Tensor other = leaf * 2;
    EXPECT_TRUE(other.requires_grad()) << attempt;
    maker.join();
  }
}

// … nor memory that it has only read, and that the program has written since through a pointer.
TEST_F(TracerApi, RunsThatAreLeftShowNoOtherMemory) {
  const Tensor values = groove::zeros({100'000});
  const std::atomic_ref<float> first(*values.data_ptr<float>());
  const Tensor blob = groove::from_blob(values.data_ptr<float>(), {100'000});
  std::atomic<bool> is_over{false};
  int went_back = 0;
  std::thread watcher([&] {
    for (float last = 0; !is_over;) {
      const float now = first;
      went_back += now < last;
      last = now;
    }
  });
  for (int i = 0; i < 400; ++i) {
    const Tensor& read = i % 2 == 0 ? values : blob;
    const float expected = first;
    Tensor product = read * 2;
    first = static_cast<float>(i + 1);
    product = i % 7 == 6 ? product.neg().neg() : product.square().sqrt();
    EXPECT_EQ(product[0].item<float>(), expected * 2);
  }
  is_over = true;
  watcher.join();
  EXPECT_EQ(went_back, 0);
}

// Models come and go; what was compiled for one that is gone must not keep its memory.
TEST_F(TracerApi, SegmentsDoNotKeepDeadModels) {
  std::int64_t after_first = 0;
  for (int model = 0; model < 12; ++model) {
    nn::Linear layer(64, 64);
    optim::Adam optimizer(layer->parameters(), optim::AdamOptions(1e-3));
    for (int i = 0; i < 8; ++i) {
      optimizer.zero_grad();
      layer(groove::rand({4, 64})).square().mean().backward();
      optimizer.step();
    }
    if (model == 0) after_first = static_cast<std::int64_t>(jit::summary().segments);
  }
  // What makes a model is a loop of its own, and belongs to none.
  EXPECT_LE(static_cast<std::int64_t>(jit::summary().segments), after_first + 4);
}

// Entered after its first call, a cycle is found from there on; what crosses that cut would be two
// iterations' at once.
TEST_F(TracerApi, CyclesBeginWhereTheFewestResultsCross) {
  const Tensor weight = groove::rand({4, 4}).requires_grad_();
  std::vector<Tensor> results;
  int line = 0;
  const auto forward = [&](bool is_first) {
    line = __LINE__ + 1;
    const Tensor x = is_first ? weight : weight.mul(0.5);
    const Tensor hidden = x.mm(weight).tanh();
    results.push_back(hidden.sigmoid().add(hidden).mm(weight));
  };
  for (int i = 0; i < 40; ++i) forward(i == 0);
  const std::vector<jit::SegmentView> segments = jit::inspect();
  ASSERT_FALSE(segments.empty());
  for (const jit::SegmentView& segment : segments)
    EXPECT_NE(segment.source.find("tracer_api_test.cpp:" + std::to_string(line)), std::string::npos)
        << segment.source;
}

TEST_F(TracerApi, ExplainNamesPlaceAndReason) {
  auto weight = groove::ones({3}).requires_grad_();
  const Tensor usual = groove::rand({3}), odd = groove::rand({1});
  for (int i = 0; i < 9; ++i) {
    auto loss = (weight.exp() * (i < 8 ? usual : odd)).sum();
    loss.backward();
    weight.grad().zero_();
    EXPECT_GT(loss.item<double>(), 0.0);
  }
  const std::string text = jit::explain();
  EXPECT_NE(text.find("tracer_api_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("left 1 times: an input has another shape"), std::string::npos) << text;
}

TEST(Discovery, FindsStretchesBetweenSteps) {
  Discovery discovery;
  discovery.set_hot(2);
  const auto iteration = [&] {
    for (const std::uint64_t call : {11u, 12u, 13u}) discovery.on_call(call, Discovery::kOpCost);
    discovery.on_step_end();
  };
  iteration();
  EXPECT_FALSE(discovery.plan(11));
  iteration();
  ASSERT_TRUE(discovery.plan(11));
  EXPECT_EQ(discovery.plan(11)->length, 3u);
  EXPECT_FALSE(discovery.plan(12));
}

TEST(Discovery, FindsCyclesWithoutCuts) {
  Discovery discovery;
  discovery.set_hot(2);
  const auto iterate = [&](int times) {
    for (int i = 0; i < times; ++i)
      for (const std::uint64_t call : {1u, 2u, 3u, 4u}) discovery.on_call(call, Discovery::kOpCost);
    discovery.on_call(1, Discovery::kOpCost);
    const Discovery::Plan* found = nullptr;
    for (const std::uint64_t head : {1u, 2u, 3u, 4u})
      if (discovery.plan(head)) found = discovery.plan(head);
    return found;
  };
  // Over the eight parameters of a step, it would be a part of that step.
  EXPECT_FALSE(iterate(8));
  discovery.on_call(5, Discovery::kOpCost);
  const Discovery::Plan* const found = iterate(17);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 4u);
}

// Views of one line that were elsewhere at one time may be elsewhere the next time.
TEST(Discovery, KnowsCallsThatMoved) {
  Discovery discovery;
  discovery.set_hot(2);
  for (const std::uint32_t second : {7u, 7u, 9u}) {
    discovery.on_call(1, Discovery::kBigCost);
    for (const std::uint32_t position : {5u, second, 8u})
      discovery.on_call(2, Discovery::kViewCost, position);
    discovery.on_call(3, Discovery::kViewCost, 4);
    discovery.on_step_end();
  }
  const Discovery::Plan* plan = discovery.plan(1);
  ASSERT_TRUE(plan);
  const std::vector<std::uint64_t> times = discovery.last_times(*plan);
  EXPECT_EQ(times.size(), 3u);
  EXPECT_EQ(discovery.moved_calls(times, plan->length), std::vector<std::uint64_t>{2});
}

TEST(Discovery, PenalizedLoopsMustRepeatMoreOften) {
  Discovery discovery;
  discovery.set_hot(1);
  const auto iteration = [&] {
    discovery.on_call(5, Discovery::kOpCost);
    discovery.on_call(6, Discovery::kBigCost);
    discovery.on_step_end();
  };
  iteration();
  ASSERT_TRUE(discovery.plan(5));
  discovery.penalize(5);
  EXPECT_FALSE(discovery.plan(5));
  iteration();
  EXPECT_FALSE(discovery.plan(5));
  iteration();
  EXPECT_TRUE(discovery.plan(5));
}

}  // namespace
}  // namespace groove::tracer
