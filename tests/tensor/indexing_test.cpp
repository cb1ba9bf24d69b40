// x[i], index() and index_put_() against index arithmetic written out here; shapes of advanced
// indexing as LibTorch 2.15 gave them.
#include "groove/indexing.h"

#include <gtest/gtest.h>

#include "groove/groove.h"
#include "tests/core/error_of.h"
#include "tests/tensor/values.h"

namespace groove {
namespace {

using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;

TEST(Subscript, ReadsAndIsAView) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(x[1].sizes(), (IntArrayRef{3, 4}));
  EXPECT_EQ(x[1][2][3].item<int>(), 23);
  EXPECT_EQ(x[-1][-3][0].item<int>(), 12);
  EXPECT_TRUE(x[0].is_alias_of(x));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(x[i][0][0].item<int>(), static_cast<int>(i) * 12);
  EXPECT_EQ(values(x[tensor({1, 0})][0][0]), (Ints{12, 13, 14, 15}));
  EXPECT_EQ(error_of([&] { x[2]; }),
            "[]: 2 is out of range for dimension 0 with size 2 (shape [2, 3, 4])");
  EXPECT_EQ(error_of([&] { x[0][-4]; }),
            "[]: -4 is out of range for dimension 0 with size 3 (shape [3, 4])");
  EXPECT_EQ(error_of([&] { tensor(1)[0]; }),
            "[]: a 0-d tensor has no elements to index; use item()");
}

TEST(Subscript, WritesThroughTheView) {
  Tensor x = zeros({2, 3});
  const Tensor row = x[1];
  x[0] = 1;
  x[1][2] = 2.5;
  x[1][0] = tensor(7.0);
  x[0][1] += 3;
  EXPECT_EQ(values(x * 2), (Ints{2, 8, 2, 14, 0, 5}));
  EXPECT_EQ(row[2].item<float>(), 2.5f);
  x[0] = x[1];
  EXPECT_EQ(values(x[0] * 2), (Ints{14, 0, 5}));
  const Tensor before = x;
  x = ones({1});  // a named tensor is assigned as a handle
  EXPECT_EQ(before.numel(), 6);
  EXPECT_EQ(x.numel(), 1);
}

TEST(Index, ViewsFollowPython) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(values(x.index({1, Slice(0, 2), Slice(None, None, 3)})), (Ints{12, 15, 16, 19}));
  EXPECT_EQ(values(x.index({"...", -1})), (Ints{3, 7, 11, 15, 19, 23}));
  EXPECT_EQ(values(x.index({0, Ellipsis, Slice(-2, None)})), (Ints{2, 3, 6, 7, 10, 11}));
  EXPECT_EQ(x.index({None, 1, None}).sizes(), (IntArrayRef{1, 1, 3, 4}));
  EXPECT_EQ(x.index({Slice(), None, "...", None}).sizes(), (IntArrayRef{2, 1, 3, 4, 1}));
  EXPECT_EQ(x.index({Slice(1, 100)}).sizes(), (IntArrayRef{1, 3, 4}));
  EXPECT_EQ(x.index({Slice(5, 7)}).sizes(), (IntArrayRef{0, 3, 4}));
  EXPECT_EQ(x.index({true}).sizes(), (IntArrayRef{1, 2, 3, 4}));
  EXPECT_EQ(x.index({false}).sizes(), (IntArrayRef{0, 2, 3, 4}));
  EXPECT_EQ(x.index({tensor(1)}).sizes(), (IntArrayRef{3, 4}));
  EXPECT_TRUE(x.index({Slice(), 1}).is_alias_of(x));
  EXPECT_EQ(error_of([&] {
              x.index({0, 0, 0, 0});
            }),
            "index: 4 indices are too many for shape [2, 3, 4]");
  EXPECT_NE(error_of([&] { x.index({Slice(None, None, -1)}); }).find("positive, not -1"),
            std::string::npos);
  EXPECT_NE(error_of([&] { x.index({"..", 1}); }).find("only \"...\""), std::string::npos);
}

TEST(Index, TensorsGather) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(values(x.index({"...", tensor({0, 2})})),
            (Ints{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
  EXPECT_EQ(values(x.index({tensor({-1, 0}), 0, 0})), (Ints{12, 0}));
  EXPECT_EQ(values(x.index({tensor({0, 1}), tensor({2, -1}), tensor({3, 0})})), (Ints{11, 20}));
  // A pair of axes apart: the indexed shape comes first.
  const Tensor apart = x.index({tensor({0, 1}), Slice(), tensor({0, 3})});
  EXPECT_EQ(apart.sizes(), (IntArrayRef{2, 3}));
  EXPECT_EQ(values(apart), (Ints{0, 4, 8, 15, 19, 23}));
  EXPECT_EQ(values(x.index({Slice(), tensor({0, 1}), tensor({0, 1})})), (Ints{0, 5, 12, 17}));
  EXPECT_EQ(x.index({tensor({{0}, {1}}), tensor({0, 1, 2})}).sizes(), (IntArrayRef{2, 3, 4}));
  EXPECT_EQ(values(x.index({tensor({{0}, {1}}), tensor({2, 1}), 3})), (Ints{11, 7, 23, 19}));
  EXPECT_EQ(x.index({None, tensor({0, 1}), None, tensor({0, 1})}).sizes(),
            (IntArrayRef{2, 1, 1, 4}));
  EXPECT_EQ(x.index({tensor({1, 1, 0, 1}, kInt)}).sizes(), (IntArrayRef{4, 3, 4}));
  EXPECT_EQ(error_of([&] {
              x.index({Slice(), tensor({0, 3})});
            }),
            "index: 3 is out of range for dimension 1 with size 3 (shape [2, 3, 4])");
  EXPECT_NE(error_of([&] { x.index({tensor({0.5})}); }).find("must hold integers"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              x.index({tensor({0, 1}), tensor({0, 1, 2})});
            }).find("broadcast"),
            std::string::npos);
}

TEST(Index, MasksSelect) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(values(x.index({x > 2})), (Ints{3, 4, 5}));
  EXPECT_EQ(values(x.index({tensor({false, true})})), (Ints{3, 4, 5}));
  EXPECT_EQ(values(x.index({Slice(), tensor({true, false, true})})), (Ints{0, 2, 3, 5}));
  EXPECT_EQ(x.index({x > 100}).sizes(), (IntArrayRef{0}));
  EXPECT_NE(error_of([&] {
              x.index({tensor({true, false, true})});
            }).find("does not fit"),
            std::string::npos);
}

TEST(Index, GradientsFlowThroughIndexTensors) {
  Tensor x = ones({2, 3});
  x.requires_grad_();
  (x.index({tensor({1, 1, 0}), tensor({2, 2, 0})}) * tensor({1., 10., 100.})).sum().backward();
  EXPECT_EQ(values(x.grad()), (Ints{100, 0, 0, 0, 0, 11}));
}

TEST(IndexPut, WritesViewsMasksAndPlaces) {
  Tensor x = zeros({2, 3});
  x.index_put_({Slice(), 1}, 5);
  EXPECT_EQ(values(x), (Ints{0, 5, 0, 0, 5, 0}));
  x.index_put_({1}, tensor({1., 2., 3.}));
  EXPECT_EQ(values(x), (Ints{0, 5, 0, 1, 2, 3}));
  x.index_put_({x > 2}, -1);
  EXPECT_EQ(values(x), (Ints{0, -1, 0, 1, 2, -1}));
  x.index_put_({tensor({true, false})}, tensor({7., 8., 9.}));
  EXPECT_EQ(values(x), (Ints{7, 8, 9, 1, 2, -1}));
  x.index_put_({x > 6}, tensor({70., 80., 90.}));
  EXPECT_EQ(values(x), (Ints{70, 80, 90, 1, 2, -1}));
  x.index_put_({tensor({0, 1}), tensor({2, 0})}, tensor({4., 5.}));
  EXPECT_EQ(values(x), (Ints{70, 80, 4, 5, 2, -1}));
  x.index_put_({Slice(), tensor({0, 0})}, tensor({{1., 2.}, {3., 4.}}));  // the last one wins
  EXPECT_EQ(values(x), (Ints{2, 80, 4, 4, 2, -1}));
  x.index_put_({tensor({1})}, 0);
  EXPECT_EQ(values(x), (Ints{2, 80, 4, 0, 0, 0}));
  const auto version = x._version();
  x.index_put_({tensor({0, 1})}, 1);
  EXPECT_GT(x._version(), version);
  EXPECT_NE(error_of([&] {
              x.index_put_({tensor({0, 5})}, 1);
            }).find("5 is out of range"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              x.index_put_({tensor({0, 1})}, zeros({4}));
            }).find("broadcast"),
            std::string::npos);
  EXPECT_EQ(values(x), (Ints{1, 1, 1, 1, 1, 1}));
  x.index_put_({tensor({0, 1})}, x.index({Slice(), Slice(0, 1)}) * 3);
  EXPECT_EQ(values(x), (Ints{3, 3, 3, 3, 3, 3}));
}

TEST(IndexPut, StridedTargets) {
  Tensor x = zeros({3, 2});
  Tensor turned = x.t();  // [2, 3] over the same memory
  turned.index_put_({tensor({1, 0}), tensor({2, 1})}, tensor({1., 2.}));
  EXPECT_EQ(values(x), (Ints{0, 0, 2, 0, 0, 1}));
  turned.index_put_({1}, 9);
  EXPECT_EQ(values(x), (Ints{0, 9, 2, 9, 0, 9}));
}

// A bool is an index tensor on an axis of its own, and so copies.
TEST(Index, OfBoolsCopies) {
  const Tensor x = counting({4}), table = counting({2, 3});
  const Tensor copy = x.index({true});
  EXPECT_FALSE(copy.is_alias_of(x));
  copy.fill_(7);
  EXPECT_EQ(values(x), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(shape(copy), (Ints{1, 4}));
  EXPECT_EQ(shape(x.index({false})), (Ints{0, 4}));
  EXPECT_EQ(shape(x.index({true, true})), (Ints{1, 4}));
  EXPECT_EQ(shape(x.index({true, false})), (Ints{0, 4}));
  EXPECT_EQ(shape(table.index({0, true})), (Ints{1, 3}));
  EXPECT_EQ(shape(table.index({None, true})), (Ints{1, 1, 2, 3}));
  EXPECT_EQ(shape(table.index({true, tensor({1, 0})})), (Ints{2, 3}));
  const Tensor both = tensor({true, true}), yes = tensor(true);
  EXPECT_EQ(shape(table.index({true, both})), (Ints{2, 3}));
  EXPECT_FALSE(table.index({yes}).is_alias_of(table));
  EXPECT_EQ(shape(tensor(3).index({false})), (Ints{0}));
  x.index_put_({false}, 5);
  EXPECT_EQ(values(x), (Ints{0, 1, 2, 3}));
  x.index_put_({true}, counting({1, 4}) * 2);
  EXPECT_EQ(values(x), (Ints{0, 2, 4, 6}));
}

TEST(Index, OfSeveralMasks) {
  const Tensor x = counting({2, 3}), cube = counting({2, 2, 3});
  const Tensor both = tensor({true, true}), ends = tensor({true, false, true});
  EXPECT_EQ(values(x.index({both, ends})), (Ints{0, 5}));
  EXPECT_EQ(values(x.index({tensor({false, true}), ends})), (Ints{3, 5}));
  EXPECT_EQ(values(x.index({both, tensor({2, 1})})), (Ints{2, 4}));
  EXPECT_EQ(values(cube.index({both, Slice(), ends})), (Ints{0, 3, 8, 11}));
  EXPECT_EQ(values(cube.index({tensor({true, false, false, true}).view({2, 2}), ends})),
            (Ints{0, 11}));
  EXPECT_THROW(x.index({both, tensor({true, true, true})}), Error);
  x.index_put_({both, ends}, 9);
  EXPECT_EQ(values(x), (Ints{9, 1, 2, 3, 4, 9}));
}

TEST(IndexPut, TakesValuesWithLeadingOnes) {
  const Tensor x = zeros({2, 3}, kLong), y = zeros({3}, kLong);
  x.index_put_({Slice(), 0}, tensor({1, 2}).view({1, 1, 2}));
  x.index_put_({1}, tensor({7, 8, 9}).view({1, 3}));
  EXPECT_EQ(values(x), (Ints{1, 0, 0, 7, 8, 9}));
  y.index_put_({tensor({0, 2})}, tensor({1, 2}).view({1, 1, 2}));
  EXPECT_EQ(values(y), (Ints{1, 0, 2}));
  y.index_put_({tensor({false, true, true})}, tensor({5, 6}).view({1, 2}));
  EXPECT_EQ(values(y), (Ints{1, 5, 6}));
  EXPECT_THROW(x.index_put_({1}, ones({2, 3}, kLong)), Error);
  EXPECT_THROW(x[0] = ones({1, 3}, kLong), Error);
}

TEST(Index, OfNothingIsAnError) {
  const Tensor x = counting({4});
  EXPECT_THROW(x.index({}), Error);
  EXPECT_THROW(x.index(ArrayRef<TensorIndex>()), Error);
  EXPECT_THROW(x.index_put_(ArrayRef<TensorIndex>(), 3), Error);
  EXPECT_THROW(x.index_put_({}, ones({4}, kLong)), Error);
}

TEST(Index, OfEverythingIsAnotherTensorOverTheSameMemory) {
  const Tensor x = counting({4}).to(kFloat).requires_grad_();
  for (const Tensor& same : {x.index({"..."}), x.index({Ellipsis}), x.index({Slice()})}) {
    EXPECT_FALSE(same.is_same(x));
    EXPECT_TRUE(same.is_alias_of(x));
    EXPECT_FALSE(same.is_leaf());
  }
  const Tensor twice = x * 1;
  twice.index({"..."}).mul_(5);
  twice.sum().backward();
  EXPECT_EQ(values(x.grad()), (Ints{5, 5, 5, 5}));
}

}  // namespace
}  // namespace groove
