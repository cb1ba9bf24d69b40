// In-place methods, other names and operators of what has long been there.
#include "cases.h"

using namespace agreement;
using torch::Tensor;

namespace {

Tensor integers() { return torch::tensor({5, -3, 0, 7, 12, -8}, torch::kLong).reshape({2, 3}); }
Tensor others() { return torch::tensor({3, 2, -1, 4, 5, 3}, torch::kLong).reshape({2, 3}); }
Tensor copy(const Tensor& x) { return x.detach().clone(); }

}  // namespace

CASE(in_place_comparisons) {
  const Tensor x = filled({2, 3}, 0), y = filled({3}, 1), n = integers(), m = others();
  show("eq_", copy(x).eq_(y));
  show("ne_", copy(x).ne_(y));
  show("lt_", copy(x).lt_(y));
  show("le_", copy(x).le_(y));
  show("gt_", copy(x).gt_(y));
  show("ge_", copy(x).ge_(y));
  show("eq_ number", copy(n).eq_(7));
  show("ne_ number", copy(n).ne_(7));
  show("lt_ number", copy(n).lt_(0));
  show("le_ number", copy(n).le_(0));
  show("gt_ number", copy(x).gt_(0.25));
  show("ge_ number", copy(x).ge_(0.25));
  show("greater_", copy(n).greater_(m));
  show("greater_equal_", copy(n).greater_equal_(3));
  show("less_", copy(n).less_(m));
  show("less_equal_", copy(n).less_equal_(3));
  show("not_equal_", copy(n).not_equal_(m));
  show("greater", n.greater(m));
  show("greater_equal", n.greater_equal(m));
  show("less", n.less(3));
  show("less_equal", n.less_equal(m));
  show("not_equal", n.not_equal(7));
  show_error("shape", [&] { copy(y).eq_(x); });
}

CASE(in_place_whole_division) {
  const Tensor x = filled({2, 3}, 0) * 7, y = filled({3}, 1) * 2, n = integers(), m = others();
  show("remainder_", copy(x).remainder_(y));
  show("remainder_ number", copy(n).remainder_(4));
  show("fmod_", copy(n).fmod_(m));
  show("fmod_ number", copy(x).fmod_(-1.5));
  show("floor_divide_", copy(n).floor_divide_(m));
  show("floor_divide_ number", copy(x).floor_divide_(0.5));
  show("div_ trunc", copy(x).div_(y, "trunc"));
  show("div_ floor", copy(n).div_(4, "floor"));
  show("divide_", copy(x).divide_(y));
  show("divide_ floor", copy(x).divide_(y, "floor"));
  show("divide", x.divide(y, "trunc"));
  show("true_divide_", copy(x).true_divide_(3));
  show("true_divide", n.true_divide(m));
  show("remainder", 7 % m);
  show("remainder real", 7.5 % m);
  show("__mod", n % 4);
  show_error("by 0", [&] { copy(n).remainder_(0); });
  show_error("integers", [&] { copy(n).div_(m); });
  const Tensor leaf_x = leaf({2, 3}, 2), leaf_y = leaf({3}, 3);
  Tensor work = leaf_x * 5;
  show_gradients("remainder_ gradient", work.remainder_(leaf_y), {leaf_x, leaf_y});
  Tensor more = leaf_x * 5;
  show_gradients("fmod_ gradient", more.fmod_(leaf_y), {leaf_x, leaf_y});
}

CASE(in_place_bits) {
  const Tensor n = integers(), m = others(), b = n > 0, c = m > 0;
  show("bitwise_and_", copy(n).bitwise_and_(m));
  show("bitwise_or_", copy(n).bitwise_or_(m));
  show("bitwise_xor_", copy(n).bitwise_xor_(6));
  show("bitwise_not_", copy(n).bitwise_not_());
  show("logical_and_", copy(n).logical_and_(m));
  show("logical_or_", copy(b).logical_or_(c));
  show("logical_xor_", copy(n).logical_xor_(m));
  show("logical_not_", copy(filled({4}, 0)).logical_not_());
  Tensor x = copy(n);
  x &= m;
  show("&=", x);
  x |= m;
  show("|=", x);
  x ^= n;
  show("^=", x);
  show("number &", 6 & n);
  show("number |", 6 | n);
  show("number ^", 6 ^ n);
  show("__and__", n.__and__(m));
  show("__or__", n.__or__(3));
  show("__xor__", n.__xor__(m));
  show("__iand__", copy(n).__iand__(3));
  show("__ior__", copy(n).__ior__(m));
  show("__ixor__", copy(n).__ixor__(m));
  show("__lshift__", n.__lshift__(2));
  show("__rshift__", n.__rshift__(torch::ones({3}, torch::kLong)));
  show("__ilshift__", copy(n).__ilshift__(1));
  show("__irshift__", copy(n).__irshift__(1));
  show_error("reals", [&] { copy(filled({2, 3})).bitwise_and_(m); });
}

CASE(in_place_shapes) {
  const Tensor x = filled({3, 4}, 0);
  show("tril_", copy(x).tril_());
  show("triu_", copy(x).triu_(1));
  show("cumsum_", copy(x).cumsum_(1));
  show("cumprod_", copy(x).cumprod_(0));
  show("swapaxes_", copy(x).swapaxes_(0, 1));
  show("swapdims_", copy(x).swapdims_(0, -1));
  show("clip_", copy(x).clip_(-0.2, 0.3));
  show("clip", x.clip(-0.2, 0.3));
  show("atan2_", copy(x).atan2_(filled({4}, 1)));
  show("arctan2_", copy(x).arctan2_(filled({4}, 1)));
  show("frac_", (x * 7).frac_());
  show("polygamma_", (x + 2).polygamma_(1));
  show("polygamma", (x + 2).polygamma(2));
  show("pow_", (x + 2).pow_(filled({4}, 1)));
  show("round_", copy(x).round_(1));
  show("cumsum of integers", copy(integers()).cumsum_(1));
  const Tensor y = leaf({3, 4}, 2);
  Tensor work = y * 2;
  show_gradients("cumsum_ gradient", work.cumsum_(1), {y});
  Tensor more = y * 2;
  show_gradients("tril_ gradient", more.tril_(), {y});
  show_error("vector", [&] { filled({4}).tril_(); });
}

CASE(other_names) {
  const Tensor x = leaf({2, 3}, 0);
  const Tensor y = filled({3}, 1);
  show_gradients("arccos", x.arccos(), {x});
  show_gradients("arcsin", torch::arcsin(x), {x});
  show_gradients("arctan", x.arctan(), {x});
  show_gradients("arctan2", torch::arctan2(x, y), {x});
  show_gradients("arcsinh", x.arcsinh(), {x});
  show_gradients("arctanh", torch::arctanh(x), {x});
  show_gradients("arccosh", (x + 3).arccosh(), {x});
  show("fix", (x * 3).fix());
  show_gradients("positive", x.positive(), {x});
  show_gradients("subtract", x.subtract(y, 2), {x});
  show_gradients("multiply", x.multiply(y), {x});
  show_gradients("negative", x.negative(), {x});
  show_gradients("absolute", x.absolute(), {x});
  show("arccos_", copy(x).arccos_());
  show("arcsin_", copy(x).arcsin_());
  show("arctan_", copy(x).arctan_());
  show("arcsinh_", copy(x).arcsinh_());
  show("arctanh_", copy(x).arctanh_());
  show("arccosh_", (x.detach() + 3).arccosh_());
  show("fix_", (x.detach() * 3).fix_());
  show("subtract_", copy(x).subtract_(y));
  show("multiply_", copy(x).multiply_(3));
  show("negative_", copy(x).negative_());
  show("absolute_", copy(x).absolute_());
  show_error("positive of bool", [&] { (x > 0).positive(); });
}
