// One small program for every reason in tracer/calls/reasons.def, shown on the page "How Groove
// finds and leaves compiled code". Each is a loop that is compiled and then does something else
// once, in iteration 9; `odd` says when.
#include "tests/tell/reasons_examples.h"

#include <groove/groove.h>

#include <thread>

namespace groove::testing {
namespace {

constexpr int kIterations = 14, kOdd = 9;

template <typename Body>
void loop(const Body& body) {
  for (int i = 0; i < kIterations; ++i) body(i == kOdd);
}

// -- kMismatchOp
void another_operator() {
  auto x = groove::rand({8});
  loop([&](bool odd) {
    auto y = x * 2.0;
    y = odd ? y.exp() : y.tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kMismatchSite
void another_line() {
  auto x = groove::rand({8});
  loop([&](bool odd) {
    auto y = x * 2.0;
    if (odd)
      y = y.tanh();
    else
      y = y.tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kMismatchAttribute
void another_dimension() {
  auto x = groove::rand({4, 4});
  loop([&](bool odd) {
    auto y = x * 2.0;
    y = y.sum(odd ? 1 : 0);
    std::printf("%g\n", y.max().item<double>());
  });
}

// -- kMismatchOperand
void another_operand() {
  auto x = groove::rand({8});
  loop([&](bool odd) {
    auto a = x * 2.0;
    auto b = x + 1.0;
    auto c = a * (odd ? a : b);
    std::printf("%g\n", c.sum().item<double>());
  });
}

// -- kAnyOperand
void one_of_two() {
  auto usual = groove::rand({8}), other = groove::rand({8});
  loop([&](bool odd) {
    auto y = usual * 2.0;
    y = y + (odd ? other : usual);
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kMismatchNumber
void another_kind_of_number() {
  auto x = groove::arange(8);
  loop([&](bool odd) {
    auto y = x + 1;
    y = y * (odd ? Scalar(true) : Scalar(2));
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kMoved
void a_slice_moves() {
  auto x = groove::rand({8});
  loop([&](bool odd) {
    auto y = x * 2.0;
    y = y.narrow(0, odd ? 3 : 0, 4).tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kMismatchGradMode
void gradients_off() {
  auto w = groove::rand({8}).requires_grad_();
  loop([&](bool odd) {
    auto x = groove::rand({8}) * 2.0;
    AutoGradMode mode(!odd);
    auto y = (w * x).detach();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kLiveInType
void another_shape() {
  auto usual = groove::rand({32}), last = groove::rand({7});
  loop([&](bool odd) {
    auto y = groove::rand({1}) * 2.0;
    y = (y * (odd ? last : usual)).tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kHostRead
void a_look() {
  auto x = groove::rand({1});
  loop([&](bool odd) {
    auto y = x * 2.0;
    if (odd) std::printf("%g\n", y.item<double>());
    y = y.tanh() + 1.0;
    std::printf("%g\n", y.item<double>());
  });
}

// -- kEscape
void a_tensor_is_kept() {
  auto x = groove::rand({8});
  std::vector<Tensor> kept;
  loop([&](bool odd) {
    auto y = x * 2.0;
    if (odd) kept.push_back(y);
    y = y.tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kException
void an_exception() {
  auto x = groove::rand({8}), right = groove::tensor({1, 2}, kLong), wrong = right + 7;
  loop([&](bool odd) {
    try {
      auto y = x * 2.0;
      y = y.index_select(0, odd ? wrong : right);
      y = y.tanh();
      std::printf("%g\n", y.sum().item<double>());
    } catch (const Error& error) {
      std::printf("%s\n", error.what());
    }
  });
}

// -- kMismatchState
void another_optimizer() {
  auto w = groove::rand({8}).requires_grad_(), unused = groove::rand({8}).requires_grad_();
  optim::SGD first({w}, optim::SGDOptions(0.1)), second({w, unused}, optim::SGDOptions(0.1));
  loop([&](bool odd) {
    first.zero_grad();
    (w * 2.0).square().mean().backward();
    (odd ? second : first).step();
  });
}

// -- kLiveInAlias
void two_names_for_one_memory() {
  auto a = groove::rand({8}), b = groove::rand({8});
  loop([&](bool odd) {
    auto other = odd ? a.view({8}) : b;
    a.mul_(0.5);
    auto y = other * 2.0;
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kHostAccess
void a_look_at_the_history() {
  auto w = groove::rand({8}).requires_grad_();
  loop([&](bool odd) {
    auto y = w * 2.0;
    if (odd) std::printf("%d\n", y.grad_fn() != nullptr);
    y = y.square();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kExposed
void a_buffer_is_filled_between_two_uses() {
  auto buffer = groove::zeros({8});
  auto* values = buffer.data_ptr<float>();
  loop([&](bool odd) {
    auto a = buffer * 2.0;
    if (odd) values[3] += 1;
    auto b = buffer + a;
    std::printf("%g\n", b.sum().item<double>());
  });
}

// -- kExposedLarge
void a_large_buffer() {
  auto buffer = groove::zeros({1 << 23});
  loop([&](bool odd) {
    if (odd) buffer.data_ptr<float>()[3] = 1;
    auto y = groove::rand({1}).exp().tanh();
    y = y * buffer.sum();
    std::printf("%g\n", y.item<double>());
  });
}

// -- kExposedWrite
void what_has_a_pointer_is_written_in_place() {
  auto x = groove::rand({8});
  const float* values = nullptr;
  loop([&](bool odd) {
    if (odd) values = x.data_ptr<float>();
    x.mul_(0.5);
    if (values) std::printf("%g now\n", values[3]);
    auto y = x.tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kLiveInOnTape
void a_view_whose_base_joined_the_tape() {
  auto w = groove::rand({4, 8}).requires_grad_();
  auto base = groove::rand({4, 8});
  auto row = base.select(0, 1);
  base.mul_(w);
  loop([&](bool) {
    auto above = (row > 0.25).to(kFloat);
    auto y = (above * groove::rand({8})).tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kTooLong
void a_very_long_iteration() {
  auto w = groove::rand({3}).requires_grad_();
  optim::SGD optimizer({w}, 0.1);
  optimizer.step();
  loop([&](bool) {
    auto sum = groove::zeros({1}, kLong);
    for (int i = 0; i < 9000; ++i) sum = sum + groove::randint(9, {1});
    optimizer.step();
  });
}

// -- kDynamicWrite
void written_through_a_view_of_a_view() {
  auto x = groove::rand({8, 4}).t();
  loop([&](bool) {
    x.select(0, 1).mul_(0.5);
    auto y = x * 2.0;
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kModeChange
void an_eager_region() {
  auto x = groove::rand({8});
  loop([&](bool odd) {
    auto y = x * 2.0;
    if (odd) {
      jit::EagerGuard guard;
      std::printf("%g\n", y.max().item<double>());
    }
    y = y.tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

// -- kThread
void another_thread_looks() {
  auto x = groove::rand({8});
  loop([&](bool odd) {
    auto y = x * 2.0;
    if (odd) std::thread([&] { std::printf("%g\n", y.sum().item<double>()); }).join();
    y = y.tanh();
    std::printf("%g\n", y.sum().item<double>());
  });
}

}  // namespace

const std::vector<ReasonExample>& reason_examples() {
  static const std::vector<ReasonExample> examples = {
      {"kMismatchOp", another_operator},
      {"kMismatchSite", another_line},
      {"kMismatchAttribute", another_dimension},
      {"kMismatchOperand", another_operand},
      {"kAnyOperand", one_of_two},
      {"kMismatchNumber", another_kind_of_number},
      {"kMoved", a_slice_moves},
      {"kMismatchGradMode", gradients_off},
      {"kLiveInType", another_shape},
      {"kHostRead", a_look},
      {"kEscape", a_tensor_is_kept},
      {"kException", an_exception},
      {"kMismatchState", another_optimizer},
      {"kLiveInAlias", two_names_for_one_memory},
      {"kHostAccess", a_look_at_the_history},
      {"kExposed", a_buffer_is_filled_between_two_uses},
      {"kExposedLarge", a_large_buffer},
      {"kExposedWrite", what_has_a_pointer_is_written_in_place},
      {"kLiveInOnTape", a_view_whose_base_joined_the_tape},
      {"kTooLong", a_very_long_iteration},
      {"kDynamicWrite", written_through_a_view_of_a_view},
      {"kModeChange", an_eager_region},
      {"kThread", another_thread_looks},
  };
  return examples;
}

}  // namespace groove::testing
