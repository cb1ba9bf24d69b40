// Scatter, sort, masks and draws through their public forms: values written out, errors by text.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "groove/autograd.h"
#include "groove/groove.h"
#include "groove/indexing.h"
#include "tests/core/error_of.h"
#include "tests/tensor/values.h"

namespace groove {
namespace {

TEST(Indices, EachIsLookedAt) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Tensor x = arange(5, kFloat), none = zeros({0, 3});
  for (const ScalarType dtype : {kLong, kInt}) {
    for (std::int64_t n : {1, 3, 4, 5, 8, 17, 70}) {
      const Tensor good = remainder(arange(n, kLong), 5);
      EXPECT_EQ(values(index_select(x, 0, good.to(dtype))), values(good));
      for (const std::int64_t place : {std::int64_t{0}, n / 2, n - 1}) {
        for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{5}, least, ~least}) {
          if (dtype == kInt && (wrong == least || wrong == ~least)) continue;
          Tensor bad = good.clone();
          bad[place] = wrong;
          EXPECT_THROW(index_select(x, 0, bad.to(dtype)), IndexError) << n << ' ' << wrong;
          EXPECT_THROW(gather(x, 0, bad.to(kLong)), IndexError);
          const Tensor scores = zeros({n, 5});
          EXPECT_THROW(nll_loss(scores, bad), IndexError);
          EXPECT_NO_THROW(nll_loss(scores, bad, {}, Reduction::Mean, wrong));
        }
      }
    }
  }
  EXPECT_THROW(index_select(none, 0, zeros({1}, kLong)), IndexError);
  EXPECT_EQ(index_select(none, 0, zeros({0}, kLong)).numel(), 0);
}

TEST(Scatter, WritesWithinLinesAndAcross) {
  for (const std::int64_t n : {1, 5, 8, 33}) {
    for (const std::int64_t dim : {0, 1, 2}) {
      const Tensor index = remainder(arange(4 * n * 3, kLong).reshape({4, n, 3}) * 7, 3);
      const Tensor source = arange(4 * n * 3, kFloat).reshape({4, n, 3});
      Tensor put = zeros({4, n, 3}), added = zeros({4, n, 3});
      if (dim == 1 && n < 3) continue;
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t k = 0; k < 3; ++k) {
            std::int64_t at[] = {i, j, k};
            at[dim] = index[i][j][k].item<std::int64_t>();
            const double given = source[i][j][k].item<double>();
            put[at[0]][at[1]][at[2]] = given;
            added[at[0]][at[1]][at[2]] = added[at[0]][at[1]][at[2]].item<double>() + given;
          }
      EXPECT_EQ(values(zeros({4, n, 3}).scatter(dim, index, source)), values(put)) << n << dim;
      EXPECT_EQ(values(zeros({4, n, 3}).scatter_add(dim, index, source)), values(added)) << dim;
    }
  }
}

TEST(Indices, SlicesAndSingleElementsAreAdded) {
  for (const ScalarType dtype : {kFloat, kHalf, kLong}) {
    for (const std::int64_t dim : {0, 1, 2}) {
      const Ints sizes{3, 4, 5};
      const Tensor index =
          tensor({1, 0, 1, 2, 1}).narrow(0, 0, sizes[static_cast<std::size_t>(dim)]);
      const Tensor source = arange(60, kFloat).reshape(sizes).to(dtype);
      Tensor expected = ones(sizes, kDouble);
      for (std::int64_t i = 0; i < index.size(0); ++i)
        expected.select(dim, index[i].item<std::int64_t>()) += source.select(dim, i).to(kDouble);
      const Tensor sum = index_add(ones(sizes, dtype), dim, index, source);
      EXPECT_EQ(values(sum.to(kDouble)), values(expected)) << dim << name(dtype);
      const Tensor leaf = source.to(kDouble).set_requires_grad(true);
      const Tensor slope =
          autograd::grad({index_select(leaf, dim, index)}, {leaf}, {source.to(kDouble)})[0];
      EXPECT_EQ(values(slope + 1), values(expected)) << dim;
    }
  }
}

TEST(Scatter, PutsAndAdds) {
  const Tensor index = tensor({{2, 0}, {2, 1}});
  const Tensor source = tensor({{1., 2., 9.}, {3., 4., 9.}});
  EXPECT_EQ(values(zeros({2, 3}).scatter(1, index, source)), (Ints{2, 0, 1, 0, 4, 3}));
  EXPECT_EQ(values(zeros({3, 2}).scatter_add(0, index, source)), (Ints{0, 2, 0, 4, 4, 0}));
  EXPECT_EQ(values(zeros({3, 2}).scatter(0, index, source)), (Ints{0, 2, 0, 4, 3, 0}));
  Tensor hot = zeros({2, 3});
  hot.scatter_(1, tensor({{1}, {2}}), 1);
  EXPECT_EQ(values(hot), (Ints{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(error_of([&] {
              hot.scatter_(1, tensor({{3}, {0}}), 1);
            }),
            "scatter_: index 3 at position [0, 0] is out of range; it must be in [0, 3)");
  EXPECT_EQ(values(hot), (Ints{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(error_of([&] {
              hot.scatter(1, tensor({{0}, {0}}), ones({2, 1}, kLong));
            }),
            "scatter: self is Float, source is Long; convert one of them");
  EXPECT_EQ(error_of([&] { hot.scatter(1, tensor({{0.5}}), 1); }),
            "scatter: the index is Float; it must be Long or Int");
}

TEST(Scatter, OnlyTheLastSourceHasAGradient) {
  Tensor source = tensor({1.f, 2.f, 3.f}).requires_grad_();
  Tensor base = zeros({4}).requires_grad_();
  (base.scatter(0, tensor({1, 2, 1}), source) * tensor({10., 20., 30., 40.})).sum().backward();
  EXPECT_EQ(values(source.grad()), (Ints{0, 30, 20}));
  EXPECT_EQ(values(base.grad()), (Ints{10, 0, 0, 40}));
}

TEST(IndexCopy, CopiesFillsAndAdds) {
  Tensor x = zeros({3, 2});
  x.index_copy_(0, tensor({2, 0}), tensor({{1., 2.}, {3., 4.}}));
  EXPECT_EQ(values(x), (Ints{3, 4, 0, 0, 1, 2}));
  EXPECT_EQ(values(x.index_fill(1, tensor({0}), 7)), (Ints{7, 4, 7, 0, 7, 2}));
  x.index_fill_(0, tensor(1), 5);
  EXPECT_EQ(values(x), (Ints{3, 4, 5, 5, 1, 2}));
  x.index_add_(0, tensor({1, 1}), ones({2, 2}));
  EXPECT_EQ(values(x), (Ints{3, 4, 7, 7, 1, 2}));
  EXPECT_EQ(error_of([&] { x.index_fill_(0, tensor({3}), 1); }),
            "index_fill_: index 3 at position [0] is out of range; it must be in [0, 3)");
  EXPECT_EQ(values(x), (Ints{3, 4, 7, 7, 1, 2}));
}

// In ascending order of sources, in which the large ones are gone before the last is added.
TEST(IndexAdd, SourcesOfOneDestinationAreAddedInTheirOrder) {
  for (const std::int64_t columns : {1, 3, 40}) {
    const Tensor source = tensor({1e8f, -1e8f, 1.f}).view({3, 1}).expand({3, columns});
    const Tensor sum = zeros({2, columns}).index_add(0, tensor({1, 1, 1}), source);
    EXPECT_EQ(values(sum.sum(0)), Ints(static_cast<std::size_t>(columns), 1));
    const Tensor last = zeros({2, columns}).index_copy(0, tensor({1, 1, 1}), source);
    EXPECT_EQ(values(last.sum(0)), Ints(static_cast<std::size_t>(columns), 1));
  }
}

TEST(Embedding, RowsAndTheirGradient) {
  Tensor table = arange(6).to(kFloat).view({3, 2}).detach().requires_grad_();
  const Tensor rows = embedding(table, tensor({{2, 0}, {2, 1}}), 0);
  EXPECT_EQ(shape(rows), (Ints{2, 2, 2}));
  EXPECT_EQ(values(rows), (Ints{4, 5, 0, 1, 4, 5, 2, 3}));
  rows.sum().backward();
  EXPECT_EQ(values(table.grad()), (Ints{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(error_of([&] { embedding(table, tensor({3})); }),
            "embedding: index 3 at position [0] is out of range; it must be in [0, 3)");
  EXPECT_EQ(error_of([&] { embedding(table, tensor({0}), 3); }),
            "embedding: padding_idx 3 is no row of [3, 2]");
}

TEST(Sort, NanIsGreatestAndTiesKeepTheirOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = tensor({0.f, nan, -1.f, -0.f, 5.f, nan});
  auto [ascending, order] = x.sort();
  EXPECT_EQ(values(order), (Ints{2, 0, 3, 4, 1, 5}));
  EXPECT_TRUE(std::signbit(ascending[2].item<float>()));
  EXPECT_TRUE(std::isnan(ascending[5].item<float>()));
  EXPECT_EQ(values(x.argsort(0, true)), (Ints{1, 5, 4, 0, 3, 2}));
  EXPECT_EQ(values(std::get<1>(x.topk(3))), (Ints{1, 5, 4}));
  EXPECT_EQ(values(std::get<1>(x.topk(3, 0, false))), (Ints{2, 0, 3}));
  EXPECT_EQ(values(std::get<0>(sort(tensor({{3, 1}, {2, 4}}), 0))), (Ints{2, 1, 3, 4}));
  EXPECT_EQ(error_of([&] { x.topk(7); }), "topk: 7 elements of dim 0 of [6]; there are 6");
  EXPECT_EQ(values(tensor(3.0).argsort()), (Ints{0}));
}

TEST(Sort, LongLinesAgreeWithShortOnes) {
  const Tensor x = (randn({5000}) * 50).to(kLong).to(kFloat);  // with many ties
  const Tensor order = x.argsort();
  const Tensor sorted = x.index_select(0, order);
  EXPECT_EQ((sorted.slice(0, 1) >= sorted.slice(0, 0, -1)).to(kLong).sum().item<int>(), 4999);
  const Tensor is_tie = sorted.slice(0, 1) == sorted.slice(0, 0, -1);
  const Tensor keeps = order.slice(0, 1) > order.slice(0, 0, -1);
  EXPECT_EQ(where(is_tie, keeps.to(kLong), 1).sum().item<int>(), 4999);
  EXPECT_EQ(values(std::get<1>(x.topk(700, 0, false))), values(order.slice(0, 0, 700)));
  EXPECT_EQ(values(std::get<1>(x.topk(20, 0, false))), values(order.slice(0, 0, 20)));
}

TEST(Sort, GradientGoesBackToThePlaces) {
  Tensor x = tensor({3.f, 1.f, 2.f}).requires_grad_();
  (std::get<0>(x.sort()) * tensor({1., 10., 100.})).sum().backward();
  EXPECT_EQ(values(x.grad()), (Ints{100, 1, 10}));
  x.mutable_grad() = Tensor();
  (std::get<0>(x.topk(2)) * tensor({1., 10.})).sum().backward();
  EXPECT_EQ(values(x.grad()), (Ints{1, 0, 10}));
}

TEST(Masks, SelectAndFind) {
  const Tensor x = tensor({{0., 2.}, {3., 0.}});
  EXPECT_EQ(values(x.nonzero()), (Ints{0, 1, 1, 0}));
  EXPECT_EQ(shape(zeros({2, 3}).nonzero()), (Ints{0, 2}));
  EXPECT_EQ(shape(ones({}).nonzero()), (Ints{1, 0}));
  const std::vector<Tensor> places = where(x.t() > 0);
  EXPECT_EQ(values(places[0]), (Ints{0, 1}));
  EXPECT_EQ(values(places[1]), (Ints{1, 0}));
  EXPECT_EQ(values(x.masked_select(x > 1)), (Ints{2, 3}));
  EXPECT_EQ(values(x.masked_select(tensor({true, false}))), (Ints{0, 3}));
  EXPECT_EQ(values(masked_select(arange(2), tensor({{true}, {true}}))), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(error_of([&] { x.masked_select(x); }),
            "masked_select: the mask is Float, not Bool; compare it with something or use "
            "to(kBool)");
  Tensor weight = tensor({1.f, 2.f, 3.f}).requires_grad_();
  (weight.masked_select(weight > 1) * tensor({5., 7.})).sum().backward();
  EXPECT_EQ(values(weight.grad()), (Ints{0, 5, 7}));
  const Tensor large = arange(200'000).remainder(3).eq(0);
  EXPECT_EQ(large.nonzero().numel(), 66'667);
  EXPECT_EQ(large.nonzero()[66'666][0].item<int>(), 199'998);
}

TEST(Masks, AreNotAssignedThroughACopy) {
  Tensor x = zeros({3});
  EXPECT_EQ(error_of([&] { x[x > 0] = 1; }),
            "assignment to a temporary of shape [0] that nothing else sees would be lost (index "
            "tensors and masks copy); use index_put_({index}, value)");
  EXPECT_NE(error_of([&] {
              x.index({tensor({0, 1})}) = ones({2});
            }).find("would be lost"),
            std::string::npos);
  x.index({indexing::Slice(1, 3)}) = 2;
  x[tensor(0)] = 5;
  EXPECT_EQ(values(x), (Ints{5, 2, 2}));
}

TEST(Masks, WritesHaveGradients) {
  Tensor source = tensor({1.f, 2.f}).requires_grad_();
  Tensor x = zeros({2, 2});
  x.index_put_({tensor({{true, false}, {false, true}})}, source * 3);
  EXPECT_EQ(values(x), (Ints{3, 0, 0, 6}));
  (x * tensor({{1., 2.}, {3., 4.}})).sum().backward();
  EXPECT_EQ(values(source.grad()), (Ints{3, 12}));
  Tensor y = ones({3, 2}).requires_grad_() * 2;
  y.index_put_({tensor({0, 2}), tensor({1, 1})}, 0);
  EXPECT_EQ(values(y), (Ints{2, 0, 2, 2, 2, 0}));
  Tensor cube = zeros({2, 3, 4});
  cube.index_put_({indexing::Slice(), tensor({0, 2}), tensor({1, 3})},
                  tensor({{1., 2.}, {3., 4.}}));
  EXPECT_EQ(cube[0][0][1].item<int>(), 1);
  EXPECT_EQ(cube[1][2][3].item<int>(), 4);
  cube.index_put_({tensor({0, 1}), indexing::Slice(), tensor({0, 0})}, ones({2, 3}) * 5);
  EXPECT_EQ(cube.sum().item<int>(), 40);
}

TEST(Draws, PermutationsAndCoins) {
  manual_seed(3);
  const Tensor order = randperm(1000);
  EXPECT_EQ(values(std::get<0>(order.sort())), values(arange(1000)));
  EXPECT_NE(values(order), values(randperm(1000)));
  EXPECT_EQ(randperm(4, kInt).scalar_type(), kInt);
  EXPECT_EQ(shape(randperm(0)), (Ints{0}));
  const Tensor coins = bernoulli(full({10'000}, 0.25));
  EXPECT_NEAR(coins.sum().item<double>(), 2500, 200);
  EXPECT_EQ(values(bernoulli(tensor({0.f, 1.f}))), (Ints{0, 1}));
  Tensor x = empty({10'000}, kLong);
  x.bernoulli_(0.75);
  EXPECT_NEAR(x.sum().item<double>(), 7500, 200);
  const Tensor like = randint_like(zeros({2, 3}), 5, 7);
  EXPECT_EQ(like.scalar_type(), kFloat);
  EXPECT_EQ(((like == 5) | (like == 6)).to(kLong).sum().item<int>(), 6);
  EXPECT_EQ(error_of([&] { x.bernoulli_(1.5); }), "bernoulli_: probability 1.5 is not in [0, 1]");
}

TEST(Draws, MultinomialFollowsTheWeights) {
  manual_seed(5);
  const Tensor weights = tensor({1.f, 0.f, 2.f, 5.f});
  const Tensor drawn = weights.multinomial(8000, true);
  for (const auto& [value, share] : {std::pair{0, 1000.}, {1, 0.}, {2, 2000.}, {3, 5000.}})
    EXPECT_NEAR((drawn == value).to(kLong).sum().item<double>(), share, share > 0 ? 200 : 0);
  const Tensor rows = weights.expand({50, 4}).multinomial(3);
  EXPECT_EQ(shape(rows), (Ints{50, 3}));
  // without replacement a row is a permutation of the three that can be drawn
  EXPECT_EQ(values(std::get<0>(rows.sort())), values(tensor({0, 2, 3}).repeat({50, 1})));
  EXPECT_EQ(error_of([&] { weights.multinomial(4); }),
            "multinomial: row 0 has 3 positive weights; 4 samples without replacement need 4");
  EXPECT_EQ(error_of([&] {
              tensor({1.f, -1.f}).multinomial(1);
            }),
            "multinomial: weight -1 at position 1 of row 0; weights must be finite and not "
            "negative");
}

}  // namespace
}  // namespace groove
