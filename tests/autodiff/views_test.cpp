// Views made without recording, data() and what a backward says of changed values, gradients that
// are kept over writes, hooks, and functions of lists: as LibTorch 2.15 answered.
#include <gtest/gtest.h>

#include "groove/groove.h"
#include "tests/core/error_of.h"
#include "tests/tensor/values.h"

namespace groove {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
/// [[1, 2], [3, 4]], a leaf.
Tensor leaf() { return (counting({2, 2}) + 1).to(kFloat).requires_grad_(); }
Ints grad(const Tensor& x) { return x.grad().defined() ? values(x.grad()) : Ints{}; }

template <typename View>
Tensor without_grad(const View& view) {
  const NoGradGuard guard;
  return view();
}

TEST(ViewWithoutGrad, RequiresAGradientThatLeadsNowhere) {
  const Tensor x = leaf();
  const Tensor v = without_grad([&] { return x.view({4}); });
  EXPECT_TRUE(v.requires_grad());
  EXPECT_TRUE(v.is_leaf());
  EXPECT_TRUE(v[0].requires_grad());
  ((v * 2).sum() + (x * 3).sum()).backward();
  EXPECT_EQ(grad(x), (Ints{3, 3, 3, 3}));
  EXPECT_FALSE(v.grad().defined());
  EXPECT_THROW(without_grad([&] { return x[0][0]; }).backward(), Error);
  v.register_hook([](Tensor) { ADD_FAILURE() << "no gradient comes there"; });
  (v * 2).sum().backward();
  // With a flag of its own it is a leaf like any other.
  v.requires_grad_();
  (v * 2).sum().backward();
  EXPECT_EQ(grad(v), (Ints{2, 2, 2, 2}));
  EXPECT_EQ(grad(x), (Ints{3, 3, 3, 3}));
}

TEST(ViewWithoutGrad, IsEveryKindOfView) {
  const Tensor x = leaf();
  const NoGradGuard guard;
  for (const Tensor& view : {x.t(), x[0], x.expand({3, 2, 2}), x.reshape({4}), x.unsqueeze(0),
                             x.index({indexing::Slice(0, 1)}), x.index({"..."}), x.diagonal(),
                             x.unbind(0)[0], x.narrow(0, 0, 1), x[0][1]})
    EXPECT_TRUE(view.requires_grad()) << shape(view).size();
  for (const Tensor& other : {x * 2, x.detach(), x.data(), x.data().view({4}), x.clone()})
    EXPECT_FALSE(other.requires_grad());
}

TEST(ViewWithoutGrad, OfABaseThatRequiresOneLaterDoesToo) {
  const Tensor x = ones({2, 2}), v = x.view({4});
  x.requires_grad_();
  EXPECT_TRUE(v.requires_grad());
  EXPECT_TRUE(v.is_leaf());
  EXPECT_THROW(v.mul_(2), Error);
}

TEST(ViewWithoutGrad, IsNotWrittenWhileGradientsAreRecorded) {
  const Tensor x = leaf(), y = leaf() * 1;
  const Tensor v = without_grad([&] { return x.view({4}); });
  const Tensor row = without_grad([&] { return y[0]; });
  EXPECT_TRUE(contains(error_of([&] { v.mul_(2); }), "created in no_grad mode"));
  EXPECT_TRUE(contains(error_of([&] { row.mul_(2); }), "created in no_grad mode"));
  EXPECT_TRUE(contains(error_of([&] { row[0].mul_(2); }), "created in no_grad mode"));
  EXPECT_EQ(values(x), (Ints{1, 2, 3, 4}));
  {
    const NoGradGuard guard;
    v.mul_(2);
  }
  EXPECT_EQ(values(x), (Ints{2, 4, 6, 8}));
  // The write through it was not recorded, and neither was how it is made.
  EXPECT_TRUE(contains(error_of([&] { (v * v).sum(); }), "created in no_grad mode"));
}

TEST(ViewWithoutGrad, OfAWrittenBaseHasNoGradient) {
  const Tensor y = leaf() * 1;
  const Tensor v = without_grad([&] { return y.view({4}); });
  y.mul_(2);
  EXPECT_TRUE(v.requires_grad());
  EXPECT_TRUE(contains(error_of([&] { (v * 1).sum(); }), "created in no_grad mode"));
}

TEST(Data, CountsVersionsOfItsOwn) {
  const Tensor x = leaf();
  const Tensor y = x * x, d = x.data();
  d.mul_(3);
  d[0].mul_(2);
  EXPECT_EQ(x._version(), 0);
  EXPECT_EQ(d._version(), 2);
  EXPECT_EQ(d[0]._version(), 2);
  y.sum().backward();  // at the new value
  EXPECT_EQ(grad(x), (Ints{12, 24, 18, 24}));
  x.grad().data().zero_();
  EXPECT_EQ(grad(x), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(x.grad()._version(), 0);
}

TEST(Data, OfItsOwnTapeNoticesItsOwnWrites) {
  const Tensor x = leaf(), d = x.data().requires_grad_();
  const Tensor first = d * d, second = d * d;
  {
    const NoGradGuard guard;
    x.mul_(2);
  }
  first.sum().backward();
  EXPECT_EQ(grad(d), (Ints{4, 8, 12, 16}));
  {
    const NoGradGuard guard;
    d[0].mul_(2);
  }
  EXPECT_THROW(second.sum().backward(), Error);
}

TEST(Data, UnlikeDetachIsNotNoticed) {
  for (const bool is_data : {false, true}) {
    const Tensor x = leaf(), y = x.tanh();
    (is_data ? y.data() : y.detach()).zero_();
    if (is_data) {
      y.sum().backward();
      EXPECT_EQ(grad(x), (Ints{1, 1, 1, 1}));
    } else {
      EXPECT_THROW(y.sum().backward(), Error);
    }
  }
  const Tensor x = leaf(), y = x * x;
  x.tensor_data().mul_(10);
  EXPECT_THROW(y.sum().backward(), Error);
}

// LibTorch saves what the wanted gradients need.
TEST(Backward, NeedsOnlyWhatItReads) {
  const auto changed = [](const Tensor& x) {
    const NoGradGuard guard;
    x.mul_(2);
  };
  const Tensor weight = leaf(), input = ones({3, 2});
  const Tensor y = linear(input, weight), z = input.mm(weight);
  changed(weight);
  (y.sum() + z.sum()).backward();
  EXPECT_EQ(grad(weight), (Ints{6, 6, 6, 6}));
  const Tensor product = input.mm(weight);
  changed(input);
  EXPECT_THROW(product.sum().backward(), Error);
  const Tensor x = leaf(), once = x * 1, threes = full({2, 2}, 3);
  const Tensor scaled = once * threes;
  once.add_(1);
  scaled.sum().backward();
  EXPECT_EQ(grad(x), (Ints{3, 3, 3, 3}));
}

// In LibTorch's C++ library only SGD's step is not noticed.
TEST(Backward, AfterAStepWarnsOrThrows) {
  std::vector<std::uint32_t> lines;
  const WarningHandler before = set_warning_handler(
      [&lines](const std::string&, const Site& site) { lines.push_back(site.line()); });
  const Tensor w = leaf();
  optim::SGD sgd({w}, 0.25);
  std::uint32_t line = 0;
  for (int i = 0; i < 2; ++i) {
    w.mutable_grad() = Tensor();
    const Tensor loss = (w * w).sum();
    loss.backward({}, true);
    sgd.step();
    line = __LINE__ + 1;
    loss.backward();
  }
  set_warning_handler(before);
  EXPECT_EQ(lines, std::vector<std::uint32_t>{line});
  EXPECT_EQ(w._version(), 0);
  optim::Adam adam({w}, 0.25);
  const Tensor loss = (w * w).sum();
  loss.backward({}, true);
  adam.step();
  EXPECT_THROW(loss.backward(), Error);
}

TEST(RetainGrad, IsOfTheTensorAsItIsNow) {
  const Tensor x = leaf(), y = x * 2;
  y.retain_grad();
  const Tensor before = y + 1;
  y.mul_(3);
  y.add_(1);
  EXPECT_TRUE(y.retains_grad());
  ((y * 5).sum() + before.sum()).backward();
  EXPECT_EQ(grad(y), (Ints{5, 5, 5, 5}));
  EXPECT_EQ(grad(x), (Ints{32, 32, 32, 32}));
}

TEST(RetainGrad, OfViewsAndBases) {
  const Tensor x = leaf(), y = x * 2;
  y.retain_grad();
  const Tensor v = y[0];
  v.retain_grad();
  v.mul_(3);
  ((v * 7).sum() + y.sum()).backward();
  EXPECT_EQ(grad(v), (Ints{7, 7}));
  EXPECT_EQ(grad(y), (Ints{8, 8, 1, 1}));
  EXPECT_EQ(grad(x), (Ints{48, 48, 2, 2}));
  const Tensor z = x * 2, row = z[0];
  row.retain_grad();
  z.mul_(3);
  ((row * 7).sum() + z.sum()).backward();
  EXPECT_EQ(grad(row), (Ints{7, 7}));
}

TEST(RetainGrad, AlsoInGradAndBesideHooks) {
  const Tensor x = leaf(), y = x * 2;
  y.retain_grad();
  EXPECT_EQ(values(autograd::grad({(y * 3).sum()}, {x})[0]), (Ints{6, 6, 6, 6}));
  EXPECT_EQ(grad(y), (Ints{3, 3, 3, 3}));
  const Tensor z = x * 2;
  z.register_hook([](Tensor g) { return g * 10; });
  z.mul_(3);  // the hook stays with the value that it was given
  z.retain_grad();
  z.sum().backward();
  EXPECT_EQ(grad(z), (Ints{1, 1, 1, 1}));
  EXPECT_EQ(grad(x), (Ints{60, 60, 60, 60}));
}

TEST(Grad, WithoutInputsIsAnError) {
  const Tensor x = leaf();
  EXPECT_THROW(autograd::grad({x.sum()}, {}), Error);
}

struct ListSum : autograd::Function<ListSum> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x, TensorList list, double k) {
    return (x + list[0] * 2 + list[1] * 3) * k;
  }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0], g[0] * 2, g[0] * 3, Tensor()};
  }
};
struct VectorSum : autograd::Function<VectorSum> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x, std::vector<Tensor> list) {
    return x + list[0];
  }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0], g[0]};
  }
};
struct TooFew : autograd::Function<TooFew> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x, double k) { return x * k; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0]};
  }
};
struct Same : autograd::Function<Same> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0] * 10, Tensor(), Tensor()};
  }
};

TEST(CustomFunction, TakesTensorLists) {
  const Tensor a = leaf(), b = leaf(), c = leaf();
  const std::vector<Tensor> list{b, c};
  ListSum::apply(ones({2, 2}), TensorList(list), 1.0).sum().backward();
  ListSum::apply(a, TensorList(list), 1.0).sum().backward();
  EXPECT_EQ(grad(a), (Ints{1, 1, 1, 1}));
  EXPECT_EQ(grad(b), (Ints{4, 4, 4, 4}));
  EXPECT_EQ(grad(c), (Ints{6, 6, 6, 6}));
}

TEST(CustomFunction, ChecksTheGradientsThatItIsGiven) {
  const Tensor a = leaf(), b = leaf();
  EXPECT_FALSE(VectorSum::apply(ones({2, 2}), std::vector<Tensor>{b}).requires_grad());
  EXPECT_TRUE(
      contains(error_of([&] { VectorSum::apply(a, std::vector<Tensor>{b}).sum().backward(); }),
               "position 2"));
  EXPECT_TRUE(
      contains(error_of([&] { TooFew::apply(a, 2.0).sum().backward(); }), "expected 2, got 1"));
  EXPECT_FALSE(a.grad().defined());
}

TEST(CustomFunction, GivesItsArgumentUnderAnotherName) {
  const Tensor x = leaf(), y = Same::apply(x);
  EXPECT_FALSE(y.is_same(x));
  y.sum().backward();
  EXPECT_EQ(grad(x), (Ints{10, 10, 10, 10}));
  EXPECT_THROW(Same::apply(x * 1).mul_(2), Error);
}

}  // namespace
}  // namespace groove
