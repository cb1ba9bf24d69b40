// Errors that depend on values: in eager mode, in a hot loop and in strict mode they have the same
// text, are thrown by the same call with the same things done before, and the loop goes on
// compiled.
#include <algorithm>
#include <set>

#include "src/core/op.h"
#include "tests/tell/tell.h"

namespace groove::testing {
namespace {

constexpr int kRows = 6, kColumns = 8;

// A call that looks at `chosen`; `h` [6, 8] is computed in the loop.
struct Case {
  const char* name;  // of the operator with the check
  Tensor (*call)(const Tensor& h, const Tensor& chosen);
  Tensor good, bad;
};

Tensor integers(std::vector<std::int64_t> values) { return tensor(values, TensorOptions(kLong)); }

std::vector<Case> cases() {
  const Tensor rows = integers({0, 5, 2}), no_rows = integers({0, 6, 2});
  const Tensor classes = integers({0, 7, 2, 3, 4, 5}), no_classes = integers({0, 8, 2, 3, 4, 5});
  const Tensor grid = groove::ones({3, kColumns}, kLong);
  const Tensor no_grid = grid * -1;
  return {
      {"index_select", [](const Tensor& h, const Tensor& i) { return index_select(h, 0, i); }, rows,
       no_rows},
      {"gather", [](const Tensor& h, const Tensor& i) { return gather(h, 0, i); }, grid, no_grid},
      {"embedding", [](const Tensor& h, const Tensor& i) { return embedding(h, i); }, rows,
       no_rows},
      {"one_hot",
       [](const Tensor& h, const Tensor& i) { return h * one_hot(i, kColumns).to(kFloat); },
       classes, no_classes},
      {"nll_loss", [](const Tensor& h, const Tensor& i) { return nll_loss(log_softmax(h, 1), i); },
       classes, no_classes},
      {"cross_entropy", [](const Tensor& h, const Tensor& i) { return cross_entropy_loss(h, i); },
       classes, no_classes},
      {"remainder",
       [](const Tensor& h, const Tensor& i) {
         return h * remainder(groove::full({3, kColumns}, 7, kLong), i).sum().to(kFloat);
       },
       grid * 4, grid * 0},
      {"fmod",
       [](const Tensor& h, const Tensor& i) {
         return h * fmod(groove::full({3, kColumns}, 7, kLong), i).sum().to(kFloat);
       },
       grid * 4, grid * 0},
      {"div_floor",
       [](const Tensor& h, const Tensor& i) {
         return h * floor_divide(groove::full({3, kColumns}, 7, kLong), i).sum().to(kFloat);
       },
       grid * 4, grid * 0},
      {"div_trunc",
       [](const Tensor& h, const Tensor& i) {
         return h * div(groove::full({3, kColumns}, 7, kLong), i, "trunc").sum().to(kFloat);
       },
       grid * 4, grid * 0},
      {"binary_cross_entropy",
       [](const Tensor& h, const Tensor& p) {
         return h * binary_cross_entropy(p, groove::ones({3}));
       },
       tensor({0.5f, 0.25f, 1.0f}), tensor({0.5f, 1.25f, 1.0f})},
      {"binary_cross_entropy",
       [](const Tensor& h, const Tensor& p) {
         return h * binary_cross_entropy(p.sigmoid(), groove::ones({3}));
       },
       tensor({0.5f, 0.25f, 1.0f}), tensor({0.5f, 1.25f, NAN})},
      {"index_add",
       [](const Tensor& h, const Tensor& i) {
         return index_add(h, 0, i, groove::ones({3, 8}));
       },
       rows, no_rows},
      {"index_copy",
       [](const Tensor& h, const Tensor& i) {
         return index_copy(h, 0, i, groove::ones({3, 8}));
       },
       rows, no_rows},
      {"index_fill_mask", [](const Tensor& h, const Tensor& i) { return index_fill(h, 0, i, 2.0); },
       rows, no_rows},
      {"scatter",
       [](const Tensor& h, const Tensor& i) {
         return scatter(h, 0, i, groove::ones({3, 8}));
       },
       grid, no_grid},
      {"scatter_value", [](const Tensor& h, const Tensor& i) { return scatter(h, 0, i, 2.0); },
       grid, no_grid},
      {"scatter_add",
       [](const Tensor& h, const Tensor& i) {
         return scatter_add(h, 0, i, groove::ones({3, 8}));
       },
       grid, no_grid},
      {"scatter_prod",
       [](const Tensor& h, const Tensor& i) {
         return scatter_reduce(h, 0, i, groove::ones({3, 8}), "prod");
       },
       grid, no_grid},
      {"scatter_amax",
       [](const Tensor& h, const Tensor& i) {
         return scatter_reduce(h, 0, i, groove::ones({3, 8}), "amax");
       },
       grid, no_grid},
      {"scatter_amin",
       [](const Tensor& h, const Tensor& i) {
         return scatter_reduce(h, 0, i, groove::ones({3, 8}), "amin");
       },
       grid, no_grid},
      {"verified",
       [](const Tensor& h, const Tensor& matrix) { return h * linalg_inv(matrix).sum(); },
       tensor({2.0f, 1.0f, 1.0f, 2.0f}).reshape({2, 2}), groove::ones({2, 2})},
      {"multinomial",
       [](const Tensor& h, const Tensor& w) { return index_select(h, 0, multinomial(w, 2, true)); },
       tensor({0.5f, 0.25f, 1.0f}), tensor({0.5f, -0.25f, 1.0f})},
  };
}

// Where what is looked at comes from.
enum Source { kGiven, kComputed, kView };

Tensor chosen_from(const Tensor& value, Source source) {
  switch (source) {
    case kGiven:
      return value;
    case kComputed:
      return value + value - value;
    default:
      return (value + value - value).unsqueeze(0).squeeze(0);
  }
}

struct Outcome {
  std::string log;
  std::uint64_t hits_before = 0, hits_after = 0;
};

Outcome run(const Case& c, Source source) {
  constexpr int kSteps = 44, kFirstBad = 16, kSecondBad = 27;
  Log log;
  Outcome outcome;
  auto weight = groove::rand({kRows, kColumns}).requires_grad_();
  auto state = groove::zeros({kColumns});
  for (int step = 0; step < kSteps; ++step) {
    const bool is_bad = step == kFirstBad || step == kSecondBad;
    int at = 0;
    try {
      const Tensor noise = groove::rand({kRows, kColumns});
      ++at;
      const Tensor h = weight * noise;
      ++at;
      state.mul_(0.5).add_(noise.sum(0));
      ++at;
      const Tensor chosen = chosen_from(is_bad ? c.bad : c.good, source);
      ++at;
      const Tensor y = c.call(h, chosen);
      ++at;
      const Tensor loss = y.square().mean();
      loss.backward();
      {
        NoGradGuard no_grad;
        weight -= weight.grad() * 0.1;
      }
      weight.grad().zero_();
      log.number(loss.item<double>());
    } catch (const Error& error) {
      log.line("error after " + std::to_string(at) + ": " + error.what());
      const jit::EagerGuard guard;
      log.tensor(state);
      log.tensor(weight);
    }
    if (step == kSecondBad) outcome.hits_before = jit::summary().hits;
  }
  outcome.hits_after = jit::summary().hits;
  jit::set_mode(jit::Mode::kEager);  // the end of a loop leaves what was begun
  log.tensor(state);
  log.tensor(weight);
  log.random_state();
  outcome.log = log.text;
  return outcome;
}

class ValueErrors : public Tell {};

TEST_F(ValueErrors, AreTheEagerOnesInEveryMode) {
  for (const Case& c : cases()) {
    for (const Source source : {kGiven, kComputed, kView}) {
      start(jit::Mode::kEager);
      const std::string expected = run(c, source).log;
      EXPECT_EQ(std::count(expected.begin(), expected.end(), 'e') > 0, true);
      EXPECT_NE(expected.find("error after 4: "), std::string::npos) << c.name << "\n" << expected;
      for (const jit::Mode mode : {jit::Mode::kAuto, jit::Mode::kStrict}) {
        start(mode);
        tracer::testing::set_hot(2);
        const Outcome outcome = run(c, source);
        EXPECT_EQ(difference(expected, outcome.log), "")
            << c.name << " source " << source << " " << name_of(mode);
        EXPECT_GE(outcome.hits_after, outcome.hits_before + 4)
            << c.name << " source " << source << " " << name_of(mode) << "\n"
            << jit::explain();
      }
    }
  }
}

// Whoever adds an operator with a check adds it to the cases above.
TEST_F(ValueErrors, EveryOperatorWithACheckIsTested) {
  std::set<std::string> tested;
  for (const Case& c : cases()) tested.insert(c.name);
  // Gradients of the ones above, which have checked the same index.
  for (const char* name : {"index_sum", "scatter_sum"}) tested.insert(name);
  for (const Op* op : all_ops())
    if (op->check) {
      EXPECT_TRUE(tested.contains(op->name)) << op->name;
      // A proof says nothing about NaN, so only checks of integers can do without looking.
      EXPECT_TRUE(op->allowed || op->name == "binary_cross_entropy") << op->name;
    }
}

// ---- values that are proven ----

struct Proven {
  const char* name;
  Tensor (*run)(const Tensor& h, int step);
};

const Proven kProven[] = {
    {"argmax",
     [](const Tensor& h, int) { return index_select(h.t().contiguous(), 0, h.argmax(1)); }},
    {"max", [](const Tensor& h, int) { return gather(h, 1, std::get<1>(h.max(1, true))); }},
    {"arange", [](const Tensor& h, int) { return index_select(h, 0, arange(4)); }},
    {"moving arange",
     [](const Tensor& h, int step) { return index_select(h, 0, arange(step % 3, step % 3 + 4)); }},
    {"randint", [](const Tensor& h, int) { return embedding(h, randint(kRows, {5})); }},
    {"randperm", [](const Tensor& h, int) { return index_select(h, 0, randperm(kRows)); }},
    {"comparison",
     [](const Tensor& h, int) { return index_select(h, 0, (h.sum(1) > 1.0).to(kLong)); }},
    {"one_hot", [](const Tensor& h, int) { return h * one_hot(h.argmax(1), kColumns).to(kFloat); }},
    {"argsort", [](const Tensor& h, int) { return gather(h, 1, argsort(h, 1)); }},
    {"topk", [](const Tensor& h, int) { return gather(h, 0, std::get<1>(topk(h, 3, 0))); }},
    {"clamp",
     [](const Tensor& h, int) {
       return index_select(h, 0, (h * 100.0).to(kLong).clamp(0, kRows - 1).view(-1));
     }},
    {"classes",
     [](const Tensor& h, int) { return cross_entropy_loss(h, (h.argmax(1) + 1).clamp_max(7)); }},
    {"where",
     [](const Tensor& h, int) {
       return index_select(h, 0, where(h.sum(1) > 2.0, h.argmax(1).clamp_max(5), arange(kRows)));
     }},
    {"concatenated",
     [](const Tensor& h, int) {
       return index_select(h, 0, cat({arange(3), arange(2)}));
     }},
};

std::string run_proven(const Proven& proven) {
  Log log;
  auto weight = groove::rand({kRows, kColumns}).requires_grad_();
  for (int step = 0; step < 16; ++step) {
    const Tensor h = weight * groove::rand({kRows, kColumns});
    const Tensor loss = proven.run(h, step).square().mean();
    loss.backward();
    {
      NoGradGuard no_grad;
      weight -= weight.grad() * 0.1;
    }
    weight.grad().zero_();
    log.number(loss.item<double>());
  }
  jit::set_mode(jit::Mode::kEager);
  log.tensor(weight);
  return log.text;
}

TEST_F(ValueErrors, ProvenValuesEndNoStage) {
  for (const Proven& proven : kProven) {
    start(jit::Mode::kEager);
    const std::string expected = run_proven(proven);
    start(jit::Mode::kAuto);
    EXPECT_EQ(difference(expected, run_proven(proven)), "") << proven.name;
    EXPECT_GE(jit::summary().hits, 8u) << proven.name << "\n" << jit::explain();
    EXPECT_EQ(jit::summary().leaves, 0u) << proven.name << "\n" << jit::explain();
    for (const jit::SegmentView& segment : jit::inspect())
      for (const jit::CallView& call : segment.calls)
        EXPECT_FALSE(call.ends_stage) << proven.name << ": " << call.call;
  }
}

// A proof rests on the numbers it was made with: with others the values are looked at again.
TEST_F(ValueErrors, ProofsAreMadeAnewForOtherNumbers) {
  const auto run_to = [](int last) {
    Log log;
    auto state = groove::rand({kRows, kColumns});
    for (int step = 0; step < 18; ++step) {
      try {
        const int first = step == 14 ? last : step % 3;
        state = index_select(state.tanh(), 0, arange(first, first + kRows - 2));
        state = cat({state, state.slice(0, 0, 2)}) * 1.5;
        log.number(state.sum().item<double>());
      } catch (const Error& error) {
        log.line(error.what());
      }
    }
    log.tensor(state);
    return log.text;
  };
  for (const int last : {2, 3}) {
    start(jit::Mode::kEager);
    const std::string expected = run_to(last);
    EXPECT_EQ(expected.find("out of range") != std::string::npos, last == 3);
    start(jit::Mode::kAuto);
    EXPECT_EQ(difference(expected, run_to(last)), "");
    EXPECT_GE(jit::summary().hits, 8u) << jit::explain();
  }
}

// ---- what is read after it was checked ----

// The index is real when the call checks it; the program then writes other positions into it, and
// the right ones back after the iteration.
TEST_F(ValueErrors, WhatWasCheckedIsWhatIsRead) {
  enum Way { kPointer, kKeptPointer, kInPlace, kCopied };
  const auto run_with = [](Way way, std::int64_t count) {
    Log log;
    Tensor index = remainder(arange(count), 5);
    const Tensor usual = index.clone(), wrong = groove::full({count}, 1'000'000, kLong);
    std::int64_t* kept = way == kKeptPointer ? index.data_ptr<std::int64_t>() : nullptr;
    auto table = groove::rand({kRows, kColumns});
    for (int step = 0; step < 14; ++step) {
      const Tensor rows = index_select(table, 0, index);
      switch (way) {
        case kPointer:
          index.data_ptr<std::int64_t>()[1] = 1'000'000;
          break;
        case kKeptPointer:
          kept[1] = 1'000'000;
          break;
        case kInPlace:
          index.add_(1'000'000);
          break;
        case kCopied:
          index.copy_(wrong);
          break;
      }
      const Tensor mean = rows.mean(0);
      table = (table + mean).tanh();
      log.number(mean.sum().item<double>());
      if (way == kPointer || way == kKeptPointer)
        index.data_ptr<std::int64_t>()[1] = 1;
      else
        index.copy_(usual);
    }
    log.tensor(table);
    return log.text;
  };
  for (const Way way : {kPointer, kKeptPointer, kInPlace, kCopied})
    for (const std::int64_t count : {7, 50'000}) {
      start(jit::Mode::kEager);
      const std::string expected = run_with(way, count);
      start(jit::Mode::kAuto);
      EXPECT_EQ(difference(expected, run_with(way, count)), "") << way << " " << count;
      // A value written in place in the loop and then looked at is not committed early yet.
      if (count == 7 && (way == kPointer || way == kKeptPointer)) {
        EXPECT_GE(jit::summary().hits, 4u) << way << "\n" << jit::explain();
      }
    }
}

// An index that the loop itself writes is looked at after that write.
TEST_F(ValueErrors, AnIndexWrittenInTheLoop) {
  const auto run_loop = [] {
    Log log;
    Tensor index = groove::zeros({3}, kLong);
    auto table = groove::rand({kRows, kColumns});
    for (int step = 0; step < 20; ++step) {
      try {
        index.add_(1);
        const Tensor rows = index_select(table, 0, index);
        table = (table + rows.mean(0)).tanh();
        log.number(rows.sum().item<double>());
      } catch (const Error& error) {
        log.line(error.what());
        log.tensor(index);
        index.zero_();
      }
    }
    log.tensor(table);
    return log.text;
  };
  start(jit::Mode::kEager);
  const std::string expected = run_loop();
  EXPECT_NE(expected.find("out of range"), std::string::npos);
  start(jit::Mode::kAuto);
  EXPECT_EQ(difference(expected, run_loop()), "");
}

// ---- shapes and dtypes ----

TEST_F(ValueErrors, ShapeAndDtypeErrorsAreTheEagerOnes) {
  using Bad = void (*)(const Tensor& h);
  static const Tensor other = groove::ones({3, 5}), line = groove::ones({3});
  const Bad bad[] = {
      [](const Tensor& h) { static_cast<void>(h + other); },
      [](const Tensor& h) { static_cast<void>(matmul(h, other)); },
      [](const Tensor& h) {
        static_cast<void>(h.view(IntArrayRef{7, 5}));
      },
      [](const Tensor& h) { static_cast<void>(h.sum(4)); },
      [](const Tensor& h) {
        static_cast<void>(cat({h, other}));
      },
      [](const Tensor& h) { static_cast<void>(index_select(h, 0, line)); },
      [](const Tensor& h) { static_cast<void>(where(h, h, h)); },
      [](const Tensor& h) { static_cast<void>(h + Tensor()); },
      [](const Tensor& h) { h.backward(); },
  };
  for (std::size_t which = 0; which < std::size(bad); ++which) {
    std::uint64_t hits = 0;
    const auto run_loop = [&] {
      Log log;
      auto weight = groove::rand({kRows, kColumns}).requires_grad_();
      auto state = groove::zeros({kColumns});
      for (int step = 0; step < 22; ++step) {
        int at = 0;
        try {
          const Tensor noise = groove::rand({kRows, kColumns});
          state.mul_(0.5).add_(noise.sum(0));
          const Tensor h = weight * noise;
          at = 1;
          if (step == 9 || step == 15) bad[which](h);
          at = 2;
          const Tensor loss = h.square().mean();
          loss.backward();
          {
            NoGradGuard no_grad;
            weight -= weight.grad() * 0.1;
          }
          weight.grad().zero_();
          log.number(loss.item<double>());
        } catch (const Error& error) {
          log.line("error after " + std::to_string(at) + ": " + error.what());
          const jit::EagerGuard guard;
          log.tensor(state);
          log.tensor(weight);
        }
      }
      hits = jit::summary().hits;
      jit::set_mode(jit::Mode::kEager);
      log.tensor(weight);
      log.random_state();
      return log.text;
    };
    start(jit::Mode::kEager);
    const std::string expected = run_loop();
    EXPECT_NE(expected.find("error after 1: "), std::string::npos) << which;
    for (const jit::Mode mode : {jit::Mode::kAuto, jit::Mode::kStrict}) {
      start(mode);
      EXPECT_EQ(difference(expected, run_loop()), "") << which << " " << name_of(mode);
      EXPECT_GE(hits, 10u) << which << " " << name_of(mode) << "\n" << jit::explain();
    }
  }
}

}  // namespace
}  // namespace groove::testing
