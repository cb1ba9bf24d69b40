// Which ops are block products. Filled before main(), read ever after.
#include "kernels/block_product.h"

#include <unordered_map>

namespace groove::kernels {
namespace {

// A function-local static, because ops register from static initialisers of other files.
std::unordered_map<const Op*, BlockProduct>& products() {
  static auto& known = *new std::unordered_map<const Op*, BlockProduct>;  // as long as ops
  return known;
}

}  // namespace

void register_block_product(const Op& op, BlockProduct product) {
  products()[&op] = std::move(product);
}

const BlockProduct* block_product(const Op& op) {
  const auto found = products().find(&op);
  return found == products().end() ? nullptr : &found->second;
}

}  // namespace groove::kernels
