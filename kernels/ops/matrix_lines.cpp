// Lines, rotations and reflections of f64.
#include "kernels/ops/matrix_lines.h"

#include <algorithm>
#include <cmath>

namespace groove::lines {
namespace {

typedef double Vector __attribute__((vector_size(32), may_alias, aligned(8)));
constexpr std::int64_t kWidth = 4;

const Vector& vector_at(const double* x) { return *reinterpret_cast<const Vector*>(x); }

double greatest_of(const double* x, std::int64_t n) {
  double greatest = 0;
  for (std::int64_t i = 0; i < n; ++i) greatest = std::max(greatest, std::fabs(x[i]));
  return greatest;
}

// kRows lines of A B or one, of kPanel columns, with those of B beside each other in `panel`.
constexpr std::int64_t kRows = 4, kPanel = 2 * kWidth;
template <int rows>
void multiply(const double* a, std::int64_t count, const double* panel, double* to,
              std::int64_t columns, std::int64_t width) {
  Vector low[rows] = {}, high[rows] = {};
  for (std::int64_t k = 0; k < count; ++k) {
    const Vector left = vector_at(panel + k * kPanel),
                 right = vector_at(panel + k * kPanel + kWidth);
    for (int row = 0; row < rows; ++row) {
      low[row] += a[row * count + k] * left;
      high[row] += a[row * count + k] * right;
    }
  }
  for (int row = 0; row < rows; ++row)
    for (std::int64_t j = 0; j < width; ++j)
      to[row * columns + j] = j < kWidth ? low[row][j] : high[row][j - kWidth];
}

// The power of two above x, within a range whose inverse is a number, too.
double power_above(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1, std::clamp(exponent, -1000, 1000));
}

}  // namespace

namespace {

// `lines` sums at once, of lines at `stride` with b. Loops over lines are written out, or what they
// work on would not lie in registers.
template <int lines>
void sums_of_products(const double* a, std::int64_t stride, const double* b, std::int64_t n,
                      double* to) {
  Vector even[lines], odd[lines];
#pragma GCC unroll 4
  for (int line = 0; line < lines; ++line) even[line] = odd[line] = Vector{};
  std::int64_t i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth) {
    const Vector left = vector_at(b + i), right = vector_at(b + i + kWidth);
#pragma GCC unroll 4
    for (int line = 0; line < lines; ++line) {
      even[line] += vector_at(a + line * stride + i) * left;
      odd[line] += vector_at(a + line * stride + i + kWidth) * right;
    }
  }
#pragma GCC unroll 4
  for (int line = 0; line < lines; ++line) {
    const Vector sums = even[line] + odd[line];
    to[line] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  }
  for (int line = 0; line < lines; ++line) {
    double rest = 0;
    for (std::int64_t k = i; k < n; ++k) rest += a[line * stride + k] * b[k];
    to[line] += rest;
  }
}

}  // namespace

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  sums_of_products<1>(a, 0, b, n, &sum);
  return sum;
}

void dots(const double* a, std::int64_t stride, const double* b, std::int64_t n, double* to) {
  sums_of_products<kDots>(a, stride, b, n, to);
}

double hypotenuse(double a, double b) {
  const double great = std::max(std::fabs(a), std::fabs(b));
  const double small = std::min(std::fabs(a), std::fabs(b));
  if (small == 0) return great;
  const double ratio = small / great;
  return great * std::sqrt(1 + ratio * ratio);
}

double length(const double* x, std::int64_t n) {
  const double squares = dot(x, x, n);
  if (!(squares < 1e-270)) return std::sqrt(squares);
  const double greatest = greatest_of(x, n);
  if (greatest == 0) return 0;
  const double unit = power_above(greatest);
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += (x[i] / unit) * (x[i] / unit);
  return unit * std::sqrt(total);
}

void add_scaled(double* __restrict y, double factor, const double* __restrict x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

void add_scaled(double* __restrict y, double factor, const double* __restrict x, double other,
                const double* __restrict z, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] + factor * x[i] + other * z[i];
}

Rotation rotation_of(double a, double b) {
  if (b == 0) return {1, 0, a};
  const bool is_flat = std::fabs(a) >= std::fabs(b);
  const double ratio = is_flat ? b / a : a / b;
  const double root = std::sqrt(1 + ratio * ratio), great = 1 / root, small = ratio / root;
  return is_flat ? Rotation{great, small, a * root} : Rotation{small, great, b * root};
}

void rotate(const Rotation& by, double* __restrict x, double* __restrict y, std::int64_t n) {
  const double c = by.c, s = by.s;
  for (std::int64_t i = 0; i < n; ++i) {
    const double left = x[i], right = y[i];
    x[i] = c * left + s * right;
    y[i] = c * right - s * left;
  }
}

double reflect_onto_axis(double* x, std::int64_t n) {
  const double beside = length(x + 1, n - 1);
  if (beside <= kNothing) {
    std::fill_n(x + 1, n - 1, 0.0);
    return 0;
  }
  const double whole = hypotenuse(x[0], beside);
  const double turned = x[0] > 0 ? -whole : whole;
  const double scale = (turned - x[0]) / turned, first = x[0] - turned;
  for (std::int64_t i = 1; i < n; ++i) x[i] /= first;
  x[0] = turned;
  return scale;
}

void reflect(const double* v, double scale, double* y, std::int64_t n) {
  const double product = scale * (y[0] + dot(v + 1, y + 1, n - 1));
  y[0] -= product;
  add_scaled(y + 1, -product, v + 1, n - 1);
}

std::vector<double> triangularise(Matrix& columns) {
  const std::int64_t n = columns.columns;
  std::vector<double> scales;
  for (std::int64_t k = 0; k < std::min(n, columns.rows); ++k) {
    double* v = &columns(k, k);
    scales.push_back(reflect_onto_axis(v, n - k));
    if (scales.back() == 0) continue;
    for (std::int64_t j = k + 1; j < columns.rows; ++j)
      reflect(v, scales.back(), &columns(j, k), n - k);
  }
  return scales;
}

void turn_back(const Matrix& reflections, const std::vector<double>& scales, std::int64_t shift,
               Matrix& onto, Start start) {
  for (auto k = static_cast<std::int64_t>(scales.size()); k-- > 0;) {
    const double scale = scales[static_cast<std::size_t>(k)];
    const std::int64_t from = k + shift;
    if (scale == 0) continue;
    const double* v = &reflections(k, from);
    for (std::int64_t j = start == Start::kUnit ? from : 0; j < onto.rows; ++j)
      reflect(v, scale, &onto(j, from), onto.columns - from);
  }
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows, b.columns);
  std::vector<double> panel(static_cast<std::size_t>(b.rows * kPanel));
  for (std::int64_t j = 0; j < b.columns; j += kPanel) {
    const std::int64_t width = std::min(kPanel, b.columns - j);
    for (std::int64_t k = 0; k < b.rows; ++k)
      std::copy_n(b.values.begin() + k * b.columns + j, width, panel.begin() + k * kPanel);
    std::int64_t i = 0;
    const auto next = [&](auto multiply_rows, std::int64_t rows) {
      for (; i + rows <= a.rows; i += rows)
        multiply_rows(a.values.data() + i * a.columns, a.columns, panel.data(), &result(i, j),
                      b.columns, width);
    };
    next(multiply<kRows>, kRows);
    next(multiply<1>, 1);
  }
  return result;
}

double normalise(Matrix& a) {
  const double greatest = greatest_of(a.values.data(), static_cast<std::int64_t>(a.values.size()));
  if (greatest == 0 || !std::isfinite(greatest)) return 1;
  const double unit = power_above(greatest);
  for (double& value : a.values) value /= unit;
  return unit;
}

}  // namespace groove::lines
