// Stockham's passes and Bluestein's convolution.
#include "kernels/ops/fourier.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>
#include <type_traits>
#include <utility>

#include "kernels/ops/fourier_butterflies.h"

namespace groove::fourier {
namespace {

// Empty when a prime factor is too great, or there is none.
std::vector<int> factors_of(std::int64_t n) {
  std::vector<int> result;
  const auto take = [&](std::int64_t factor, std::int64_t unless) {
    for (; n % factor == 0 && n != unless; n /= factor) result.push_back(static_cast<int>(factor));
  };
  // Rather 4 and 4 than 8 and 2.
  take(8, 16);
  for (std::int64_t factor : {4, 2, 3}) take(factor, 0);
  for (std::int64_t factor = 5; factor <= kGreatestFactor; factor += 2) take(factor, 0);
  if (n > 1) result.clear();
  return result;
}

// Calls with the constant that `value` is, or with 0.
template <int... kConstants, typename Function>
void with_constant(int value, const Function& call) {
  const bool is_one =
      ((value == kConstants && (call(std::integral_constant<int, kConstants>()), true)) || ...);
  if (!is_one) call(std::integral_constant<int, 0>());
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
Transform<T>::Transform(std::int64_t n)
    : n_(n), is_of_one_line_(n % (kFirstRadix * Cell<T>::kWidth) == 0) {
  if (n == 1 || !factors_of(n).empty()) {
    plan_passes();
    return;
  }
  is_of_one_line_ = true;
  std::int64_t m = kFirstRadix * Cell<T>::kWidth;
  while (m < 2 * n - 1) m *= 2;
  inner_ = std::make_unique<Transform>(m);
  chirp_.resize(static_cast<std::size_t>(cells()));
  kernel_.resize(static_cast<std::size_t>(inner_->cells()));
  const auto set = [](std::vector<Cell<T>>& cells, std::int64_t at, double re, double im) {
    Cell<T>& cell = cells[static_cast<std::size_t>(at / Cell<T>::kWidth)];
    cell.re[at % Cell<T>::kWidth] = static_cast<T>(re);
    cell.im[at % Cell<T>::kWidth] = static_cast<T>(im);
  };
  std::int64_t square = 0;  // j^2 mod 2 n
  for (std::int64_t j = 0; j < n; square = (square + 2 * j + 1) % (2 * n), ++j) {
    const Root root = root_of_unity(square, 2 * n);
    const auto whole = static_cast<double>(m);
    set(chirp_, j, root.re, root.im);
    for (const std::int64_t place : {j, (m - j) % m})
      set(kernel_, place, root.re / whole, -root.im / whole);
  }
  std::vector<Cell<T>> room(static_cast<std::size_t>(inner_->room()));
  inner_->run(kernel_.data(), room.data());
}

template <typename T>
void Transform<T>::plan_passes() {
  constexpr std::int64_t kWidth = Cell<T>::kWidth;
  std::int64_t left = n_, done = 1;
  if (is_of_one_line_) {
    left = n_ / kFirstRadix;
    done = kFirstRadix;
    for (std::int64_t p = 0; p < left; p += kWidth)
      for (int k = 1; k < kFirstRadix; ++k) {
        Cell<T>& cell = first_turns_.emplace_back();
        for (std::int64_t i = 0; i < kWidth; ++i) {
          const Root root = root_of_unity((p + i) * k, n_);
          cell.re[i] = static_cast<T>(root.re);
          cell.im[i] = static_cast<T>(root.im);
        }
      }
  }
  const std::int64_t in_cell = is_of_one_line_ ? kWidth : 1;
  for (const int radix : factors_of(left)) {
    left /= radix;
    Pass& pass = passes_.emplace_back(Pass{radix, left, done / in_cell, {}, {}});
    const auto add = [](std::vector<T>& roots, const Root& root) {
      roots.push_back(static_cast<T>(root.re));
      roots.push_back(static_cast<T>(root.im));
    };
    for (std::int64_t p = 0; p < left; ++p)
      for (int k = 1; k < radix; ++k) add(pass.turns, root_of_unity(p * k * done, n_));
    for (int k = 0; k < radix && radix % 2 == 1; ++k) add(pass.roots, root_of_unity(k, radix));
    done *= radix;
  }
}

template <typename T>
std::int64_t Transform<T>::cells() const {
  return is_of_one_line_ ? (n_ + Cell<T>::kWidth - 1) / Cell<T>::kWidth : n_;
}

template <typename T>
std::int64_t Transform<T>::room() const {
  return inner_ ? inner_->cells() + inner_->room() : cells();
}

template <typename T>
void Transform<T>::run(Cell<T>* x, Cell<T>* room) const {
  inner_ ? run_convolution(x, room) : run_passes(x, room);
}

template <typename T>
void Transform<T>::run_passes(Cell<T>* x, Cell<T>* room) const {
  Cell<T>*from = x, *to = room;
  if (is_of_one_line_) {
    first_pass(from, to, n_ / kFirstRadix / Cell<T>::kWidth, first_turns_.data());
    std::swap(from, to);
  }
  for (const Pass& pass : passes_) {
    const auto run = [&]<int kRadix>(std::integral_constant<int, kRadix>) {
      run_pass(Butterfly<T, kRadix>(pass.radix, pass.roots.data()), from, to, pass.blocks,
               pass.width, pass.turns.data());
    };
    with_constant<2, 3, 4, 5, 7, 8>(pass.radix, run);
    std::swap(from, to);
  }
  if (from != x) std::copy_n(from, cells(), x);
}

// exp(-2 pi i j k / n) with j k = (j^2 + k^2 - (k - j)^2) / 2.
template <typename T>
void Transform<T>::run_convolution(Cell<T>* x, Cell<T>* room) const {
  const std::int64_t count = cells(), m = inner_->cells();
  Cell<T>* const longer = room;
  Cell<T>* const inner_room = room + m;
  const auto turn = [](Cell<T>* to, const Cell<T>* from, const std::vector<Cell<T>>& by) {
    for (std::size_t j = 0; j < by.size(); ++j) to[j] = product(from[j], by[j].re, by[j].im);
  };
  turn(longer, x, chirp_);
  // Whatever lies behind the line's end, be it no number.
  for (std::int64_t i = n_; i < count * Cell<T>::kWidth; ++i)
    longer[count - 1].re[i % Cell<T>::kWidth] = longer[count - 1].im[i % Cell<T>::kWidth] = 0;
  std::fill(longer + count, longer + m, Cell<T>{});
  inner_->run(longer, inner_room);
  turn(longer, longer, kernel_);
  // Back: the transform with both parts exchanged.
  exchange_parts(longer, m);
  inner_->run(longer, inner_room);
  exchange_parts(longer, m);
  turn(x, longer, chirp_);
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
