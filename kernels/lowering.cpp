// The shorthands for elementwise bodies without attributes or numbers, and the cost of host code.
#include "kernels/lowering.h"

#include "src/core/geometry.h"

namespace groove::kernels {

double host_nanoseconds(const OpaqueLowering& how, const Signature& signature,
                        const TypeResult& types) {
  if (how.nanoseconds) return how.nanoseconds(signature);
  // An entry of a table, and about 5 GB/s: what plain loops reach.
  double bytes = 0;
  const auto add = [&bytes](const Type& type) {
    if (type.dtype == ScalarType::Undefined) return;
    bytes += static_cast<double>(element_count(type.sizes)) *
             static_cast<double>(element_size(type.dtype));
  };
  for (const Type& type : signature.inputs) add(type);
  for (const Type& type : types.outputs) add(type);
  return 500 + 0.2 * bytes;
}

std::shared_ptr<const Lowering> unary(Expr (*body)(Expr)) {
  return lower(ElementwiseLowering{.body = [body](Body& b) { return Exprs{body(b.inputs[0])}; }});
}

std::shared_ptr<const Lowering> binary(Expr (*body)(Expr, Expr)) {
  return lower(ElementwiseLowering{
      .body = [body](Body& b) { return Exprs{body(b.inputs[0], b.inputs[1])}; }});
}

}  // namespace groove::kernels
