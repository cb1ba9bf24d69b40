// How one rectangle of a contraction's output is computed: which operand is vectorised, the tiles,
// and what is copied first. Plans affect speed only.
#pragma once

#include <cstddef>

#include "kernels/contraction/contraction.h"
#include "kernels/contraction/tile.h"

namespace groove::kernels {

// One matrix operand; strides in elements, whichever way it is named.
struct MatrixView {
  const char* data;
  std::int64_t row, col;
};

enum class PackA : std::uint8_t { kNone, kRows };
enum class PackB : std::uint8_t { kNone, kCopy, kTranspose };

struct Plan {
  // The transposed product is computed: m, n and the operands are exchanged below, and results
  // pass through a transposition.
  bool is_transposed = false;
  std::int64_t m = 0, n = 0, k = 0;  // after the exchange
  MatrixView a = {}, b = {};         // after the exchange
  std::int64_t block = 0;            // rows (of m) that are done before the next ones begin
  bool a_by_column = false;
  PackA pack_a = PackA::kNone;
  PackB pack_b = PackB::kNone;
  int vectors = 0;     // columns in vectors, the last one possibly partial
  int panels = 0;      // vectors are spread evenly over them
  int tail_lanes = 0;  // lanes of the last vector
  TileTail tail = TileTail::kFull;
  std::int64_t packed_a_row = 0;  // elements
  bool has_few_rows = false;      // of one product: nothing is copied, no tiles are used

  int panel_begin(int p) const { return static_cast<int>(std::int64_t{vectors} * p / panels); }
};

// The matrices of one of the products that a tile adds up, after the exchange.
struct Addend {
  MatrixView a, b;
  std::int64_t k;
  PackA pack_a;
  PackB pack_b;
  std::int64_t packed_a_row;
};

struct PlanLimits {
  ScalarType dtype;
  Isa isa;
  bool has_inline_epilogue;
};

Plan make_plan(const PlanLimits& limits, std::int64_t m, std::int64_t n, std::int64_t k,
               const MatrixView& a, const MatrixView& b);

/// Cycles of one thread, roughly, copies of operands and results included.
double product_cycles(const PlanLimits& limits, std::int64_t m, std::int64_t n, std::int64_t k,
                      const MatrixView& a, const MatrixView& b);

/// The first product of a plan, and a further one that goes through the same tiles.
Addend first_addend(const Plan& plan);
Addend further_addend(const PlanLimits& limits, const Plan& plan, std::int64_t k,
                      const MatrixView& a, const MatrixView& b);
/// Whether tiles that are made for the first product can walk the other's matrices, too.
bool fits_tiles(const ContractionShape& first, const ContractionShape& other);

// The part of the output that one call computes.
struct PartRange {
  std::int64_t batch_begin, batch_end, row_begin, row_end, col_begin, col_end;
};
PartRange part_range(const ContractionShape& shape, std::int64_t lanes, int part, int parts);

}  // namespace groove::kernels
