// Every error begins with the name that the user wrote and ends with the place of that call, in
// eager mode and where the call stands in a compiled loop.
#include <gtest/gtest.h>

#include <cstring>

#include "groove/jit.h"
#include "tests/errors/mistakes.h"
#include "tests/tracer/at_once.h"

namespace groove::errors {

std::vector<Mistake>& mistakes() {
  static std::vector<Mistake> all;
  return all;
}

namespace {

std::string ending_of(const Error& error) {
  return "\n  at " + std::string(error.file() ? error.file() : "?") + ":" +
         std::to_string(error.line());
}

void check(const Mistake& mistake, const Error& error) {
  const std::string text = error.what(), message = error.msg();
  SCOPED_TRACE(std::string(mistake.file) + ":" + std::to_string(mistake.line) + ": " + text);
  EXPECT_EQ(text, message + ending_of(error));
  EXPECT_STREQ(error.what_without_backtrace(), message.c_str());
  if (!mistake.name.empty()) {
    EXPECT_EQ(message.substr(0, message.find(':')), mistake.name);
  }
  for (const std::string& word : mistake.words)
    EXPECT_NE(message.find(word), std::string::npos) << "no " << word;
  ASSERT_NE(error.file(), nullptr);
  EXPECT_STREQ(error.file(), mistake.file);
  EXPECT_GE(static_cast<int>(error.line()), mistake.line);
  EXPECT_LE(static_cast<int>(error.line()), mistake.line + 2);
}

// What the mistake throws; empty when it throws nothing.
std::string text_of(const Mistake& mistake) {
  try {
    mistake.make();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Errors, NameTheCallAndItsPlace) {
  EXPECT_GE(mistakes().size(), 60u);
  for (const Mistake& mistake : mistakes()) {
    try {
      mistake.make();
      ADD_FAILURE() << mistake.file << ":" << mistake.line << ": no error";
    } catch (const Error& error) {
      check(mistake, error);
    }
  }
}

using InLoops = groove::testing::CompiledAtOnce;

// The mistake is made in an iteration that is recorded, in some that are replayed, and after them.
TEST_F(InLoops, AreTheSameInCompiledCode) {
  for (const Mistake& mistake : mistakes()) {
    jit::set_mode(jit::Mode::kEager);
    const std::string eager = text_of(mistake);
    jit::set_mode(jit::Mode::kAuto);
    tracer::testing::forget_everything();
    Tensor weight = full({8}, 0.5f, requires_grad());
    for (int step = 0; step < 24; ++step) {
      const Tensor loss = (weight * weight).sum();
      loss.backward();
      if (step % 7 == 6) {
        EXPECT_EQ(text_of(mistake), eager) << mistake.file << ":" << mistake.line;
      }
      weight.mutable_grad().zero_();
    }
  }
}

struct NetImpl : nn::Module {
  NetImpl() { fc = register_module("fc", nn::Linear(4, 2)); }
  static constexpr int kLine = __LINE__ + 1;
  Tensor forward(const Tensor& x) { return fc(x); }
  nn::Linear fc{nullptr};
};
GROOVE_MODULE(Net);

// The innermost line that a user wrote says most.
// What LibTorch throws in these places.
TEST(Errors, AreOfLibTorchsKinds) {
  const Tensor x = ones({3, 4}), rows = tensor({0, 9}), singular = zeros({2, 2});
  EXPECT_THROW(x[5], IndexError);
  EXPECT_THROW(x.index({0, -9}), IndexError);
  EXPECT_THROW(x.index({ones({2}, kBool)}), IndexError);
  EXPECT_THROW(x.select(7, 0), IndexError);
  EXPECT_THROW(x.select(0, 7), IndexError);
  EXPECT_THROW(x.squeeze(5), IndexError);
  EXPECT_THROW(x.sum(2), IndexError);
  EXPECT_THROW(x.index_select(0, rows), IndexError);
  EXPECT_THROW(nn::Embedding(4, 2)(rows), IndexError);
  EXPECT_THROW(nn::functional::cross_entropy(x, tensor({0, 1, 4})), IndexError);
  EXPECT_THROW(empty({0, 3}).max(0), IndexError);
  EXPECT_THROW(cat({}), ValueError);
  EXPECT_THROW(nn::functional::cross_entropy(x, tensor({0, 1})), ValueError);
  EXPECT_THROW(tensor({1, 2}).mean(), NotImplementedError);
  EXPECT_THROW(linalg_inv(singular), LinAlgError);
  EXPECT_THROW(linalg_solve(singular, singular), LinAlgError);
  EXPECT_THROW(linalg_cholesky(singular), LinAlgError);
  EXPECT_THROW(x.mm(x), Error);
}

TEST(Errors, InTheUsersOwnModuleNameItsLine) {
  const auto line_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_STREQ(error.file(), __FILE__);
      EXPECT_EQ(error.msg().substr(0, 7), "linear:");
      return static_cast<int>(error.line());
    }
    return 0;
  };
  EXPECT_EQ(line_of([] { Net()(ones({2, 3})); }), NetImpl::kLine);
  EXPECT_EQ(line_of([] { Net()->forward(ones({2, 3})); }), NetImpl::kLine);
  EXPECT_EQ(line_of([] {
              nn::Sequential(nn::ReLU(), Net())->forward(ones({2, 3}));
            }),
            NetImpl::kLine);
}

struct Doubled : autograd::Function<Doubled> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static constexpr int kLine = __LINE__ + 2;
  static Tensors backward(autograd::AutogradContext*, const Tensors& grads) {
    return {grads[0].matmul(ones({3, 3}))};
  }
};

TEST(Errors, InAFunctionOfTheUserNameItsLine) {
  const Tensor x = ones({2}, requires_grad());
  const Tensor loss = Doubled::apply(x).sum();
  try {
    loss.backward();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.line()), Doubled::kLine) << error.what();
    EXPECT_EQ(error.msg().substr(0, 7), "matmul:");
  }
}

// A place is taken from the call only: no argument becomes one.
template <typename T>
concept IsPlace = requires(const Tensor& x, T value) {
  x.exp(value);
};
static_assert(IsPlace<Site>);
static_assert(!IsPlace<int> && !IsPlace<std::nullptr_t> && !IsPlace<ScalarType> &&
              !IsPlace<std::initializer_list<int>>);
template <typename T>
concept TakesNothing = requires(const T& x) {
  x.exp({});
};
static_assert(!TakesNothing<Tensor>);

}  // namespace
}  // namespace groove::errors
