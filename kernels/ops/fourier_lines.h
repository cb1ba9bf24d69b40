// Lines of numbers, transformed: as they lie in memory, pairs of parts or real numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/ops/fourier.h"

namespace groove::fourier {

/// n pairs to n pairs, n real numbers to the n / 2 + 1 pairs of which the others are conjugates,
/// and such pairs to n real numbers.
enum class Form { kComplex, kFromReal, kToReal };

template <typename T>
class Lines {
 public:
  /// A spectrum is made real backwards, and a signal transformed forwards, whatever `forward` says.
  Lines(Form form, std::int64_t n, bool forward);

  /// So many lines that run() takes at most; they lie behind each other.
  std::int64_t lines() const;
  void run(const T* in, T* out, std::int64_t lines);

 private:
  using Vector = typename Cell<T>::Vector;
  static constexpr std::int64_t kWidth = Cell<T>::kWidth;

  // Between memory and cells.
  void read_pairs(const T* in, std::int64_t count, std::int64_t stride, std::int64_t lines);
  void write_pairs(T* out, std::int64_t count, std::int64_t stride, std::int64_t lines) const;
  void read_reals(const T* in, std::int64_t lines);
  void write_reals(T* out, std::int64_t lines) const;

  // A signal of even length is halved: its odd values are the imaginary parts. From the transform
  // of the half to the signal's, and back.
  void of_signal(T* out, std::int64_t lines);
  void to_signal(const T* in, std::int64_t lines);
  // Of an odd length, the pairs that are not given.
  void read_mirrored(const T* in, std::int64_t lines);

  void take_apart();
  template <typename Combine>
  void combine_cells(const Combine& combine);
  template <typename Combine>
  void combine_line(const Combine& combine);

  Form form_;
  std::int64_t n_, half_;
  bool forward_, is_halved_;
  std::shared_ptr<const Transform<T>> transform_;
  std::shared_ptr<const HalfTurn<T>> turn_;
  std::vector<Cell<T>> cells_, room_;
  std::vector<T> re_, im_;  // of one line that is halved, and of the number behind its end
};

extern template class Lines<float>;
extern template class Lines<double>;

}  // namespace groove::fourier
