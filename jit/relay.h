// A relay: products and what is done to rows, over the same rows, run block of rows by block of
// rows. What one part hands to the next lies in a near cache (attention: scores, softmax, product
// with V). A block is a launch of fewer rows, so every sum keeps its order and its bits.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kernels/contraction/contraction.h"
#include "kernels/ir.h"

namespace groove::jit {

class Relay {
 public:
  // One way a part reads or writes memory.
  struct Source {
    std::int32_t operand = -1;  // of the launch; -1: scratch
    std::int64_t at = 0;        // in scratch: where the block begins, in bytes
    bool is_block = false;      // scratch: the block's rows; otherwise the same row for all
    std::int64_t bytes = 4;     // of an element
    std::array<std::int64_t, kernels::kMaxAxes> strides{};  // in elements
    std::int32_t access = -1;                               // of the rows' kernel
  };
  struct Product {
    kernels::ContractionShape shape;  // of all rows
    std::int64_t element = 4;         // bytes, of A and B
    Source a, b;
    std::vector<Source> epilogue;                                      // along n, m and batch
    std::vector<std::array<std::int64_t, kernels::kMaxAxes>> strides;  // of a block's epilogue
    std::int32_t first_scalar = 0;
    // For blocks of the lower and of the greater height.
    std::array<std::shared_ptr<const kernels::ContractionCallable>, 2> code;
    std::int64_t turned = -1;  // where B is laid out afresh for all blocks of a batch entry
    std::int64_t turned_row = 0;
  };
  struct Rows {
    kernels::Launch launch;  // of all rows, without pointers and scalars
    std::vector<Source> sources;
    std::vector<std::array<std::int64_t, kernels::kMaxAxes>> strides;
  };
  static constexpr std::size_t kMostProducts = 7;

  Rows rows;
  std::vector<Product> products;  // the first `before` of them make rows, the others read them;
                                  // kMostProducts at most
  std::size_t before = 0;
  // Blocks lie within units of rows, over which no part changes its matrices.
  std::int64_t units = 0, unit = 0, blocks_per_unit = 1;
  std::int64_t products_at = 0;  // in scratch: what products need for themselves

  std::int64_t blocks() const { return units * blocks_per_unit; }
  /// Heights of blocks: this one or one more row.
  std::int64_t height() const { return unit / blocks_per_unit; }
  bool has_two_heights() const { return unit % blocks_per_unit != 0; }
  /// The rows' access that an operand of the launch is; -1: none.
  std::int64_t row_access(std::size_t operand) const;

  /// What one of `parts` threads does, with scratch memory of its own. `code` is that of the rows.
  void run(void* const* pointers, const std::uint64_t* scalars, const kernels::Callable& code,
           int part, int parts, char* scratch) const noexcept;

 private:
  struct Block;
  void run_product(const Product& product, const Block& block, std::int64_t& turned) const noexcept;
  void run_rows(const Block& block, const kernels::Callable& code) const noexcept;
};

}  // namespace groove::jit
