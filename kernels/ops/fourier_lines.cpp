#include "kernels/ops/fourier_lines.h"

#include <algorithm>
#include <cstring>

#include "kernels/contraction/pack.h"

namespace groove::fourier {
namespace {

template <typename T>
typename Cell<T>::Vector load(const T* from) {
  typename Cell<T>::Vector result;
  std::memcpy(&result, from, sizeof result);
  return result;
}
template <typename T>
void store(T* to, const typename Cell<T>::Vector& value) {
  std::memcpy(to, &value, sizeof value);
}

using Floats = Cell<float>::Vector;
using Doubles = Cell<double>::Vector;

// The last number first.
Floats reversed(Floats v) { return __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0); }
Doubles reversed(Doubles v) { return __builtin_shufflevector(v, v, 3, 2, 1, 0); }

Cell<float> from_pairs(Floats a, Floats b) {
  return {__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
          __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)};
}
Cell<double> from_pairs(Doubles a, Doubles b) {
  return {__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7)};
}
template <typename T>
struct Pairs {
  typename Cell<T>::Vector low, high;
};
Pairs<float> to_pairs(const Cell<float>& cell) {
  return {__builtin_shufflevector(cell.re, cell.im, 0, 8, 1, 9, 2, 10, 3, 11),
          __builtin_shufflevector(cell.re, cell.im, 4, 12, 5, 13, 6, 14, 7, 15)};
}
Pairs<double> to_pairs(const Cell<double>& cell) {
  return {__builtin_shufflevector(cell.re, cell.im, 0, 4, 1, 5),
          __builtin_shufflevector(cell.re, cell.im, 2, 6, 3, 7)};
}

template <typename T>
struct Number {
  T re, im;
};

// X[k] = (Z[k] + Z[h - k]*) / 2 - i w^k (Z[k] - Z[h - k]*) / 2 with w = exp(-2 pi i / n): a
// signal's transform of that of its half. Of numbers or of cells.
struct OfSignal {
  template <typename Value, typename Factor>
  Value operator()(const Value& a, const Value& b, Factor c, Factor s) const {
    const auto sum_re = a.re + b.re, sum_im = a.im - b.im;
    const auto odd_re = a.im + b.im, odd_im = b.re - a.re;
    return {(sum_re + (odd_re * c - odd_im * s)) / 2, (sum_im + (odd_re * s + odd_im * c)) / 2};
  }
};

// Z[k] = (X[k] + X[h - k]*) + i w^-k (X[k] - X[h - k]*).
struct ToSignal {
  template <typename Value, typename Factor>
  Value operator()(const Value& a, const Value& b, Factor c, Factor s) const {
    const auto odd_re = a.re - b.re, odd_im = a.im + b.im;
    return {(a.re + b.re) + (odd_re * s - odd_im * c), (a.im - b.im) + (odd_re * c + odd_im * s)};
  }
};

}  // namespace

template <typename T>
Lines<T>::Lines(Form form, std::int64_t n, bool forward)
    : form_(form),
      n_(n),
      half_(n / 2),
      forward_(form == Form::kComplex ? forward : form == Form::kFromReal),
      is_halved_(form != Form::kComplex && n % 2 == 0),
      transform_(kept<Transform<T>>(is_halved_ ? half_ : n)),
      cells_(static_cast<std::size_t>(transform_->cells() + 1)),
      room_(static_cast<std::size_t>(transform_->room())) {
  if (!is_halved_) return;
  turn_ = kept<HalfTurn<T>>(n);
  if (!transform_->is_of_one_line()) return;
  re_.resize(cells_.size() * kWidth);
  im_.resize(re_.size());
}

template <typename T>
std::int64_t Lines<T>::lines() const {
  return transform_->is_of_one_line() ? 1 : kWidth;
}

template <typename T>
void Lines<T>::run(const T* in, T* out, std::int64_t lines) {
  const std::int64_t pairs = half_ + 1;
  if (form_ == Form::kComplex) {
    read_pairs(in, n_, 2 * n_, lines);
  } else if (form_ == Form::kToReal) {
    is_halved_ ? to_signal(in, lines) : read_mirrored(in, lines);
  } else {
    is_halved_ ? read_pairs(in, half_, n_, lines) : read_reals(in, lines);
  }
  // The other way is the same with both parts exchanged.
  const std::int64_t count = forward_ ? 0 : transform_->cells();
  exchange_parts(cells_.data(), count);
  transform_->run(cells_.data(), room_.data());
  exchange_parts(cells_.data(), count);
  if (form_ == Form::kComplex) return write_pairs(out, n_, 2 * n_, lines);
  if (form_ == Form::kToReal)
    return is_halved_ ? write_pairs(out, half_, n_, lines) : write_reals(out, lines);
  is_halved_ ? of_signal(out, lines) : write_pairs(out, pairs, 2 * pairs, lines);
  // Exactly real: the first value, and the last of an even length.
  for (std::int64_t line = 0; line < lines; ++line) {
    T* const at = out + line * 2 * pairs;
    at[1] = 0;
    if (is_halved_) at[2 * half_ + 1] = 0;
  }
}

template <typename T>
void Lines<T>::read_pairs(const T* in, std::int64_t count, std::int64_t stride,
                          std::int64_t lines) {
  T* const to = reinterpret_cast<T*>(cells_.data());
  if (!transform_->is_of_one_line())
    return kernels::transpose(in, stride, to, kWidth, lines, 2 * count, true);
  std::int64_t j = 0;
  for (Cell<T>* cell = cells_.data(); j + kWidth <= count; j += kWidth, ++cell)
    *cell = from_pairs(load(in + 2 * j), load(in + 2 * j + kWidth));
  for (std::int64_t i = 0; j + i < count; ++i) {
    to[2 * j + i] = in[2 * (j + i)];
    to[2 * j + kWidth + i] = in[2 * (j + i) + 1];
  }
}

template <typename T>
void Lines<T>::write_pairs(T* out, std::int64_t count, std::int64_t stride,
                           std::int64_t lines) const {
  const T* const from = reinterpret_cast<const T*>(cells_.data());
  if (!transform_->is_of_one_line())
    return kernels::transpose(from, kWidth, out, stride, 2 * count, lines, false);
  std::int64_t j = 0;
  for (const Cell<T>* cell = cells_.data(); j + kWidth <= count; j += kWidth, ++cell) {
    const auto [low, high] = to_pairs(*cell);
    store(out + 2 * j, low);
    store(out + 2 * j + kWidth, high);
  }
  for (std::int64_t i = 0; j + i < count; ++i) {
    out[2 * (j + i)] = from[2 * j + i];
    out[2 * (j + i) + 1] = from[2 * j + kWidth + i];
  }
}

template <typename T>
void Lines<T>::read_reals(const T* in, std::int64_t lines) {
  std::fill(cells_.begin(), cells_.end(), Cell<T>{});
  if (!transform_->is_of_one_line())
    return kernels::transpose(in, n_, reinterpret_cast<T*>(cells_.data()), 2 * kWidth, lines, n_,
                              true);
  for (std::int64_t j = 0; j < n_; j += kWidth)
    std::memcpy(&cells_[static_cast<std::size_t>(j / kWidth)].re, in + j,
                static_cast<std::size_t>(std::min(kWidth, n_ - j)) * sizeof(T));
}

template <typename T>
void Lines<T>::write_reals(T* out, std::int64_t lines) const {
  if (!transform_->is_of_one_line())
    return kernels::transpose(reinterpret_cast<const T*>(cells_.data()), 2 * kWidth, out, n_, n_,
                              lines, false);
  for (std::int64_t j = 0; j < n_; j += kWidth)
    std::memcpy(out + j, &cells_[static_cast<std::size_t>(j / kWidth)].re,
                static_cast<std::size_t>(std::min(kWidth, n_ - j)) * sizeof(T));
}

template <typename T>
void Lines<T>::read_mirrored(const T* in, std::int64_t lines) {
  if (!transform_->is_of_one_line()) {
    read_pairs(in, half_ + 1, 2 * (half_ + 1), lines);
    cells_[0].im = Vector{};
    for (std::int64_t k = half_ + 1; k < n_; ++k) {
      const Cell<T>& given = cells_[static_cast<std::size_t>(n_ - k)];
      cells_[static_cast<std::size_t>(k)] = {given.re, -given.im};
    }
    return;
  }
  T* const to = reinterpret_cast<T*>(cells_.data());
  for (std::int64_t k = 0; k < n_; ++k) {
    const std::int64_t at = k <= half_ ? k : n_ - k;
    T* const cell = to + k / kWidth * 2 * kWidth + k % kWidth;
    const T im = k == 0 ? T(0) : in[2 * at + 1];
    cell[0] = in[2 * at];
    cell[kWidth] = k <= half_ ? im : -im;
  }
}

// Of lines beside each other: cells k and half - k, where they are.
template <typename T>
template <typename Combine>
void Lines<T>::combine_cells(const Combine& combine) {
  for (std::int64_t k = 0; 2 * k <= half_; ++k) {
    const auto at = static_cast<std::size_t>(k), mirrored = static_cast<std::size_t>(half_ - k);
    const Cell<T> a = cells_[at], b = cells_[mirrored];
    cells_[at] = combine(a, b, turn_->re[at], turn_->im[at]);
    cells_[mirrored] = combine(b, a, turn_->re[mirrored], turn_->im[mirrored]);
  }
}

// One line's cells.
template <typename T>
void Lines<T>::take_apart() {
  T *re = re_.data(), *im = im_.data();
  for (const Cell<T>& cell : cells_) {
    store(re, cell.re);
    store(im, cell.im);
    re += kWidth;
    im += kWidth;
  }
}

// Of one line, numbers k < half: from its parts to its cells.
template <typename T>
template <typename Combine>
void Lines<T>::combine_line(const Combine& combine) {
  const T *const re = re_.data(), *const im = im_.data();
  const T *const turn_re = turn_->re.data(), *const turn_im = turn_->im.data();
  std::int64_t k = 0;
  for (Cell<T>* cell = cells_.data(); k + kWidth <= half_; k += kWidth, ++cell) {
    const std::int64_t last = half_ - k - (kWidth - 1);
    const Cell<T> a = {load(re + k), load(im + k)};
    const Cell<T> b = {reversed(load(re + last)), reversed(load(im + last))};
    *cell = combine(a, b, load(turn_re + k), load(turn_im + k));
  }
  T* const to = reinterpret_cast<T*>(cells_.data()) + 2 * k;
  for (std::int64_t i = 0; k < half_; ++i, ++k) {
    const Number<T> a = {re[k], im[k]}, b = {re[half_ - k], im[half_ - k]};
    const Number<T> value = combine(a, b, turn_re[k], turn_im[k]);
    to[i] = value.re;
    to[kWidth + i] = value.im;
  }
}

template <typename T>
void Lines<T>::of_signal(T* out, std::int64_t lines) {
  const std::int64_t stride = 2 * (half_ + 1);
  if (!transform_->is_of_one_line()) {
    cells_[static_cast<std::size_t>(half_)] = cells_[0];
    combine_cells(OfSignal());
    return write_pairs(out, half_ + 1, stride, lines);
  }
  take_apart();
  re_[static_cast<std::size_t>(half_)] = re_[0];
  im_[static_cast<std::size_t>(half_)] = im_[0];
  combine_line(OfSignal());
  write_pairs(out, half_, stride, lines);
  out[2 * half_] = re_[0] - im_[0];
}

template <typename T>
void Lines<T>::to_signal(const T* in, std::int64_t lines) {
  const std::int64_t stride = 2 * (half_ + 1);
  read_pairs(in, half_ + 1, stride, lines);
  if (!transform_->is_of_one_line()) {
    cells_[0].im = cells_[static_cast<std::size_t>(half_)].im = Vector{};
    return combine_cells(ToSignal());
  }
  take_apart();
  // The imaginary parts of both ends do not count.
  im_[0] = im_[static_cast<std::size_t>(half_)] = 0;
  combine_line(ToSignal());
}

template class Lines<float>;
template class Lines<double>;

}  // namespace groove::fourier
