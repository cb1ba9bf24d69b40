// Gradients of parts are added to their sum in place: the bits are those of a sum of whole
// tensors, zeros around each part, and nobody else's gradient changes.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "groove/groove.h"

namespace groove {
namespace {

using Part = std::function<Tensor(const Tensor&)>;

// Many of the elements are zeros, of either sign.
Tensor with_zeros(IntArrayRef sizes, std::uint64_t seed, ScalarType dtype) {
  manual_seed(seed);
  const Tensor drawn = randn(sizes);
  return where(drawn > 0.5, drawn, where(drawn > 0, zeros_like(drawn), neg(zeros_like(drawn))))
      .to(dtype);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.sizes().vec() != b.sizes().vec() || a.scalar_type() != b.scalar_type()) return false;
  const Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(),
                     static_cast<std::size_t>(x.numel()) * x.element_size()) == 0;
}

// The last part's cotangent comes first.
Tensor sum_of_whole(IntArrayRef sizes, const std::vector<Part>& parts, const Tensors& cotangents) {
  Tensor sum;
  for (std::size_t i = parts.size(); i-- > 0;) {
    const Tensor whole = zeros(sizes, cotangents[i].scalar_type());
    parts[i](whole).copy_(cotangents[i]);
    sum = sum.defined() ? sum + whole : whole;
  }
  return sum;
}

void check(IntArrayRef sizes, const std::vector<Part>& parts, ScalarType dtype = kFloat,
           bool is_expanded = false) {
  const Tensor x = zeros(sizes, dtype).requires_grad_();
  Tensors shown, cotangents;
  for (const Part& part : parts) {
    shown.push_back(part(x));
    const std::vector<std::int64_t> own = shown.back().sizes().vec();
    cotangents.push_back(is_expanded ? full({1}, -0.0, dtype).expand(own)
                                     : with_zeros(own, cotangents.size() + 1, dtype));
  }
  autograd::backward(shown, cotangents);
  const NoGradGuard guard;
  EXPECT_TRUE(same_bits(x.grad(), sum_of_whole(sizes, parts, cotangents)));
}

Part narrow_of(std::int64_t dim, std::int64_t start, std::int64_t length) {
  return [=](const Tensor& x) { return x.narrow(dim, start, length); };
}
Part select_of(std::int64_t dim, std::int64_t at) {
  return [=](const Tensor& x) { return x.select(dim, at); };
}

constexpr std::int64_t kN = 128;

TEST(PartSums, PiecesSideBySide) {
  for (const std::int64_t dim : {0, 1})
    for (const ScalarType dtype : {kFloat, kDouble, kHalf})
      check({kN, kN}, {narrow_of(dim, 0, 32), narrow_of(dim, 32, 32), narrow_of(dim, 64, 64)},
            dtype);
  check({8, 4, kN, 4}, {select_of(1, 0), select_of(1, 3), select_of(1, 2), select_of(1, 0)});
}

TEST(PartSums, PiecesThatOverlap) {
  check({kN, kN}, {narrow_of(1, 0, 127), narrow_of(1, 1, 127)});
  check({kN, kN}, {narrow_of(0, 10, 50), narrow_of(0, 0, 128), narrow_of(0, 30, 5)});
  check({kN, kN}, {narrow_of(0, 10, 50), narrow_of(0, 10, 50), narrow_of(0, 10, 50)});
  check({kN, kN}, {narrow_of(1, 0, 127), narrow_of(1, 1, 127), select_of(1, 5)}, kFloat, true);
}

TEST(PartSums, OtherAxesAndOtherParts) {
  const Part stepped = [](const Tensor& x) { return x.slice(1, 1, 100, 3); };
  const Part diagonal = [](const Tensor& x) { return x.diagonal(); };
  for (const Part& other : {stepped, diagonal}) {
    check({kN, kN}, {narrow_of(1, 3, 20), other, narrow_of(1, 50, 20), narrow_of(1, 0, 50)});
    check({kN, kN}, {narrow_of(1, 3, 20), narrow_of(0, 50, 20), other, select_of(0, 9)});
  }
}

// A tensor reads memory as it lies: what it shows is no part of its input's axes.
TEST(PartSums, StridedViews) {
  const Tensor x = zeros({kN, kN}).requires_grad_();
  const Tensor turned = x.t();
  const Tensor shown = turned.as_strided({64, kN}, {kN, 1}, 0), part = turned.narrow(0, 0, 64);
  manual_seed(1);
  const Tensor a = randn({64, kN}), b = randn({64, kN});
  autograd::backward({shown, part}, {a, b});
  const NoGradGuard guard;
  const Tensor left = zeros({kN, kN}), right = zeros({kN, kN});
  left.narrow(1, 0, 64).copy_(b.t());
  right.narrow(0, 0, 64).copy_(a);
  EXPECT_TRUE(same_bits(x.grad(), left + right));
}

// Both leaves are given the same cotangent first; one of them is narrowed, too.
TEST(PartSums, AGradientThatOthersHoldStays) {
  const Tensor x = zeros({kN, kN}).requires_grad_(), y = zeros({kN, kN}).requires_grad_();
  const Tensor part = x.narrow(0, 5, 40), both = x + y;
  const Tensor a = with_zeros({40, kN}, 1, kFloat), b = with_zeros({kN, kN}, 2, kFloat);
  const Tensor a_before = a.clone(), b_before = b.clone();
  autograd::backward({part, both}, {a, b});
  const NoGradGuard guard;
  const Tensor whole = zeros({kN, kN});
  whole.narrow(0, 5, 40).copy_(a);
  EXPECT_TRUE(same_bits(x.grad(), b + whole));
  EXPECT_TRUE(same_bits(y.grad(), b_before));
  EXPECT_TRUE(same_bits(a, a_before) && same_bits(b, b_before));
}

// What a program kept of one backward is not written by the next.
TEST(PartSums, SecondDerivativesAndKeptGraphs) {
  const Tensor x = with_zeros({kN, kN}, 3, kFloat).requires_grad_();
  const auto loss = [&] { return (x.narrow(1, 0, 64) * x.narrow(1, 64, 64) * x[3][5]).sum(); };
  const Tensor y = loss();
  y.backward({}, true);
  const Tensor first = x.grad().clone();
  const Tensor by_graph = autograd::grad({loss()}, {x}, {}, true, true)[0];
  x.mutable_grad() = Tensor();
  y.backward();
  EXPECT_TRUE(same_bits(x.grad(), first));
  EXPECT_TRUE(same_bits(by_graph.detach(), first));
}

}  // namespace
}  // namespace groove
