// Stockham's passes and Bluestein's convolution.
#include "kernels/ops/fourier.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>
#include <utility>

namespace groove::fourier {
namespace {

// Above this a prime factor costs more than the convolution.
constexpr std::int64_t kGreatestFactor = 61;

// Empty when a prime factor is too great.
std::vector<int> factors_of(std::int64_t n) {
  std::vector<int> result;
  while (n % 4 == 0) {
    result.push_back(4);
    n /= 4;
  }
  for (std::int64_t factor = 2; factor <= kGreatestFactor && n > 1; ++factor) {
    for (; n % factor == 0; n /= factor) result.push_back(static_cast<int>(factor));
  }
  if (n > 1) result.clear();
  return result;
}

template <typename T>
struct Rows {
  T* re;
  T* im;
  Rows at(std::int64_t offset) const { return {re + offset, im + offset}; }
};

// A row that nothing else points into.
#define GROOVE_ROW(name, rows)                 \
  T* const __restrict__ name##_re = (rows).re; \
  T* const __restrict__ name##_im = (rows).im

// Roots of unity that the results of a butterfly, but for the first, are turned by.
template <typename T>
struct Turns {
  T re[3], im[3];
};

// A row times c + i s, where it is or to another place.
template <typename T>
void turn(Rows<T> to, Rows<T> from, T c, T s, std::int64_t width) {
  for (std::int64_t q = 0; q < width; ++q) {
    const T re = from.re[q], im = from.im[q];
    to.re[q] = re * c - im * s;
    to.im[q] = re * s + im * c;
  }
}

template <typename T>
void butterfly2(Rows<T> x, std::int64_t step, Rows<T> y, std::int64_t width,
                const Turns<T>& turns) {
  GROOVE_ROW(a, x);
  GROOVE_ROW(b, x.at(step));
  GROOVE_ROW(y0, y);
  GROOVE_ROW(y1, y.at(width));
  const T c = turns.re[0], s = turns.im[0];
  for (std::int64_t q = 0; q < width; ++q) {
    y0_re[q] = a_re[q] + b_re[q];
    y0_im[q] = a_im[q] + b_im[q];
    const T re = a_re[q] - b_re[q], im = a_im[q] - b_im[q];
    y1_re[q] = re * c - im * s;
    y1_im[q] = re * s + im * c;
  }
}

template <typename T>
void butterfly4(Rows<T> x, std::int64_t step, Rows<T> y, std::int64_t width,
                const Turns<T>& turns) {
  GROOVE_ROW(a, x);
  GROOVE_ROW(b, x.at(step));
  GROOVE_ROW(c, x.at(2 * step));
  GROOVE_ROW(d, x.at(3 * step));
  GROOVE_ROW(y0, y);
  GROOVE_ROW(y1, y.at(width));
  GROOVE_ROW(y2, y.at(2 * width));
  GROOVE_ROW(y3, y.at(3 * width));
  const T c1 = turns.re[0], s1 = turns.im[0], c2 = turns.re[1], s2 = turns.im[1];
  const T c3 = turns.re[2], s3 = turns.im[2];
  for (std::int64_t q = 0; q < width; ++q) {
    const T ac_re = a_re[q] + c_re[q], ac_im = a_im[q] + c_im[q];
    const T a_c_re = a_re[q] - c_re[q], a_c_im = a_im[q] - c_im[q];
    const T bd_re = b_re[q] + d_re[q], bd_im = b_im[q] + d_im[q];
    const T b_d_re = b_re[q] - d_re[q], b_d_im = b_im[q] - d_im[q];
    y0_re[q] = ac_re + bd_re;
    y0_im[q] = ac_im + bd_im;
    const T re1 = a_c_re + b_d_im, im1 = a_c_im - b_d_re;  // - i (b - d)
    const T re2 = ac_re - bd_re, im2 = ac_im - bd_im;
    const T re3 = a_c_re - b_d_im, im3 = a_c_im + b_d_re;
    y1_re[q] = re1 * c1 - im1 * s1;
    y1_im[q] = re1 * s1 + im1 * c1;
    y2_re[q] = re2 * c2 - im2 * s2;
    y2_im[q] = re2 * s2 + im2 * c2;
    y3_re[q] = re3 * c3 - im3 * s3;
    y3_im[q] = re3 * s3 + im3 * c3;
  }
}
#undef GROOVE_ROW

// An odd prime: rows j and r - j meet in their sum and their difference.
template <typename T>
void butterfly_odd(Rows<T> x, std::int64_t step, Rows<T> y, std::int64_t width, int radix,
                   const Root* roots) {
  for (std::int64_t q = 0; q < width; ++q) {
    y.re[q] = x.re[q];
    y.im[q] = x.im[q];
  }
  for (int j = 1; j < radix; ++j) {
    const Rows<T> a = x.at(j * step);
    for (std::int64_t q = 0; q < width; ++q) {
      y.re[q] += a.re[q];
      y.im[q] += a.im[q];
    }
  }
  for (int k = 1; 2 * k < radix; ++k) {
    const Rows<T> up = y.at(k * width), down = y.at((radix - k) * width);
    for (std::int64_t q = 0; q < width; ++q) {
      up.re[q] = x.re[q];
      up.im[q] = x.im[q];
      down.re[q] = 0;
      down.im[q] = 0;
    }
    for (int j = 1; 2 * j < radix; ++j) {
      const Rows<T> a = x.at(j * step), b = x.at((radix - j) * step);
      const Root root = roots[j * k % radix];
      const T c = static_cast<T>(root.re), s = static_cast<T>(root.im);
      for (std::int64_t q = 0; q < width; ++q) {
        up.re[q] += c * (a.re[q] + b.re[q]);
        up.im[q] += c * (a.im[q] + b.im[q]);
        down.re[q] += s * (a.im[q] - b.im[q]);
        down.im[q] += s * (a.re[q] - b.re[q]);
      }
    }
    for (std::int64_t q = 0; q < width; ++q) {
      const T re = down.re[q], im = down.im[q];
      down.re[q] = up.re[q] + re;
      down.im[q] = up.im[q] - im;
      up.re[q] -= re;
      up.im[q] += im;
    }
  }
}

}  // namespace

Root root_of_unity(std::int64_t t, std::int64_t n) {
  // Within an eighth of a turn, where sine and cosine are taken of the smallest angles.
  const std::int64_t eighth = 8 * t / n;
  const auto angle = [n](std::int64_t steps) {
    return 2 * std::numbers::pi * static_cast<double>(steps) / static_cast<double>(4 * n);
  };
  const std::int64_t at = 4 * t;  // of 4 n steps in a turn, n to a quarter
  switch (eighth) {
    case 0:
      return {std::cos(angle(at)), -std::sin(angle(at))};
    case 1:
      return {std::sin(angle(n - at)), -std::cos(angle(n - at))};
    case 2:
      return {-std::sin(angle(at - n)), -std::cos(angle(at - n))};
    case 3:
      return {-std::cos(angle(2 * n - at)), -std::sin(angle(2 * n - at))};
    case 4:
      return {-std::cos(angle(at - 2 * n)), std::sin(angle(at - 2 * n))};
    case 5:
      return {-std::sin(angle(3 * n - at)), std::cos(angle(3 * n - at))};
    case 6:
      return {std::sin(angle(at - 3 * n)), std::cos(angle(at - 3 * n))};
    default:
      return {std::cos(angle(4 * n - at)), std::sin(angle(4 * n - at))};
  }
}

template <typename T>
Transform<T>::Transform(std::int64_t n) : n_(n), factors_(factors_of(n)) {
  if (n == 1 || !factors_.empty()) {
    for (std::int64_t t = 0; t < n; ++t) {
      const Root root = root_of_unity(t, n);
      cosine_.push_back(static_cast<T>(root.re));
      sine_.push_back(static_cast<T>(root.im));
    }
    return;
  }
  std::int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  inner_ = std::make_unique<Transform>(m);
  const auto size = static_cast<std::size_t>(m);
  kernel_re_.assign(size, 0);
  kernel_im_.assign(size, 0);
  std::int64_t square = 0;  // j^2 mod 2 n
  for (std::int64_t j = 0; j < n; square = (square + 2 * j + 1) % (2 * n), ++j) {
    const Root root = root_of_unity(square, 2 * n);
    chirp_re_.push_back(static_cast<T>(root.re));
    chirp_im_.push_back(static_cast<T>(root.im));
    for (const std::int64_t place : {j, (m - j) % m}) {
      kernel_re_[static_cast<std::size_t>(place)] =
          static_cast<T>(root.re / static_cast<double>(m));
      kernel_im_[static_cast<std::size_t>(place)] =
          static_cast<T>(-root.im / static_cast<double>(m));
    }
  }
  std::vector<T> room(static_cast<std::size_t>(inner_->room()));
  inner_->run(kernel_re_.data(), kernel_im_.data(), room.data(), 1);
}

template <typename T>
std::int64_t Transform<T>::room() const {
  const std::int64_t m = inner_ ? inner_->n_ : 0;
  return inner_ ? 2 * m + inner_->room() : 2 * n_;
}

template <typename T>
void Transform<T>::run(T* re, T* im, T* room, std::int64_t lanes) const {
  inner_ ? run_convolution(re, im, room, lanes) : run_passes(re, im, room, lanes);
}

template <typename T>
void Transform<T>::run_passes(T* re, T* im, T* room, std::int64_t lanes) const {
  Rows<T> from = {re, im}, to = {room, room + n_ * lanes};
  std::int64_t left = n_, done = 1;
  for (const int radix : factors_) {
    const std::int64_t m = left / radix, width = lanes * done;
    std::vector<Root> roots;
    for (int k = 0; k < radix && radix % 2 == 1; ++k) roots.push_back(root_of_unity(k, radix));
    for (std::int64_t p = 0; p < m; ++p) {
      const Rows<T> x = from.at(width * p), y = to.at(width * radix * p);
      const std::int64_t step = width * m;
      const auto root = [&](int k) { return static_cast<std::size_t>(p * k * done); };
      if (radix > 4 || radix == 3) {
        butterfly_odd(x, step, y, width, radix, roots.data());
        for (int k = 1; k < radix && p > 0; ++k)
          turn(y.at(width * k), y.at(width * k), cosine_[root(k)], sine_[root(k)], width);
        continue;
      }
      Turns<T> turns;
      for (int k = 1; k < radix; ++k) {
        turns.re[k - 1] = cosine_[root(k)];
        turns.im[k - 1] = sine_[root(k)];
      }
      radix == 4 ? butterfly4(x, step, y, width, turns) : butterfly2(x, step, y, width, turns);
    }
    std::swap(from, to);
    left = m;
    done *= radix;
  }
  if (from.re == re) return;
  std::copy_n(from.re, n_ * lanes, re);
  std::copy_n(from.im, n_ * lanes, im);
}

// exp(-2 pi i j k / n) with j k = (j^2 + k^2 - (k - j)^2) / 2.
template <typename T>
void Transform<T>::run_convolution(T* re, T* im, T* room, std::int64_t lanes) const {
  const std::int64_t m = inner_->n_;
  const Rows<T> rows = {re, im}, long_rows = {room, room + m * lanes};
  T* const inner_room = room + 2 * m * lanes;
  for (std::int64_t j = 0; j < n_; ++j) {
    const auto i = static_cast<std::size_t>(j);
    turn(long_rows.at(j * lanes), rows.at(j * lanes), chirp_re_[i], chirp_im_[i], lanes);
  }
  std::fill(long_rows.re + n_ * lanes, long_rows.re + m * lanes, T(0));
  std::fill(long_rows.im + n_ * lanes, long_rows.im + m * lanes, T(0));
  inner_->run(long_rows.re, long_rows.im, inner_room, lanes);
  for (std::int64_t j = 0; j < m; ++j) {
    const auto i = static_cast<std::size_t>(j);
    turn(long_rows.at(j * lanes), long_rows.at(j * lanes), kernel_re_[i], kernel_im_[i], lanes);
  }
  // Back: the transform with both parts exchanged.
  inner_->run(long_rows.im, long_rows.re, inner_room, lanes);
  for (std::int64_t j = 0; j < n_; ++j) {
    const auto i = static_cast<std::size_t>(j);
    turn(rows.at(j * lanes), long_rows.at(j * lanes), chirp_re_[i], chirp_im_[i], lanes);
  }
}

template class Transform<float>;
template class Transform<double>;

template <typename T>
HalfTurn<T>::HalfTurn(std::int64_t n) {
  for (std::int64_t t = 0; t <= n / 2; ++t) {
    const Root root = root_of_unity(t, n);
    re.push_back(static_cast<T>(root.re));
    im.push_back(static_cast<T>(root.im));
  }
}

template <typename Table>
std::shared_ptr<const Table> kept(std::int64_t n) {
  constexpr std::size_t kKept = 16;
  struct Kept {
    std::mutex mutex;
    std::list<std::pair<std::int64_t, std::shared_ptr<const Table>>> tables;
  };
  static Kept& kept = *new Kept;
  const std::lock_guard lock(kept.mutex);
  auto& all = kept.tables;
  const auto found =
      std::find_if(all.begin(), all.end(), [n](const auto& known) { return known.first == n; });
  if (found != all.end()) {
    all.splice(all.begin(), all, found);
  } else {
    all.emplace_front(n, std::make_shared<const Table>(n));
    if (all.size() > kKept) all.pop_back();
  }
  return all.front().second;
}
template std::shared_ptr<const Transform<float>> kept(std::int64_t n);
template std::shared_ptr<const Transform<double>> kept(std::int64_t n);
template std::shared_ptr<const HalfTurn<float>> kept(std::int64_t n);
template std::shared_ptr<const HalfTurn<double>> kept(std::int64_t n);

}  // namespace groove::fourier
