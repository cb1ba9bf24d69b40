// What factorisations do with lines, contiguous runs of f64. Sums are of eight parts in one order,
// so that bits depend on no machine; all else is done element by element.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/ops/matrices.h"

namespace groove::lines {

/// Of a normalised matrix, smaller numbers are taken for 0.
constexpr double kNothing = 0x1p-500;

double dot(const double* a, const double* b, std::int64_t n);
/// The same of kDots lines at `stride` from each other, each with b.
inline constexpr std::int64_t kDots = 4;
void dots(const double* a, std::int64_t stride, const double* b, std::int64_t n, double* to);
/// sqrt(a a + b b) and the length of x, without squares that underflow.
double hypotenuse(double a, double b);
double length(const double* x, std::int64_t n);
/// y += factor x.
void add_scaled(double* y, double factor, const double* x, std::int64_t n);
/// y += factor x + other z.
void add_scaled(double* y, double factor, const double* x, double other, const double* z,
                std::int64_t n);
// Lines at `stride` from each other, one after the other or, where it is negative, one before.
struct Lines {
  const double* first;
  std::int64_t stride;
};
// Of each line of factors the element at first, then those `step` (1 or -1) on.
struct Factors {
  const double* first;
  std::int64_t stride, step;
};
/// Of each of `rows` lines y the products of its factors with `count` lines x, in turn.
void subtract_products(double* y, std::int64_t stride, const Factors& factors, const Lines& x,
                       std::int64_t rows, std::int64_t count, std::int64_t n);

/// How far apart lines of so many elements had best lie: an odd number of lines of the cache, as
/// many whose addresses differ by a power of two fall on each other.
constexpr std::int64_t spread(std::int64_t elements) { return ((elements + 7) / 8 | 1) * 8; }

/// P A = L U in the first `steps` of the `columns` of A; those right of them become what is left
/// of them. A may have more columns, which stay as they are.
struct Elimination {
  std::vector<std::int64_t> rows;  // that each step exchanges with its own
  std::int64_t zero = 0;           // the first pivot that is 0, counted from 1
};
Elimination eliminate(Matrix& a, std::int64_t steps, std::int64_t columns, bool exchanges);
/// X of T X = B in the place of B, `columns` wide: T is the triangle of the n lines a. Products are
/// subtracted in the order in which the lines of X become known.
enum class Triangle : std::uint8_t { kLower, kUpper };
void substitute(const Lines& a, Triangle triangle, bool is_unit, double* x, std::int64_t stride,
                std::int64_t n, std::int64_t columns);

/// Divides by a power of two, which it returns, so that the greatest magnitude is about 1.
double normalise(Matrix& a);

/// [c s; -s c], which turns (a, b) to (radius, 0).
struct Rotation {
  double c = 1, s = 0, radius = 0;
};
Rotation rotation_of(double a, double b);
void rotate(const Rotation& by, double* x, double* y, std::int64_t n);

/// Householder's reflection I - scale v v^T that turns x onto its first axis, away from the sign of
/// the element there (Golub and Van Loan, Matrix Computations, 5.1). x becomes where it is turned
/// to, followed by v without its first element, which is 1. Returns scale, 0 if x lies on the axis.
/// x is of a normalised matrix.
double reflect_onto_axis(double* x, std::int64_t n);
/// y less its share along such a v, twice.
void reflect(const double* v, double scale, double* y, std::int64_t n);

/// QR by Householder (Golub and Van Loan, 5.2.2): the lines are the columns of A, then line k holds
/// column k of R down to its diagonal, and a reflection from there on. Returns the scales.
std::vector<double> triangularise(Matrix& columns);
/// The reflections lie in line k from element k + shift on. Multiplies each of `onto`, a row, by
/// the last reflection, the one before it … and the first.
enum class Start : std::uint8_t { kUnit, kAny };  // of a unit matrix, much stays 0
void turn_back(const Matrix& reflections, const std::vector<double>& scales, std::int64_t shift,
               Matrix& onto, Start start);

/// A diagonal and what is beside it, which steps of rotations bring to 0 from the end on.
class TwoDiagonals {
 protected:
  explicit TwoDiagonals(std::int64_t n) : n_(n), diagonal_(size(n)), beside_(size(n)) {}
  static std::size_t size(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// step(first, last, steps) works on the last rows and columns that hang together. False when it
  /// does not converge.
  template <typename Step>
  bool shrink(const Step& step) {
    for (std::int64_t k = 0; k < n_; ++k)
      norm_ = std::max(norm_, std::fabs(diagonal_[size(k)]) + std::fabs(beside_[size(k)]));
    int steps = 0;
    for (std::int64_t last = n_ - 1; last > 0;) {
      std::int64_t first = last;
      while (first > 0 && !is_split(first - 1, steps)) --first;
      if (first == last) {
        --last;
        steps = 0;
        continue;
      }
      if (++steps > kMostSteps) return false;
      step(first, last, steps);
    }
    return true;
  }

  static constexpr double kEpsilon = 0x1p-53;
  /// For one value, most take two or three; after kFewSteps less is asked of them.
  static constexpr int kFewSteps = 30, kMostSteps = 90;
  std::int64_t n_;
  double norm_ = 0;
  std::vector<double> diagonal_, beside_;

 private:
  // Is what is beside the diagonal nothing, and 0 from now on?
  bool is_split(std::int64_t k, int steps) {
    const double around = std::fabs(diagonal_[size(k)]) + std::fabs(diagonal_[size(k + 1)]);
    const double bound = kEpsilon * (steps < kFewSteps ? around : norm_);
    if (std::fabs(beside_[size(k)]) > std::max(bound, kNothing)) return false;
    beside_[size(k)] = 0;
    return true;
  }
};

/// A B, each element a sum from the first product to the last.
Matrix product(const Matrix& a, const Matrix& b);

}  // namespace groove::lines
