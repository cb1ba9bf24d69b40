// Contractions: C[b, m, n] = epilogue(sum over k of A[b, m, k] * B[b, k, n]) in the order of
// numerics.md §4. The structure below is all that a generator specialises on; sizes and strides
// come with the launch, unless `exact` holds them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/ir.h"

namespace groove::kernels {

enum class OrderClass : std::uint8_t { kChain, kDot, kOfLaunch };  // the last: as its shape says

// How a matrix lies in memory: which of its two axes has stride 1 (the other is any), or neither.
enum class Layout : std::uint8_t { kRowMajor, kColumnMajor, kStrided };

struct ContractionShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  // element strides
  std::int64_t a_batch = 0, a_row = 0, a_col = 0;  // row: along m, col: along k
  std::int64_t b_batch = 0, b_row = 0, b_col = 0;  // row: along k, col: along n
  bool operator==(const ContractionShape&) const = default;
};

struct Contraction {
  ScalarType dtype = kFloat;  // f32 or f64; integers are computed by the interpreter's loop
  OrderClass order = OrderClass::kChain;
  Layout a = Layout::kRowMajor, b = Layout::kRowMajor;
  // A kMap kernel over (axis 0: n, axis 1: m, axis 2: batch) whose access 0 is a contiguous load
  // of the finished sum; the other accesses are loads of operands (bias, residual, mask) and the
  // stores of results. The plain contraction is one load and one store.
  Kernel epilogue;
  bool is_exact = false;   // shape is a constant of the code
  ContractionShape shape;  // when is_exact; otherwise all defaults
  bool operator==(const Contraction&) const = default;
};

std::uint64_t hash(const Contraction& contraction);

/// The order class that the type rule sets from the logical sizes.
OrderClass order_class(std::int64_t m, std::int64_t n, std::int64_t k);

/// The epilogue that only stores (result contiguous along n).
Kernel plain_epilogue(ScalarType dtype);

struct ContractionLaunch {
  ContractionShape shape;
  const void* a = nullptr;
  const void* b = nullptr;
  // of the epilogue, without access 0: [access - 1]; axes n, m, batch
  void* const* pointers = nullptr;
  const std::int64_t (*strides)[kMaxAxes] = nullptr;
  const std::uint64_t* scalars = nullptr;
};

// Work splits into `parts`; each part is computed by one call and parts may run at once on
// different threads. The bits do not depend on the number of parts.
class ContractionCallable {
 public:
  virtual ~ContractionCallable() = default;
  /// Bytes of 64-byte aligned scratch that one call of run() needs.
  virtual std::size_t scratch_bytes(const ContractionLaunch& launch, int parts) const = 0;
  /// Contractions do not throw; host code that stands for one may lack memory.
  virtual void run(const ContractionLaunch& launch, int part, int parts, void* scratch) const = 0;
  /// Names what is fixed in it besides the kernel of its epilogue; a launch says the rest. Only of
  /// what is not made of a Contraction, which says that itself.
  virtual std::uint64_t structure() const { return 0; }
  /// For people: the machine code as assembly text; empty when there is none.
  virtual std::string listing() const { return {}; }
};

}  // namespace groove::kernels
