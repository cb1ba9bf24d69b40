// The shorthands for elementwise bodies without attributes or numbers.
#include "kernels/lowering.h"

namespace groove::kernels {

std::shared_ptr<const Lowering> unary(Expr (*body)(Expr)) {
  return lower(ElementwiseLowering{.body = [body](Body& b) { return Exprs{body(b.inputs[0])}; }});
}

std::shared_ptr<const Lowering> binary(Expr (*body)(Expr, Expr)) {
  return lower(ElementwiseLowering{
      .body = [body](Body& b) { return Exprs{body(b.inputs[0], b.inputs[1])}; }});
}

}  // namespace groove::kernels
