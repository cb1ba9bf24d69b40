// Loops that random-programs found to differ from eager mode, each the smallest form of its bug.
#include <gtest/gtest.h>

#include <functional>

#include "groove/groove.h"
#include "groove/jit.h"
#include "tracer/tell/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

class Found : public ::testing::Test {
 protected:
  void TearDown() override {
    tt::force_exit_at(-1);
    tt::forget_everything();
  }
  // A loop gives numbers; they must be those of eager mode, whatever is compiled and left.
  static void expect_as_eager(const std::function<std::vector<double>()>& loop) {
    const auto run = [&](jit::Mode mode, std::int64_t exit) {
      tt::set_hot(1);
      tt::set_synchronous(true);
      tt::forget_everything();
      tt::force_exit_at(exit);
      jit::set_mode(mode);
      manual_seed(3);
      std::vector<double> numbers = loop();
      jit::set_mode(jit::Mode::kEager);
      return numbers;
    };
    const std::vector<double> expected = run(jit::Mode::kEager, -1);
    for (std::int64_t exit = -1; exit < 10; ++exit)
      EXPECT_EQ(run(jit::Mode::kAuto, exit), expected) << "exit at " << exit;
    jit::set_mode(jit::Mode::kAuto);
  }
};

// The tape keeps a copy of what an in-place op overwrites; the recording took it for a constant.
TEST_F(Found, SavedValueOfInPlaceOpChanges) {
  expect_as_eager([] {
    const Tensor p = groove::full({3}, 0.7).requires_grad_();
    optim::Adam optimizer({p}, optim::AdamOptions(0.1));
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      optimizer.zero_grad();
      Tensor scaled = p * 0.5;
      scaled.sin_();
      (p + scaled).mean().backward();
      optimizer.step();
      numbers.push_back(p.detach().sum().item<double>());
    }
    return numbers;
  });
}

// An in-place write of another dtype needs the cast, which has the name of its op.
TEST_F(Found, InPlaceWritePromotes) {
  expect_as_eager([] {
    const Tensor p = groove::ones({2, 3}).requires_grad_();
    const Tensor wide = groove::full({1, 1}, 0.1, kDouble);
    optim::SGD optimizer({p}, optim::SGDOptions(0.1));
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      optimizer.zero_grad();
      Tensor noise = groove::rand({2, 3});
      noise.add_(wide);
      (p * noise).sum().backward();
      optimizer.step();
      numbers.push_back(p.detach().sum().item<double>());
    }
    return numbers;
  });
}

// `.grad` taken away between the calls of one iteration.
TEST_F(Found, GradientClearedByHand) {
  expect_as_eager([] {
    const Tensor a = groove::full({2}, 0.3).requires_grad_(),
                 b = groove::ones({2}).requires_grad_();
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      const Tensor difference = a.tanh() - b;
      difference.mean().backward({}, true);
      a.mutable_grad() = Tensor();
      numbers.push_back(a.grad().defined() ? 1 : 0);
      numbers.push_back(b.grad().sum().item<double>());
    }
    numbers.push_back(a.grad().defined());
    return numbers;
  });
}

// A loop whose head lies between forward and backward: the tape began before the recording, but
// its root was first seen where no gradients were recorded.
TEST_F(Found, TapeFromBeforeTheHead) {
  expect_as_eager([] {
    const Tensor p = groove::full({4}, 0.3).requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.1));
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      Tensor noisy;
      {
        const jit::EagerGuard eager;
        noisy = groove::dropout(p, 0.5, true);
      }
      {
        const NoGradGuard no_grad;
        numbers.push_back(noisy.sum().item<double>());
      }
      noisy.mean().backward();
      optimizer.step();
      optimizer.zero_grad();
    }
    numbers.push_back(p.detach().sum().item<double>());
    return numbers;
  });
}

// Two views of one exposed storage, read at different times, in a run that is left.
TEST_F(Found, ExposedMemoryUnderTwoHandles) {
  expect_as_eager([] {
    const Tensor p = groove::ones({1}).requires_grad_();
    const Tensor bytes = groove::ones({1, 1}, kByte);
    optim::AdamW optimizer({p}, optim::AdamWOptions(0.01));
    Tensor wide;
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      bytes.data_ptr<unsigned char>()[0] = static_cast<unsigned char>(step * 3 % 4);
      wide = bytes.expand({3, 1});
      optimizer.step();
      numbers.push_back(wide.sum().item<double>());
    }
    return numbers;
  });
}

// A pointer is handed out after a call has read the memory, but before the compiled code has.
TEST_F(Found, MemoryExposedAfterItsUse) {
  expect_as_eager([] {
    const Tensor p = groove::zeros({3, 1}).requires_grad_();
    Tensor mask = groove::ones({1}, kBool);
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      const Tensor next = mask.le(0.5).detach();
      {
        const NoGradGuard no_grad;
        p.add_(mask);
      }
      *mask.data_ptr<bool>() = step % 3 == 0;
      mask = next;
      optimizer.step();
    }
    numbers.push_back(p.detach().sum().item<double>());
    return numbers;
  });
}

// The call that read the memory under two views runs again after the program has written there.
TEST_F(Found, ExposedMemoryUnderTwoViewsOfALeftRun) {
  expect_as_eager([] {
    const Tensor p = groove::zeros({2}).requires_grad_();
    const Tensor values = groove::arange(6, kFloat);
    float* const memory = values.data_ptr<float>();
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    Tensor product, other;
    for (int step = 0; step < 12; ++step) {
      product = values.slice(0, 0, 3).mul(values.slice(0, 3, 6));
      memory[1] = 7.0f;
      other = step % 5 == 4 ? product.neg() : product.exp();
      memory[1] = 2.0f;
      optimizer.step();
      if (step % 5 == 4) numbers.push_back(product.sum().item<double>());
    }
    return numbers;
  });
}

// The compiled code writes the memory at its end; what an earlier stage reads of it is what a call
// has read, not what the program has put there since.
TEST_F(Found, ExposedMemoryThatIsWrittenAfterAStage) {
  expect_as_eager([] {
    std::vector<float> memory(9, 0.3F);
    const Tensor values = groove::from_blob(memory.data(), {3, 3});
    const Tensor weight = groove::eye(3);
    Tensor result = groove::zeros({3, 3});
    std::vector<double> numbers;
    for (int step = 0; step < 400; ++step) {
      const Tensor before = result.clone();
      if (step % 50 == 0) numbers.push_back(result.sum().item<double>());
      values.mul_(0.6);
      result = values.mm(weight).tanh() + 0.3;
      if (step % 7 == 6)
        for (float& each : memory) each = each * 0.5F + 0.1F;
    }
    return numbers;
  });
}

// The tape saves the tensor, not what it held: one that gets other memory between a compiled forward
// and its backward is another value, or an error where the versions tell.
TEST_F(Found, SavedResultThatGetsOtherMemory) {
  for (const bool is_written : {false, true})
    expect_as_eager([is_written] {
      const Tensor p = groove::full({4, 4}, 0.3).requires_grad_();
      const Tensor x = groove::rand({4, 4});
      const Tensor other = groove::rand({4, 4}), third = groove::rand({4, 4});
      std::vector<double> numbers;
      for (int step = 0; step < 12; ++step) {
        Tensor saved = x * 1.2 + 0.5;
        if (is_written && step % 3 == 2) saved.clamp_(-1, 1);
        Tensor inner = saved.mm(p).tanh();
        const Tensor loss = inner.mm(p).square().mean();
        saved.set_data(other);
        if (step % 4 == 3) saved.set_data(third);
        saved.set_data(saved);
        try {
          loss.backward();
        } catch (const Error&) {
          numbers.push_back(-1);
        }
        if (p.grad().defined()) numbers.push_back(p.grad().sum().item<double>());
      }
      return numbers;
    });
}

// Writes that a replay owes count as versions at once.
TEST_F(Found, VersionOfOwedWrite) {
  expect_as_eager([] {
    const Tensor p = groove::zeros({2}).requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      {
        const NoGradGuard no_grad;
        p.add_(1.5);
      }
      numbers.push_back(static_cast<double>(p._version()));
    }
    return numbers;
  });
}

// zero_grad(false) finds other gradients than when it was recorded.
TEST_F(Found, GradientAppearsBeforeZeroGrad) {
  expect_as_eager([] {
    const Tensor p = groove::ones({2}).requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      optimizer.zero_grad(false);
      const Tensor doubled = p * 2;
      if (step == 3) doubled.sum().backward();
      numbers.push_back(p.grad().defined() ? p.grad().sum().item<double>() : -1);
    }
    return numbers;
  });
}

// A fresh tensor that gets its history from an in-place write is not a leaf.
TEST_F(Found, HistoryFromInPlaceWrite) {
  expect_as_eager([] {
    const Tensor p = groove::ones({1}).requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      optimizer.zero_grad();
      const Tensor fresh = groove::full({2}, 3.0);
      fresh.div_(p);
      fresh.mean().backward();
      optimizer.step();
      numbers.push_back(fresh.is_leaf());
    }
    return numbers;
  });
}

// Operands of several dtypes: an operand made in its place in the result overran it.
TEST_F(Found, JoinedDtypesDiffer) {
  expect_as_eager([] {
    const Tensor p = groove::ones({2}).requires_grad_();
    const Tensor reals = groove::rand({8, 8}), integers = groove::ones({8, 8}, kLong);
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      const Tensor truths = groove::gt(integers, 0.5 + step % 2);
      const Tensor whole = groove::cat({groove::stack({reals, integers}).sum(0), truths}, 1);
      optimizer.step();
      numbers.push_back(whole.sum().item<double>());
    }
    return numbers;
  });
}

// A value check read a result that was still pending.
TEST_F(Found, ValueCheckOfAPendingResult) {
  expect_as_eager([] {
    const Tensor p = groove::full({3}, 0.4).requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      optimizer.zero_grad();
      groove::binary_cross_entropy(p.sigmoid(), groove::ones({3})).backward();
      optimizer.step();
      numbers.push_back(p.detach().sum().item<double>());
    }
    return numbers;
  });
}

// A history without saved values can be walked again after its backward.
TEST_F(Found, SecondBackwardThroughAKeptResult) {
  expect_as_eager([] {
    const Tensor p = groove::ones({2}).requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      const Tensor wide = p.expand({3, 2});
      wide.mean().backward();
      optimizer.step();
      groove::gelu(wide).sum().backward();
      numbers.push_back(p.grad().sum().item<double>());
    }
    return numbers;
  });
}

// What was saved is overwritten by a call that comes later on the tape; a backward past it runs.
TEST_F(Found, SavedValueOverwrittenBeforeABackwardPastIt) {
  expect_as_eager([] {
    const Tensor p = groove::full({3}, 0.5).requires_grad_();
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      Tensor hidden;
      {
        const jit::EagerGuard eager;
        hidden = p * 2.0;
      }
      const Tensor spoilt = hidden.square().sum();
      hidden.zero_();
      const Tensor total = (p * 3.0).exp().sum();
      numbers.push_back(total.item<double>());
      {
        const jit::EagerGuard eager;
        total.backward();
        try {
          spoilt.backward();
        } catch (const Error& error) {
          numbers.push_back(static_cast<double>(std::string(error.what()).size()));
        }
      }
      numbers.push_back(p.grad().sum().item<double>());
    }
    return numbers;
  });
}

// A result that got a history in place, and died, is no leaf's handle in the next run.
TEST_F(Found, ResultThatJoinedTheTapeDies) {
  expect_as_eager([] {
    const Tensor p = groove::full({2}, 0.5).requires_grad_();
    const Tensor weights = groove::full({2}, 0.5).requires_grad_();
    optim::SGD optimizer({weights}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      const Tensor result = (weights.detach() * 2.0).abs();
      numbers.push_back(static_cast<double>(result.is_leaf()));
      numbers.push_back(result.sum().item<double>());
      {
        const jit::EagerGuard eager;
        result.copy_(p);
      }
      numbers.push_back(static_cast<double>(result.is_leaf()));
      optimizer.step();
    }
    return numbers;
  });
}

// Backward reads what was written through a pointer since, in another tensor in every step.
TEST_F(Found, SavedValueWrittenThroughAPointer) {
  expect_as_eager([] {
    const Tensor p = groove::full({1}, 0.5).requires_grad_();
    Tensor factor = groove::full({1}, 1.0);
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      const Tensor loss = (p * factor).exp().sum();
      factor.data_ptr<float>()[0] += 0.25f;
      loss.backward();
      factor = groove::full({1}, 1.0 + step);
      numbers.push_back(p.grad().sum().item<double>());
    }
    return numbers;
  });
}

// The gradient of a view is made by a write into zeros, of which its version says nothing.
TEST_F(Found, VersionOfAViewsGradient) {
  expect_as_eager([] {
    const Tensor p = groove::full({3, 3}, 0.5).requires_grad_();
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      const Tensor gradient = groove::autograd::grad({p.diagonal().square().sum()}, {p})[0];
      numbers.push_back(gradient.sum().item<double>());
      numbers.push_back(static_cast<double>(gradient._version()));
    }
    return numbers;
  });
}

// A view of what got its history in place, before the loop: its own flags do not say so yet.
TEST_F(Found, ViewOfABaseThatJoinedTheTape) {
  expect_as_eager([] {
    const Tensor p = groove::ones({2}).requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int step = 0; step < 8; ++step) {
      const Tensor base = groove::full({2}, 0.25);
      const Tensor view = base.select(0, step % 2);
      {
        const jit::EagerGuard eager;
        base.add_(p);
      }
      view.cos().backward();
      optimizer.step();
      numbers.push_back(p.detach().select(0, 0).item<double>());
    }
    return numbers;
  });
}

// Leaving a loop: calls after a write into memory that the program looks at read what was written,
// and calls before a write in place that a stage has done read what was there first.
TEST_F(Found, WritesWhileLeaving) {
  expect_as_eager([] {
    const Tensor p = groove::full({1}, 3.0).requires_grad_();
    const Tensor seen = groove::zeros({2});
    Tensor kept;
    std::vector<double> numbers;
    for (int step = 0; step < 6; ++step) {
      const NoGradGuard no_grad;
      seen.data_ptr<float>()[0] = static_cast<float>(step);
      seen.copy_(p);
      const Tensor twice = seen.repeat({2});
      const Tensor count = groove::arange(3);
      const Tensor before = count + p;
      count.fill_(2);
      numbers.push_back(p.sum().item<double>());
      p.mul_(0.5);
      if (step == 5) kept = twice;
      if (step > 3) numbers.push_back(before.sum().item<double>());
    }
    numbers.push_back(kept.sum().item<double>());
    return numbers;
  });
}

// These are compiled, not only right: filled gradients before a step, and two optimizers.
TEST_F(Found, FilledGradientsAndTwoOptimizersAreCompiled) {
  for (const bool sets_to_none : {false, true})
    for (const bool has_two : {false, true}) {
      tt::set_hot(1);
      tt::set_synchronous(true);
      tt::forget_everything();
      jit::set_mode(jit::Mode::kAuto);
      const auto before = jit::summary().hits;
      const Tensor a = groove::ones({2, 2}).requires_grad_();
      const Tensor b = groove::ones({2}).requires_grad_();
      optim::AdamW first({a}, optim::AdamWOptions(0.05));
      optim::SGD second({b}, optim::SGDOptions(0.05));
      for (int step = 0; step < 12; ++step) {
        first.zero_grad(sets_to_none);
        if (has_two) second.zero_grad(sets_to_none);
        (a * a + b).mean().backward();
        first.step();
        if (has_two) second.step();
      }
      EXPECT_GE(jit::summary().hits - before, 8u) << jit::explain();
    }
}

}  // namespace
}  // namespace groove::testing
