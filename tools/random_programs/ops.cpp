// Element by element: the operators that random programs call through the public API, each at a
// place of its own. Also the whole table.
#include <cstring>

#include "tools/random_programs/operands.h"

namespace groove::random_programs {
namespace {

std::vector<Op> math_ops() {
  return {
      UNARY(neg),
      UNARY(abs),
      UNARY(exp),
      UNARY(log),
      UNARY(sqrt),
      UNARY(rsqrt),
      UNARY(reciprocal),
      UNARY(tanh),
      UNARY(sigmoid),
      UNARY(sin),
      UNARY(cos),
      UNARY(square),
      UNARY(relu),
      UNARY(clone),
      BINARY(add),
      BINARY(sub),
      BINARY(mul),
      BINARY(div),
      BINARY(minimum),
      BINARY(maximum),
      BINARY(add),
      BINARY(mul),
      BINARY(eq),
      BINARY(lt),
      BINARY(ge),
      WITH_NUMBER("add_number", add),
      WITH_NUMBER("sub_number", sub),
      WITH_NUMBER("mul_number", mul),
      WITH_NUMBER("div_number", div),
      WITH_NUMBER("gt_number", gt),
      WITH_NUMBER("le_number", le),
      WITH_NUMBER("clamp_min", clamp_min),
      WITH_NUMBER("clamp_max", clamp_max),
      {"add_scaled", 2, RUN(groove::add(Arg(v.a, v.site), v.b, v.x))},
      {"add_integer", 1, RUN(groove::add(Arg(v.a, v.site), Scalar(v.j)))},
      {"rsub", 1, RUN(v.x - Arg(v.a, v.site))},
      {"rdiv", 1, RUN(v.x / Arg(v.a, v.site))},
      {"clamp", 1, RUN(groove::clamp(Arg(v.a, v.site), -v.x, v.x))},
      {"pow_number", 1,
       RUN(groove::pow(
           Arg(v.a, v.site),
           std::vector<double>{2, 3, 0.5, -1, -0.5, 1.5}[static_cast<std::size_t>(wrap(v.i, 6))]))},
      {"pow", 2, RUN(groove::pow(Arg(v.a, v.site), v.b)), 1},
      {"where", 3, RUN(groove::where(Arg(as_mask(v.c, v.site), v.site), v.a, v.b))},
      {"where_number", 2, RUN(groove::where(Arg(as_mask(v.b, v.site), v.site), v.a, v.x))},
      {"masked_fill", 2, RUN(groove::masked_fill(Arg(v.a, v.site), as_mask(v.b, v.site), v.x))},
      UNARY(erf),
      UNARY(erfc),
      UNARY(log1p),
      UNARY(expm1),
      UNARY(silu),
      UNARY(floor),
      UNARY(ceil),
      UNARY(round),
      UNARY(trunc),
      UNARY(sign),
      {"isnan", 1, RUN(groove::isnan(Arg(v.a, v.site))), 1},
      {"isfinite", 1, RUN(groove::isfinite(Arg(v.a, v.site))), 1},
      UNARY(logical_not),
      BINARY(logical_and),
      BINARY(logical_or),
      BINARY(logical_xor),
      UNARY(bitwise_not),
      BINARY(bitwise_and),
      BINARY(bitwise_or),
      BINARY(bitwise_xor),
      BINARY(remainder),
      BINARY(gt),
      BINARY(ne),
      WITH_NUMBER("remainder_number", remainder),
      {"gelu", 1, RUN(groove::gelu(Arg(v.a, v.site), v.i & 1 ? "tanh" : "none")), 6},
      {"softplus", 1, RUN(groove::softplus(Arg(v.a, v.site), 1 + wrap(v.i, 2), 5))},
      {"leaky_relu", 1, RUN(groove::leaky_relu(Arg(v.a, v.site), v.x))},
      {"elu", 1, RUN(groove::elu(Arg(v.a, v.site), v.x))},
      {"bitwise_number", 1, RUN(groove::bitwise_and(Arg(v.a, v.site), Scalar(v.j)))},
      {"lerp", 2, RUN(groove::lerp(Arg(v.a, v.site), v.b, v.x))},
      {"addcmul", 3, RUN(groove::addcmul(Arg(v.a, v.site), v.b, v.c, v.x))},
      {"addcdiv", 3, RUN(groove::addcdiv(Arg(v.a, v.site), v.b, v.c, v.x)), 2},
      {"and_then", 2, RUN(Arg(as_mask(v.a, v.site), v.site) && as_mask(v.b, v.site))},
      {"to", 1, RUN(v.a.to(dtype_from(v.i), false, (v.j & 1) != 0, v.site)), 14},
  };
}

}  // namespace

const std::vector<Op>& pure_ops() {
  static const std::vector<Op> all = [] {
    std::vector<Op> joined = math_ops();
    for (const std::vector<Op>& more : {shape_ops(), layer_ops(), block_ops()})
      joined.insert(joined.end(), more.begin(), more.end());
    return joined;
  }();
  return all;
}

const Op& find_op(const std::string& name) {
  for (const auto* table : {&pure_ops(), &inplace_ops()})
    for (const Op& op : *table)
      if (name == op.name) return op;
  throw Error("random-programs: there is no op `" + name + "`");
}

}  // namespace groove::random_programs
