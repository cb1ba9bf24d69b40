// Chooses tiles by counting cycles roughly: what matters is how well the vectors are filled, that
// enough accumulators hide the latency of fma, and what copies cost.
#include "kernels/contraction/plan.h"

#include <algorithm>

#include "kernels/contraction/few_rows.h"

namespace groove::kernels {
namespace {

// Cycles per element, from measurements.
constexpr double kTransposeCost = 0.25;
constexpr double kGatherCost = 1.0;
// A panel of B that is read again and again should neither miss the second-level cache nor walk
// over pages faster than it computes.
constexpr std::int64_t kUnpackedBytes = 512 << 10;
constexpr std::int64_t kPageBytes = 4096;
// A is walked once a panel: blocks of its rows stay in the last-level cache, and copies of them
// stay small, while copying B once a block costs little.
constexpr std::int64_t kBlockBytes = 2 << 20;
constexpr std::int64_t kMinBlockRows = 384;
// A copy of A is made by every thread; one that stays in the second-level cache is read from there.
constexpr std::int64_t kPackedBytes = 512 << 10;
constexpr std::int64_t kMinPackedRows = 128;
constexpr std::int64_t kLeastStepsOfFewRows = 64;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool is_unit(const MatrixView& view, std::int64_t k) { return view.col == 1 || k == 1; }

// Fused multiply-adds of a row and a step, in units of whole vectors.
double row_work(Isa isa, std::int64_t n, std::int64_t lanes) {
  const std::int64_t whole = n / lanes, rest = n % lanes;
  const double part = rest == 0 ? 0.0 : isa == Isa::kAvx512 && rest <= lanes / 2 ? 0.5 : 1.0;
  return static_cast<double>(whole) + part;
}

// Rows half a page or a page apart share two sets of the first-level cache; walking several of
// them at once was measured to halve the speed of tiles.
bool is_aliased(std::int64_t row_stride, std::int64_t m, std::int64_t element) {
  return m > 4 && row_stride != 0 && row_stride * element % (kPageBytes / 2) == 0;
}

double operand_cost(const MatrixView& a, const MatrixView& b, std::int64_t m, std::int64_t n,
                    std::int64_t k, std::int64_t element) {
  double cost = 0;
  if (a.col != 1 && a.row != 1 && k > 1 && m > 1) cost += kGatherCost * double(m * k);
  if (a.col == 1 && is_aliased(a.row, m, element)) cost += kTransposeCost * double(m * k);
  if (b.col != 1 && n > 1) cost += (b.row == 1 ? kTransposeCost : kGatherCost) * double(n * k);
  return cost;
}

struct Tiling {
  int panels;
  double cost;  // cycles a step of k
};

Tiling choose_tiling(const PlanLimits& limits, std::int64_t m, int vectors, bool is_masked) {
  Tiling best{vectors, 1e300};
  const double fmas_per_cycle = limits.isa == Isa::kAvx512 ? 1.0 : 2.0;
  for (int width = 1; width <= std::min(vectors, kMaxTileVectors); ++width) {
    const int rows = max_tile_rows(limits.isa, width, is_masked, limits.has_inline_epilogue);
    if (rows == 0) break;
    const int panels = static_cast<int>(divide_up(vectors, width));
    const std::int64_t tiles = divide_up(m, rows);
    const double height = double(m) / double(tiles), wide = double(vectors) / panels;
    // Loads: two a cycle below 64 bytes, one of 64 bytes.
    const double loads = wide / fmas_per_cycle + height / 2;
    const double step = std::max({height * wide / fmas_per_cycle, loads, 4.0}) + 0.5;
    const double cost = step * double(tiles) * panels;
    if (cost < best.cost) best = {panels, cost};
  }
  return best;
}

std::int64_t packed_row(std::int64_t k, std::int64_t element) {
  return divide_up(k * element, 64) * 64 / element + 16;
}

PackB copy_of_b(const Plan& plan, const MatrixView& b, std::int64_t k, std::int64_t element) {
  if (b.col != 1 && plan.n > 1) return b.row == 1 ? PackB::kTranspose : PackB::kCopy;
  const bool is_spread = plan.m >= 64 && k * b.row * element > kUnpackedBytes;
  return is_spread ? PackB::kCopy : PackB::kNone;
}

}  // namespace

Plan make_plan(const PlanLimits& limits, std::int64_t m, std::int64_t n, std::int64_t k,
               const MatrixView& a, const MatrixView& b) {
  const std::int64_t lanes = vector_lanes(limits.isa, limits.dtype);
  const std::int64_t element = static_cast<std::int64_t>(element_size(limits.dtype));
  Plan plan{.m = m, .n = n, .k = k, .a = a, .b = b};
  const MatrixView a_transposed{a.data, a.col, a.row}, b_transposed{b.data, b.col, b.row};
  const double straight =
      double(m) * double(k) * row_work(limits.isa, n, lanes) + operand_cost(a, b, m, n, k, element);
  const double transposed = double(n) * double(k) * row_work(limits.isa, m, lanes) +
                            operand_cost(b_transposed, a_transposed, n, m, k, element) +
                            kTransposeCost * double(m * n) + 100;
  if (transposed < 0.9 * straight) {
    plan.is_transposed = true;
    plan.m = n;
    plan.n = m;
    plan.a = b_transposed;
    plan.b = a_transposed;
  }
  plan.vectors = static_cast<int>(divide_up(plan.n, lanes));
  plan.tail_lanes = static_cast<int>(plan.n - (plan.vectors - 1) * lanes);
  const bool is_half = limits.isa == Isa::kAvx512 && plan.tail_lanes <= lanes / 2;
  if (is_half) {
    plan.tail = plan.tail_lanes == lanes / 2 ? TileTail::kHalf : TileTail::kHalfMasked;
  } else {
    plan.tail = plan.tail_lanes == lanes ? TileTail::kFull : TileTail::kMasked;
  }
  const bool is_masked = plan.tail == TileTail::kMasked;
  PlanLimits inner = limits;
  inner.has_inline_epilogue &= !plan.is_transposed;
  plan.panels = choose_tiling(inner, plan.m, plan.vectors, is_masked).panels;

  const bool is_row_major = is_unit(plan.a, k);
  plan.a_by_column = !is_row_major && (plan.a.row == 1 || plan.m == 1);
  if (!is_row_major && !plan.a_by_column) plan.pack_a = PackA::kRows;
  if (is_row_major && is_aliased(plan.a.row, plan.m, element)) plan.pack_a = PackA::kRows;
  if (plan.pack_a == PackA::kRows) plan.packed_a_row = packed_row(k, element);

  const bool is_packed = plan.pack_a != PackA::kNone;
  plan.block =
      std::max(is_packed ? kMinPackedRows : kMinBlockRows,
               (is_packed ? kPackedBytes : kBlockBytes) / (std::max<std::int64_t>(k, 1) * element));
  if (plan.m <= plan.block + plan.block / 2) plan.block = plan.m;

  plan.pack_b = copy_of_b(plan, plan.b, k, element);
  plan.has_few_rows = plan.m <= kFewRows && plan.pack_b == PackB::kTranspose && is_row_major &&
                      k >= kLeastStepsOfFewRows;
  return plan;
}

Addend first_addend(const Plan& plan) {
  return {plan.a, plan.b, plan.k, plan.pack_a, plan.pack_b, plan.packed_a_row};
}

Addend further_addend(const PlanLimits& limits, const Plan& plan, std::int64_t k,
                      const MatrixView& a, const MatrixView& b) {
  const auto element = static_cast<std::int64_t>(element_size(limits.dtype));
  const bool is_transposed = plan.is_transposed;
  Addend result{is_transposed ? MatrixView{b.data, b.col, b.row} : a,
                is_transposed ? MatrixView{a.data, a.col, a.row} : b,
                k,
                PackA::kNone,
                PackB::kNone,
                packed_row(k, element)};
  const bool has_rows = is_unit(result.a, k) && !is_aliased(result.a.row, plan.m, element);
  if (!plan.a_by_column && !has_rows) result.pack_a = PackA::kRows;
  result.pack_b = copy_of_b(plan, result.b, k, element);
  return result;
}

bool fits_tiles(const ContractionShape& first, const ContractionShape& other) {
  // Tiles walk rows, which any matrix can be copied to, unless the first one has columns only.
  const auto has_rows = [](std::int64_t col, std::int64_t k) { return col == 1 || k == 1; };
  const auto has_columns = [](std::int64_t row, std::int64_t m) { return row == 1 || m == 1; };
  return (has_rows(first.a_col, first.k) || has_columns(other.a_row, other.m)) &&
         (has_rows(first.b_row, first.k) || has_columns(other.b_col, other.n));
}

double product_cycles(const PlanLimits& limits, std::int64_t m, std::int64_t n, std::int64_t k,
                      const MatrixView& a, const MatrixView& b) {
  const Plan plan = make_plan(limits, m, n, k, a, b);
  const auto element = static_cast<std::int64_t>(element_size(limits.dtype));
  PlanLimits inner = limits;
  inner.has_inline_epilogue &= !plan.is_transposed;
  const bool is_masked = plan.tail == TileTail::kMasked;
  // A half vector takes half the time.
  const double filled =
      row_work(limits.isa, plan.n, vector_lanes(limits.isa, limits.dtype)) / plan.vectors;
  return choose_tiling(inner, plan.m, plan.vectors, is_masked).cost * filled * double(k) +
         operand_cost(plan.a, plan.b, plan.m, plan.n, k, element) +
         (plan.is_transposed ? kTransposeCost * double(m * n) + 100 : 0);
}

PartRange part_range(const ContractionShape& s, std::int64_t lanes, int part, int parts) {
  auto cut = [&](std::int64_t size, int at) { return size * at / parts; };
  if (s.batch >= 4 * parts || (s.batch > 1 && s.batch % parts == 0)) {
    return {cut(s.batch, part), cut(s.batch, part + 1), 0, s.m, 0, s.n};
  }
  // Columns keep a part of the weights with its core; rows divide more evenly when columns are few.
  const std::int64_t vectors = divide_up(s.n, lanes);
  const double by_columns = double(divide_up(vectors, parts) * lanes) / double(s.n);
  const double by_rows = double(divide_up(s.m, parts)) / double(s.m);
  if (by_columns <= 1.1 * by_rows) {
    return {0,
            s.batch,
            0,
            s.m,
            std::min(s.n, cut(vectors, part) * lanes),
            std::min(s.n, cut(vectors, part + 1) * lanes)};
  }
  return {0, s.batch, cut(s.m, part), cut(s.m, part + 1), 0, s.n};
}

}  // namespace groove::kernels
