// Elimination and substitution against code without panels: the same bits, since an element's
// products are subtracted one by one in the same order.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "groove/groove.h"

namespace groove::testing {
namespace {

using Values = std::vector<double>;

struct Plain {
  std::int64_t rows, columns;
  Values values;
  double& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

Plain plain(const Tensor& x) {
  const Tensor dense = x.to(kDouble).contiguous();
  const double* data = dense.data_ptr<double>();
  return {x.size(0), x.size(1), Values(data, data + dense.numel())};
}

Tensor filled(std::int64_t rows, std::int64_t columns, double start = 0.3) {
  const Tensor places = arange(rows * columns, kDouble);
  return (sin(places * 1.7 + start) * cos(places * places * 0.61)).reshape({rows, columns});
}

void expect_same(Plain expected, const Tensor& actual, const char* what) {
  Plain found = plain(actual);
  ASSERT_EQ(found.values.size(), expected.values.size()) << what;
  for (std::int64_t i = 0; i < found.rows; ++i)
    for (std::int64_t j = 0; j < found.columns; ++j) {
      const double a = expected(i, j), b = found(i, j);
      ASSERT_TRUE(std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)))
          << what << ' ' << found.rows << " x " << found.columns << " at " << i << ", " << j << ": "
          << a << ", not " << b;
    }
}

// Gives the exchanges, counted from 1.
std::vector<std::int64_t> eliminate(Plain& a) {
  std::vector<std::int64_t> exchanges;
  for (std::int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < a.rows; ++i)
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    exchanges.push_back(pivot + 1);
    for (std::int64_t j = 0; j < a.columns; ++j)
      if (pivot != k) std::swap(a(k, j), a(pivot, j));
    if (a(k, k) == 0) continue;
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (std::int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return exchanges;
}

void substitute(Plain& a, Plain& x, bool is_upper, bool is_unit) {
  for (std::int64_t at = 0; at < a.rows; ++at) {
    const std::int64_t i = is_upper ? a.rows - 1 - at : at;
    for (std::int64_t before = 0; before < at; ++before) {
      const std::int64_t k = is_upper ? a.rows - 1 - before : before;
      for (std::int64_t j = 0; j < x.columns; ++j) x(i, j) -= a(i, k) * x(k, j);
    }
    for (std::int64_t j = 0; j < x.columns && !is_unit; ++j) x(i, j) /= a(i, i);
  }
}

std::vector<Tensor> matrices(std::int64_t rows, std::int64_t columns) {
  Tensor special = filled(rows, columns);
  special.data_ptr<double>()[special.numel() / 2] = NAN;
  Tensor endless = filled(rows, columns);
  endless.data_ptr<double>()[special.numel() / 3] = INFINITY;
  return {filled(rows, columns),
          filled(rows, 2).matmul(filled(2, columns)),
          zeros({rows, columns}, kDouble),
          eye(rows, columns, kDouble),
          special,
          endless};
}

const std::vector<std::int64_t> kSizes = {1, 2, 7, 15, 16, 17, 31, 33, 64, 70, 129};

TEST(Elimination, FactorsHaveTheBitsOfPlainCode) {
  for (const std::int64_t rows : kSizes) {
    for (const std::int64_t columns : {rows, rows / 2 + 1, rows + 9}) {
      for (const Tensor& matrix : matrices(rows, columns)) {
        Plain expected = plain(matrix);
        const std::vector<std::int64_t> exchanges = eliminate(expected);
        const auto [factors, pivots] = linalg_lu_factor(matrix);
        expect_same(expected, factors, "factors");
        for (std::size_t k = 0; k < exchanges.size(); ++k)
          ASSERT_EQ(pivots.data_ptr<std::int32_t>()[k], exchanges[k]) << rows << ' ' << columns;
      }
    }
  }
}

TEST(Elimination, SolutionsHaveTheBitsOfPlainCode) {
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{5}, n, std::int64_t{37}}) {
      for (const bool is_batch : {false, true}) {
        const Tensor a = filled(n, n), b = filled(n, columns, 1.1);
        Plain both = plain(cat({a, b}, 1));
        const auto in_both = [&](std::int64_t first, std::int64_t count) {
          Plain part{n, count, Values(static_cast<std::size_t>(n * count))};
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < count; ++j) part(i, j) = both(i, first + j);
          return part;
        };
        eliminate(both);
        Plain upper = in_both(0, n), x = in_both(n, columns);
        substitute(upper, x, true, false);
        expect_same(
            x, is_batch ? linalg_solve(stack({a * 2, a}), stack({b, b}))[1] : linalg_solve(a, b),
            "solution");
      }
    }
  }
}

TEST(Elimination, TrianglesHaveTheBitsOfPlainCode) {
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{6}, std::int64_t{45}}) {
      for (const bool is_upper : {false, true}) {
        for (const bool is_unit : {false, true}) {
          const Tensor a = filled(n, n) + 2 * eye(n, kDouble), b = filled(n, columns, 1.1);
          Plain triangle = plain(a), x = plain(b);
          substitute(triangle, x, is_upper, is_unit);
          expect_same(x, linalg_solve_triangular(a, b, is_upper, true, is_unit), "triangle");
          // the same of views whose lines lie across
          const Tensor across = a.mT().contiguous().mT();
          expect_same(x, linalg_solve_triangular(across, b, is_upper, true, is_unit), "across");
        }
      }
    }
  }
}

TEST(Elimination, CholeskyGivesTheMatrixBack) {
  for (const std::int64_t n : kSizes) {
    const Tensor x = filled(n, n), a = x.matmul(x.mT()) + eye(n, kDouble);
    const Tensor l = linalg_cholesky(a);
    EXPECT_LT((l.matmul(l.mT()) - a).abs().max().item<double>(), 1e-12 * static_cast<double>(n));
    EXPECT_EQ(triu(l, 1).abs().max().item<double>(), 0);
    for (const std::int64_t place : {std::int64_t{0}, n / 2, n - 1}) {
      Tensor refused = a.clone();
      refused.data_ptr<double>()[place * n + place] = place % 2 == 0 ? -1 : NAN;
      const auto [factor, info] = linalg_cholesky_ex(refused);
      EXPECT_EQ(info.item<std::int64_t>(), place + 1) << n;
    }
  }
}

}  // namespace
}  // namespace groove::testing
