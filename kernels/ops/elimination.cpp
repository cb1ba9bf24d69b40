// Gaussian elimination and substitution in panels. Whatever the panels are, the products of an
// element are subtracted one by one, those of the first pivot, or of what is known first, first.
#include <algorithm>
#include <cmath>

#include "kernels/ops/matrix_lines.h"

namespace groove::lines {
namespace {

typedef double Vector __attribute__((vector_size(32), may_alias, aligned(8)));
constexpr std::int64_t kWidth = 4, kPanel = 16;

const Vector& vector_at(const double* x) { return *reinterpret_cast<const Vector*>(x); }
Vector& vector_at(double* x) { return *reinterpret_cast<Vector*>(x); }

// Of `rows` lines of `vectors`, which stay in registers while products are subtracted.
template <int rows, int vectors>
void subtract_tile(double* __restrict y, std::int64_t stride, const Factors& factors,
                   const Lines& x, std::int64_t count) {
  Vector rest[rows][vectors];
  for (int row = 0; row < rows; ++row)
    for (int v = 0; v < vectors; ++v) rest[row][v] = vector_at(y + row * stride + v * kWidth);
  const double* factor = factors.first;
  const double* line = x.first;
  for (std::int64_t k = 0; k < count; ++k, factor += factors.step, line += x.stride)
    for (int v = 0; v < vectors; ++v) {
      const Vector part = vector_at(line + v * kWidth);
      for (int row = 0; row < rows; ++row) rest[row][v] -= factor[row * factors.stride] * part;
    }
  for (int row = 0; row < rows; ++row)
    for (int v = 0; v < vectors; ++v) vector_at(y + row * stride + v * kWidth) = rest[row][v];
}

void subtract_from_line(double* __restrict y, const Factors& factors, const Lines& x,
                        std::int64_t count, std::int64_t n) {
  constexpr int kMany = 8;
  const auto at = [&](std::int64_t i) { return Lines{x.first + i, x.stride}; };
  std::int64_t i = 0;
  for (; i + kMany * kWidth <= n; i += kMany * kWidth)
    subtract_tile<1, kMany>(y + i, 0, factors, at(i), count);
  for (; i + kWidth <= n; i += kWidth) subtract_tile<1, 1>(y + i, 0, factors, at(i), count);
  for (; i < n; ++i)
    for (std::int64_t k = 0; k < count; ++k)
      y[i] -= factors.first[k * factors.step] * x.first[k * x.stride + i];
}

// What is used again and again lies side by side: lines of a power of two would fall on each other
// in the first cache.
constexpr std::int64_t kTileRows = 4, kTileVectors = 2, kTile = kTileVectors * kWidth;
constexpr std::int64_t kRows = 64;  // whose factors are laid out together

void subtract_from_rows(double* y, std::int64_t stride, const Factors& factors, const Lines& x,
                        std::int64_t rows, std::int64_t count, std::int64_t n) {
  double packed[kRows * kPanel], strip[kPanel * kTile];
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < count; ++k)
      packed[row * kPanel + k] = factors.first[row * factors.stride + k * factors.step];
  std::int64_t i = 0;
  for (; i + kTile <= n; i += kTile) {
    for (std::int64_t k = 0; k < count; ++k)
      std::copy_n(x.first + k * x.stride + i, kTile, strip + k * kTile);
    std::int64_t row = 0;
    for (; row + kTileRows <= rows; row += kTileRows)
      subtract_tile<kTileRows, kTileVectors>(
          y + row * stride + i, stride, {packed + row * kPanel, kPanel, 1}, {strip, kTile}, count);
    for (; row < rows; ++row)
      subtract_tile<1, kTileVectors>(y + row * stride + i, 0, {packed + row * kPanel, 0, 1},
                                     {strip, kTile}, count);
  }
  for (std::int64_t row = 0; row < rows && i < n; ++row)
    subtract_from_line(y + row * stride + i, {packed + row * kPanel, 0, 1}, {x.first + i, x.stride},
                       count, n - i);
}

// The columns of a panel as lines, from its first row on: what is done to a column is done to many
// rows at once.
class Panel {
 public:
  Panel(Matrix& a, std::int64_t first, std::int64_t behind)
      : a_(a), first_(first), behind_(behind), columns_(behind - first, a.rows - first) {
    for (std::int64_t i = 0; i < columns_.columns; ++i)
      for (std::int64_t j = 0; j < columns_.rows; ++j) columns_(j, i) = a_(first + i, first + j);
  }
  void put_back() {
    for (std::int64_t i = 0; i < columns_.columns; ++i)
      for (std::int64_t j = 0; j < columns_.rows; ++j) a_(first_ + i, first_ + j) = columns_(j, i);
  }
  double pivot(std::int64_t k) { return columns_(k, k); }
  /// The row, from the panel's first on, with the greatest element of column k from row k on.
  std::int64_t greatest(std::int64_t k) const {
    std::int64_t row = k;
    double most = std::fabs(columns_(k, k));
    for (std::int64_t i = k + 1; i < columns_.columns; ++i) {
      const double size = std::fabs(columns_(k, i));
      if (size > most) {
        most = size;
        row = i;
      }
    }
    return row;
  }
  void exchange(std::int64_t i, std::int64_t j, std::int64_t columns) {
    for (std::int64_t k = 0; k < columns_.rows; ++k) std::swap(columns_(k, i), columns_(k, j));
    double *left = &a_(first_ + i, 0), *right = &a_(first_ + j, 0);
    std::swap_ranges(left, left + first_, right);
    std::swap_ranges(left + behind_, left + columns, right + behind_);
  }
  void eliminate(std::int64_t k) {
    double* const factors = &columns_(k, 0);
    const std::int64_t below = k + 1, count = columns_.columns - below;
    const double pivot = factors[k];
    for (std::int64_t i = below; i < columns_.columns; ++i) factors[i] /= pivot;
    for (std::int64_t j = k + 1; j < columns_.rows; ++j)
      add_scaled(&columns_(j, 0) + below, -columns_(j, k), factors + below, count);
  }

 private:
  Matrix& a_;
  std::int64_t first_, behind_;
  Matrix columns_;
};

}  // namespace

void subtract_products(double* y, std::int64_t stride, const Factors& factors, const Lines& x,
                       std::int64_t rows, std::int64_t count, std::int64_t n) {
  if (rows == 1) return subtract_from_line(y, factors, x, count, n);
  for (std::int64_t row = 0; row < rows; row += kRows)
    for (std::int64_t k = 0; k < count; k += kPanel)
      subtract_from_rows(
          y + row * stride, stride,
          {factors.first + row * factors.stride + k * factors.step, factors.stride, factors.step},
          {x.first + k * x.stride, x.stride}, std::min(kRows, rows - row),
          std::min(kPanel, count - k), n);
}

Elimination eliminate(Matrix& a, std::int64_t steps, std::int64_t columns, bool exchanges) {
  Elimination result;
  for (std::int64_t first = 0, end = 0; first < steps; first = end) {
    const std::int64_t behind = std::min(first + kPanel, steps);
    Panel panel(a, first, behind);
    std::int64_t used = 0;  // pivots that are not 0: the first that is one ends the panel
    for (end = first; end < behind && end == first + used;) {
      const std::int64_t k = end++ - first;
      const std::int64_t row = exchanges ? panel.greatest(k) : k;
      result.rows.push_back(first + row);
      if (row != k) panel.exchange(k, row, columns);
      if (panel.pivot(k) == 0) {
        if (result.zero == 0) result.zero = end;
        continue;
      }
      panel.eliminate(k);
      ++used;
    }
    panel.put_back();
    const std::int64_t rest = columns - behind;
    if (rest == 0 || used == 0) continue;
    const Lines above{&a(first, behind), a.columns};
    for (std::int64_t i = first + 1; i < first + used; ++i)
      subtract_from_line(&a(i, behind), {&a(i, first), 0, 1}, above, i - first, rest);
    const std::int64_t next = first + used;
    if (next < a.rows)
      subtract_products(&a(next, behind), a.columns, {&a(next, first), a.columns, 1}, above,
                        a.rows - next, used, rest);
  }
  return result;
}

void substitute(const Lines& a, Triangle triangle, bool is_unit, double* x, std::int64_t stride,
                std::int64_t n, std::int64_t columns) {
  const std::int64_t step = triangle == Triangle::kLower ? 1 : -1;
  const auto row_of = [&](std::int64_t known) { return step > 0 ? known : n - 1 - known; };
  const auto element = [&](std::int64_t i, std::int64_t j) { return a.first + i * a.stride + j; };
  for (std::int64_t first = 0; first < n && columns > 0; first += kPanel) {
    const std::int64_t behind = std::min(first + kPanel, n), from = row_of(first);
    const Lines known{x + from * stride, step * stride};
    for (std::int64_t at = first; at < behind; ++at) {
      const std::int64_t i = row_of(at);
      double* const line = x + i * stride;
      subtract_from_line(line, {element(i, from), 0, step}, known, at - first, columns);
      const double pivot = is_unit ? 1 : *element(i, i);
      for (std::int64_t j = 0; j < columns && !is_unit; ++j) line[j] /= pivot;
    }
    if (behind == n) return;
    const std::int64_t next = step > 0 ? behind : 0;  // the first of the rows that are left
    subtract_products(x + next * stride, stride, {element(next, from), a.stride, step}, known,
                      n - behind, behind - first, columns);
  }
}

}  // namespace groove::lines
