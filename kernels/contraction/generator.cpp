// Drives generated tile kernels over a contraction: packing, panels, tiles, and what happens to
// finished sums. Every output element is computed by one tile from start to end of k, so its bits
// depend on nothing decided here.
#include "kernels/contraction/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "kernels/asmjit/facade.h"
#include "kernels/contraction/calls.h"
#include "kernels/contraction/inline_epilogue.h"
#include "kernels/contraction/plan.h"
#include "kernels/contraction/reference.h"
#include "kernels/order.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::kernels {
namespace {

constexpr std::size_t kTotalsBytes = 32 * 64;  // every register of a tile
constexpr std::size_t kSumsBytes = 8192;       // finished sums that wait for the epilogue
constexpr std::size_t kMaxInlineAccesses = 16;

std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

const TileTable& plain_tiles(ScalarType dtype, Isa isa) {
  // Never destroyed: other threads may run them while the process ends.
  struct Tables {
    TileTable of[2][2] = {{{kFloat, Isa::kAvx2, nullptr}, {kFloat, Isa::kAvx512, nullptr}},
                          {{kDouble, Isa::kAvx2, nullptr}, {kDouble, Isa::kAvx512, nullptr}}};
  };
  static const Tables& tables = *new Tables;
  return tables.of[dtype == kDouble][isa == Isa::kAvx512];
}

// Windows into these give AVX2 lane masks: ones, then zeros.
alignas(64) constexpr std::int32_t kLaneMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

// Where the parts of the scratch memory of one call begin.
struct Scratch {
  std::size_t sums, turned, panel, packed_a, size;
};

// The products that tiles of a plan add up.
struct Addends {
  Addend of[kMostFurtherProducts + 1];
  std::size_t count;
};

std::size_t panel_bytes(const Plan& plan, const Addend& addend, std::size_t element,
                        std::size_t lanes) {
  if (addend.pack_b == PackB::kNone) return 0;
  const std::size_t width = (plan.vectors + plan.panels - 1) / plan.panels * lanes;
  return round_up(static_cast<std::size_t>(addend.k) * width * element);
}
std::size_t packed_bytes(const Plan& plan, const Addend& addend, std::size_t element) {
  if (addend.pack_a == PackA::kNone) return 0;
  const auto rows = static_cast<std::size_t>(std::min(plan.block, plan.m));
  return round_up(rows * static_cast<std::size_t>(addend.packed_a_row) * element);
}

Scratch layout(const Plan& plan, const Addends& addends, std::size_t element, std::size_t lanes) {
  const std::size_t m = std::min(plan.block, plan.m);
  const std::size_t width = (plan.vectors + plan.panels - 1) / plan.panels * lanes;
  Scratch at{};
  at.sums = kTotalsBytes;
  at.turned = at.sums + (plan.is_transposed ? m * width * element : 2 * kSumsBytes);
  at.panel = at.turned + (plan.is_transposed ? width * round_up(m * element) : 0);
  at.packed_a = at.panel;
  for (std::size_t i = 0; i < addends.count; ++i)
    at.packed_a += panel_bytes(plan, addends.of[i], element, lanes);
  at.size = at.packed_a + 64;
  for (std::size_t i = 0; i < addends.count; ++i)
    at.size += packed_bytes(plan, addends.of[i], element);
  return at;
}

template <typename T>
class AsmjitContraction final : public ContractionCallable, public BindableContraction {
 public:
  AsmjitContraction(const Contraction& contraction, Isa isa,
                    std::vector<FurtherProduct> further = {})
      : order_(contraction.order),
        accesses_(contraction.epilogue.accesses.size()),
        lanes_(vector_lanes(isa, contraction.dtype)),
        inline_epilogue_(inline_epilogue(contraction, isa)),
        epilogue_(contraction, find_backend("asmjit"), inline_epilogue_ != nullptr),
        tiles_(&plain_tiles(contraction.dtype, isa)),
        further_(std::move(further)) {
    if (inline_epilogue_) {
      own_tiles_ = std::make_unique<TileTable>(contraction.dtype, isa, inline_epilogue_.get());
    }
    limits_ = {contraction.dtype, isa, inline_epilogue_ != nullptr};
    const ContractionShape& s = contraction.shape;
    if (contraction.is_exact && order_ == OrderClass::kChain && s.m > 0 && s.n > 0) {
      exact_plan_ = make_plan(limits_, s.m, s.n, s.k, {nullptr, s.a_row, s.a_col},
                              {nullptr, s.b_row, s.b_col});
      generate_tiles(*exact_plan_);
    }
  }

  std::size_t scratch_bytes(const ContractionLaunch& launch, int parts) const override {
    const ContractionShape& s = launch.shape;
    if (s.m == 0 || s.n == 0 || s.batch == 0) return 64;
    if (order_ == OrderClass::kDot) {
      return static_cast<std::size_t>(s.m * s.n + (s.m + s.n) * s.k) * sizeof(T) + 64;
    }
    std::size_t most = 0;
    for (int part = 0; part < parts; ++part) {
      const PartRange range = part_range(s, lanes_, part, parts);
      if (is_empty(range)) continue;
      const Plan plan = plan_of(launch, range);
      most = std::max(most, layout(plan, addends_of(plan), sizeof(T), lanes_).size);
    }
    return std::max<std::size_t>(most, 64);
  }

  void run(const ContractionLaunch& launch, int part, int parts,
           void* scratch) const noexcept override {
    CallsNow calls(epilogue_);
    make_calls(launch, part, parts, static_cast<char*>(scratch), calls);
  }

  bool bind(const ContractionLaunch& launch, std::vector<BoundCall>& calls) const override {
    std::vector<void*> pointers;
    const std::size_t count = accesses_ + 2 * further_.size() - 1;
    const ContractionLaunch symbols = CallRecorder::symbolic(launch, count, pointers);
    CallRecorder recorder(epilogue_, calls);
    make_calls(symbols, 0, 1, CallRecorder::symbol(BoundCall::kScratch), recorder);
    return recorder.is_complete();
  }

  std::string listing() const override {
    std::string text;
    if (order_ == OrderClass::kDot) text = "; dot products: compiled C++, nothing is generated\n";
    std::set<std::tuple<int, int, TileTail>> listed;
    const auto list = [&](const TileTable& tiles, int rows, int vectors, TileTail tail) {
      if (!listed.insert({rows, vectors, tail}).second) return;
      assembly::Listing listing;
      listing.add_comment(fmt::format(
          "tile of {} rows by {} vectors of {} columns{}, sums over all of k in registers, by "
          "asmjit, {}",
          rows, vectors, lanes_, tail == TileTail::kFull ? "" : " (the last one partial)",
          name(limits_.isa)));
      generate_tile(tiles.spec(rows, vectors, tail, exact_plan_->a_by_column));
      text += listing.text();
    };
    if (exact_plan_) for_each_tile(*exact_plan_, list);
    const bool is_apart = !inline_epilogue_ || (exact_plan_ && !is_inline(*exact_plan_));
    if (is_apart && !epilogue_.is_plain()) {
      text += "; the epilogue, over blocks of finished sums\n" + epilogue_.listing();
    }
    return text;
  }

 private:
  // Null when there is none, or when it cannot be applied in registers.
  static std::unique_ptr<InlineEpilogue> inline_epilogue(const Contraction& contraction, Isa isa) {
    if (is_plain_epilogue(contraction) || contraction.order == OrderClass::kDot) return nullptr;
    auto candidate = std::make_unique<InlineEpilogue>(contraction, isa);
    if (!candidate->is_possible() || candidate->accesses() > kMaxInlineAccesses) return nullptr;
    return candidate;
  }
  static bool is_empty(const PartRange& r) {
    return r.batch_begin >= r.batch_end || r.row_begin >= r.row_end || r.col_begin >= r.col_end;
  }
  static const char* element(const void* base, std::int64_t index) {
    return static_cast<const char*>(base) + index * static_cast<std::int64_t>(sizeof(T));
  }
  static const T* typed(const char* p) { return reinterpret_cast<const T*>(p); }
  static T* typed(char* p) { return reinterpret_cast<T*>(p); }

  Plan plan_of(const ContractionLaunch& launch, const PartRange& range) const {
    const ContractionShape& s = launch.shape;
    const bool is_whole =
        range.row_end - range.row_begin == s.m && range.col_end - range.col_begin == s.n;
    if (exact_plan_ && is_whole) return *exact_plan_;
    return make_plan(limits_, range.row_end - range.row_begin, range.col_end - range.col_begin, s.k,
                     {nullptr, s.a_row, s.a_col}, {nullptr, s.b_row, s.b_col});
  }

  Addends addends_of(const Plan& plan) const {
    Addends addends;
    addends.of[0] = first_addend(plan);
    addends.count = 1;
    for (const FurtherProduct& product : further_) {
      const ContractionShape& s = product.shape;
      addends.of[addends.count++] = further_addend(limits_, plan, s.k, {nullptr, s.a_row, s.a_col},
                                                   {nullptr, s.b_row, s.b_col});
    }
    return addends;
  }
  void locate(const ContractionLaunch& launch, const PartRange& range, std::int64_t batch,
              const Plan& plan, Addends& addends) const {
    for (std::size_t i = 0; i < addends.count; ++i) {
      const FurtherProduct* const product = i == 0 ? nullptr : &further_[i - 1];
      const ContractionShape& s = product ? product->shape : launch.shape;
      const void* const left = product ? launch.pointers[product->left] : launch.a;
      const void* const right = product ? launch.pointers[product->right] : launch.b;
      const char* a = element(left, batch * s.a_batch + range.row_begin * s.a_row);
      const char* b = element(right, batch * s.b_batch + range.col_begin * s.b_col);
      addends.of[i].a.data = plan.is_transposed ? b : a;
      addends.of[i].b.data = plan.is_transposed ? a : b;
    }
  }

  // What a panel of vectors does with its sums.
  enum class Sink { kDirect, kInline, kBlock, kTransposed };

  bool is_inline(const Plan& plan) const {
    return inline_epilogue_ && !plan.is_transposed && inline_epilogue_->takes(plan.tail);
  }

  Sink sink_of(const ContractionLaunch& launch, const Plan& plan) const {
    if (plan.is_transposed) return Sink::kTransposed;
    if (is_inline(plan)) return Sink::kInline;
    return epilogue_.is_plain() && (launch.strides[0][0] == 1 || plan.n == 1) ? Sink::kDirect
                                                                              : Sink::kBlock;
  }

  template <typename Calls>
  void make_calls(const ContractionLaunch& launch, int part, int parts, char* scratch,
                  Calls& calls) const {
    const ContractionShape& s = launch.shape;
    if (s.m == 0 || s.n == 0 || s.batch == 0) return;
    const PartRange range = part_range(s, lanes_, part, parts);
    if (is_empty(range)) return;
    if (order_ == OrderClass::kDot) {
      for (std::int64_t batch = range.batch_begin; batch < range.batch_end; ++batch) {
        run_dot(launch, range, batch, typed(scratch), calls);
      }
      return;
    }
    Plan plan = plan_of(launch, range);
    const std::int64_t rows = plan.m;
    Addends addends = addends_of(plan);
    for (std::int64_t batch = range.batch_begin; batch < range.batch_end; ++batch) {
      locate(launch, range, batch, plan, addends);
      PartRange rest = range;
      std::int64_t& at = plan.is_transposed ? rest.col_begin : rest.row_begin;
      for (std::int64_t left = rows; left > 0; left -= plan.m, at += plan.m) {
        plan.m = std::min(plan.block, left);
        run_chain(launch, plan, addends, rest, batch, scratch, calls);
        for (std::size_t i = 0; i < addends.count; ++i) {
          MatrixView& a = addends.of[i].a;
          a.data = element(a.data, plan.m * a.row);
        }
      }
    }
  }

  template <typename Calls>
  void run_chain(const ContractionLaunch& launch, const Plan& plan, const Addends& addends,
                 const PartRange& range, std::int64_t batch, char* scratch, Calls& calls) const {
    const Scratch at = layout(plan, addends, sizeof(T), lanes_);
    const Sink sink = sink_of(launch, plan);
    TileArguments args[kMostFurtherProducts + 1];
    MatrixView left[kMostFurtherProducts + 1];
    char* packed = scratch + at.packed_a;
    for (std::size_t i = 0; i < addends.count; ++i) {
      const Addend& addend = addends.of[i];
      left[i] = addend.a;
      if (addend.pack_a == PackA::kRows) {
        calls.add(CopyCall<T>{typed(addend.a.data), addend.a.row, addend.a.col, typed(packed),
                              addend.packed_a_row, plan.m, addend.k});
        left[i] = {packed, addend.packed_a_row, 1};
        packed += packed_bytes(plan, addend, sizeof(T));
      }
      TileArguments& own = args[i] = {};
      own.totals = scratch;
      own.a_row = left[i].row * static_cast<std::int64_t>(sizeof(T));
      own.a_col = left[i].col * static_cast<std::int64_t>(sizeof(T));
      own.k = addend.k;
      own.mask = ((std::uint64_t{1} << plan.tail_lanes) - 1) >> has_fault(Fault::kLostColumnOfTile);
      own.lane_mask = kLaneMasks + 8 - std::min(8, plan.tail_lanes * int(sizeof(T) / 4));
      own.scalars = launch.scalars;
      if (i > 0) args[i - 1].next = &own;
    }
    for (int p = 0; p < plan.panels; ++p) {
      const int first = plan.panel_begin(p), width = plan.panel_begin(p + 1) - first;
      const std::int64_t col = first * lanes_;
      const std::int64_t cols = std::min(plan.n - col, width * lanes_);
      const TileTail tail = p + 1 == plan.panels ? plan.tail : TileTail::kFull;
      const Panel what{sink, width, col, cols, tail};
      if (plan.has_few_rows && addends.count == 1) {
        run_few_rows(launch, plan, range, batch, addends.of[0], what, scratch + at.sums, calls);
      } else {
        char* panel = scratch + at.panel;
        for (std::size_t i = 0; i < addends.count; ++i) {
          load_panel(addends.of[i], col, cols, width, panel, args[i], calls);
          panel += panel_bytes(plan, addends.of[i], sizeof(T), lanes_);
        }
        run_panel(launch, plan, range, batch, left, what, scratch + at.sums, args, addends.count,
                  calls);
      }
      if (sink == Sink::kTransposed) {
        flush_transposed(launch, plan, range, batch, col, cols, width * lanes_, scratch + at.sums,
                         scratch + at.turned, calls);
      }
    }
  }

  template <typename Calls>
  void load_panel(const Addend& addend, std::int64_t col, std::int64_t cols, int width, char* panel,
                  TileArguments& args, Calls& calls) const {
    const char* b = element(addend.b.data, col * addend.b.col);
    const std::int64_t panel_row = width * lanes_;
    if (addend.pack_b == PackB::kNone) {
      args.b = b;
      args.b_row = addend.b.row * static_cast<std::int64_t>(sizeof(T));
      return;
    }
    if (addend.pack_b == PackB::kTranspose) {
      calls.add(
          TransposeCall<T>{typed(b), addend.b.col, typed(panel), panel_row, cols, addend.k, 1});
    } else {
      calls.add(CopyCall<T>{typed(b), addend.b.row, addend.b.col, typed(panel), panel_row, addend.k,
                            cols});
    }
    args.b = panel;
    args.b_row = panel_row * static_cast<std::int64_t>(sizeof(T));
  }

  struct Panel {
    Sink sink;
    int width;
    std::int64_t col, cols;
    TileTail tail;
  };

  // No tile: columns are read where they lie.
  template <typename Calls>
  void run_few_rows(const ContractionLaunch& launch, const Plan& plan, const PartRange& range,
                    std::int64_t batch, const Addend& addend, const Panel& panel, char* sums,
                    Calls& calls) const {
    FewRowsCall<T> call{typed(addend.a.data),
                        addend.a.row,
                        plan.m,
                        typed(element(addend.b.data, panel.col * addend.b.col)),
                        addend.b.col,
                        panel.cols,
                        addend.k,
                        typed(sums),
                        panel.width * lanes_};
    const std::int64_t out_col = range.col_begin + panel.col;
    if (panel.sink == Sink::kDirect) {
      const std::int64_t* strides = launch.strides[0];
      call.sums = static_cast<T*>(launch.pointers[0]) + batch * strides[2] +
                  range.row_begin * strides[1] + out_col * strides[0];
      call.sums_row = strides[1];
    }
    calls.add(call);
    if (panel.sink == Sink::kInline || panel.sink == Sink::kBlock)
      calls.epilogue(launch,
                     {sums, call.sums_row, batch, range.row_begin, out_col, plan.m, panel.cols});
  }

  std::int64_t tile_rows(int width, TileTail tail, bool is_inline) const {
    return max_tile_rows(limits_.isa, width, tail == TileTail::kMasked, is_inline);
  }

  // Tiles from top to bottom, their heights as equal as can be.
  template <typename Calls>
  void run_panel(const ContractionLaunch& launch, const Plan& plan, const PartRange& range,
                 std::int64_t batch, const MatrixView* left, const Panel& panel, char* sums,
                 TileArguments* products, std::size_t count_of_products, Calls& calls) const {
    // Of all products, what becomes of the sum.
    TileArguments& args = products[count_of_products - 1];
    const bool is_inline = panel.sink == Sink::kInline;
    const TileTable& tiles = is_inline ? *own_tiles_ : *tiles_;
    const std::int64_t limit = tile_rows(panel.width, panel.tail, is_inline);
    const std::int64_t count = (plan.m + limit - 1) / limit;
    const std::int64_t height = plan.m / count, taller = plan.m % count;
    const std::int64_t sums_row = panel.width * lanes_;
    const std::int64_t out_col = range.col_begin + panel.col;
    TileAccess accesses[kMaxInlineAccesses];
    args.accesses = accesses;
    args.c_row = sums_row * static_cast<std::int64_t>(sizeof(T));
    if (panel.sink == Sink::kDirect) {
      args.c_row = launch.strides[0][1] * static_cast<std::int64_t>(sizeof(T));
    }
    std::int64_t flushed = 0;  // rows whose sums the epilogue has seen
    for (std::int64_t tile = 0, row = 0; tile < count; ++tile) {
      const std::int64_t rows = height + (tile < taller);
      const std::int64_t out_row = range.row_begin + row;
      for (std::size_t i = 0; i < count_of_products; ++i)
        products[i].a = element(left[i].data, row * left[i].row);
      switch (panel.sink) {
        case Sink::kDirect: {
          const std::int64_t* strides = launch.strides[0];
          args.c = const_cast<char*>(
              element(launch.pointers[0],
                      batch * strides[2] + out_row * strides[1] + out_col * strides[0]));
          break;
        }
        case Sink::kInline:
          locate(launch, batch, out_row, out_col, accesses);
          break;
        case Sink::kBlock:
          args.c = sums + (row - flushed) * args.c_row;
          break;
        case Sink::kTransposed:
          args.c = sums + row * args.c_row;
          break;
      }
      calls.tile(tiles.find(int(rows), panel.width, panel.tail, plan.a_by_column), *products,
                 is_inline ? inline_epilogue_->accesses() - 1 : 0);
      row += rows;
      const bool is_full = (row - flushed) * args.c_row >= std::int64_t{kSumsBytes};
      if (panel.sink == Sink::kBlock && (is_full || row == plan.m)) {
        const std::int64_t done = has_fault(Fault::kEpilogueBlockShifted) ? 0 : flushed;
        calls.epilogue(launch, {sums, sums_row, batch, range.row_begin + done, out_col,
                                row - flushed, panel.cols});
        flushed = row;
      }
    }
  }

  void locate(const ContractionLaunch& launch, std::int64_t batch, std::int64_t row,
              std::int64_t col, TileAccess* accesses) const {
    for (std::size_t i = 0; i + 1 < inline_epilogue_->accesses(); ++i) {
      const std::int64_t size = inline_epilogue_->access_bytes(i + 1);
      const std::int64_t* strides = launch.strides[has_fault(Fault::kWrongEpilogueOperand) ? 0 : i];
      accesses[i].pointer = static_cast<char*>(launch.pointers[i]) +
                            (batch * strides[2] + row * strides[1] + col * strides[0]) * size;
      accesses[i].row_bytes = strides[1] * size;
    }
  }

  // Sums hold a block of the transposed result: plan.m rows (columns of the result) of cols.
  template <typename Calls>
  void flush_transposed(const ContractionLaunch& launch, const Plan& plan, const PartRange& range,
                        std::int64_t batch, std::int64_t col, std::int64_t cols,
                        std::int64_t sums_row, char* sums, char* turned, Calls& calls) const {
    const std::int64_t row = range.row_begin + col;
    if (epilogue_.is_plain() && launch.strides[0][0] == 1) {
      const std::int64_t* strides = launch.strides[0];
      T* out = static_cast<T*>(launch.pointers[0]) + batch * strides[2] + row * strides[1] +
               range.col_begin;
      calls.add(TransposeCall<T>{typed(sums), sums_row, out, strides[1], plan.m, cols, 0});
      return;
    }
    const auto turned_row = static_cast<std::int64_t>(
        round_up(static_cast<std::size_t>(plan.m) * sizeof(T)) / sizeof(T));
    calls.add(TransposeCall<T>{typed(sums), sums_row, typed(turned), turned_row, plan.m, cols, 1});
    calls.epilogue(launch, {turned, turned_row, batch, row, range.col_begin, cols, plan.m});
  }

  template <typename Calls>
  void run_dot(const ContractionLaunch& launch, const PartRange& range, std::int64_t batch,
               T* scratch, Calls& calls) const {
    const ContractionShape& s = launch.shape;
    const std::int64_t rows = range.row_end - range.row_begin;
    const std::int64_t cols = range.col_end - range.col_begin;
    T* const a_copy = scratch + s.m * s.n;
    T* const b_copy = a_copy + s.m * s.k;
    const T* a = typed(element(launch.a, batch * s.a_batch + range.row_begin * s.a_row));
    const T* b = typed(element(launch.b, batch * s.b_batch + range.col_begin * s.b_col));
    std::int64_t a_row = s.a_row, b_column = s.b_col;
    if (s.a_col != 1 && s.k > 1) {
      calls.add(CopyCall<T>{a, s.a_row, s.a_col, a_copy, s.k, rows, s.k});
      a = a_copy;
      a_row = s.k;
    }
    if (s.b_row != 1 && s.k > 1) {
      calls.add(CopyCall<T>{b, s.b_col, s.b_row, b_copy, s.k, cols, s.k});
      b = b_copy;
      b_column = s.k;
    }
    if (epilogue_.is_plain() && launch.strides[0][0] == 1) {
      const std::int64_t* strides = launch.strides[0];
      T* const out = static_cast<T*>(launch.pointers[0]) + batch * strides[2] +
                     range.row_begin * strides[1] + range.col_begin;
      calls.add(DotCall<T>{a, a_row, b, b_column, out, strides[1], rows, cols, s.k});
      return;
    }
    calls.add(DotCall<T>{a, a_row, b, b_column, scratch, cols, rows, cols, s.k});
    calls.epilogue(launch, {scratch, cols, batch, range.row_begin, range.col_begin, rows, cols});
  }

  // Calls body(tiles, rows, vectors, tail) for each kind of tile that a run of one part needs.
  template <typename Body>
  void for_each_tile(const Plan& plan, const Body& body) const {
    const bool is_inline = this->is_inline(plan);
    for (int p = 0; p < plan.panels; ++p) {
      const int width = plan.panel_begin(p + 1) - plan.panel_begin(p);
      const TileTail tail = p + 1 == plan.panels ? plan.tail : TileTail::kFull;
      const std::int64_t limit = tile_rows(width, tail, is_inline);
      const std::int64_t count = (plan.m + limit - 1) / limit;
      for (std::int64_t rows : {plan.m / count, (plan.m + count - 1) / count}) {
        body(is_inline ? *own_tiles_ : *tiles_, static_cast<int>(rows), width, tail);
      }
    }
  }

  // Ahead of the first call.
  void generate_tiles(const Plan& plan) const {
    for_each_tile(plan, [&](const TileTable& tiles, int rows, int vectors, TileTail tail) {
      tiles.find(rows, vectors, tail, plan.a_by_column);
    });
  }

  OrderClass order_;
  std::size_t accesses_;  // of the epilogue
  std::int64_t lanes_;
  std::unique_ptr<InlineEpilogue> inline_epilogue_;
  Epilogue epilogue_;
  const TileTable* tiles_;
  std::unique_ptr<TileTable> own_tiles_;
  PlanLimits limits_{};
  std::vector<FurtherProduct> further_;
  std::optional<Plan> exact_plan_;  // of one part
};

}  // namespace

std::shared_ptr<const ContractionCallable> make_asmjit_contraction(const Contraction& contraction,
                                                                   Isa isa) {
  switch (contraction.dtype) {
    case kFloat:
      return std::make_shared<AsmjitContraction<float>>(contraction, isa);
    case kDouble:
      return std::make_shared<AsmjitContraction<double>>(contraction, isa);
    default: {
      Backend* backend = find_backend("asmjit");
      GROOVE_ASSERT(backend != nullptr, "the asmjit backend is not registered");
      return make_reference_contraction(contraction, *backend);
    }
  }
}

bool takes_in(const ContractionShape& first, const FurtherProduct& further) {
  const ContractionShape& s = further.shape;
  return s.batch == first.batch && s.m == first.m && s.n == first.n && s.k > 0 &&
         s.k <= order::kContractionChunk && fits_tiles(first, s);
}

std::shared_ptr<const ContractionCallable> make_asmjit_sum(const Contraction& contraction,
                                                           std::vector<FurtherProduct> further,
                                                           Isa isa) {
  GROOVE_ASSERT(further.size() <= kMostFurtherProducts, "a sum of {} products", further.size() + 1);
  if (contraction.dtype == kDouble)
    return std::make_shared<AsmjitContraction<double>>(contraction, isa, std::move(further));
  return std::make_shared<AsmjitContraction<float>>(contraction, isa, std::move(further));
}

}  // namespace groove::kernels
