// Discrete Fourier transforms of many lines at once. The lines lie beside each other in memory, so
// that the innermost loops run over them; the order of a line's own operations depends on nothing
// but its length.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace groove::fourier {

/// The transform of n complex numbers, sum_j x[j] exp(-2 pi i j k / n), not divided by anything.
/// Lengths of small prime factors go through Stockham's passes of radix 4, 2, 3, 5 …; others
/// through Bluestein's convolution (IEEE Trans. AU-18 (1970) 451).
template <typename T>
class Transform {
 public:
  explicit Transform(std::int64_t n);

  /// Parts of n rows of `lanes` numbers each; transforms them in place. `room` holds room() numbers
  /// for each lane.
  void run(T* re, T* im, T* room, std::int64_t lanes) const;
  std::int64_t room() const;

 private:
  void run_passes(T* re, T* im, T* room, std::int64_t lanes) const;
  void run_convolution(T* re, T* im, T* room, std::int64_t lanes) const;

  std::int64_t n_;
  std::vector<int> factors_;      // empty where the convolution is used
  std::vector<T> cosine_, sine_;  // of -2 pi t / n
  // Of the convolution: a transform of the length m, exp(-i pi j^2 / n), and its transform over m.
  std::unique_ptr<Transform> inner_;
  std::vector<T> chirp_re_, chirp_im_, kernel_re_, kernel_im_;
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
