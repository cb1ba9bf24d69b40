// What models are made of several operators at a time: convolutions with what follows them,
// products of one input side by side, and diamonds, whose branches part from a value and join
// again.
#include <algorithm>
#include <cmath>

#include "tools/random_programs/operands.h"

namespace groove::random_programs {
namespace {

Tensor activated(const Tensor& t, std::int64_t kind, const Operands& v) {
  const Arg x(t, v.site);
  switch (wrap(kind, 8)) {
    case 0:
      return groove::relu(x);
    case 1:
      return groove::gelu(x, "none");
    case 2:
      return groove::silu(x);
    case 3:
      return groove::tanh(x);
    case 4:
      return groove::leaky_relu(x, v.x);
    case 5:
      return groove::mul(x, v.x);
    case 6:
      return groove::where(groove::gt(x, 0.25), t, v.x);
    default:
      return t;
  }
}

Tensor normalised(const Tensor& t, const Operands& v) {
  const std::int64_t channels = t.size(1);
  const ScalarType dtype = t.scalar_type();
  const Tensor mean = cut(v.b.detach(v.site), {channels}, dtype, v.site).clone(v.site);
  const Tensor variance = mean.square(v.site).add(0.5, 1, v.site);
  return groove::batch_norm(Arg(t, v.site), cut(v.b, {channels}, dtype, v.site),
                            cut(v.c, {channels}, dtype, v.site), mean, variance, (v.k & 1) != 0,
                            0.1, 1e-5);
}

// One or two layers of convolution, bias, batch norm, activation, residual and pooling, each of
// them there or not.
Tensor convolution_block(const Operands& v) {
  Tensor t = images(v.a, v);
  const std::int64_t layers = 1 + wrap(v.i >> 4, 2);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t choice = v.j >> (6 * layer), channels = t.size(1);
    const bool is_residual = (choice & 1) != 0;
    const std::int64_t kernel = t.size(2) < 3 || (choice & 2) != 0 ? 1 : 3;
    const std::int64_t filters = is_residual ? channels : 1 + wrap(v.k, 20);
    const Tensor weight = cut(v.b, {filters, channels, kernel, kernel}, t.scalar_type(), v.site);
    const Tensor bias = choice & 4 ? cut(v.c, {filters}, t.scalar_type(), v.site) : Tensor();
    const Tensor before = t;
    t = groove::conv2d(Arg(t, v.site), weight, bias, 1, kernel / 2);
    if (choice & 8) t = normalised(t, v);
    if (is_residual) t = groove::add(Arg(t, v.site), before);
    t = activated(t, choice >> 4, v);
  }
  return v.i & 64 && t.size(2) >= 2 ? groove::max_pool2d(Arg(t, v.site), 2) : t;
}

// Two or three products of one input, with weights of equal or different widths, which join as
// gates, as attention, one beside the other or not at all.
Tensor sibling_products(const Operands& v) {
  if (v.a.dim() < 1 || !v.a.is_floating_point()) throw Error("random-programs: no matrix");
  const std::int64_t width = v.a.size(-1);
  if (width == 0) throw Error("random-programs: too few elements");
  const ScalarType dtype = v.a.scalar_type();
  const auto product = [&](const Tensor& from, std::int64_t most, bool has_bias) {
    const std::int64_t columns = std::min<std::int64_t>(most, from.numel() / width);
    if (columns < 1) throw Error("random-programs: too few elements");
    const Tensor weight = cut(from, {columns, width}, dtype, v.site);
    if (v.i & 1) return groove::matmul(Arg(v.a, v.site), weight.t(v.site));
    return groove::linear(Arg(v.a, v.site), weight,
                          has_bias ? cut(from, {columns}, dtype, v.site) : Tensor());
  };
  const std::int64_t columns = 1 + wrap(v.j, 40);
  const std::int64_t shared = std::min({columns, v.b.numel() / width, v.c.numel() / width});
  const bool has_bias = (v.i & 2) != 0;
  switch (wrap(v.k, 4)) {
    case 0: {
      const Tensor gate = product(v.b, shared, has_bias), value = product(v.c, shared, has_bias);
      return groove::mul(Arg(activated(gate, v.i >> 2, v), v.site), value);
    }
    case 1: {
      const Tensor query = product(v.b, shared, has_bias), key = product(v.c, shared, has_bias);
      const Tensor value = product(v.b, 1 + wrap(v.j >> 6, 40), false);
      if (query.dim() < 2) return groove::add(Arg(query, v.site), key);
      const Tensor scores = groove::matmul(Arg(query, v.site), key.transpose(-2, -1, v.site));
      return groove::matmul(Arg(scores.softmax(-1, std::nullopt, v.site), v.site), value);
    }
    case 2:
      return groove::cat(
          {product(v.b, columns, has_bias), product(v.c, 1 + wrap(v.j >> 6, 40), false)}, -1,
          v.site);
    default: {
      const Tensor left = product(v.b, columns, has_bias);
      const Tensor right = product(v.c, 1 + wrap(v.j >> 6, 40), has_bias);
      return groove::add(Arg(left.sum(v.site), v.site), activated(right, v.i >> 2, v));
    }
  }
}

// A branch of a diamond: of the value's shape, or of one that broadcasts to it.
Tensor branch(const Tensor& t, std::int64_t kind, const Operands& v) {
  const std::int64_t last = t.dim() - 1;
  switch (wrap(kind, 8)) {
    case 0:
      return t.softmax(last, std::nullopt, v.site);
    case 1:
      return t.sum({last}, true, std::nullopt, v.site);
    case 2:
      return t.sum({0}, true, std::nullopt, v.site);
    case 3:
      return t.amax({last}, true, v.site);
    case 4:
      return t.dim() == 2 ? t.t(v.site).contiguous(v.site).t(v.site) : t.square(v.site);
    case 5:
      return groove::layer_norm(Arg(t, v.site), {t.size(-1)});
    default:
      return activated(t, kind >> 3, v);
  }
}

Tensor diamond(const Operands& v) {
  if (v.a.dim() < 1 || !v.a.is_floating_point()) throw Error("random-programs: no rows");
  const Tensor top = activated(v.a, v.i, v);
  const Tensor left = branch(top, v.j, v), right = branch(top, v.j >> 6, v);
  const Arg first(left, v.site);
  switch (wrap(v.k, 6)) {
    case 0:
      return groove::mul(first, right);
    case 1:
      return groove::sub(first, right);
    case 2:
      return groove::maximum(first, right);
    case 3:
      return groove::where(groove::gt(first, right), left, top);
    case 4:
      return groove::add(Arg(groove::mul(first, right), v.site), top);
    default: {  // an inner diamond on the left
      const Tensor inner = groove::add(Arg(branch(left, v.i >> 3, v), v.site), left);
      return groove::mul(Arg(inner, v.site), right);
    }
  }
}

}  // namespace

std::vector<Op> block_ops() {
  return {
      {"convolution_block", 3, convolution_block, 12},
      {"sibling_products", 3, sibling_products, 14},
      {"diamond", 1, diamond, 12},
  };
}

}  // namespace groove::random_programs
