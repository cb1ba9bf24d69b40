// What LibTorch's own layers are made of, called by name; forms of calls that are rarely written;
// functions that write in place or into a tensor that is there.
#include "cases.h"

using namespace agreement;
using torch::Tensor;

namespace {

void show_all(const std::string& name, const std::vector<Tensor>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) show(name + " " + std::to_string(i), results[i]);
}

Tensor whole(torch::IntArrayRef sizes) { return (filled(sizes) * 10).to(torch::kLong); }

// Parameters of recurrent layers: w_ih, w_hh, b_ih, b_hh of each layer and direction.
std::vector<Tensor> recurrent(std::int64_t gates, std::int64_t layers, std::int64_t directions,
                              std::int64_t input, std::int64_t hidden) {
  std::vector<Tensor> result;
  std::int64_t j = 3;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t width = layer == 0 ? input : hidden * directions;
      result.push_back(leaf({gates * hidden, width}, j++));
      result.push_back(leaf({gates * hidden, hidden}, j++));
      result.push_back(leaf({gates * hidden}, j++));
      result.push_back(leaf({gates * hidden}, j++));
    }
  return result;
}

}  // namespace

CASE(slopes) {
  const Tensor grad = leaf({3, 4}), x = leaf({3, 4}, 1);
  show_gradients("sigmoid_backward", torch::sigmoid_backward(grad, x), {grad, x});
  show_gradients("tanh_backward", torch::tanh_backward(grad, x), {grad, x});
  show_gradients("threshold_backward", torch::threshold_backward(grad, x, 0.1), {grad});
  show_gradients("_softmax", torch::_softmax(x, 1, false), {x});
  show_gradients("_log_softmax", torch::_log_softmax(x, 0, false), {x});
  show("_softmax_backward_data",
       torch::_softmax_backward_data(grad, torch::softmax(x, 1), 1, torch::kDouble));
  show("_log_softmax_backward_data",
       torch::_log_softmax_backward_data(grad, torch::log_softmax(x, 1), 1, torch::kDouble));
  show_error("half_to_float", [&] { torch::_softmax(x, 1, true); });
}

CASE(layers) {
  const Tensor x = leaf({2, 4, 3}), weight = leaf({3}, 1), bias = leaf({3}, 2);
  const auto [norm, mean, inverse] = torch::native_layer_norm(x, {3}, weight, bias, 1e-3);
  show_gradients("native_layer_norm", norm, {x, weight, bias});
  show("native_layer_norm mean", mean);
  show("native_layer_norm rstd", inverse);
  const Tensor scale = leaf({4}, 1);
  const auto [group, average, spread] = torch::native_group_norm(x, scale, {}, 2, 4, 3, 2, 1e-3);
  show_gradients("native_group_norm", group, {x, scale});
  show("native_group_norm mean", average);
  show("native_group_norm rstd", spread);
  const auto [kept, mask] = torch::native_dropout(x, 0.4, false);
  show("native_dropout eval", kept);
  show("native_dropout eval mask", mask);
  for (const int dim : {-1, 0, 1, 2})
    show_gradients("norm_except_dim " + std::to_string(dim), torch::norm_except_dim(x, 2, dim),
                   {x});
  const Tensor g = leaf({2, 1, 1}, 1);
  show_gradients("_weight_norm", torch::_weight_norm(x, g, 0), {x, g});
}

CASE(recurrent_functions) {
  const Tensor x = leaf({5, 2, 3});
  for (const bool both : {false, true}) {
    const std::int64_t directions = both ? 2 : 1;
    const std::string name = both ? " both ways" : "";
    const Tensor h = leaf({2 * directions, 2, 4}, 1), c = leaf({2 * directions, 2, 4}, 2);
    const auto four = recurrent(4, 2, directions, 3, 4), three = recurrent(3, 2, directions, 3, 4),
               one = recurrent(1, 2, directions, 3, 4);
    const auto [y, hn, cn] = torch::lstm(x, {h, c}, four, true, 2, 0.0, false, both, false);
    show_gradients("lstm" + name, y, {x, h, c, four[0], four[5], four[7]});
    show("lstm h" + name, hn);
    show("lstm c" + name, cn);
    const auto [z, zn] = torch::gru(x, h, three, true, 2, 0.0, false, both, false);
    show_gradients("gru" + name, z, {x, h, three[1], three[4]});
    show("gru h" + name, zn);
    show("rnn_tanh" + name,
         std::get<0>(torch::rnn_tanh(x, h, one, true, 2, 0.0, false, both, false)));
    show("rnn_relu" + name,
         std::get<1>(torch::rnn_relu(x, h, one, true, 2, 0.0, false, both, false)));
  }
  const auto four = recurrent(4, 1, 1, 3, 4);
  const Tensor h = filled({1, 5, 4}, 1), c = filled({1, 5, 4}, 2);
  const std::vector<Tensor> plain = {four[0], four[1]};
  show("lstm without bias, batch first",
       std::get<0>(torch::lstm(x, {h, c}, plain, false, 1, 0.0, false, false, true)));
  show_error("lstm of one state",
             [&] { torch::lstm(x, {h}, plain, false, 1, 0.0, false, false, true); });
}

CASE(parts_and_copies) {
  const Tensor x = leaf({4, 6});
  show_all("unsafe_chunk", torch::unsafe_chunk(x, 3, 1));
  show_all("unsafe_split", torch::unsafe_split(x, 3));
  show_all("unsafe_split_with_sizes", torch::unsafe_split_with_sizes(x, {1, 3}, 0));
  show_gradients("narrow_copy", torch::narrow_copy(x, 1, 2, 3), {x});
  show_gradients("permute_copy", torch::permute_copy(x, {1, 0}), {x});
  show_gradients("unfold_copy", torch::unfold_copy(x, 1, 3, 2), {x});
  show_gradients("select_copy", torch::select_copy(x, 0, 2), {x});
  show("expand_copy", torch::expand_copy(filled({1, 3}), {2, 3}));
  show("view_copy", torch::view_copy(x, {3, 8}));
  const Tensor source = leaf({2, 2}, 1);
  show("as_strided_scatter", torch::as_strided_scatter(filled({4, 6}), source, {2, 2}, {6, 2}, 1));
  show_all("nonzero_numpy", torch::nonzero_numpy(whole({3, 3})));
  show("_shape_as_tensor", torch::_shape_as_tensor(x));
  show("is_nonzero",
       double(torch::is_nonzero(torch::tensor(2.5))) + double(torch::tensor({0}).is_nonzero()));
  show_error("is_nonzero of many", [&] { (void)torch::is_nonzero(x); });
}

CASE(numbers) {
  for (const auto dtype : {torch::kFloat, torch::kDouble}) {
    const Tensor x = torch::tensor({0.0, -0.0, 1.0, -0.75, 3e-42, 6.5e30, -1.9999999, 0.49999999},
                                   torch::kDouble)
                         .to(dtype);
    const auto [mantissa, exponent] = torch::frexp(x);
    show("frexp mantissa", mantissa);
    show("frexp exponent", exponent);
  }
  show("vander", torch::vander(filled({4})));
  show("vander rising", torch::vander(filled({3}), 5, true));
  show("vander of integers", torch::vander(torch::tensor({1, 2, 3})));
  const Tensor x = filled({40});
  const auto [counts, edges] = torch::histogram(x, 7);
  show("histogram", counts);
  show("histogram edges", edges);
  const std::vector<double> range = {-0.5, 0.75};
  const auto [dense, bins] =
      torch::histogram(x, 5, c10::ArrayRef<double>(range), filled({40}, 1).abs(), true);
  show("histogram weighted density", dense);
  show("histogram in range", bins);
  const auto given = torch::tensor({-1.0, -0.25, 0.0, 0.9}, torch::kDouble);
  show("histogram of edges", std::get<0>(torch::histogram(x, given)));
}

CASE(forms) {
  const Tensor x = leaf({3, 4}), bools = filled({3, 4}) > -0.9;
  show("sum of none", torch::sum(x, c10::nullopt, true));
  show("mean of none", x.mean(c10::nullopt, true));
  show_gradients("std correction", torch::std(x, 1, c10::optional<at::Scalar>(2)), {x});
  show("var of none", x.var(c10::nullopt, c10::optional<at::Scalar>(0), true));
  show("all", bools.all(torch::IntArrayRef{0, 1}));
  show("any", torch::any(bools, torch::IntArrayRef{1}, true));
  show("count_nonzero", torch::count_nonzero(whole({3, 4}), torch::IntArrayRef{0, 1}));
  show("norm dtype", torch::norm(filled({4}).to(torch::kFloat), 2, torch::kDouble));
  const Tensor bound = filled({4}, 2);
  show_gradients("clamp_min", torch::clamp_min(x, bound), {x});
  show("clamp_max", x.clamp_max(bound));
  const Tensor index = torch::tensor({2, 0}), source = leaf({2, 4}, 1);
  show_gradients("index_add alpha", torch::index_add(x, 0, index, source, -0.5), {x, source});
  const Tensor value = torch::tensor(0.25, torch::dtype<double>().requires_grad(true));
  show_gradients("index_fill", x.index_fill(0, index, value), {x, value});
  show("gather", torch::gather(x, 1, torch::tensor({{1}, {0}, {3}}), true));
  show_gradients("repeat_interleave", torch::repeat_interleave(x, torch::tensor({2, 0, 3}), 0),
                 {x});
  show("repeat_interleave flat", torch::repeat_interleave(filled({3}), torch::tensor({2, 0, 3})));
  show("repeat_interleave one", torch::repeat_interleave(filled({3}), torch::tensor({2}), 0));
  show("repeat_interleave positions", torch::repeat_interleave(torch::tensor({1, 0, 2})));
  show("repeat_interleave size", torch::repeat_interleave(filled({2, 2}), 2, 1, 4));
  show("bitwise", torch::bitwise_and(6, torch::tensor({3, 5})) +
                      torch::bitwise_or(1, torch::tensor({3, 4})) +
                      torch::bitwise_xor(1, torch::tensor({3, 4})));
  show("remainder", torch::remainder(7, torch::tensor({3, -4})));
  show("linspace", torch::linspace(torch::tensor(1.0), torch::tensor(2.0), 3));
  show_both("sort", torch::sort(x, /*stable=*/true, 1, true), x);
  show("argsort", x.argsort(/*stable=*/true, 0, false));
  show_all("atleast_2d", torch::atleast_2d({filled({}), filled({3})}));
  const Tensor image = leaf({1, 2, 4, 4}), kernel = leaf({3, 2, 2, 2}, 1);
  show_gradients("conv2d", torch::conv2d(image, kernel, c10::nullopt, 2), {image, kernel});
  show("layer_norm", torch::layer_norm(x, {4}, c10::nullopt, filled({4}, 1), 1e-3, false));
  const Tensor q = leaf({1, 4, 3, 2}), k = leaf({1, 2, 3, 2}, 1), v = leaf({1, 2, 3, 2}, 2);
  show_gradients(
      "attention in groups",
      torch::scaled_dot_product_attention(q, k, v, c10::nullopt, 0.0, false, c10::nullopt, true),
      {q, k, v});
}

CASE(in_place_and_out) {
  Tensor x = filled({5}), out = torch::empty({0}, torch::kDouble);
  show("cos_", torch::cos_(x));
  show("clamp_", torch::clamp_(x, 0.9, 0.95));
  show("fill_", torch::fill_(x, torch::tensor(2.0)));
  show("sum_out", torch::sum_out(out, filled({2, 3}), {0}));
  show("exp_out", torch::exp_out(out, filled({2})));
  show("bmm_out", torch::bmm_out(out, filled({2, 2, 3}), filled({2, 3, 2})));
  show("where_out", torch::where_out(out, filled({3}) > 0, filled({3}), filled({3}, 1)));
  show("pow_out", torch::pow_out(out, filled({3}).abs(), 1.5));
  show("arange_out", torch::arange_out(out, 4));
  Tensor positions = torch::empty({0}, torch::kLong);
  torch::max_out(out, positions, filled({3, 4}), 1);
  show("max_out", out);
  show("max_out positions", positions);
  torch::topk_out(out, positions, filled({6}), 2);
  show("topk_out", out);
  show_error("add_out with gradients", [&] { torch::add_out(out, leaf({2}), leaf({2}, 1)); });
  {
    const torch::NoGradGuard guard;
    show("add_out without", torch::add_out(out, leaf({2}), leaf({2}, 1)));
  }
}

CASE(dispatch) {
  const Tensor x = filled({3}).to(torch::kFloat);
  const double total = AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "total", [&] {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += x.data_ptr<scalar_t>()[i];
    return sum;
  });
  show("floating", total);
  const auto size = AT_DISPATCH_ALL_TYPES_AND2(torch::kHalf, torch::kBFloat16, torch::kHalf, "size",
                                               ([&] { return double(sizeof(scalar_t)); }));
  show("all types", size);
  show_error("integers", [] {
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(torch::kLong, "nothing", [&] { (void)sizeof(scalar_t); });
  });
}
