#include "kernels/fours.h"

#include <unordered_map>

namespace groove::kernels {
namespace {

std::unordered_map<const Op*, FourAtOnce>& all_fours() {
  static auto& map = *new std::unordered_map<const Op*, FourAtOnce>;
  return map;
}

}  // namespace

void define_fours(const Op& op, FourAtOnce fours) { all_fours()[&op] = fours; }

FourAtOnce fours_of(const Op& op) {
  const auto found = all_fours().find(&op);
  return found == all_fours().end() ? nullptr : found->second;
}

Exprs emit_fours(Builder& builder, const Signature& signature, const TypeResult& types,
                 const Exprs& numbers, Expr four) {
  Body body{builder, signature, types.compute, {}, numbers, [four] { return four; }};
  Exprs results = fours_of(signature.op)(body);
  for (Expr& result : results) result = convert(result, types.outputs[0].dtype);
  return results;
}

}  // namespace groove::kernels
