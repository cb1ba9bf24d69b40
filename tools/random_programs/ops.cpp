// The operators that random programs call, through the public API, each at a place of its own. Raw
// integers are mapped into what the operands allow, so that most calls are valid.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tools/random_programs/program.h"

namespace groove::random_programs {
namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t wrap(std::int64_t value, std::int64_t count) {
  if (count <= 0) throw Error("random-programs: nothing to choose from");
  return (value % count + count) % count;
}
Sizes sizes_of(const Tensor& t) { return Sizes(t.sizes().begin(), t.sizes().end()); }
std::int64_t axis(const Tensor& t, std::int64_t raw) { return wrap(raw, t.dim()); }

Sizes axes(const Tensor& t, std::int64_t mask) {
  Sizes chosen;
  for (std::int64_t d = 0; d < t.dim(); ++d)
    if (mask >> d & 1) chosen.push_back((mask >> (8 + d) & 1) ? d - t.dim() : d);
  return chosen;
}

// Positions below `count`, other ones at each step.
Tensor positions(std::int64_t length, std::int64_t count, std::int64_t first, std::int64_t by) {
  Sizes values;
  for (std::int64_t i = 0; i < length; ++i) values.push_back(wrap(first + i * by, count));
  return groove::tensor(values);
}

Tensor as_integers(const Tensor& given, std::int64_t length, std::int64_t count,
                   const Operands& v) {
  if (given.defined() && given.scalar_type() == kLong && given.dim() == 1) return given;
  return positions(length, count, v.j, 1 + wrap(v.k, 3));
}

Tensor as_mask(const Tensor& given, Site site) {
  return given.scalar_type() == kBool ? given : groove::gt(Arg(given, site), 0.1);
}

ScalarType dtype_from(std::int64_t raw) {
  static constexpr ScalarType all[] = {kFloat, kDouble, kLong, kInt, kByte, kBool, kFloat, kDouble};
  return all[wrap(raw, 8)];
}

Tensor matmul_that_fits(const Operands& v) {
  const Tensor& b = v.b;
  if (b.dim() == 2 && v.a.dim() >= 1 && v.a.size(-1) != b.size(0) && v.a.size(-1) == b.size(1))
    return groove::matmul(Arg(v.a, v.site), b.t(v.site));
  return groove::matmul(Arg(v.a, v.site), b);
}

Tensor narrowed(const Operands& v) {
  const std::int64_t d = axis(v.a, v.i), size = v.a.size(d), length = 1 + wrap(v.k, size);
  return groove::narrow(Arg(v.a, v.site), d, wrap(v.j, size - length + 1), length);
}

Tensor sliced(const Operands& v) {
  const std::int64_t d = axis(v.a, v.i), size = v.a.size(d), step = 1 + wrap(v.k, 3);
  const std::int64_t length = 1 + wrap(v.k / 3, size);
  const std::int64_t start = wrap(v.j, size - length + 1);
  return v.a.slice(d, start, start + length, step, v.site);
}

Tensor reshaped(const Operands& v) {
  const std::int64_t count = v.a.numel();
  std::int64_t first = 1 + wrap(v.j, 8);
  while (count % first) --first;
  switch (wrap(v.i, 3)) {
    case 0:
      return v.a.reshape({-1}, v.site);
    case 1:
      return v.a.reshape({first, -1}, v.site);
    default:
      return v.a.reshape({-1, 1, first}, v.site);
  }
}

Tensor expanded(const Operands& v) {
  Sizes sizes = sizes_of(v.a);
  if (v.i & 1)
    for (std::int64_t& size : sizes)
      if (size == 1) size = 1 + wrap(v.j, 5);
  if (!(v.i & 1) || v.i & 2) sizes.insert(sizes.begin(), 1 + wrap(v.k, 3));
  return v.a.expand(sizes, false, v.site);
}

Sizes new_sizes(const Operands& v) {
  Sizes sizes = sizes_of(v.a);
  if (!sizes.empty()) sizes[0] = std::max<std::int64_t>(1, sizes[0] + v.i % 4);
  return sizes;
}

#define UNARY(name)                                                            \
  {                                                                            \
#name, 1, [](const Operands& v) { return groove::name(Arg(v.a, v.site)); } \
  }
#define BINARY(name)                                                                \
  {                                                                                 \
#name, 2, [](const Operands& v) { return groove::name(Arg(v.a, v.site), v.b); } \
  }
#define WITH_NUMBER(label, name)                                                    \
  {                                                                                 \
    label, 1, [](const Operands& v) { return groove::name(Arg(v.a, v.site), v.x); } \
  }
#define RUN(expression) [](const Operands& v) -> Tensor { return expression; }

}  // namespace

const std::vector<Op>& pure_ops() {
  static const std::vector<Op> all = {
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
      BINARY(mse_loss),
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
      {"to", 1, RUN(v.a.to(dtype_from(v.i), false, (v.j & 1) != 0, v.site)), 6},
      {"sum", 1, RUN(v.a.sum(axes(v.a, v.i), (v.j & 1) != 0, std::nullopt, v.site)), 12},
      {"sum_all", 1, RUN(v.a.sum(v.site))},
      {"mean", 1, RUN(v.a.mean(axes(v.a, v.i), (v.j & 1) != 0, std::nullopt, v.site)), 6},
      {"amax", 1, RUN(v.a.amax(axes(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"amin", 1, RUN(v.a.amin(axes(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"argmax", 1, RUN(v.a.argmax(axis(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"argmin", 1, RUN(v.a.argmin(std::nullopt, false, v.site)), 1},
      {"max_values", 1, RUN(std::get<0>(v.a.max(axis(v.a, v.i), (v.j & 1) != 0, v.site)))},
      {"max_indices", 1, RUN(std::get<1>(v.a.max(axis(v.a, v.i), (v.j & 1) != 0, v.site))), 2},
      {"min_values", 1, RUN(std::get<0>(v.a.min(axis(v.a, v.i), (v.j & 1) != 0, v.site))), 2},
      {"softmax", 1, RUN(v.a.softmax(axis(v.a, v.i), std::nullopt, v.site)), 6},
      {"log_softmax", 1, RUN(v.a.log_softmax(axis(v.a, v.i), std::nullopt, v.site)), 6},
      {"sum_to", 2, RUN(groove::sum_to(Arg(v.a, v.site), v.b.sizes())), 2},
      {"transpose", 1, RUN(v.a.transpose(axis(v.a, v.i), axis(v.a, v.j), v.site)), 8},
      {"narrow", 1, narrowed, 8},
      {"slice", 1, sliced, 8},
      {"select", 1, RUN(v.a.select(axis(v.a, v.i), wrap(v.j, v.a.size(axis(v.a, v.i))), v.site)),
       6},
      {"subscript", 1, RUN(v.a[detail::SubscriptArg(wrap(v.j, v.a.size(0)), v.site)])},
      {"reshape", 1, reshaped, 8},
      {"flatten", 1, RUN(v.a.flatten(0, -1, v.site))},
      {"unsqueeze", 1, RUN(v.a.unsqueeze(wrap(v.i, v.a.dim() + 1), v.site))},
      {"squeeze", 1, RUN(v.a.squeeze(v.site))},
      {"expand", 1, expanded, 8},
      {"detach", 1, RUN(v.a.detach(v.site)), 2},
      {"contiguous", 1, RUN(v.a.contiguous(v.site)), 2},
      {"matmul", 2, matmul_that_fits, 24},
      {"matmul_self", 1, RUN(groove::matmul(Arg(v.a, v.site), v.a.t(v.site))), 4},
      {"linear", 3, RUN(groove::linear(Arg(v.a, v.site), v.b, v.c)), 16},
      {"linear_no_bias", 2, RUN(groove::linear(Arg(v.a, v.site), v.b)), 12},
      {"cat", 2, RUN(groove::cat({v.a, v.b}, axis(v.a, v.i), v.site)), 6},
      {"cat_three", 3, RUN(groove::cat({v.a, v.b, v.c}, axis(v.a, v.i), v.site))},
      {"stack", 2, RUN(groove::stack({v.a, v.b}, wrap(v.i, v.a.dim() + 1), v.site))},
      {"index_select", 2,
       RUN(v.a.index_select(axis(v.a, v.i),
                            as_integers(v.b, 1 + wrap(v.k, 6), v.a.size(axis(v.a, v.i)), v),
                            v.site)),
       6},
      {"gather", 1,
       RUN(v.a.gather(
           0,
           positions(v.a.numel(), v.a.size(0), v.j, 1 + wrap(v.k, 5)).reshape(v.a.sizes(), v.site),
           v.site)),
       6},
      {"index_add", 2,
       RUN(v.a.index_add(0, positions(v.b.size(0), v.a.size(0), v.j, v.k), v.b, v.site))},
      {"scatter_add", 1,
       RUN(v.a.scatter_add(
           0,
           positions(v.a.numel(), v.a.size(0), v.j, 1 + wrap(v.k, 5)).reshape(v.a.sizes(), v.site),
           v.a, v.site))},
      {"one_hot", 1, RUN(groove::one_hot(Arg(v.a, v.site), 2 + wrap(v.i, 9))), 2},
      {"cross_entropy", 2,
       RUN(groove::cross_entropy_loss(Arg(v.a, v.site),
                                      as_integers(v.b, v.a.size(0), v.a.size(1), v), wrap(v.i, 3))),
       8},
      {"nll_loss", 2,
       RUN(groove::nll_loss(Arg(v.a, v.site), as_integers(v.b, v.a.size(0), v.a.size(1), v),
                            wrap(v.i, 3)))},
      {"rand", 1, RUN(groove::rand(new_sizes(v), kFloat, v.site))},
      {"randn", 1, RUN(groove::randn(new_sizes(v), v.j & 3 ? kFloat : kDouble, v.site)), 8},
      {"randint", 1, RUN(groove::randint(1 + wrap(v.j, 9), new_sizes(v), kLong, v.site))},
      {"rand_like", 1, RUN(groove::rand_like(Arg(v.a, v.site)))},
      {"dropout", 1, RUN(groove::dropout(Arg(v.a, v.site), 0.125 * (1 + wrap(v.i, 6)), true)), 6},
      {"zeros", 1, RUN(groove::zeros(new_sizes(v), v.a.options(), v.site))},
      {"ones_like", 1, RUN(groove::ones_like(Arg(v.a, v.site)))},
      {"full", 1, RUN(groove::full(new_sizes(v), v.x, kFloat, v.site))},
      {"arange", 0, RUN(groove::arange(1 + wrap(v.j, 7), v.i & 1 ? kFloat : kLong, v.site))},
      {"host_tensor", 0,
       RUN(groove::tensor(std::vector<double>{v.x, -v.x, 1.5, v.x * v.x}, kFloat))},
  };
  return all;
}

const std::vector<Op>& inplace_ops() {
  static const std::vector<Op> all = {
      {"add_", 2, RUN(v.a.add_(v.b, 1, v.site)), 8},
      {"add_scaled_", 2, RUN(v.a.add_(v.b, v.x, v.site)), 6},
      {"sub_", 2, RUN(v.a.sub_(v.b, 1, v.site))},
      {"mul_", 2, RUN(v.a.mul_(v.b, v.site))},
      {"div_", 2, RUN(v.a.div_(v.b, v.site)), 1},
      {"add_number_", 1, RUN(v.a.add_(v.x, 1, v.site)), 6},
      {"mul_number_", 1, RUN(v.a.mul_(v.x, v.site)), 6},
      {"copy_", 2, RUN(v.a.copy_(v.b, false, v.site)), 8},
      {"fill_", 1, RUN(v.a.fill_(v.x, v.site)), 4},
      {"zero_", 1, RUN(v.a.zero_(v.site)), 4},
      {"relu_", 1, RUN(v.a.relu_(v.site))},
      {"tanh_", 1, RUN(v.a.tanh_(v.site))},
      {"sigmoid_", 1, RUN(v.a.sigmoid_(v.site))},
      {"exp_", 1, RUN(v.a.exp_(v.site)), 1},
      {"neg_", 1, RUN(v.a.neg_(v.site))},
      {"sin_", 1, RUN(v.a.sin_(v.site))},
      {"clamp_", 1, RUN(v.a.clamp_(-v.x, v.x, v.site))},
      {"pow_", 1, RUN(v.a.pow_(2, v.site)), 1},
      {"masked_fill_", 2, RUN(v.a.masked_fill_(as_mask(v.b, v.site), v.x, v.site))},
      {"index_add_", 2,
       RUN(v.a.index_add_(0, positions(v.b.size(0), v.a.size(0), v.j, v.k), v.b, v.site))},
      {"scatter_add_", 2,
       RUN(v.a.scatter_add_(
           0, positions(v.b.numel(), v.a.size(0), v.j, v.k).reshape(v.b.sizes(), v.site), v.b,
           v.site))},
      {"uniform_", 1, RUN(v.a.uniform_(0, 1, v.site)), 2},
      {"normal_", 1, RUN(v.a.normal_(0, 1, v.site)), 2},
      // Writes through views that nobody keeps.
      {"select_write_", 2,
       RUN((v.a[detail::SubscriptArg(wrap(v.j, v.a.size(0)), v.site)] = Arg(v.b, v.site), v.a)), 6},
      {"select_fill_", 1,
       RUN((v.a[detail::SubscriptArg(wrap(v.j, v.a.size(0)), v.site)] =
                detail::ScalarArg(v.x, v.site),
            v.a)),
       4},
      {"narrow_mul_", 1, RUN(narrowed(v).mul_(v.x, v.site)), 8},
      {"slice_add_", 1, RUN(sliced(v).add_(v.x, 1, v.site)), 6},
      {"transposed_add_", 2, RUN(v.a.t(v.site).add_(v.b, 1, v.site)), 4},
      {"slice_copy_", 2, RUN(sliced(v).copy_(v.b, false, v.site)), 4},
  };
  return all;
}

const Op& find_op(const std::string& name) {
  for (const auto* table : {&pure_ops(), &inplace_ops()})
    for (const Op& op : *table)
      if (name == op.name) return op;
  throw Error("random-programs: there is no op `" + name + "`");
}

}  // namespace groove::random_programs
