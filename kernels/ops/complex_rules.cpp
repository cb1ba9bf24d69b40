// Complex calls as calls of real tensors.
#include "kernels/ops/complex_rules.h"

#include "groove/ops/complex.h"
#include "groove/ops/creation.h"
#include "groove/ops/elementwise.h"
#include "groove/ops/products.h"
#include "groove/ops/views.h"
#include "src/core/promotion.h"

namespace groove::complex_rules {
namespace {

std::int64_t rank_of(const Tensor& x) {
  return static_cast<std::int64_t>(x.impl()->geometry.sizes.size());
}

Tensor called(const Call& call, ArrayRef<Tensor> inputs, const Attrs& attrs) {
  Tensor output;
  dispatch(Call{call.op, inputs, &attrs, call.numbers, call.site, false, call.name}, &output);
  return output;
}

Attrs sizes_with_pair(const Call& call) {
  const auto& fields = call.op->attributes;
  if (fields.empty() || fields[0].name != std::string_view("sizes")) return *call.attrs;
  const auto& words = call.attrs->words();
  const auto count = static_cast<std::size_t>(words[0]);
  Shape sizes(IntArrayRef(words.data() + 1, count));
  sizes.push_back(2);
  Attrs result = Attrs().add(IntArrayRef(sizes));
  for (std::size_t i = 1 + count; i < words.size(); ++i) result.add(words[i]);
  return result;
}

// What an in-place call writes into what it is called on.
void write(const Call& call, const Tensor& target, const Tensor& value) {
  GROOVE_CHECK(is_complex_tensor(target) || !is_complex_tensor(value),
               "{}: result type {} can't be cast to the desired output type {}; take real() or "
               "abs() of it first",
               call.name ? call.name : call.op->name, name(value.scalar_type()),
               name(target.scalar_type()));
  const Shape& own = target.impl()->geometry.sizes;
  GROOVE_CHECK(broadcast_of(call.op->name.c_str(), value.sizes(), own) == own,
               "{}: the result of shape {} does not fit into {}", call.op->name,
               to_string(value.sizes()), to_string(own));
  if (is_complex_tensor(target))
    pair_of(target).copy_(pair_as(value, pair_of(target).scalar_type()), false, call.site);
  else
    target.copy_(value, false, call.site);
}

void handle(const Call& call, Tensor* outputs) {
  const Op& op = *call.op;
  const auto& complex_input = *std::find_if(
      call.inputs.begin(), call.inputs.end(),
      [](const Tensor& input) { return input.defined() && is_complex_tensor(input); });
  GROOVE_CHECK(op.complex,
               "{}: not built for complex tensors ({}); take real(), imag(), abs() or angle() of "
               "them first",
               call.name ? call.name : op.name, name(complex_input.scalar_type()));
  const SiteScope scope(call.site, call.name);
  if (!call.is_inplace) {
    outputs[0] = op.complex(call);
    return;
  }
  Call apart = call;
  apart.is_inplace = false;
  const Tensor& target = call.inputs[static_cast<std::size_t>(op.mutates[0])];
  write(call, target, op.complex(apart));
  outputs[0] = target;
}

[[maybe_unused]] const bool registered = [] {
  register_complex_handler(handle);
  return true;
}();

}  // namespace

Parts parts_of(const Tensor& x) {
  if (!is_complex_tensor(x)) return {x, {}};
  return {pair_of(x).select(-1, 0), pair_of(x).select(-1, 1)};
}

Tensor over(const Tensor& pair) {
  return from_pair(can_pair(pair.impl()->geometry) ? pair : pair.clone());
}

Tensor joined(const Tensor& re, const Tensor& im) {
  const Shape sizes = broadcast_of("complex", re.sizes(), im.sizes());
  return over(stack({re.expand(sizes), im.expand(sizes)}, -1));
}

Tensor pair_as(const Tensor& x, ScalarType part) {
  if (is_complex_tensor(x)) return pair_of(x).to(part);
  const Tensor re = x.to(part);
  return stack({re, zeros_like(re)}, -1);
}

ScalarType part_dtype(const Call& call) {
  std::vector<Type> types;
  for (const Tensor& input : call.inputs)
    if (input.defined()) types.push_back(type_of(input));
  return real_dtype(result_type(types, call.numbers));
}

Tensor operand(const Call& call, std::size_t i) {
  const Tensor& x = call.inputs[i];
  const ScalarType part = part_dtype(call);
  return is_complex_tensor(x) ? over(pair_of(x).to(part)) : x.to(part);
}

Tensor on_pairs(const Call& call, const Attrs& attrs) {
  Tensors inputs(call.inputs.begin(), call.inputs.end());
  for (Tensor& input : inputs) input = taped(input);
  return over(called(call, inputs, attrs));
}
Tensor on_pairs(const Call& call) { return on_pairs(call, sizes_with_pair(call)); }

Tensor on_all_pairs(const Call& call) {
  const ScalarType part = part_dtype(call);
  Tensors inputs;
  for (const Tensor& input : call.inputs) inputs.push_back(pair_as(input, part));
  return over(called(call, inputs, *call.attrs));
}

Tensor on_parts(const Call& call) {
  const std::vector<Scalar> zeros(call.numbers.size(), Scalar(0));
  Call apart = call;
  apart.numbers = zeros;
  Tensors re, im;
  for (const Tensor& input : call.inputs) {
    const Parts parts = parts_of(input);
    re.push_back(parts.re);
    im.push_back(parts.im.defined() ? parts.im : parts.re);
  }
  return joined(called(call, re, *call.attrs), called(apart, im, *call.attrs));
}

Tensor on_truths(const Call& call) {
  Tensors inputs(call.inputs.begin(), call.inputs.end());
  for (Tensor& input : inputs)
    if (is_complex_tensor(input)) input = ne(input, 0);
  return called(call, inputs, *call.attrs);
}

Tensor on_real_part(const Call& call) {
  const Parts z = parts_of(call.inputs[0]);
  return joined(called(call, ArrayRef<Tensor>(z.re), *call.attrs), z.im);
}

Tensor with_new_axis(const Call& call) {
  return over(
      called(call, ArrayRef<Tensor>(pair_of(call.inputs[0])), *call.attrs).transpose(-1, -2));
}

Tensor reduction(const Call& call) {
  const Tensor& z = call.inputs[0];
  const AttrReader attr(*call.op, *call.attrs);
  Shape dims(attr.integers(0));
  if (dims.empty())
    for (std::int64_t i = 0; i < rank_of(z); ++i) dims.push_back(i);
  if (dims.empty()) return z.clone();
  return over(called(call, ArrayRef<Tensor>(pair_of(z)),
                     Attrs().add(IntArrayRef(dims)).add(attr.integer(1))));
}

Tensor with_full_index(const Call& call) {
  Tensors inputs(call.inputs.begin(), call.inputs.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_complex_tensor(inputs[i])) {
      inputs[i] = pair_of(inputs[i]);
    } else {
      Shape sizes(inputs[i].sizes());
      sizes.push_back(2);
      inputs[i] = inputs[i].unsqueeze(-1).expand(sizes);
    }
  }
  return over(called(call, inputs, *call.attrs));
}

// (a + bi)(c + di) = [a b] [[c d] [-d c]]: a product of real matrices of twice the size.
Tensor contraction(const Call& call) {
  const ScalarType part = part_dtype(call);
  const Tensor x = pair_as(call.inputs[0], part), y = pair_as(call.inputs[1], part);
  const std::int64_t rank = rank_of(x);
  const Tensor turned = stack({y.select(-1, 1).neg(), y.select(-1, 0)}, -1);
  const Tensor rows = x.flatten(rank - 2, rank - 1);
  const Tensor columns =
      stack({y, turned}, rank - 2).flatten(rank - 3, rank - 2).flatten(rank - 2, rank - 1);
  return over(called(call, Tensors{rows, columns}, *call.attrs).unflatten(rank - 2, {-1, 2}));
}

Tensor product(const Tensor& x, const Tensor& y) {
  const Parts a = parts_of(x), b = parts_of(y);
  if (!b.im.defined()) return over(mul(pair_of(x), y.unsqueeze(-1)));
  if (!a.im.defined()) return over(mul(pair_of(y), x.unsqueeze(-1)));
  return joined(sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re)));
}

// Scaled by the greater part of the divisor, whose square may overflow. The scale is no variable:
// it changes nothing but the rounding.
Tensor quotient(const Tensor& x, const Tensor& y) {
  const Parts a = parts_of(x), b = parts_of(y);
  if (!b.im.defined()) return over(div(pair_of(x), y.unsqueeze(-1)));
  const Tensor scale = maximum(abs(b.re.detach()), abs(b.im.detach()));
  const Tensor re = div(b.re, scale), im = div(b.im, scale);
  const Tensor square = mul(add(groove::square(re), groove::square(im)), scale);
  if (!a.im.defined()) return joined(div(mul(a.re, re), square), div(mul(neg(a.re), im), square));
  return joined(div(add(mul(a.re, re), mul(a.im, im)), square),
                div(sub(mul(a.im, re), mul(a.re, im)), square));
}

Tensor exponential(const Tensor& z) {
  const Parts parts = parts_of(z);
  const Tensor length = exp(parts.re);
  return joined(mul(length, cos(parts.im)), mul(length, sin(parts.im)));
}

Tensor logarithm(const Tensor& z) { return joined(log(magnitude(z)), angle(z)); }

// Without cancellation: cos(y) - 1 is -2 sin(y / 2)^2.
Tensor exponential_less_one(const Tensor& z) {
  const Parts parts = parts_of(z);
  const Tensor half = square(sin(mul(parts.im, 0.5)));
  const Tensor re = sub(mul(expm1(parts.re), cos(parts.im)), mul(half, 2));
  return joined(re, mul(exp(parts.re), sin(parts.im)));
}

// Near 0 from |1 + z|^2 - 1, which does not cancel there.
Tensor logarithm_of_one_more(const Tensor& z) {
  const Tensor more = add(z, 1);
  const Tensor is_far = ge(magnitude(z.detach()), 0.5);
  const Parts near = parts_of(masked_fill(z, is_far, 0));
  const Tensor excess = add(mul(near.re, add(near.re, 2)), square(near.im));
  return joined(where(is_far, log(magnitude(more)), mul(log1p(excess), 0.5)), angle(more));
}

// 0 to a positive power is 0, where the logarithm is infinite.
Tensor power(const Tensor& z, const Tensor& exponent) {
  const Tensor base = is_complex_tensor(z) ? z : over(pair_as(z, z.scalar_type()));
  const Tensor vanishes = logical_and(eq(base, 0), gt(parts_of(exponent).re, 0));
  const Tensor result = exponential(product(logarithm(masked_fill(base, vanishes, 1)), exponent));
  return masked_fill(result, vanishes, 0);
}

Tensor direction(const Tensor& z) {
  const Tensor length = magnitude(z);
  return quotient(z, masked_fill(length, eq(length, 0), 1));
}

// From the greater of the two parts' halves, which cancels nothing.
Tensor square_root(const Tensor& z) {
  const Parts parts = parts_of(z);
  const Tensor greater = sqrt(mul(add(magnitude(z), abs(parts.re)), 0.5));
  const Tensor is_zero = eq(greater, 0);
  const Tensor lesser = div(parts.im, mul(masked_fill(greater, is_zero, 1), 2));
  const Tensor is_right = ge(parts.re, 0);
  return joined(where(is_right, greater, abs(lesser)),
                where(is_right, lesser, copysign(greater, parts.im)));
}

Tensor sine(const Tensor& z) {
  const Parts parts = parts_of(z);
  return joined(mul(sin(parts.re), cosh(parts.im)), mul(cos(parts.re), sinh(parts.im)));
}
Tensor cosine(const Tensor& z) {
  const Parts parts = parts_of(z);
  return joined(mul(cos(parts.re), cosh(parts.im)), neg(mul(sin(parts.re), sinh(parts.im))));
}
Tensor hyperbolic_sine(const Tensor& z) {
  const Parts parts = parts_of(z);
  return joined(mul(sinh(parts.re), cos(parts.im)), mul(cosh(parts.re), sin(parts.im)));
}
Tensor hyperbolic_cosine(const Tensor& z) {
  const Parts parts = parts_of(z);
  return joined(mul(cosh(parts.re), cos(parts.im)), mul(sinh(parts.re), sin(parts.im)));
}

// With t = tanh(x) and the tangent as sin / cos, so that nothing overflows but at its poles.
Tensor hyperbolic_tangent(const Tensor& z) {
  const Parts parts = parts_of(z);
  const Tensor t = tanh(parts.re), s = sin(parts.im), c = cos(parts.im);
  const Tensor below = add(square(c), square(mul(t, s)));
  return joined(div(t, below), div(mul(mul(s, c), rsub(square(t), 1)), below));
}
Tensor tangent(const Tensor& z) {  // -i tanh(i z)
  const Parts parts = parts_of(z);
  const Parts turned = parts_of(hyperbolic_tangent(joined(neg(parts.im), parts.re)));
  return joined(turned.im, neg(turned.re));
}

Tensor logistic(const Tensor& z) { return 1 / (exponential(neg(z)) + 1); }

}  // namespace groove::complex_rules
