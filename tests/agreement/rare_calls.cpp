// Forms of calls and functions that few programs use: numbers read as narrower types, memory read
// as another dtype, arguments that tensors hold, quantisation that is played, reflections.
#include "cases.h"

#include <limits>

using namespace agreement;
using torch::Tensor;

namespace {

void show_all(const std::string& name, const std::vector<Tensor>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) show(name + " " + std::to_string(i), results[i]);
}

template <typename T>
void show_item(const std::string& name, const Tensor& number) {
  try {
    show(name, static_cast<double>(number.item<T>()));
  } catch (const std::exception&) {
    show(name, "error");
  }
}
void show_items(const std::string& name, const Tensor& number) {
  show_item<int>(name + " int", number);
  show_item<std::uint8_t>(name + " uint8", number);
  show_item<std::int8_t>(name + " int8", number);
  show_item<std::int16_t>(name + " int16", number);
  show_item<std::int64_t>(name + " int64", number);
  show_item<float>(name + " float", number);
  show_item<double>(name + " double", number);
  show_item<at::Half>(name + " half", number);
  show_item<at::BFloat16>(name + " bfloat16", number);
  show_item<bool>(name + " bool", number);
}

}  // namespace

CASE(items) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {1e10, 1e300, infinity, -infinity, 9223372036854775808.0, -1.5, 255.5,
                         256.0, 0.25, 65504.0, 65520.0, -129.0, 3.5e38})
    show_items(std::to_string(x), torch::tensor(x, torch::kDouble));
  show_items("nan", torch::tensor(std::numeric_limits<double>::quiet_NaN(), torch::kDouble));
  for (const std::int64_t n : {std::int64_t{-1}, std::int64_t{-255}, std::int64_t{-256},
                               std::int64_t{300}, std::int64_t{70000}, std::int64_t{1} << 40})
    show_items(std::to_string(n), torch::tensor(n));
  show_items("true", torch::tensor(true));
  show("toInt", static_cast<double>(torch::tensor(7.9).item().toInt()));
  show("toByte", static_cast<double>(torch::Scalar(-1).toByte()));
  show("toShort", static_cast<double>(torch::Scalar(2.5).toShort()));
  show("toChar", static_cast<double>(torch::Scalar(-3).toChar()));
}

CASE(other_dtypes) {
  const Tensor x = filled({2, 3}).to(torch::kFloat);
  show("bits", x.view(torch::kInt));
  show("bytes", torch::tensor({1, 258}, torch::kInt).view(torch::kByte));
  show("wider", torch::tensor({1, 0, 2, 3}, torch::kInt).view(torch::kLong));
  show("of a half", torch::ones({3}, torch::kHalf).view(torch::kShort));
  show("the same", x.view(torch::kFloat));
  show("rows", torch::arange(12, torch::kInt).view({3, 4}).slice(1, 0, 2).view(torch::kLong));
  Tensor y = torch::zeros({2}, torch::kFloat);
  y.view(torch::kInt).fill_(0x40000000);
  show("written", y);
  y.mul_(2);
  show("written again", y.view(torch::kInt));
  show_error("odd", [] { torch::arange(3, torch::kInt).view(torch::kLong); });
  show_error("0-d", [] { torch::tensor(1, torch::kInt).view(torch::kLong); });
  show_error("strided", [&] { x.t().view(torch::kByte); });
  show("0-d of one size", torch::tensor(1, torch::kInt).view(torch::kFloat));
}

CASE(held_by_tensors) {
  const Tensor x = leaf({7, 2});
  show_all("positions", torch::tensor_split(x, torch::tensor({2, 5})));
  show_all("sections", x.tensor_split(torch::tensor(3)));
  show_error("of i32", [&] { x.tensor_split(torch::tensor({2, 5}, torch::kInt)); });
  show_error("2-d", [&] { x.tensor_split(torch::ones({1, 2}, torch::kLong)); });
  show_gradients("narrow", x.narrow(0, torch::tensor(2), 3), {x});
  show("narrow from the end", torch::narrow(x, 0, torch::tensor(-3, torch::kInt), 2));
  show_error("narrow by a vector", [&] { x.narrow(0, torch::tensor({2}), 3); });
  show_error("narrow by a real", [&] { x.narrow(0, torch::tensor(2.0), 3); });
  show_gradients("moveaxis", leaf({2, 3, 4}).moveaxis({0, 1}, {2, 0}), {});
  show("moveaxis function", torch::moveaxis(filled({2, 3, 4}), {0}, {2}));
  Tensor y = filled({1, 2, 1});
  show("squeeze_", y.squeeze_(std::vector<std::int64_t>{0, 2}));
  show("linspace", torch::linspace(torch::tensor(1), 5, 3));
  show("linspace behind", torch::linspace(1.5, torch::tensor(5.0), 4, torch::kDouble));
  show("logspace", torch::logspace(0, torch::tensor(2.0), 3));
  show("logspace both", torch::logspace(torch::tensor(1), torch::tensor(3), 3, 2.0));
  show("logspace in front", torch::logspace(torch::tensor(1.0), 2, 3, 10.0, torch::kDouble));
  show_error("linspace of a vector", [] { torch::linspace(torch::tensor({1.0}), 5, 3); });
  const Tensor m = torch::tensor({0, 1, 2, 0, 3});
  show("nonzero_static", torch::nonzero_static(m, 2));
  show("nonzero_static filled", m.nonzero_static(5));
  show("nonzero_static of a matrix", torch::nonzero_static(torch::eye(2), 3, 7));
  show("nonzero_static of a number", torch::nonzero_static(torch::tensor(5), 2));
  show_error("nonzero_static below 0", [&] { torch::nonzero_static(m, -1); });
  const auto [values, places] = at::_unique(torch::tensor({3, 1, 3, 2}), true, true);
  show("_unique", values);
  show("_unique places", places);
  show("at::tensor", at::tensor({1.5, 2.5}, torch::kDouble));
  Tensor a = torch::zeros({2}), b = torch::ones({3});
  a.set_(b);
  b.fill_(4);
  show("set_", a);
  a.set_(b.storage(), 1, {2});
  show("set_ of a storage", a);
}

CASE(forms) {
  const Tensor x = filled({2, 3});
  const auto format = torch::MemoryFormat::Contiguous;
  show("empty", torch::empty({2, 3}, torch::kDouble, format).fill_(1));
  show("zeros_like", torch::zeros_like(x, torch::kFloat, format));
  show("ones_like", torch::ones_like(x, torch::TensorOptions(), torch::MemoryFormat::Preserve));
  show("full_like", torch::full_like(x, 2.5, torch::kFloat, c10::nullopt));
  show("clone", torch::clone(x, format));
  show("rand_like", torch::rand_like(x, c10::nullopt, torch::kFloat).ge(0));
  show("randn_like", torch::randn_like(x, torch::kFloat, format).isfinite());
  show("randint_like", torch::randint_like(x, 1, c10::nullopt, torch::kFloat));
  show("normal", torch::normal(2.0, 0.0, {3}, {}));
  show("normal of a dtype", torch::normal(2.0, 0.0, {3}, c10::nullopt, torch::kDouble));
  show("rrelu", torch::rrelu(x, 0.5, 0.5, true, c10::nullopt));
  const Tensor signal = leaf({64}), window = torch::hann_window(16, torch::kDouble);
  const Tensor spectrum = signal.stft(16, 4, 16, window, true, "reflect", false, true, true);
  show("stft", torch::view_as_real(spectrum));
  show_gradients("istft", spectrum.istft(16, 4, 16, window, true, false, true, 64), {signal});
}

CASE(segments) {
  const Tensor x = leaf({6, 2}), lengths = torch::tensor({2, 0, 3, 1});
  for (const char* reduce : {"sum", "mean", "max", "min"})
    show_gradients(reduce, at::segment_reduce(x, reduce, lengths), {x});
  show("prod", at::segment_reduce(x, "prod", lengths));
  show("offsets", at::segment_reduce(x, "sum", {}, {}, torch::tensor({0, 2, 2, 5, 6})));
  show("initial", at::segment_reduce(x, "max", lengths, {}, {}, 0, false, 0.25));
  show("initial mean", at::segment_reduce(x, "mean", lengths, {}, {}, 0, false, 0.25));
  show_error("too few", [&] { at::segment_reduce(x, "sum", torch::tensor({2, 1})); });
}

CASE(quantisation) {
  const Tensor x = filled({4, 3}).to(torch::kFloat).requires_grad_();
  show_gradients("tensor", torch::fake_quantize_per_tensor_affine(x, 0.1, 2, -3, 7), {x});
  show_gradients("tensor of tensors",
                 torch::fake_quantize_per_tensor_affine(x, torch::tensor(0.03),
                                                        torch::tensor(1, torch::kInt), -20, 20),
                 {x});
  const Tensor scale = torch::tensor({0.1f, 0.05f, 0.2f}),
               zero = torch::tensor({0, 1, -2}, torch::kInt);
  show_gradients("channels", torch::fake_quantize_per_channel_affine(x, scale, zero, 1, -4, 5),
                 {x});
  show_error("zero point", [&] { torch::fake_quantize_per_tensor_affine(x, 0.1, 9, -3, 7); });
  show_error("bounds", [&] { torch::fake_quantize_per_tensor_affine(x, 0.1, 2, 8, 7); });
  show_error("sizes", [&] { torch::fake_quantize_per_channel_affine(x, scale, zero, 0, -4, 5); });
}

CASE(reflections) {
  const std::vector<std::vector<std::int64_t>> shapes{{4, 3}, {3, 3}, {2, 5, 2}};
  for (const auto& sizes : shapes) {
    const Tensor x = filled(sizes);
    const auto [a, tau] = torch::geqrf(x);
    show("geqrf", a);
    show("geqrf tau", tau);
    const Tensor input = a.detach().clone().requires_grad_(),
                 scale = tau.detach().clone().requires_grad_();
    show_gradients("householder_product", torch::linalg_householder_product(input, scale),
                   {input, scale});
    show("orgqr", torch::orgqr(a, tau));
  }
  const auto [a, tau] = torch::geqrf(filled({4, 3}));
  const Tensor other = filled({4, 4}, 1);
  for (const bool left : {true, false})
    for (const bool transpose : {true, false})
      show("ormqr", torch::ormqr(a, tau, other, left, transpose));
  show_error("too wide", [] { torch::linalg_householder_product(filled({2, 3}), filled({2})); });
}

CASE(refusals) {
  const Tensor n = torch::tensor({1, 2, 3, 4});
  show_error("hypot", [&] { torch::hypot(n, n); });
  show_error("hardshrink", [&] { torch::hardshrink(n); });
  show_error("glu", [&] { torch::glu(n); });
  show_error("igamma", [&] { torch::igamma(n, n); });
}

CASE(into_tensors) {
  const Tensor x = filled({3, 4}), y = filled({3, 4}, 1), v = filled({4}, 2), m = filled({4, 2}, 3);
  Tensor out = torch::empty({0}, torch::kDouble), other = torch::empty({0}, torch::kDouble);
  Tensor places = torch::empty({0}, torch::kLong);
  show("number", torch::mul_out(out, x, 2.5));
  show("addmv", torch::addmv_out(out, filled({3}), x, v, 0.5, 2));
  show("addcmul", torch::addcmul_out(out, x, x, y, 0.1));
  show("std", torch::std_out(out, x, {1}, true));
  show("sum", torch::sum_out(out, x, {0, 1}));
  show("norm", torch::norm_out(out, x, 1, {1}));
  show("max", torch::max_out(out, x));
  show("flip", torch::flip_out(out, x, {0, 1}));
  show("softplus", torch::softplus_out(out, x));
  show("clamp", torch::clamp_out(out, x, v, v + 0.1));
  show("hstack", torch::hstack_out(out, {x, y}));
  show("cross", torch::cross_out(out, filled({2, 3}), filled({2, 3}, 1), 1));
  show("number in front", torch::xlogy_out(out, 2, x.abs() + 1));
  show("div", torch::div_out(out, x, y, "floor"));
  show("loss", torch::binary_cross_entropy_out(out, x.abs(), y.abs()));
  show("lerp", torch::lerp_out(out, x, y, 0.25));
  show("matrix", torch::linalg_inv_out(out, filled({3, 3}) + torch::eye(3, torch::kDouble)));
  show("special", torch::special_erfcx_out(out, x));
  show("searchsorted", torch::searchsorted_out(places, std::get<0>(v.sort()), x));
  torch::median_out(out, places, x, 1);
  show("median", out);
  show("median places", places);
  torch::kthvalue_out(out, places, x, 2, 0, true);
  show("kthvalue", out);
  show("kthvalue places", places);
  torch::var_mean_out(out, other, x, {0}, true, false);
  show("var_mean", out);
  show("var_mean mean", other);
  torch::aminmax_out(out, other, x);
  show("aminmax", out);
  show("narrower", torch::mul_out(places, torch::arange(3), torch::tensor({2, 3, 4})));
  show_error("wants a gradient", [&] { torch::softplus_out(out, leaf({2})); });
}

CASE(lists_into_tensors) {
  const Tensor images = filled({2, 3, 6, 6}), volumes = filled({1, 2, 4, 4, 4}, 1);
  Tensor out = torch::empty({0}, torch::kDouble), places = torch::empty({0}, torch::kLong);
  show("avg_pool1d", torch::avg_pool1d_out(out, images[0], {3}, {2}, {1}));
  show("avg_pool2d", torch::avg_pool2d_out(out, images, {2}));
  show("avg_pool2d lists",
       torch::avg_pool2d_out(out, images, {3, 2}, {2, 1}, {1, 0}, true, false, 5));
  show("avg_pool3d", torch::avg_pool3d_out(out, volumes, {2}, {1}));
  torch::max_pool2d_with_indices_out(out, places, images, {3}, {1}, {1}, {1});
  show("max_pool2d", out);
  show("max_pool2d places", places);
  torch::max_pool3d_with_indices_out(out, places, volumes, {2}, {2});
  show("max_pool3d", out);
  torch::adaptive_max_pool2d_out(out, places, images, {2, 3});
  show("adaptive_max_pool2d", out);
  show("adaptive_max_pool2d places", places);
  const Tensor columns = torch::im2col_out(out, images, {2, 2}, {1, 1}, {0, 0}, {2, 2}).clone();
  show("im2col", columns);
  show("col2im", torch::col2im_out(out, columns, {6, 6}, {2, 2}, {1, 1}, {0, 0}, {2, 2}));
  show("roll", torch::roll_out(out, images, {1, -2}, {2, 3}));
  show("tensordot", torch::tensordot_out(out, images, filled({6, 3}, 2), {3, 1}, {0, 1}));
  show("eye", torch::eye_out(out, 2, 3));
  show("logspace", torch::logspace_out(out, 0, 2, 5));
  show("randint", torch::randint_out(places, 4, 5, {2, 2}));
}

CASE(initial_weights) {
  Tensor w = torch::rand({3, 2, 3});
  show("dirac_", torch::nn::init::dirac_(w));
  show("dirac_ 2-d", torch::nn::init::dirac_(torch::rand({2, 2, 2, 3})));
  show_error("dirac_ of a matrix", [] { torch::nn::init::dirac_(torch::rand({3, 2})); });
  const Tensor m = torch::nn::init::sparse_(torch::empty({10, 4}), 0.33);
  show("sparse_", m.eq(0).sum(0));
  show_error("sparse_ of 3-d", [] { torch::nn::init::sparse_(torch::rand({3, 2, 1}), 0.5); });
}
