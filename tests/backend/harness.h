// Runs one kernel on the interpreter and on generated code of every backend, on buffers that end (or
// begin) at a page without access, and compares all results bit for bit; any NaN equals any NaN.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/asmjit/isa.h"
#include "kernels/backend.h"
#include "kernels/expr.h"

namespace groove::kernels::testing {

using Random = std::mt19937_64;

// Memory whose first or last byte is the neighbour of a PROT_NONE page.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, bool at_end);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void* mapping_;
  std::size_t mapped_, size_;
  std::uint8_t* data_;
};

/// Elements that matter (zeros, infinities, NaN, bounds, denormals) and random ones between them.
void fill(std::uint8_t* data, std::size_t count, ScalarType dtype, Random& random);
std::uint64_t special_bits(ScalarType dtype, Random& random);

struct Box {
  int rank = 1;
  std::int64_t begin[kMaxAxes] = {};
  std::int64_t count[kMaxAxes] = {1, 1, 1, 1, 1, 1, 1, 1};
};
inline Box box1(std::int64_t n) {
  Box box;
  box.count[0] = n;
  return box;
}
inline Box box2(std::int64_t n, std::int64_t rows) {
  Box box = box1(n);
  box.rank = 2;
  box.count[1] = rows;
  return box;
}

struct Options {
  std::uint64_t seed = 1;
  // Load accesses are filled by this instead of with special values when set.
  std::function<void(int access, std::uint8_t* data, std::size_t count)> fill = {};
  std::vector<std::uint64_t> scalars = {};  // otherwise drawn
  std::int64_t extra = 0;                   // elements that a load may reach past its own (load_at)
  bool is_backwards = false;                // what strided loads read, element by element
};

/// The backends that generate code and work here; says which do not.
const std::vector<Backend*>& code_generators();

/// Every code generator and instruction set that the machine has, both ends guarded.
void expect_same(const Kernel& kernel, const Box& box, const Options& options = {});

const std::vector<ScalarType>& all_dtypes();
const std::vector<std::int64_t>& lengths();

}  // namespace groove::kernels::testing
