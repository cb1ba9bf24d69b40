// Eigenvalues of matrices that are not symmetric: what defines them, known ones, and gradients
// against differences.
#include <gtest/gtest.h>

#include "groove/groove.h"

namespace groove::testing {
namespace {

Tensor matrices(IntArrayRef sizes, double seed) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return sin(arange(count, kDouble) * 1.7 + seed)
      .mul(cos(arange(count, kDouble) * 0.61))
      .reshape(sizes);
}

void expect_eigenvectors(const Tensor& a) {
  const auto [values, vectors] = linalg::eig(a);
  const Tensor left = matmul(a.to(vectors.scalar_type()), vectors);
  const double scale = 1 + a.abs().max().item<double>();
  EXPECT_LT((left - vectors * values.unsqueeze(-2)).abs().max().item<double>(), 1e-12 * scale);
  EXPECT_LT((vectors.abs().square().sum(-2) - 1).abs().max().item<double>(), 1e-14);
  const Tensor trace = a.diagonal(0, -2, -1).sum(-1);
  EXPECT_LT((values.sum(-1) - trace).abs().max().item<double>(), 1e-12 * scale);
}

TEST(Eigenvalues, AreWhatTheyAre) {
  for (std::int64_t n = 1; n <= 24; ++n)
    for (double seed = 0; seed < 5; ++seed) expect_eigenvectors(matrices({n, n}, seed));
  expect_eigenvectors(matrices({3, 2, 5, 5}, 1));
  expect_eigenvectors(matrices({60, 60}, 2));
  expect_eigenvectors(matrices({6, 6}, 1) * 1e150);
  expect_eigenvectors(zeros({3, 3}, kDouble));
  expect_eigenvectors(eye(4, kDouble));
  // A rotation of 90 degrees in each plane, and one that cycles without shifts of its own.
  expect_eigenvectors(
      tensor({{0., -1., 0., 0.}, {1., 0., 0., 0.}, {0., 0., 0., -1.}, {0., 0., 1., 0.}}, kDouble));
  expect_eigenvectors(tensor({{0., 0., 1.}, {1., 0., 0.}, {0., 1., 0.}}, kDouble));
  EXPECT_EQ(linalg::eigvals(zeros({0, 0}, kDouble)).sizes(), IntArrayRef({0}));
}

TEST(Eigenvalues, OfKnownPolynomials) {
  // x^4 - 10 x^3 + 35 x^2 - 50 x + 24 has the roots 1, 2, 3, 4; x^2 - 2 x + 5 has 1 ± 2 i.
  const Tensor companion = tensor(
      {{10., -35., 50., -24.}, {1., 0., 0., 0.}, {0., 1., 0., 0.}, {0., 0., 1., 0.}}, kDouble);
  const Tensor roots = std::get<0>(real(linalg::eigvals(companion)).sort());
  EXPECT_TRUE(allclose(roots, tensor({1., 2., 3., 4.}, kDouble), 1e-12, 1e-12));
  const Tensor pair = linalg::eigvals(tensor({{2., -5.}, {1., 0.}}, kDouble));
  EXPECT_LT(std::abs(pair[0].item<std::complex<double>>() - std::complex<double>(1, 2)), 1e-14);
  EXPECT_LT(std::abs(pair[1].item<std::complex<double>>() - std::complex<double>(1, -2)), 1e-14);
  // Of a Jordan block the vectors are one; the values are still there.
  const Tensor block = tensor({{3., 1.}, {0., 3.}}, kDouble);
  EXPECT_TRUE(allclose(real(linalg::eigvals(block)), tensor({3., 3.}, kDouble)));
}

// Does not change when an eigenvector is turned, nor when eigenvalues change places.
Tensor loss(const Tensor& a) {
  const auto [values, vectors] = linalg::eig(a);
  return (values.abs() * vectors.abs().square().square().sum(-2)).sum() +
         real(values * values * values).sum();
}

TEST(Eigenvalues, GradientsAreThoseOfDifferences) {
  for (const std::int64_t n : {2, 3, 5}) {
    // No eigenvalue of 0, where its magnitude has no slope.
    const Tensor a = (matrices({2, n, n}, 0.3 + static_cast<double>(n)) + eye(n, kDouble) * 0.7)
                         .requires_grad_();
    loss(a).backward();
    const double step = 1e-6;
    const NoGradGuard no_grad;
    for (std::int64_t k = 0; k < a.numel(); ++k) {
      const Tensor up = a.detach().clone(), down = up.clone();
      up.view({-1})[k] += step;
      down.view({-1})[k] -= step;
      const double slope = (loss(up) - loss(down)).item<double>() / (2 * step);
      EXPECT_NEAR(a.grad().view({-1})[k].item<double>(), slope, 1e-6 * (1 + std::fabs(slope)));
    }
  }
}

TEST(Eigenvalues, Errors) {
  EXPECT_THROW(linalg::eig(zeros({2, 3})), Error);
  EXPECT_THROW(linalg::eig(zeros({2, 2}, kComplexFloat)), Error);
  EXPECT_THROW(linalg::eig(full({2, 2}, NAN)), Error);
}

}  // namespace
}  // namespace groove::testing
