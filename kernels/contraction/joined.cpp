// A joined product goes over blocks of rows: the right matrices are copied side by side once, the
// product's sums of a block lie in a near cache, and every piece's epilogue goes over its columns.
#include "kernels/contraction/joined.h"

#include <algorithm>

#include "kernels/contraction/calls.h"
#include "kernels/contraction/inline_epilogue.h"
#include "kernels/contraction/plan.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::kernels {
namespace {

constexpr std::int64_t kSumsBytes = 32 << 10, kLeastRows = 32;
constexpr std::int64_t kAliasedRow = 2048;  // bytes: rows so far apart share sets of a cache
// Cycles: of an element that is copied, transposed, or laid down as a sum and taken up again; of a
// launch, and of an epilogue over a block.
constexpr double kCopied = 0.1, kTransposed = 0.25, kLaidDown = 0.15;
constexpr double kLaunch = 60, kEpilogue = 100;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t value, std::int64_t to) { return divide_up(value, to) * to; }

std::int64_t total_columns(const std::vector<JoinedPiece>& pieces) {
  std::int64_t columns = 0;
  for (const JoinedPiece& piece : pieces) columns += piece.shape.n;
  return columns;
}

// Rows of `length` elements that neither share a vector nor sets of the first-level cache.
std::int64_t row_stride(std::int64_t length, std::int64_t element) {
  const std::int64_t bytes = round_up(length * element, 64);
  return (bytes % kAliasedRow == 0 ? bytes + 64 : bytes) / element;
}

// How the right matrices lie in their common copy: as columns side by side, or, where the
// transposed product is computed, as rows of its left matrix.
struct Common {
  bool is_stacked = false;
  std::int64_t b_row = 0, b_col = 0;
};

Common common_form(const PlanLimits& limits, const ContractionShape& s, std::int64_t rows,
                   std::int64_t columns) {
  const auto element = static_cast<std::int64_t>(element_size(limits.dtype));
  // Transposing writes up to seven elements behind the last column.
  const std::int64_t wide = row_stride(columns + 7, element);
  const Plan plan =
      make_plan(limits, rows, columns, s.k, {nullptr, s.a_row, s.a_col}, {nullptr, wide, 1});
  if (plan.is_transposed) return {true, 1, row_stride(s.k + 7, element)};
  return {false, wide, 1};
}

class CallsMade {
 public:
  CallsMade(const ContractionCallable& product,
            const std::vector<std::unique_ptr<Epilogue>>& epilogues)
      : product_(product), epilogues_(epilogues) {}
  template <typename Call>
  void add(const Call& call) {
    call();
  }
  void product(const ContractionLaunch& launch, char* scratch) {
    product_.run(launch, 0, 1, scratch);
  }
  void epilogue(std::size_t piece, const ContractionLaunch& launch, const SumBlock& block) {
    epilogues_[piece]->run(launch, block);
  }

 private:
  const ContractionCallable& product_;
  const std::vector<std::unique_ptr<Epilogue>>& epilogues_;
};

template <typename T>
class CallsTold {
 public:
  CallsTold(const ContractionCallable& product,
            const std::vector<std::unique_ptr<Epilogue>>& epilogues, std::vector<BoundCall>& calls)
      : product_(dynamic_cast<const BindableContraction*>(&product)),
        epilogues_(epilogues),
        calls_(calls),
        before_(calls.size()),
        is_complete_(product_ != nullptr) {}
  bool is_complete() const { return is_complete_ && calls_.size() - before_ <= kMostBoundCalls; }

  template <typename Call>
  void add(const Call& call) {
    CallRecorder(*epilogues_[0], calls_).add(call);
  }
  // The product's own operands are A, B and its result.
  void product(const ContractionLaunch& launch, char* scratch) {
    if (!is_complete()) return;
    const std::size_t first = calls_.size();
    is_complete_ = product_->bind(launch, calls_);
    const void* const symbols[] = {launch.a, launch.b, launch.pointers[0]};
    for (std::size_t i = first; i < calls_.size(); ++i) {
      for (BoundCall::Address& address : calls_[i].addresses) {
        if (address.operand == BoundCall::kScratch) {
          CallRecorder::move(address, scratch);
        } else if (address.operand >= 0) {
          CallRecorder::move(address, symbols[address.operand]);
        }
      }
    }
  }
  void epilogue(std::size_t piece, const ContractionLaunch& launch, const SumBlock& block) {
    if (epilogues_[piece]->is_plain()) return store(launch, block);
    CallRecorder recorder(*epilogues_[piece], calls_);
    recorder.epilogue(launch, block);
    is_complete_ &= recorder.is_complete();
  }

 private:
  void store(const ContractionLaunch& launch, const SumBlock& block) {
    const std::int64_t* const strides = launch.strides[0];
    is_complete_ &= strides[0] == 1 || block.cols == 1;
    T* const to = static_cast<T*>(launch.pointers[0]) + block.batch * strides[2] +
                  block.row * strides[1] + block.col * strides[0];
    add(CopyCall<T>{static_cast<const T*>(block.sums), block.row_stride, 1, to, strides[1],
                    block.rows, block.cols});
  }

  const BindableContraction* product_;
  const std::vector<std::unique_ptr<Epilogue>>& epilogues_;
  std::vector<BoundCall>& calls_;
  const std::size_t before_;
  bool is_complete_;
};

template <typename T>
class JoinedContraction final : public ContractionCallable, public BindableContraction {
 public:
  JoinedContraction(std::vector<JoinedPiece> pieces, Backend& backend, Isa isa)
      : pieces_(std::move(pieces)),
        shape_(pieces_[0].shape),
        limits_{pieces_[0].contraction.dtype, isa, false},
        lanes_(vector_lanes(limits_.isa, limits_.dtype)) {
    shape_.n = total_columns(pieces_);
    for (const JoinedPiece& piece : pieces_) {
      epilogues_.push_back(std::make_unique<Epilogue>(piece.contraction, &backend));
      has_batches_ |= piece.shape.b_batch != 0;
    }
    Contraction product;
    product.dtype = limits_.dtype;
    product.a = pieces_[0].contraction.a;
    product.epilogue = plain_epilogue(product.dtype);
    product_ = compile_cached(backend, product, isa);
  }

  std::size_t scratch_bytes(const ContractionLaunch&, int parts) const override {
    std::int64_t most = 64;
    for (int part = 0; part < parts; ++part) {
      const PartRange range = part_range(shape_, lanes_, part, parts);
      if (!is_empty(range)) most = std::max(most, layout(range).size);
    }
    return static_cast<std::size_t>(most);
  }

  void run(const ContractionLaunch& launch, int part, int parts,
           void* scratch) const noexcept override {
    CallsMade calls(*product_, epilogues_);
    make_calls(launch, part, parts, static_cast<char*>(scratch), calls);
  }

  bool bind(const ContractionLaunch& launch, std::vector<BoundCall>& calls) const override {
    std::vector<void*> pointers;
    const auto count = static_cast<std::size_t>(pieces_.back().first_pointer) +
                       pieces_.back().contraction.epilogue.accesses.size();
    const ContractionLaunch symbols = CallRecorder::symbolic(launch, count, pointers);
    CallsTold<T> told(*product_, epilogues_, calls);
    make_calls(symbols, 0, 1, CallRecorder::symbol(BoundCall::kScratch), told);
    return told.is_complete();
  }

  std::string listing() const override {
    std::string text =
        "; joined products: copied side by side, then tiles shared by all products\n";
    for (const auto& epilogue : epilogues_) {
      if (!epilogue->is_plain())
        text += "; an epilogue, over blocks of sums\n" + epilogue->listing();
    }
    return text;
  }

 private:
  static bool is_empty(const PartRange& r) {
    return r.batch_begin >= r.batch_end || r.row_begin >= r.row_end || r.col_begin >= r.col_end;
  }
  static const T* at(const void* base, std::int64_t index) {
    return static_cast<const T*>(base) + index;
  }

  // The scratch memory of a part: what the product needs, the copies, and a block's sums.
  struct Layout {
    Common common;
    std::int64_t rows, sums_row;  // of a block
    std::int64_t common_at, sums_at, size;
  };

  Layout layout(const PartRange& range) const {
    const auto element = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t rows = range.row_end - range.row_begin;
    const std::int64_t columns = range.col_end - range.col_begin;
    Layout at{};
    at.sums_row = row_stride(columns, element);
    const std::int64_t most = std::max(kLeastRows, kSumsBytes / (at.sums_row * element));
    at.rows = divide_up(rows, divide_up(rows, most));
    at.common = common_form(limits_, shape_, at.rows, columns);
    std::size_t product = 0;
    for (const std::int64_t height : {at.rows, rows - (divide_up(rows, at.rows) - 1) * at.rows}) {
      product = std::max(product, product_->scratch_bytes(block(at, height, columns), 1));
    }
    at.common_at = round_up(static_cast<std::int64_t>(product), 64);
    const std::int64_t copies =
        at.common.is_stacked ? columns * at.common.b_col : shape_.k * at.common.b_row;
    at.sums_at = at.common_at + round_up(copies * element, 64) + 64;
    at.size = at.sums_at + round_up(at.rows * at.sums_row * element, 64) + 64;
    return at;
  }

  ContractionLaunch block(const Layout& at, std::int64_t rows, std::int64_t columns) const {
    ContractionLaunch launch;
    launch.shape = shape_;
    launch.shape.batch = 1;
    launch.shape.m = rows;
    launch.shape.n = columns;
    launch.shape.b_row = at.common.b_row;
    launch.shape.b_col = at.common.b_col;
    return launch;
  }

  template <typename Calls>
  void make_calls(const ContractionLaunch& launch, int part, int parts, char* scratch,
                  Calls& calls) const {
    const PartRange range = part_range(shape_, lanes_, part, parts);
    if (is_empty(range)) return;
    const Layout lies = layout(range);
    T* const common = reinterpret_cast<T*>(scratch + lies.common_at);
    char* const sums = scratch + lies.sums_at;
    const std::int64_t strides[1][kMaxAxes] = {{1, lies.sums_row}};
    void* const result[] = {sums};
    for (std::int64_t batch = range.batch_begin; batch < range.batch_end; ++batch) {
      if (batch == range.batch_begin || has_batches_)
        copy_together(launch, range, batch, lies, common, calls);
      for (std::int64_t row = range.row_begin; row < range.row_end; row += lies.rows) {
        const std::int64_t rows = std::min(lies.rows, range.row_end - row);
        ContractionLaunch product = block(lies, rows, range.col_end - range.col_begin);
        product.a = at(launch.a, batch * shape_.a_batch + row * shape_.a_row);
        product.b = common;
        product.pointers = result;
        product.strides = strides;
        calls.product(product, scratch);
        for_each_piece(range, [&](std::size_t index, std::int64_t at_column, std::int64_t first,
                                  std::int64_t count) {
          const JoinedPiece& piece = pieces_[index];
          ContractionLaunch own = launch;
          own.shape = piece.shape;
          own.pointers = launch.pointers + piece.first_pointer;
          own.strides = launch.strides + piece.first_pointer;
          own.scalars = launch.scalars + piece.first_scalar;
          calls.epilogue(index, own,
                         {at(sums, at_column), lies.sums_row, batch, row, first, rows, count});
        });
      }
    }
  }

  // Calls body(piece, column of the part, first column of the piece, columns).
  template <typename Body>
  void for_each_piece(const PartRange& range, const Body& body) const {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const std::int64_t end = begin + pieces_[i].shape.n;
      const std::int64_t from = std::max(begin, range.col_begin), to = std::min(end, range.col_end);
      if (from < to) body(i, from - range.col_begin, from - begin, to - from);
      begin = end;
    }
  }

  template <typename Calls>
  void copy_together(const ContractionLaunch& launch, const PartRange& range, std::int64_t batch,
                     const Layout& lies, T* common, Calls& calls) const {
    const Common& form = lies.common;
    for_each_piece(range, [&](std::size_t index, std::int64_t at_column, std::int64_t first,
                              std::int64_t count) {
      const JoinedPiece& piece = pieces_[index];
      const ContractionShape& s = piece.shape;
      const void* const own = piece.right < 0 ? launch.b : launch.pointers[piece.right];
      const T* const from = at(own, batch * s.b_batch + first * s.b_col);
      T* const to =
          common + (has_fault(Fault::kJoinedColumnsOverlap) ? first : at_column) * form.b_col;
      if (form.is_stacked && s.b_col == 1 && count > 1) {
        calls.add(TransposeCall<T>{from, s.b_row, to, form.b_col, s.k, count, 1});
      } else if (form.is_stacked) {
        calls.add(CopyCall<T>{from, s.b_col, s.b_row, to, form.b_col, count, s.k});
      } else if (s.b_row == 1 && s.k > 1) {
        calls.add(TransposeCall<T>{from, s.b_col, to, form.b_row, count, s.k, 1});
      } else {
        calls.add(CopyCall<T>{from, s.b_row, s.b_col, to, form.b_row, s.k, count});
      }
    });
  }

  std::vector<JoinedPiece> pieces_;
  ContractionShape shape_;  // of all columns
  PlanLimits limits_;
  std::int64_t lanes_;
  bool has_batches_ = false;  // of right matrices
  std::vector<std::unique_ptr<Epilogue>> epilogues_;
  std::shared_ptr<const ContractionCallable> product_;
};

}  // namespace

std::shared_ptr<const ContractionCallable> join_contractions(std::vector<JoinedPiece> pieces,
                                                             Backend& backend, Isa isa) {
  GROOVE_ASSERT(!pieces.empty(), "no product to join");
  for (const JoinedPiece& piece : pieces) {
    GROOVE_ASSERT(piece.contraction.order == OrderClass::kChain, "only chains are joined");
  }
  if (pieces[0].contraction.dtype == kDouble)
    return std::make_shared<JoinedContraction<double>>(std::move(pieces), backend, isa);
  GROOVE_ASSERT(pieces[0].contraction.dtype == kFloat, "only f32 and f64 products are joined");
  return std::make_shared<JoinedContraction<float>>(std::move(pieces), backend, isa);
}

JoinedCycles joined_cycles(const std::vector<JoinedPiece>& pieces, Isa isa) {
  const ContractionShape& first = pieces[0].shape;
  const PlanLimits limits{pieces[0].contraction.dtype, isa, false};
  const MatrixView a{nullptr, first.a_row, first.a_col};
  const std::int64_t columns = total_columns(pieces);
  const Common form = common_form(limits, first, first.m, columns);
  JoinedCycles cycles;
  cycles.joined = kLaunch + product_cycles(limits, first.m, columns, first.k, a,
                                           {nullptr, form.b_row, form.b_col});
  for (const JoinedPiece& piece : pieces) {
    const ContractionShape& s = piece.shape;
    const bool is_inline = InlineEpilogue(piece.contraction, limits.isa).is_possible();
    const MatrixView b{nullptr, s.b_row, s.b_col};
    const PlanLimits own{limits.dtype, limits.isa, is_inline};
    const double laid_down = kLaidDown * double(s.m * s.n);
    cycles.apart += kLaunch + product_cycles(own, s.m, s.n, s.k, a, b);
    if (!is_inline && !is_plain_epilogue(piece.contraction)) cycles.apart += laid_down + kEpilogue;
    const bool is_turned = form.is_stacked ? s.b_row != 1 : s.b_row == 1;
    cycles.joined += (is_turned ? kTransposed : kCopied) * double(s.n * s.k);
    cycles.joined += laid_down + kEpilogue;
  }
  cycles.apart *= double(first.batch);
  cycles.joined *= double(first.batch);
  return cycles;
}

}  // namespace groove::kernels
