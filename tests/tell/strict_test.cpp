// Strict mode: what leaves compiled code runs as in eager mode and is then reported at its call,
// with what was expected there; caught, the loop goes on.
#include "tests/tell/tell.h"

namespace groove::testing {
namespace {

struct Situation {
  const char* name;
  void (*odd)(Tensor& h, Tensor& weight);  // in one iteration of many
  const char* expected;                    // in the error; empty for none
};

const Tensor& misfit() {
  static const Tensor one = groove::ones({7, 3});
  return one;
}

const Situation kSituations[] = {
    {"another operator", [](Tensor& h, Tensor&) { h = h.exp(); }, "square at strict_test.cpp"},
    {"a host read", [](Tensor& h, Tensor&) { static_cast<void>(h.sum().item<double>()); },
     "sum at strict_test.cpp"},
    {"a raw pointer of a result",
     [](Tensor& h, Tensor&) { static_cast<void>(h.detach().data_ptr<float>()); }, "strict mode: "},
    {"another shape",
     [](Tensor& h, Tensor&) {
       h = cat({h, h});
     },
     "got cat at strict_test.cpp"},
    {"a flag", [](Tensor&, Tensor& weight) { weight.requires_grad_(true); }, ""},
    {"a guard",
     [](Tensor& h, Tensor&) {
       const jit::EagerGuard guard;
       h = h * 2.0;
     },
     ""},
    {"an error of the program's own", [](Tensor&, Tensor&) { throw 5; },
     "got rand at strict_test.cpp"},
    {"an error of a shape", [](Tensor& h, Tensor&) { h = h + misfit(); }, "do not broadcast"},
    {"data-dependent shapes", [](Tensor& h, Tensor&) { h = h + masked_select(h, h > 0.5).sum(); },
     "strict mode: "},
};

struct Result {
  std::string log;
  std::vector<std::string> errors;
  std::uint64_t hits_before = 0, hits_after = 0;
};

Result run(const Situation& situation) {
  Log log;
  Result result;
  auto weight = groove::rand({4, 5}).requires_grad_();
  for (int step = 0; step < 36; ++step) {
    const bool is_odd = step == 14;
    if (step == 20) result.hits_before = jit::summary().hits;
    // What an error interrupts is finished the plain way, so that all modes end alike.
    Tensor h, loss;
    bool is_interrupted = false;
    const auto attempt = [&](const auto& what) {
      if (is_interrupted) return;
      try {
        what();
      } catch (const Error& error) {
        result.errors.push_back(error.what());
        const bool is_strict = result.errors.back().find("strict mode") == 0;
        if (!is_strict) is_interrupted = true;
      } catch (int) {
        is_interrupted = true;
      }
    };
    attempt([&] { h = weight * groove::rand({4, 5}); });
    if (is_odd) attempt([&] { situation.odd(h, weight); });
    attempt([&] { loss = h.square().mean(); });
    if (!loss.defined()) attempt([&] { loss = h.square().mean(); });
    attempt([&] { loss.backward(); });
    attempt([&] {
      NoGradGuard no_grad;
      weight -= weight.grad() * 0.1;
    });
    attempt([&] { weight.grad().zero_(); });
    double value = 0;
    attempt([&] { value = loss.item<double>(); });
    log.number(value);
  }
  result.hits_after = jit::summary().hits;
  jit::set_mode(jit::Mode::kEager);  // the end of a loop leaves what was begun
  log.tensor(weight);
  log.random_state();
  result.log = log.text;
  return result;
}

class Strict : public Tell {};

TEST_F(Strict, SaysWhatItLeftForAndGoesOn) {
  misfit();
  for (const Situation& situation : kSituations) {
    start(jit::Mode::kStrict);
    tracer::testing::set_hot(2);
    const Result strict = run(situation);
    const std::string expected = situation.expected;
    if (expected.empty()) {
      EXPECT_TRUE(strict.errors.empty()) << situation.name << ": " << strict.errors.front();
    } else {
      ASSERT_FALSE(strict.errors.empty()) << situation.name << "\n" << jit::explain();
      EXPECT_NE(strict.errors.front().find(expected), std::string::npos)
          << situation.name << ": " << strict.errors.front();
    }
    EXPECT_GE(strict.hits_after, strict.hits_before + 6) << situation.name << "\n"
                                                         << jit::explain();
  }
}

// Everything that was called has run, with eager mode's bits, when the error is thrown.
TEST_F(Strict, RunsEagerlyBeforeItThrows) {
  const auto run_loop = [] {
    Log log;
    auto state = groove::rand({16});
    for (int step = 0; step < 20; ++step) {
      Tensor y = state * 1.5;
      try {
        if (step == 9 || step == 15) y.add_(1.0);
      } catch (const Error&) {
      }
      state = y.tanh();
      log.number(state.sum().item<double>());
    }
    jit::set_mode(jit::Mode::kEager);
    log.tensor(state);
    log.random_state();
    return log.text;
  };
  start(jit::Mode::kEager);
  const std::string expected = run_loop();
  start(jit::Mode::kStrict);
  EXPECT_EQ(difference(expected, run_loop()), "");
}

// Compiled code was left because of the call that throws: that is the program's error, not ours.
TEST_F(Strict, AnErrorOfTheProgramIsNotFollowedByAnother) {
  start(jit::Mode::kStrict);
  tracer::testing::set_hot(2);
  auto w = groove::rand({4, 5});
  int errors = 0;
  for (int step = 0; step < 20; ++step) {
    try {
      const Tensor h = w * groove::rand({4, 5});
      if (step == 12) static_cast<void>(h + misfit());
      static_cast<void>(h.square().mean().item<double>());
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(jit::summary().leaves, 1u) << jit::explain();
  EXPECT_NO_THROW(static_cast<void>((w * 2.0).sum().item<double>()));
}

TEST_F(Strict, NamesTheLineThatWasExpectedAndTheOneThatCame) {
  start(jit::Mode::kStrict);
  std::string message;
  unsigned line = 0;
  auto x = groove::rand({8});
  for (int step = 0; step < 12; ++step) {
    try {
      Tensor y = x.sin();
      line = __LINE__ + 1;
      y = step == 9 ? y.cos() : y.exp();
      static_cast<void>((y * 2.0).sum().item<double>());
    } catch (const Error& error) {
      EXPECT_EQ(step, 9);
      message = error.what();
    }
  }
  const std::string place = fmt::format("strict_test.cpp:{}", line);
  EXPECT_NE(message.find("exp at " + place + " expected, got cos at " + place), std::string::npos)
      << message;
}

}  // namespace
}  // namespace groove::testing
