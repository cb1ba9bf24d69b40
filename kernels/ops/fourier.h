// Discrete Fourier transforms. Numbers lie in cells, a vector of real parts beside one of imaginary
// parts, so that one instruction works on as many complex numbers as a vector holds and a pass
// reads one cache line after the other. The order of a transform's operations depends on nothing
// but its length.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace groove::fourier {

template <typename T>
struct Cell {
  typedef T Vector __attribute__((vector_size(32), may_alias));
  static constexpr std::int64_t kWidth = 32 / sizeof(T);
  alignas(32) Vector re, im;
};

template <typename T>
void exchange_parts(Cell<T>* cells, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) std::swap(cells[i].re, cells[i].im);
}

/// The transform of n complex numbers, sum_j x[j] exp(-2 pi i j k / n), not divided by anything.
/// Lengths of small prime factors go through Stockham's passes of radix 8, 4, 2, 3, 5 …; others
/// through Bluestein's convolution (IEEE Trans. AU-18 (1970) 451).
template <typename T>
class Transform {
 public:
  explicit Transform(std::int64_t n);

  /// Is it of one line, kWidth successive numbers of which are a cell, or of kWidth lines beside
  /// each other, of which a cell holds one number each?
  bool is_of_one_line() const { return is_of_one_line_; }

  /// Transforms cells() cells in place; what lies behind a line's end does not count. `room` holds
  /// room() cells.
  void run(Cell<T>* x, Cell<T>* room) const;
  std::int64_t cells() const;
  std::int64_t room() const;

 private:
  struct Pass {
    int radix;
    std::int64_t blocks, width;  // butterflies that are turned alike: `width` cells, and how many
    std::vector<T> turns;        // radix - 1 roots of unity for each block
    std::vector<T> roots;        // of an odd radix
  };
  void plan_passes();
  void run_passes(Cell<T>* x, Cell<T>* room) const;
  void run_convolution(Cell<T>* x, Cell<T>* room) const;

  std::int64_t n_;
  bool is_of_one_line_;
  std::vector<Cell<T>> first_turns_;  // of one line's first pass, in which a cell holds many blocks
  std::vector<Pass> passes_;
  // Of the convolution: a transform of the length m, exp(-i pi j^2 / n), and its transform over m.
  std::unique_ptr<Transform> inner_;
  std::vector<Cell<T>> chirp_, kernel_;
};

extern template class Transform<float>;
extern template class Transform<double>;

/// The cosine and the sine of -2 pi t / n, each rounded once or nearly so; 0 <= t < n.
struct Root {
  double re, im;
};
Root root_of_unity(std::int64_t t, std::int64_t n);

/// exp(-2 pi i t / n) for t = 0 … n / 2.
template <typename T>
struct HalfTurn {
  explicit HalfTurn(std::int64_t n);
  std::vector<T> re, im;
};

/// A Transform or a HalfTurn of n, made at its first use and kept: the last few of each type.
template <typename Table>
std::shared_ptr<const Table> kept(std::int64_t n);

}  // namespace groove::fourier
