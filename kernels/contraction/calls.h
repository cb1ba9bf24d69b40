// What running a contraction comes to: copies, transpositions, tile kernels, products of few rows,
// dot products and epilogues. One driver decides on them; they are done at once or recorded, to be
// done over and over with other addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/bound_call.h"
#include "kernels/contraction/dot.h"
#include "kernels/contraction/epilogue.h"
#include "kernels/contraction/few_rows.h"
#include "kernels/contraction/pack.h"
#include "kernels/contraction/tile.h"

namespace groove::kernels {

template <typename T>
struct CopyCall {
  const T* from;
  std::int64_t from_row, from_col;
  T* to;
  std::int64_t to_row, rows, cols;
  void operator()() const { copy_matrix(from, from_row, from_col, to, to_row, rows, cols); }
};

template <typename T>
struct TransposeCall {
  const T* from;
  std::int64_t from_row;
  T* to;
  std::int64_t to_row, rows, cols;
  std::int64_t is_padded;
  void operator()() const { transpose(from, from_row, to, to_row, rows, cols, is_padded != 0); }
};

// Rows by columns of sums in row order; a's rows and b's columns are contiguous.
template <typename T>
struct DotCall {
  const T* a;
  std::int64_t a_row;
  const T* b;
  std::int64_t b_column;
  T* sums;
  std::int64_t sums_row, rows, cols, k;
  void operator()() const {
    for (std::int64_t row = 0; row < rows; ++row) {
      dot_row_order(a + row * a_row, b, b_column, cols, k, sums + row * sums_row);
    }
  }
};

// Chains of a few rows; both matrices contiguous along k.
template <typename T>
struct FewRowsCall {
  const T* a;
  std::int64_t a_row, rows;
  const T* b;
  std::int64_t b_column, cols, k;
  T* sums;
  std::int64_t sums_row;
  void operator()() const {
    chain_of_few_rows(a, a_row, rows, b, b_column, cols, k, sums, sums_row);
  }
};

class CallsNow {
 public:
  explicit CallsNow(const Epilogue& epilogue) : epilogue_(epilogue) {}
  template <typename Call>
  void add(const Call& call) {
    call();
  }
  void tile(TileKernel kernel, const TileArguments& arguments, std::size_t) { kernel(&arguments); }
  void epilogue(const ContractionLaunch& launch, const SumBlock& block) {
    epilogue_.run(launch, block);
  }

 private:
  const Epilogue& epilogue_;
};

// Records. The driver is given symbols for addresses: numbers so far apart that what it adds to
// them tells operand and offset.
class CallRecorder {
 public:
  CallRecorder(const Epilogue& epilogue, std::vector<BoundCall>& calls)
      : epilogue_(epilogue), calls_(calls), before_(calls.size()) {}
  static char* symbol(std::int32_t operand) {
    return reinterpret_cast<char*>(static_cast<std::intptr_t>(operand + kFirst) << kBits);
  }
  /// The launch with symbols for its matrices, its scalars and its pointers, which `pointers`
  /// holds.
  static ContractionLaunch symbolic(const ContractionLaunch& launch, std::size_t count,
                                    std::vector<void*>& pointers);
  /// An address of what the symbol stands for and where in it, instead of an operand's.
  static void move(BoundCall::Address& address, const void* symbol) {
    const BoundCall::Address of = decoded(0, symbol);
    address.operand = of.operand;
    address.offset += of.offset;
  }
  /// False when the calls cannot be told ahead.
  bool is_complete() const { return is_complete_ && calls_.size() - before_ <= kMostBoundCalls; }

  template <typename T>
  void add(const CopyCall<T>& call) {
    record(run<CopyCall<T>>, call, {offsetof(CopyCall<T>, from), offsetof(CopyCall<T>, to)});
  }
  template <typename T>
  void add(const TransposeCall<T>& call) {
    record(run<TransposeCall<T>>, call,
           {offsetof(TransposeCall<T>, from), offsetof(TransposeCall<T>, to)});
  }
  template <typename T>
  void add(const DotCall<T>& call) {
    record(run<DotCall<T>>, call,
           {offsetof(DotCall<T>, a), offsetof(DotCall<T>, b), offsetof(DotCall<T>, sums)});
  }
  template <typename T>
  void add(const FewRowsCall<T>& call) {
    record(
        run<FewRowsCall<T>>, call,
        {offsetof(FewRowsCall<T>, a), offsetof(FewRowsCall<T>, b), offsetof(FewRowsCall<T>, sums)});
  }
  void tile(TileKernel kernel, const TileArguments& arguments, std::size_t accesses);
  void epilogue(const ContractionLaunch& launch, const SumBlock& block);

 private:
  static constexpr int kBits = 40;
  static constexpr std::int32_t kFirst = 4;  // null is none of them

  template <typename Call>
  static void run(const void* call) {
    (*static_cast<const Call*>(call))();
  }
  template <typename Call>
  void record(BoundFunction function, const Call& call, std::initializer_list<std::size_t> at) {
    BoundCall bound;
    bound.function = function;
    const auto* const first = reinterpret_cast<const std::byte*>(&call);
    bound.arguments.assign(first, first + sizeof call);
    for (const std::size_t each : at) take_address(bound, each);
    calls_.push_back(std::move(bound));
  }
  static BoundCall::Address decoded(std::size_t at, const void* symbol);
  static void take_address(BoundCall& call, std::size_t at);

  const Epilogue& epilogue_;
  std::vector<BoundCall>& calls_;
  const std::size_t before_;
  bool is_complete_ = true;
};

}  // namespace groove::kernels
