// Products that host code computes and hands over as a contraction does: block by block, each block
// of finished sums to an epilogue while it lies in the nearest cache. To fusion such an op is a
// product; without an epilogue it stays the host code that its lowering says.
#pragma once

#include <functional>
#include <memory>

#include "kernels/backend.h"
#include "src/core/op.h"

namespace groove::kernels {

struct BlockProduct {
  // The result's first axis is the batch, its second m, the others together n; k is how many
  // products a sum has. The operands are contiguous: they have no strides.
  std::function<ContractionShape(const Signature&)> shape;
  // With an epilogue as Contraction::epilogue says.
  std::function<std::shared_ptr<const ContractionCallable>(const Signature&, Backend&,
                                                           const Kernel& epilogue)>
      compile;
  // Entry i of the second operand's first axis is what row i of m is a product with.
  bool has_rows_of_second = false;
};

/// Of an op with an OpaqueLowering of one result; from the op's own file.
void register_block_product(const Op& op, BlockProduct product);
/// Null when the op is none.
const BlockProduct* block_product(const Op& op);

}  // namespace groove::kernels
