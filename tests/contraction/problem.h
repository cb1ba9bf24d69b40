// Contractions with random sizes, layouts and values for the tests: operands whose memory ends (or
// begins) at a page that cannot be touched, and a comparison of bits.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/contraction/contraction.h"

namespace groove::kernels::testing {

// `count` elements between two PROT_NONE pages, touching the one or the other.
template <typename T>
class Guarded {
 public:
  explicit Guarded(std::size_t count, bool at_end = true) : count_(count) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = count * sizeof(T), body = (bytes + page - 1) / page * page;
    size_ = body + 2 * page;
    base_ = static_cast<char*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_, page, PROT_NONE);
    mprotect(base_ + page + body, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(at_end ? base_ + page + body - bytes : base_ + page);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  std::size_t count_, size_;
  char* base_;
  T* data_;
};

struct Sizes {
  std::int64_t batch, m, n, k;
};

enum class Values { kSmall, kSpecial };

template <typename T, typename Random>
T draw(Random& random, Values values) {
  if constexpr (std::is_floating_point_v<T>) {
    if (values == Values::kSpecial && random() % 16 == 0) {
      const T special[] = {T(0),
                           T(-0.0),
                           std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::max()};
      return special[random() % 7];
    }
    return std::uniform_real_distribution<T>(-1, 1)(random);
  } else {
    return static_cast<T>(random());
  }
}

// Operands and result of one contraction.
template <typename T>
struct Problem {
  ContractionShape shape;
  Layout a_layout, b_layout;
  std::unique_ptr<Guarded<T>> a, b;
  std::int64_t c_strides[kMaxAxes] = {};  // n, m, batch

  Problem(Sizes s, Layout a_layout, Layout b_layout, std::mt19937& random,
          Values values = Values::kSmall, bool is_padded = false)
      : a_layout(a_layout), b_layout(b_layout) {
    shape.batch = s.batch;
    shape.m = s.m;
    shape.n = s.n;
    shape.k = s.k;
    const std::int64_t pad = is_padded ? 1 + static_cast<std::int64_t>(random() % 5) : 0;
    lay(a_layout, s.m, s.k, pad, shape.a_row, shape.a_col, shape.a_batch);
    lay(b_layout, s.k, s.n, pad, shape.b_row, shape.b_col, shape.b_batch);
    a = fill(extent(s.batch, s.m, s.k, shape.a_batch, shape.a_row, shape.a_col), random, values);
    b = fill(extent(s.batch, s.k, s.n, shape.b_batch, shape.b_row, shape.b_col), random, values);
    c_strides[0] = 1;
    c_strides[1] = s.n + pad;
    c_strides[2] = s.m * c_strides[1];
  }

  std::size_t c_count() const {
    return extent(shape.batch, shape.m, shape.n, c_strides[2], c_strides[1], c_strides[0]);
  }
  Contraction contraction(OrderClass order, bool is_exact = false) const {
    Contraction c;
    c.dtype = dtype_of<T>;
    c.order = order;
    c.a = a_layout;
    c.b = b_layout;
    c.epilogue = plain_epilogue(c.dtype);
    c.is_exact = is_exact;
    if (is_exact) c.shape = shape;
    return c;
  }
  std::string describe() const {
    return fmt::format("batch, m, n, k: {} {} {} {}; a: {} {}; b: {} {}", shape.batch, shape.m,
                       shape.n, shape.k, shape.a_row, shape.a_col, shape.b_row, shape.b_col);
  }

 private:
  static void lay(Layout layout, std::int64_t rows, std::int64_t cols, std::int64_t pad,
                  std::int64_t& row, std::int64_t& col, std::int64_t& batch) {
    switch (layout) {
      case Layout::kRowMajor:
        row = cols + pad;
        col = 1;
        break;
      case Layout::kColumnMajor:
        row = 1;
        col = rows + pad;
        break;
      case Layout::kStrided:
        col = 3;
        row = 3 * cols + 2 + pad;
    }
    batch = rows * row > cols * col ? rows * row : cols * col;
  }
  static std::size_t extent(std::int64_t batch, std::int64_t rows, std::int64_t cols,
                            std::int64_t batch_stride, std::int64_t row, std::int64_t col) {
    if (batch * rows * cols == 0) return 0;
    return static_cast<std::size_t>((batch - 1) * batch_stride + (rows - 1) * row +
                                    (cols - 1) * col + 1);
  }
  static std::unique_ptr<Guarded<T>> fill(std::size_t count, std::mt19937& random, Values values) {
    auto buffer = std::make_unique<Guarded<T>>(count, random() % 4 != 0);
    for (std::size_t i = 0; i < count; ++i) buffer->data()[i] = draw<T>(random, values);
    return buffer;
  }
};

// Runs all parts; gives the result's memory, where untouched elements hold 42.
template <typename T>
std::unique_ptr<Guarded<T>> run(const ContractionCallable& callable, const Problem<T>& problem,
                                int parts = 1) {
  auto c = std::make_unique<Guarded<T>>(problem.c_count());
  std::fill_n(c->data(), c->size(), T(42));
  void* pointers[] = {c->data()};
  ContractionLaunch launch;
  launch.shape = problem.shape;
  launch.a = problem.a->data();
  launch.b = problem.b->data();
  launch.pointers = pointers;
  launch.strides = &problem.c_strides;
  for (int part = 0; part < parts; ++part) {
    const std::size_t bytes = (callable.scratch_bytes(launch, parts) + 63) / 64 * 64;
    Guarded<char> scratch(bytes);
    callable.run(launch, part, parts, scratch.data());
  }
  return c;
}

template <typename T>
bool same_bits(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x) && std::isnan(y)) return true;
  }
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

template <typename T>
::testing::AssertionResult same(const Guarded<T>& x, const Guarded<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!same_bits(x.data()[i], y.data()[i])) {
      return ::testing::AssertionFailure()
             << "element " << i << ": " << +x.data()[i] << " and " << +y.data()[i];
    }
  }
  return ::testing::AssertionSuccess();
}

// For plain epilogues, which need no backend.
class NoBackend final : public Backend {
 public:
  const char* name() const override { return "none"; }
  std::shared_ptr<const Callable> compile(const Kernel&) override { return nullptr; }
  std::shared_ptr<const ContractionCallable> compile(const Contraction&, Isa) override {
    return nullptr;
  }
};

}  // namespace groove::kernels::testing
