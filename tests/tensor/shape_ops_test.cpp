// Views, copies and in-place geometry: values written out here or counted by hand, errors by text.
#include <gtest/gtest.h>

#include "groove/autograd.h"
#include "groove/groove.h"
#include "tests/core/error_of.h"
#include "tests/tensor/values.h"

namespace groove {
namespace {

TEST(Views, DivideAnAxis) {
  const Tensor x = counting({5, 2});
  std::vector<Tensor> parts = x.split(2);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(values(parts[2]), (Ints{8, 9}));
  EXPECT_TRUE(parts[1].is_alias_of(x));
  parts = split(x, {1, 0, 4});
  EXPECT_EQ(shape(parts[1]), (Ints{0, 2}));
  EXPECT_EQ(values(parts[2]), (Ints{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(x.chunk(4).size(), 3u);
  EXPECT_EQ(x.chunk(2, -1)[1].strides()[0], 2);
  EXPECT_EQ(zeros({0, 2}).chunk(3).size(), 3u);
  EXPECT_EQ(values(x.unbind(1)[1]), (Ints{1, 3, 5, 7, 9}));
  EXPECT_EQ(x.unbind().size(), 5u);
  EXPECT_EQ(shape(x.unflatten(0, {1, -1})), (Ints{1, 5, 2}));
  EXPECT_EQ(error_of([&] { x.split(0); }),
            "split: split_size 0 must be positive for dim 0 of size 5");
  EXPECT_EQ(error_of([&] {
              x.split({2, 2});
            }),
            "split: sizes [2, 2] add up to 4, not to the 5 of dim 0");
  EXPECT_EQ(error_of([&] {
              x.unflatten(0, {2, 2});
            }),
            "unflatten: sizes [2, 2] do not make the 5 of dim 0 of [5, 2]");
  EXPECT_EQ(error_of([&] { x.chunk(0); }), "chunk: 0 chunks; there must be at least one");
}

TEST(Views, ReorderAndBroadcast) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(shape(x.movedim(0, -1)), (Ints{3, 4, 2}));
  EXPECT_EQ(shape(x.movedim(2, 0)), (Ints{4, 2, 3}));
  EXPECT_EQ(shape(x.swapaxes(0, 2)), (Ints{4, 3, 2}));
  EXPECT_EQ(values(diagonal(counting({2, 3}), 1)), (Ints{1, 5}));
  EXPECT_EQ(shape(x.diagonal(0, 0, -1)), (Ints{3, 2}));
  EXPECT_EQ(shape(broadcast_to(arange(3), {2, 3})), (Ints{2, 3}));
  const std::vector<Tensor> both = broadcast_tensors({arange(3), counting({2, 1})});
  EXPECT_EQ(values(both[1]), (Ints{0, 0, 0, 1, 1, 1}));
  std::vector<Tensor> grid = meshgrid({arange(2), arange(3)});
  EXPECT_EQ(values(grid[0]), (Ints{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(values(grid[1]), (Ints{0, 1, 2, 0, 1, 2}));
  grid = meshgrid({arange(2), arange(3)}, "xy");
  EXPECT_EQ(shape(grid[0]), (Ints{3, 2}));
  EXPECT_EQ(values(grid[0]), (Ints{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(error_of([&] { x.diagonal(0, 1, -2); }),
            "diagonal: dim1 1 and dim2 -2 are the same axis");
}

TEST(Views, DiagonalIsWrittenThrough) {
  Tensor x = zeros({2, 3});
  x.diagonal(1).fill_(7);
  EXPECT_EQ(values(x), (Ints{0, 7, 0, 0, 0, 7}));
  Tensor weight = ones({3, 3}).requires_grad_();
  (weight.diagonal() * tensor({1., 2., 3.})).sum().backward();
  EXPECT_EQ(values(weight.grad()), (Ints{1, 0, 0, 0, 2, 0, 0, 0, 3}));
}

TEST(Copies, Repeat) {
  const Tensor x = counting({2, 2});
  EXPECT_EQ(values(x.repeat({1, 2})), (Ints{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(shape(x.repeat({2, 1, 3})), (Ints{2, 2, 6}));
  EXPECT_EQ(shape(x.repeat({0, 1})), (Ints{0, 2}));
  EXPECT_EQ(values(arange(2).tile({2})), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(shape(x.tile({3})), (Ints{2, 6}));
  EXPECT_EQ(values(x.repeat_interleave(2)), (Ints{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(values(x.repeat_interleave(2, 0)), (Ints{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values(x.repeat_interleave(2, -1)), (Ints{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(error_of([&] { x.repeat({2}); }), "repeat: 1 repeats are too few for shape [2, 2]");
  Tensor weight = tensor({1.f, 2.f}).requires_grad_();
  (weight.repeat({3}) * arange(6)).sum().backward();
  EXPECT_EQ(values(weight.grad()), (Ints{6, 9}));
}

TEST(Copies, FlipRollPad) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(values(x.flip({-1})), (Ints{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values(x.flip({0, 1})), (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values(x.t().flip({0}).contiguous()), (Ints{2, 5, 1, 4, 0, 3}));
  EXPECT_GE(x.flip({0}).stride(0), 0);
  EXPECT_EQ(values(x.roll({1})), (Ints{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(values(x.roll({-1}, {1})), (Ints{1, 2, 0, 4, 5, 3}));
  EXPECT_EQ(values(x.roll({3, -4}, {0, 1})), (Ints{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(values(constant_pad_nd(x, {1, 0}, 9)), (Ints{9, 0, 1, 2, 9, 3, 4, 5}));
  EXPECT_EQ(values(constant_pad_nd(x, {-1, 1, 0, -1}, 9)), (Ints{1, 2, 9}));
  EXPECT_EQ(values(pad(x, {1, 2}, "reflect")), (Ints{1, 0, 1, 2, 1, 0, 4, 3, 4, 5, 4, 3}));
  EXPECT_EQ(values(pad(x, {1, 1}, "replicate")), (Ints{0, 0, 1, 2, 2, 3, 3, 4, 5, 5}));
  EXPECT_EQ(values(pad(x, {1, 1}, "circular")), (Ints{2, 0, 1, 2, 0, 5, 3, 4, 5, 3}));
  EXPECT_EQ(shape(pad(zeros({1, 1, 4, 5}), {1, 2, 3, 3}, "replicate")), (Ints{1, 1, 10, 8}));
  EXPECT_EQ(values(pad(x, {0, 1}, "constant", 4)), (Ints{0, 1, 2, 4, 3, 4, 5, 4}));
  EXPECT_EQ(error_of([&] {
              pad(x, {3, 0}, "reflect");
            }),
            "pad: 3 elements of reflect padding do not fit dim 1 of [2, 3]; there may be 0 to 2");
  EXPECT_EQ(error_of([&] {
              pad(x, {1, 1}, "mirror");
            }),
            "pad: mode \"mirror\" is none of constant, reflect, replicate, circular");
  EXPECT_EQ(error_of([&] {
              constant_pad_nd(x, {-2, -2});
            }),
            "constant_pad_nd: pad [-2, -2] cuts 4 elements from dim 1 of [2, 3]");
  EXPECT_EQ(error_of([&] { x.roll({1, 2}, {0}); }), "roll: 2 shifts for 1 dims");
}

TEST(Copies, BackwardsReadsReachProducts) {
  const Tensor a = randn({3, 4}), b = randn({4, 5});
  const auto same = [](const Tensor& x, const Tensor& y) {
    return (x == y).to(kLong).sum().item<std::int64_t>() == x.numel();
  };
  const Tensor rows = a.flip({0}), columns = b.flip({1});
  EXPECT_TRUE(same(mm(rows, b), mm(a, b).flip({0})));
  EXPECT_TRUE(same(mm(a, columns), mm(a, b).flip({1})));
  EXPECT_TRUE(same(relu(a.flip({0, 1})) + 1, (relu(a) + 1).flip({0, 1})));
}

TEST(Copies, TrianglesAndDiagonals) {
  const Tensor x = counting({3, 3}) + 1;
  EXPECT_EQ(values(x.tril()), (Ints{1, 0, 0, 4, 5, 0, 7, 8, 9}));
  EXPECT_EQ(values(x.triu(1)), (Ints{0, 2, 3, 0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(ones({2, 2}, kBool).tril().scalar_type(), kBool);
  EXPECT_EQ(values(tril(x, -1)), (Ints{0, 0, 0, 4, 0, 0, 7, 8, 0}));
  EXPECT_EQ(values(triu(x, -2)), values(x));
  EXPECT_EQ(values(diag(arange(2) + 1, 1)), (Ints{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(values(diag(arange(2) + 1, -1)), (Ints{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(values(x.diag(1)), (Ints{2, 6}));
  EXPECT_EQ(values(eye(2, 3)), (Ints{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(error_of([&] { arange(3).tril(); }), "tril: shape [3] has no rows and columns");
  Tensor weight = ones({2, 2}).requires_grad_();
  (weight.tril() * 3).sum().backward();
  EXPECT_EQ(values(weight.grad()), (Ints{3, 0, 3, 3}));
}

TEST(InPlace, RefusesElementsThatShareMemory) {
  Tensor row = zeros({3});
  EXPECT_NE(error_of([&] { row.expand({4, 3}).add_(1); }), "");
  EXPECT_EQ(values(row), (Ints{0, 0, 0}));
}

// As if the operand had been copied first.
TEST(InPlace, ReadsOverlappingOperandsBeforeItWrites) {
  for (const std::int64_t count : {5, 100, 3000}) {
    Tensor later = ones({count}), earlier = ones({count});
    // Of parts with gaps; of others it is an error.
    EXPECT_THROW(later.slice(0, 1).add_(later.slice(0, 0, -1)), Error);
    const Tensor two = ones({count, 2}), three = ones({count, 2});
    two.select(1, 0).slice(0, 1).add_(two.select(1, 0).slice(0, 0, -1));
    three.select(1, 0).slice(0, 0, -1).add_(three.select(1, 0).slice(0, 1));
    later = two.select(1, 0);
    earlier = three.select(1, 0);
    Ints expected(static_cast<std::size_t>(count), 2);
    expected.back() = 1;
    EXPECT_EQ(values(earlier), expected) << count;
    EXPECT_EQ(values(later.flip({0})), expected) << count;
  }
}

TEST(InPlaceGeometry, ChangesEveryHandle) {
  Tensor x = counting({1, 2, 3});
  const Tensor other = x;
  x.squeeze_();
  EXPECT_EQ(shape(other), (Ints{2, 3}));
  x.t_();
  EXPECT_EQ(values(other), (Ints{0, 3, 1, 4, 2, 5}));
  x.unsqueeze_(-1).transpose_(0, 2);
  EXPECT_EQ(shape(other), (Ints{1, 2, 3}));
  EXPECT_EQ(other.numel(), 6);
  x[0][1][2] = 50;
  EXPECT_EQ(values(other), (Ints{0, 1, 2, 3, 4, 50}));
  EXPECT_NE(error_of([&] { x.unsqueeze_(7); }).find("dim 7 is out of range"), std::string::npos);
  EXPECT_EQ(shape(x), (Ints{1, 2, 3}));
}

TEST(InPlaceGeometry, KnowsItsBase) {
  Tensor base = zeros({2, 3});
  Tensor row = base[1];
  row.unsqueeze_(1);
  Tensor weight = ones({3, 1}).requires_grad_();
  row.copy_(weight * 2);  // gives the base a history, and the view its own by way of the base
  base.sum().backward();
  EXPECT_EQ(values(weight.grad()), (Ints{2, 2, 2}));
  EXPECT_EQ(shape(row), (Ints{3, 1}));
}

TEST(InPlaceGeometry, RefusesWhatTheTapeKnows) {
  Tensor weight = ones({2, 3}).requires_grad_();
  EXPECT_EQ(error_of([&] { weight.t_(); }),
            "t_: the shape [2, 3] of a tensor that requires a gradient cannot change in place; "
            "assign the result of t()");
  Tensor data = ones({2, 3});
  Tensor product = weight * data;
  EXPECT_NE(error_of([&] { data.t_(); }).find("backward() needs it"), std::string::npos);
  product.sum().backward();
  product.reset();
  data.t_();
  EXPECT_EQ(shape(data), (Ints{3, 2}));
}

}  // namespace
}  // namespace groove
