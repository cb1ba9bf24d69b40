// Factorisations of matrices that are larger, or of fewer ranks, or of numbers further apart than
// those of tests/agreement: what defines them holds.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "groove/groove.h"

namespace groove::testing {
namespace {

Tensor filled(std::int64_t rows, std::int64_t columns) {
  const Tensor places = arange(rows * columns, kDouble);
  return (sin(places * 1.7 + 0.3) * cos(places * places * 0.61)).reshape({rows, columns});
}

struct Named {
  std::string name;
  Tensor matrix;
};
std::vector<Named> matrices(std::int64_t rows, std::int64_t columns) {
  const Tensor any = filled(rows, columns), unit = eye(rows, columns, kDouble);
  const Tensor grades = pow(0.1, arange(rows, kDouble) * (20. / static_cast<double>(rows)));
  const Tensor column = grades.unsqueeze(-1);
  return {{"any", any},
          {"of rank 2", filled(rows, 2).matmul(filled(2, columns))},
          {"zeros", any * 0},
          {"ones", any * 0 + 1},
          {"unit", unit},
          {"shifts", triu(tril(ones({rows, columns}, kDouble), 1), 1)},
          {"repeated", unit * (arange(rows, kDouble).unsqueeze(-1) > 2).to(kDouble)},
          {"graded", any * column},
          {"graded upwards", (any * column).flip(0)},
          {"tiny", any * 1e-30},
          {"huge", any * 1e30},
          {"at the lower end", any * 1e-300},
          {"at the upper end", any * 1e300}};
}

double greatest(const Tensor& x) { return x.numel() == 0 ? 0 : x.abs().max().item<double>(); }
double length(const Tensor& x) {
  const double scale = greatest(x);
  return scale == 0 ? 1 : scale * std::sqrt(square(x / scale).sum().item<double>());
}
void expect_orthogonal(const Tensor& columns, double tolerance) {
  const Tensor products = columns.mT().matmul(columns);
  EXPECT_LT(greatest(products - eye(columns.size(-1), products.scalar_type())), tolerance);
}
void expect_descending(const Tensor& values) {
  const std::int64_t rest = values.size(0) - 1;
  EXPECT_TRUE((values.narrow(0, 0, rest) >= values.narrow(0, 1, rest)).all().item<bool>());
}

const std::vector<std::pair<std::int64_t, std::int64_t>> kSizes = {
    {1, 1}, {2, 2}, {3, 3}, {16, 16}, {33, 33}, {100, 100}, {1, 5}, {5, 1}, {40, 30}, {30, 90}};

template <typename Check>
void for_all_matrices(const Check& check) {
  for (const auto& [rows, columns] : kSizes) {
    for (const Named& named : matrices(rows, columns)) {
      for (const ScalarType dtype : {kFloat, kDouble}) {
        if (dtype == kFloat && named.name.rfind("at the", 0) == 0) continue;
        SCOPED_TRACE(named.name + " " + std::to_string(rows) + " x " + std::to_string(columns));
        check(named.matrix.to(dtype), dtype == kFloat ? 1e-5 : 1e-13);
      }
    }
  }
}

TEST(Factorisations, OfSingularValues) {
  for_all_matrices([](const Tensor& a, double tolerance) {
    const std::int64_t k = std::min(a.size(0), a.size(1));
    for (const bool is_full : {false, true}) {
      const auto [u, s, vh] = linalg_svd(a, is_full);
      const Tensor product = (u.narrow(1, 0, k) * s).matmul(vh.narrow(0, 0, k));
      EXPECT_LE(greatest(product - a), tolerance * length(a));
      expect_orthogonal(u, tolerance);
      expect_orthogonal(vh.mT(), tolerance);
      expect_descending(s);
      EXPECT_GE(s.min().item<double>(), 0);
    }
  });
}

TEST(Factorisations, OfEigenvalues) {
  for_all_matrices([](const Tensor& any, double tolerance) {
    if (any.size(0) != any.size(1)) return;
    const Tensor a = any + any.mT();
    for (const char* triangle : {"L", "U"}) {
      const auto [values, vectors] = linalg_eigh(a, triangle);
      EXPECT_LE(greatest((vectors * values).matmul(vectors.mT()) - a), tolerance * length(a));
      expect_orthogonal(vectors, tolerance);
      expect_descending(-values);
    }
  });
}

TEST(Factorisations, OfTriangles) {
  for_all_matrices([](const Tensor& a, double tolerance) {
    for (const char* mode : {"reduced", "complete"}) {
      const auto [q, r] = linalg_qr(a, mode);
      EXPECT_LE(greatest(q.matmul(r) - a), tolerance * length(a));
      expect_orthogonal(q, tolerance);
      EXPECT_EQ(greatest(tril(r, -1)), 0);
    }
    const auto [p, l, u] = linalg_lu(a);
    EXPECT_LE(greatest(p.matmul(l).matmul(u) - a), tolerance * length(a));
  });
}

TEST(Factorisations, OfFewerRanks) {
  const Tensor a = filled(60, 2).matmul(filled(2, 40)), b = filled(60, 3);
  const Tensor inverse = linalg_pinv(a, 1e-10);
  EXPECT_LT(greatest(a.matmul(inverse).matmul(a) - a), 1e-12 * length(a));
  EXPECT_LT(greatest(inverse.matmul(a).matmul(inverse) - inverse), 1e-12 * length(inverse));
  EXPECT_EQ(linalg_matrix_rank(a).item<std::int64_t>(), 2);
  const auto [solution, residuals, rank, values] = linalg_lstsq(a, b, 1e-10, "gelsd");
  EXPECT_LT(greatest(solution - inverse.matmul(b)), 1e-10);
  EXPECT_EQ(rank.item<std::int64_t>(), 2);
  EXPECT_LT(greatest(values - linalg_svdvals(a)), 1e-15);
  const Tensor mirrored = a.narrow(0, 0, 40) + a.narrow(0, 0, 40).mT();
  EXPECT_LT(greatest(linalg_pinv(mirrored, 1e-10, true) - linalg_pinv(mirrored, 1e-10)), 1e-9);
}

TEST(Factorisations, Exponentials) {
  const Tensor a = filled(50, 50);
  EXPECT_LT(greatest(matrix_exp(a).matmul(matrix_exp(-a)) - eye(50, kDouble)), 1e-11);
}

}  // namespace
}  // namespace groove::testing
