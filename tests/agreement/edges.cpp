// What stands at the edges: narrow and unsigned dtypes, bounds, NaN, nothing, and dtypes asked for.
#include "cases.h"

#include <cmath>
#include <limits>

using namespace agreement;

namespace {

torch::Tensor bytes() {
  return torch::tensor({200, 3, 0, 2, 255, 100}).reshape({2, 3}).to(torch::kByte);
}

void show_three(const std::string& name,
                const std::tuple<torch::Tensor, torch::Tensor, torch::Tensor>& found) {
  show(name, std::get<0>(found));
  show(name + " inverse", std::get<1>(found));
  show(name + " counts", std::get<2>(found));
}
void show_two(const std::string& name, const std::tuple<torch::Tensor, torch::Tensor>& picked) {
  show(name, std::get<0>(picked));
  show(name + " positions", std::get<1>(picked));
}

}  // namespace

CASE(unique_slices) {
  const auto x = torch::tensor({3, 1, 3, 1, 1, 1}).reshape({3, 2});
  show_three("rows", torch::unique_dim(x, 0));
  show_three("columns", torch::unique_dim(x, 1));
  show_three("no rows", torch::unique_dim(torch::empty({0, 3}), 0));
  show_three("runs", torch::unique_dim_consecutive(x, 0));
  show_three("runs along", torch::unique_consecutive(x, false, false, 0));
  show_three("runs of all", torch::unique_consecutive(x));
  show_error("empty rows", [] { torch::unique_dim(torch::empty({2, 0}), 0); });
  show_error("empty and none", [] { torch::unique_dim_consecutive(torch::empty({0, 0}), 0); });
  show_error("0-d", [] { torch::unique_dim(torch::tensor(1.5), 0); });
}

CASE(dtypes_asked_for) {
  const auto x = filled({2, 3}) * 300;
  show("sum", torch::sum(x, torch::kInt));
  show("sum along", torch::sum(x, {0}, false, torch::kInt));
  show("sum of bytes", torch::sum(bytes(), torch::kByte));
  show("sum of i32", torch::sum(bytes().to(torch::kInt)));
  show("sum as bool", torch::sum(x, torch::kBool));
  show("nansum", torch::nansum(x, {0}, false, torch::kInt));
  show("prod", torch::prod(x, torch::kInt));
  show("prod along", torch::prod(bytes(), 1, true, torch::kByte));
  show("cumsum", torch::cumsum(x, 0, torch::kInt));
  show("cumsum of bytes", torch::cumsum(bytes(), 1, torch::kByte));
  show("cumprod", torch::cumprod(x, 0, torch::kInt));
  show("cumprod of bytes", torch::cumprod(bytes(), 1, torch::kByte));
  show_error("cumsum as bool", [&] { torch::cumsum(x, 0, torch::kBool); });
  show("all of bytes", bytes().all());
  show("any of bytes", bytes().any());
  show("all along", bytes().all(0));
  show("any along", bytes().any(1, true));
  show("all of no bytes", torch::empty({0}, torch::kByte).all());
  const auto mask = x > 0;
  show("diagflat", torch::diagflat(mask));
  show("diag_embed", torch::diag_embed(mask, 1));
  show("diag_embed below", torch::diag_embed(mask, -1));
  show("diag", torch::diag(mask[0], 1));
  const auto rows = leaf({2, 3});
  show_gradients("diag_embed of leaf", torch::diag_embed(rows, 1).square(), {rows});
}

CASE(running_least) {
  const auto x = torch::tensor({1.f, NAN, -INFINITY, 3.f});
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf}) {
    const std::string name = dtype == torch::kFloat ? "f32" : dtype == torch::kHalf ? "f16" : "f64";
    show_two("cummin " + name, torch::cummin(x.to(dtype), 0));
    show_two("cummin back " + name, torch::cummin(x.to(dtype).flip(0), 0));
    show_two("cummax " + name, torch::cummax(x.to(dtype), 0));
  }
}

CASE(equal) {
  const auto is_equal = [](const std::string& name, const torch::Tensor& a,
                           const torch::Tensor& b) { show(name, double(torch::equal(a, b))); };
  const auto x = torch::tensor({0.5f, 2.f});
  is_equal("double", x, x.to(torch::kDouble));
  is_equal("half", x, x.to(torch::kHalf));
  is_equal("rounded", torch::tensor({0.1f}), torch::tensor({0.1}, torch::kDouble));
  is_equal("integers", torch::ones({2}), torch::ones({2}, torch::kLong));
  is_equal("truth", torch::ones({2}, torch::kBool), torch::ones({2}, torch::kLong));
  is_equal("complex", torch::ones({2}), torch::ones({2}, torch::kComplexFloat));
  is_equal("shapes", torch::ones({2}), torch::ones({1}));
}

CASE(bounds_of_integers) {
  const auto x = torch::tensor({-7, 3, 0, 200});
  const auto none = std::optional<torch::Scalar>();
  show("clamp below bytes", torch::clamp(bytes(), -1, none));
  show("clamp around bytes", torch::clamp(bytes(), -1, 300));
  show("clamp of i32",
       torch::clamp(x.to(torch::kInt), std::numeric_limits<std::int64_t>::min(), 5));
  show("clamp in place", bytes().clamp_(-1, 100));
  show("clamp_max above", torch::clamp_max(bytes(), 300));
  show("clamp of a fraction", torch::clamp(bytes(), -1.5, 2));
  show_error("clamp_max below", [] { torch::clamp_max(bytes(), -1); });
  show_error("clamp_min above", [] { torch::clamp_min(bytes(), 300); });
  show("hardtanh of bytes", torch::hardtanh(bytes()));
  show("hardtanh above", torch::hardtanh(bytes(), -1, 300));
  show("hardtanh of fractions", torch::hardtanh(x, -1.5, 2.5));
  show("relu6 of bytes", torch::relu6(bytes()));
  show_error("hardtanh of bool", [] { torch::hardtanh(bytes() > 2); });
  show("copysign", torch::copysign(bytes(), -1));
  show("copysign of bool", torch::copysign(bytes() > 2, -2));
  show("copysign minus zero", torch::copysign(bytes(), -0.0));
}

CASE(integers_as_numbers) {
  const auto x = torch::tensor({-7, 3, 0, 1});
  show("logit of bytes", torch::logit(bytes()));
  show("logit", torch::logit(x));
  show("logit eps", torch::logit(x, 0.1));
  show("log_ndtr of bytes", torch::special::log_ndtr(bytes()));
  show("log_ndtr", torch::special::log_ndtr(torch::tensor({-128, 3}).to(torch::kChar)));
  show("log_ndtr of least",
       torch::special::log_ndtr(torch::tensor({std::numeric_limits<std::int64_t>::min()})));
  show("trapezoid of bytes", torch::trapezoid(bytes()));
  show("trapezoid", torch::trapezoid(x, 0.5));
  show("trapezoid of nothing", torch::trapezoid(torch::empty({2, 0})));
  show("trapezoid of no integers", torch::trapezoid(torch::empty({0}, torch::kLong)));
  show("trapezoid of no places", torch::trapezoid(torch::empty({0}), torch::empty({0})));
  show("trapezoid of infinity", torch::trapezoid(torch::tensor({INFINITY, 0.f, 1.f})));
  show("cumulative of nothing", torch::cumulative_trapezoid(torch::empty({0})));
  show_error("trapezoid of bool", [] { torch::trapezoid(bytes() > 2); });
  const auto y = leaf({2, 4});
  show_gradients("trapezoid gradient", torch::trapezoid(y, 0.5), {y});
  for (const auto dtype : {torch::kChar, torch::kShort, torch::kInt, torch::kLong}) {
    const std::string name = " " + std::to_string(torch::elementSize(dtype));
    const auto a = torch::tensor({-12, 18, 0, -7, 100, -3}).to(dtype);
    const auto b = torch::tensor({8, -12, -5, 0, 75, 4}).to(dtype);
    show("gcd" + name, torch::gcd(a, b));
    show("lcm" + name, torch::lcm(a, b));
  }
  const auto least = torch::tensor({std::numeric_limits<std::int64_t>::min()});
  show("lcm of least", torch::lcm(least, least));
}

CASE(long_ranges) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const auto shown = [](const std::string& name, const torch::Tensor& x, std::int64_t from) {
    show(name, x - from);
  };
  shown("to the greatest", torch::arange(kMost - 2, kMost), kMost - 10);
  shown("by 2", torch::arange(kMost - 5, kMost, 2), kMost - 10);
  shown("from the least", torch::arange(kLeast, kLeast + 3), kLeast);
  shown("down", torch::arange(kLeast + 2, kLeast, -1), kLeast);
  shown("odd", torch::arange(9007199254740993, 9007199254740996), 9007199254740990);
  show("down by 3", torch::arange(7, 0, -3));
  show("none", torch::arange(1, 1));
  show_error("away", [] { torch::arange(5, 0); });
  show_error("step 0", [] { torch::arange(0, 5, 0); });
  show_error("no end", [] { torch::arange(0, INFINITY, 1.0); });
}

CASE(alpha) {
  const auto mask = bytes() > 2, other = bytes() > 100;
  const auto whole = bytes().to(torch::kLong);
  show("bool", torch::add(mask, other, 2));
  show("bool by 0", torch::add(mask, other, 0));
  show("bool by true", torch::add(mask, other, true));
  show("bool and a truth", torch::add(mask, true, 2));
  show("bool in place", mask.clone().add_(other, 2));
  show("bool and integers", torch::add(mask, whole, 2));
  show("bytes", torch::add(bytes(), bytes(), -1));
  show_error("fraction of bool", [&] { torch::add(mask, other, 1.5); });
  show_error("fraction of integers", [&] { torch::add(whole, 1, 1.5); });
  show_error("truth of integers", [&] { torch::add(whole, whole, true); });
  show_error("truth in sub", [&] { torch::sub(whole, whole, true); });
}

CASE(running_in_place) {
  for (const auto dtype : {torch::kByte, torch::kChar, torch::kShort, torch::kInt}) {
    const std::string name =
        dtype == torch::kByte ? " u8" : " " + std::to_string(torch::elementSize(dtype));
    show("cumsum_" + name, bytes().to(dtype).clone().cumsum_(0));
    show("cumprod_" + name, bytes().to(dtype).clone().cumprod_(1));
  }
  show_error("cumsum_ of bool", [] { (bytes() > 2).cumsum_(0); });
}

CASE(nothing) {
  const auto none = torch::empty({2, 0}, torch::kLong);
  show("softmax", torch::softmax(none, 1));
  show("log_softmax", torch::log_softmax(none, 0));
  show("softmax of truths", torch::softmax(torch::empty({0}, torch::kBool), 0));
  show_error("softmax of integers", [] { torch::softmax(torch::ones({2}, torch::kLong), 0); });
  for (const auto dtype : {torch::kFloat, torch::kLong, torch::kInt, torch::kByte, torch::kChar}) {
    const std::string name = torch::toString(dtype);
    show("median " + name, torch::median(torch::empty({0}, dtype)));
    show("nanmedian " + name, torch::nanmedian(torch::empty({2, 0}, dtype)));
  }
}

CASE(indices) {
  const auto x = filled({2, 3}), one = torch::tensor(1.0);
  const auto at = [](std::vector<std::int64_t> list) { return torch::tensor(list); };
  show("index_fill from the end", x.index_fill(1, at({0, -1}), 9));
  show("index_fill_ from the end", x.clone().index_fill_(0, at({-1}), 9));
  show("index_fill of 0-d", one.index_fill(0, at({-1}), 9));
  show("index_fill_ of 0-d", one.clone().index_fill_(0, at({0}), 9));
  show("index_fill of 0-d by none", one.index_fill(0, torch::empty({0}, torch::kLong), 9));
  show_error("index_fill before", [&] { x.index_fill(0, at({-3}), 9); });
  show_error("index_fill behind", [&] { one.index_fill(0, at({1}), 9); });
  show("index_select by 0-d", x.index_select(1, torch::tensor(2)));
  show("index_select of 0-d", one.index_select(0, at({0})));
  show_error("index_select of 0-d twice", [&] { one.index_select(0, at({0, 0})); });
  show_error("index_select from the end", [&] { x.index_select(0, at({-1})); });
  show("index_add of 0-d", one.index_add(0, at({0}), torch::tensor(2.0)));
  show("index_copy of 0-d", one.index_copy(0, torch::tensor(0), torch::tensor(2.0)));
  const auto y = leaf({2, 3});
  show_gradients("index_select gradient", y.index_select(1, torch::tensor(2)), {y});
  show_gradients("index_fill gradient", y.index_fill(1, at({-1}), 9), {y});
}

CASE(at_the_bounds) {
  const auto at = [](std::vector<double> values) {
    return torch::tensor(values, torch::kDouble).requires_grad_();
  };
  const auto x = at({0, 1, 0.5, 2, -1, NAN});
  show_gradients("clamp", torch::clamp(x, 0, 1), {x});
  show_gradients("clamp_min", torch::clamp_min(x, 0), {x});
  show_gradients("clamp_max", torch::clamp_max(x, 1), {x});
  show_gradients("crossed", torch::clamp(x, 2, 1), {x});
  show_gradients("in place", (x * 1).clamp_(0, 1), {x});
  show_gradients("hardtanh", torch::hardtanh(x, 0, 1), {x});
  show_gradients("softshrink", torch::softshrink(x, 1), {x});
  show_gradients("logit", torch::logit(at({0.1, 0.9, 0.5, 0, 1}), 0.1), {});
  const auto edge = at({0.1, 0.5, 0.05});
  show_gradients("logit of edge", torch::logit(edge, 0.1), {edge});
  const auto far = at({-20, -1, 0});
  show_gradients("log_ndtr", torch::special::log_ndtr(far), {far});
  show_gradients("selu", torch::selu(far), {far});
  const auto low = at({0, 0, 0, 0, 0, 0}), high = at({1, 1, 1, 1, 1, 1}),
             two = at({2, 2, 2, 2, 2, 2});
  const auto optional = [](const torch::Tensor& tensor) {
    return std::optional<torch::Tensor>(tensor);
  };
  show_gradients("tensors", torch::clamp(x, optional(low), optional(high)), {x, low, high});
  show_gradients("lower", torch::clamp(x, optional(low), std::nullopt), {x, low});
  show_gradients("upper", torch::clamp(x, std::nullopt, optional(high)), {x, high});
  const auto known = at({0, 1, 0.5, 2, -1, 3}), same = at({1, 1, 1, 1, 1, 1});
  show_gradients("equal", torch::clamp(known, optional(same), optional(high)), {known, same, high});
  show_gradients("crossed tensors", torch::clamp(known, optional(two), optional(high)),
                 {known, two, high});
  show("of bytes",
       torch::clamp(bytes(), optional(torch::tensor(-1)), optional(torch::tensor(100))));
  const auto base = at({0, 0, 0, 0, 2, 0}), exponent = at({0, 1, 2, -1, 0, 0.5});
  show_gradients("pow", torch::pow(base, exponent), {base, exponent});
  show_gradients("pow of itself", torch::pow(base, base), {base});
  show_gradients("pow 0", torch::pow(base, 0), {base});
}

CASE(truths_refused) {
  const auto x = filled({2, 3});
  const auto mask = x > 0;
  show_error("sub", [&] { torch::sub(x, mask); });
  show_error("sub a truth", [&] { torch::sub(x, true); });
  show_error("of truths", [&] { torch::sub(mask, 1); });
  show_error("minus", [&] { mask - 1; });
  show_error("number minus", [&] { 1 - mask; });
  show_error("rsub", [&] { torch::rsub(x, mask); });
  show_error("rsub of truths", [&] { torch::rsub(mask, 1); });
  show_error("sub_", [&] { x.clone().sub_(mask); });
  show_error("minus assigned", [&] {
    auto y = x.clone();
    y -= mask;
  });
  show_error("argmax", [&] { torch::argmax(mask); });
  show_error("argmin", [&] { torch::argmin(mask, 0); });
  show_error("median", [&] { torch::median(mask); });
  show_error("median along", [&] { torch::median(mask, 0); });
  show_error("kthvalue", [&] { torch::kthvalue(mask, 1); });
  show_error("topk", [&] { torch::topk(mask, 1); });
  show_error("trace", [&] { torch::trace(mask); });
  show("number minus tensor", 1 - x);
  show_two("max", torch::max(mask, 0));
}

CASE(neighbours) {
  const std::vector<float> from = {
      1,   -1,       0,         -0.f,     1,        65504,     INFINITY,     -INFINITY,
      NAN, 0x1p-24f, -0x1p-24f, 0x1p-14f, 0x1p-13f, -0x1p-14f, 0x1.ffcp-15f, 2};
  const std::vector<float> to = {2, 2, 1, -1, 0, INFINITY, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2};
  for (const auto dtype : {torch::kHalf, torch::kBFloat16, torch::kFloat, torch::kDouble}) {
    const auto x = torch::tensor(from).to(dtype), y = torch::tensor(to).to(dtype);
    show(std::string("there ") + torch::toString(dtype), torch::nextafter(x, y));
    show(std::string("back ") + torch::toString(dtype), torch::nextafter(y, x));
    show(std::string("signs ") + torch::toString(dtype), torch::signbit(torch::nextafter(x, y)));
  }
}
