// A pass of Stockham's transform: butterflies of a few cells, and the turns that follow them.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/ops/fourier.h"

namespace groove::fourier {

constexpr int kFirstRadix = 8, kGreatestFactor = 61;

template <typename T>
Cell<T> operator+(const Cell<T>& a, const Cell<T>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T>
Cell<T> operator-(const Cell<T>& a, const Cell<T>& b) {
  return {a.re - b.re, a.im - b.im};
}
/// a times re + i im, of numbers or vectors.
template <typename T, typename Factor>
Cell<T> product(const Cell<T>& a, Factor re, Factor im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
/// a times -i.
template <typename T>
Cell<T> quarter(const Cell<T>& a) {
  return {a.im, -a.re};
}

template <typename T>
void butterfly2(Cell<T>& a, Cell<T>& b) {
  const Cell<T> sum = a + b;
  b = a - b;
  a = sum;
}

// In the order of the results.
template <typename T>
void butterfly4(Cell<T>& a, Cell<T>& b, Cell<T>& c, Cell<T>& d) {
  const Cell<T> even = a + c, even_turned = a - c, odd = b + d, odd_turned = quarter(b - d);
  a = even + odd;
  b = even_turned + odd_turned;
  c = even - odd;
  d = even_turned - odd_turned;
}

template <typename T>
void butterfly8(Cell<T>* x) {
  butterfly4(x[0], x[2], x[4], x[6]);
  butterfly4(x[1], x[3], x[5], x[7]);
  const T half = static_cast<T>(0.70710678118654752440);  // of an eighth of a turn
  const Cell<T> odd1 = {(x[3].re + x[3].im) * half, (x[3].im - x[3].re) * half};
  const Cell<T> odd2 = quarter(x[5]);
  const Cell<T> odd3 = {(x[7].im - x[7].re) * half, -(x[7].im + x[7].re) * half};
  const Cell<T> even0 = x[0], even1 = x[2], even2 = x[4], even3 = x[6], odd0 = x[1];
  x[0] = even0 + odd0;
  x[1] = even1 + odd1;
  x[2] = even2 + odd2;
  x[3] = even3 + odd3;
  x[4] = even0 - odd0;
  x[5] = even1 - odd1;
  x[6] = even2 - odd2;
  x[7] = even3 - odd3;
}

/// A transform of `radix` cells in place. kRadix is 0 where that is only known at run time. Of an
/// odd one, numbers j and radix - j meet in their sum and their difference; `roots` of unity are
/// then to be given, as pairs.
template <typename T, int kRadix>
class Butterfly {
 public:
  Butterfly(int radix, const T* roots) : known_at_run_time_(radix), roots_(roots) {}
  int radix() const { return kRadix == 0 ? known_at_run_time_ : kRadix; }

  void run(Cell<T>* x) const {
    if constexpr (kRadix == 2) {
      butterfly2(x[0], x[1]);
    } else if constexpr (kRadix == 4) {
      butterfly4(x[0], x[1], x[2], x[3]);
    } else if constexpr (kRadix == 8) {
      butterfly8(x);
    } else {
      run_odd(x);
    }
  }

 private:
  static constexpr int kMost = kRadix == 0 ? kGreatestFactor : kRadix;

  void run_odd(Cell<T>* x) const {
    const int radix = this->radix(), half = radix / 2;
    Cell<T> sums[kMost / 2 + 1], differences[kMost / 2 + 1];
    const Cell<T> first = x[0];
    for (int j = 1; j <= half; ++j) {
      sums[j] = x[j] + x[radix - j];
      differences[j] = x[j] - x[radix - j];
      x[0] = x[0] + sums[j];
    }
    for (int k = 1; k <= half; ++k) {
      Cell<T> up = first, down = {};
      for (int j = 1; j <= half; ++j) {
        const int at = 2 * (j * k % radix);
        const T c = roots_[at], s = roots_[at + 1];
        up = {up.re + sums[j].re * c, up.im + sums[j].im * c};
        down = {down.re + differences[j].im * s, down.im + differences[j].re * s};
      }
      x[k] = {up.re - down.re, up.im + down.im};
      x[radix - k] = {up.re + down.re, up.im - down.im};
    }
  }

  int known_at_run_time_;
  const T* roots_;
};

template <typename T, int kRadix>
void run_pass(const Butterfly<T, kRadix>& butterfly, const Cell<T>* __restrict__ from,
              Cell<T>* __restrict__ to, std::int64_t blocks, std::int64_t width, const T* turns) {
  const int radix = butterfly.radix();
  const std::int64_t step = width * blocks;
  Cell<T> x[kRadix == 0 ? kGreatestFactor : kRadix];
  for (std::int64_t p = 0; p < blocks; ++p) {
    for (std::int64_t q = 0; q < width; ++q) {
      for (int k = 0; k < radix; ++k) x[k] = from[q + k * step];
      butterfly.run(x);
      to[q] = x[0];
      for (int k = 1; k < radix; ++k)
        to[q + k * width] = p == 0 ? x[k] : product(x[k], turns[2 * k - 2], turns[2 * k - 1]);
    }
    from += width;
    to += width * radix;
    turns += 2 * (radix - 1);
  }
}

// Of vectors a and b: where `kBlock` is in the place, what b has there, and otherwise a; and what
// either has, that is not in the first.
template <typename Vector, int kBlock, int... kPlace>
void exchange_blocks(Vector& a, Vector& b, std::integer_sequence<int, kPlace...>) {
  constexpr int kWidth = sizeof...(kPlace);
  const Vector first =
      __builtin_shufflevector(a, b, (kPlace & kBlock ? kPlace - kBlock + kWidth : kPlace)...);
  b = __builtin_shufflevector(a, b, (kPlace & kBlock ? kPlace + kWidth : kPlace + kBlock)...);
  a = first;
}

// As many vectors as they have numbers, as a matrix's rows: columns instead.
template <typename T, int kBlock = Cell<T>::kWidth / 2>
void transpose(typename Cell<T>::Vector* rows) {
  constexpr int kWidth = Cell<T>::kWidth;
  for (int r = 0; r < kWidth; ++r)
    if ((r & kBlock) == 0)
      exchange_blocks<typename Cell<T>::Vector, kBlock>(rows[r], rows[r + kBlock],
                                                        std::make_integer_sequence<int, kWidth>());
  if constexpr (kBlock > 1) transpose<T, kBlock / 2>(rows);
}

/// One line's first pass of radix 8, in which a cell holds successive blocks: a block's results are
/// successive numbers.
template <typename T>
void first_pass(const Cell<T>* __restrict__ from, Cell<T>* __restrict__ to, std::int64_t cells,
                const Cell<T>* turns) {
  constexpr int kWidth = Cell<T>::kWidth, kEach = kFirstRadix / kWidth;
  for (std::int64_t p = 0; p < cells; ++p, turns += kFirstRadix - 1, to += kFirstRadix) {
    Cell<T> x[kFirstRadix];
    for (int k = 0; k < kFirstRadix; ++k) x[k] = from[p + k * cells];
    butterfly8(x);
    typename Cell<T>::Vector re[kFirstRadix], im[kFirstRadix];
    for (int k = 0; k < kFirstRadix; ++k) {
      const Cell<T> turned = k == 0 ? x[0] : product(x[k], turns[k - 1].re, turns[k - 1].im);
      re[k] = turned.re;
      im[k] = turned.im;
    }
    for (int part = 0; part < kEach; ++part) {
      transpose<T>(re + part * kWidth);
      transpose<T>(im + part * kWidth);
      for (int i = 0; i < kWidth; ++i)
        to[i * kEach + part] = {re[part * kWidth + i], im[part * kWidth + i]};
    }
  }
}

}  // namespace groove::fourier
