// Convolutions over three axes, and the other spellings of all of them.
#include "cases.h"

namespace F = torch::nn::functional;
namespace nn = torch::nn;
using namespace agreement;

namespace {

template <typename Module>
void show_module(const std::string& name, Module& module, torch::IntArrayRef sizes) {
  show(name + " prints", printed(*module));
  fill(*module);
  const auto x = leaf(sizes);
  std::vector<torch::Tensor> inputs = {x};
  for (const auto& parameter : module->parameters()) inputs.push_back(parameter);
  show_gradients(name, module(x), inputs);
}

}  // namespace

CASE(conv3d) {
  const auto x = leaf({2, 2, 4, 5, 3}, 0), w = leaf({3, 2, 2, 3, 2}, 1), b = leaf({3}, 2);
  show_gradients("plain", torch::conv3d(x, w), {x, w});
  show_gradients("bias", torch::conv3d(x, w, b), {x, w, b});
  show_gradients("strided", torch::conv3d(x, w, b, {2, 1, 2}, {1, 0, 1}), {x, w, b});
  show_gradients("dilated", torch::conv3d(x, w, b, 1, {1, 2, 1}, {2, 1, 2}), {x, w, b});
  const auto grouped = leaf({4, 1, 3, 1, 2}, 3);
  show_gradients("groups", torch::conv3d(x, grouped, {}, {1, 2, 1}, 1, 1, 2), {x, grouped});
  const auto single = leaf({2, 3, 4, 3}, 4);
  show_gradients("single", torch::conv3d(single, w, b), {single, w, b});
  show_gradients("same", torch::conv3d(x, w, b, 1, "same"), {x, w, b});
  show_gradients("same dilated", torch::conv3d(x, w, b, 1, "same", {2, 1, 3}), {x, w, b});
  show_gradients("valid", torch::conv3d(x, w, b, {2, 1, 1}, "valid"), {x, w, b});
  show_gradients("functional",
                 F::conv3d(x, w, F::Conv3dFuncOptions().bias(b).stride({1, 2, 1}).padding(1)),
                 {x, w, b});
  show_gradients("functional same", F::conv3d(x, w, F::Conv3dFuncOptions().padding(torch::kSame)),
                 {x, w});
  show("float",
       torch::conv3d(x.detach().to(torch::kFloat), w.detach().to(torch::kFloat)).sum() > 0);
  show_error("channels", [&] { torch::conv3d(x, filled({3, 3, 2, 2, 2})); });
  show_error("rank", [&] { torch::conv3d(filled({2, 3, 4}), w); });
  show_error("too large", [&] { torch::conv3d(x, filled({3, 2, 9, 2, 2})); });
  show_error("stride", [&] { torch::conv3d(x, w, b, 0); });
  show_error("bias", [&] { torch::conv3d(x, w, filled({4})); });
  show_error("same strided", [&] { torch::conv3d(x, w, b, 2, "same"); });
}

CASE(conv3d_module) {
  nn::Conv3d plain(2, 3, 2);
  show_module("plain", plain, {1, 2, 3, 4, 3});
  nn::Conv3d options(nn::Conv3dOptions(2, 4, {1, 2, 3})
                         .stride({1, 2, 1})
                         .padding({1, 0, 1})
                         .dilation({1, 1, 2})
                         .groups(2)
                         .bias(false));
  show_module("options", options, {2, 2, 3, 4, 5});
  nn::Conv3d same(nn::Conv3dOptions(1, 2, 3).padding(torch::kSame));
  show_module("same", same, {1, 1, 3, 4, 3});
  nn::Conv3d valid(nn::Conv3dOptions(1, 2, 2).padding(torch::kValid));
  show_module("valid", valid, {1, 1, 3, 4, 3});
  nn::Conv3d reflect(nn::Conv3dOptions(1, 2, 2).padding(1).padding_mode(torch::kReflect));
  show_module("reflect", reflect, {1, 1, 3, 4, 3});
  nn::Conv3d replicate(
      nn::Conv3dOptions(1, 2, 2).padding({1, 2, 1}).padding_mode(torch::kReplicate));
  show_module("replicate", replicate, {1, 1, 3, 2, 3});
  nn::Conv3d circular(nn::Conv3dOptions(1, 2, 2).padding({0, 1, 2}).padding_mode(torch::kCircular));
  show_module("circular", circular, {1, 1, 3, 4, 3});
  show_error("groups", [] { nn::Conv3d wrong(nn::Conv3dOptions(3, 4, 2).groups(2)); });
}

CASE(conv_transpose3d) {
  const auto x = leaf({2, 2, 2, 3, 2}, 0), w = leaf({2, 3, 2, 2, 3}, 1), b = leaf({3}, 2);
  show_gradients("plain", torch::conv_transpose3d(x, w), {x, w});
  show_gradients("strided", torch::conv_transpose3d(x, w, b, {2, 1, 2}, {1, 0, 1}), {x, w, b});
  show_gradients("output padding",
                 torch::conv_transpose3d(x, w, b, {2, 3, 2}, {1, 0, 1}, {1, 2, 1}), {x, w, b});
  show_gradients("dilated", torch::conv_transpose3d(x, w, b, 1, 0, 0, 1, {2, 1, 3}), {x, w, b});
  const auto grouped = leaf({2, 2, 3, 1, 2}, 3);
  show_gradients("groups", torch::conv_transpose3d(x, grouped, {}, 2, 1, 1, 2), {x, grouped});
  const auto single = leaf({2, 2, 2, 2}, 4);
  show_gradients("single", torch::conv_transpose3d(single, w, b), {single, w, b});
  show_gradients(
      "functional",
      F::conv_transpose3d(x, w, F::ConvTranspose3dFuncOptions().bias(b).stride(2).padding(1)),
      {x, w, b});
  show_error("channels", [&] { torch::conv_transpose3d(x, filled({3, 3, 2, 2, 2})); });
  show_error("output padding", [&] { torch::conv_transpose3d(x, w, b, 1, 0, 1); });
}

CASE(conv_transpose3d_module) {
  nn::ConvTranspose3d plain(2, 3, 2);
  show_module("plain", plain, {1, 2, 2, 3, 2});
  nn::ConvTranspose3d options(nn::ConvTranspose3dOptions(2, 4, {1, 2, 3})
                                  .stride({1, 2, 2})
                                  .padding({0, 1, 1})
                                  .output_padding({0, 1, 0})
                                  .dilation({1, 1, 2})
                                  .groups(2)
                                  .bias(false));
  show_module("options", options, {2, 2, 2, 3, 2});
  nn::ConvTranspose3d sized(nn::ConvTranspose3dOptions(1, 2, 3).stride(2));
  fill(*sized);
  const auto x = leaf({1, 1, 2, 2, 3});
  const std::vector<std::int64_t> size = {6, 5, 8};
  show_gradients("output size", sized->forward(x, torch::IntArrayRef(size)), {x});
}

CASE(convolution) {
  const auto x = leaf({2, 4, 5}, 0), w = leaf({4, 2, 3}, 1), b = leaf({4}, 2);
  show_gradients("1d", torch::convolution(x, w, b, {2}, {1}, {1}, false, {0}, 2), {x, w, b});
  show_gradients("1d transposed", torch::convolution(x, w, b, {2}, {1}, {1}, true, {1}, 2),
                 {x, w, b});
  const auto image = leaf({1, 2, 4, 5}, 3), k = leaf({3, 2, 2, 3}, 4);
  show_gradients("2d", torch::convolution(image, k, {}, {1, 2}, {1, 0}, {1, 1}, false, {0, 0}, 1),
                 {image, k});
  const auto volume = leaf({1, 2, 3, 3, 4}, 5), w3 = leaf({2, 2, 2, 1, 2}, 6);
  show_gradients(
      "3d",
      torch::convolution(volume, w3, {}, {1, 2, 1}, {1, 0, 1}, {1, 1, 1}, false, {0, 0, 0}, 1),
      {volume, w3});
  show_gradients(
      "3d transposed",
      torch::convolution(volume, w3, {}, {2, 2, 1}, {1, 0, 1}, {1, 1, 1}, true, {1, 0, 0}, 1),
      {volume, w3});
}

CASE(conv_named_padding) {
  const auto x = leaf({2, 2, 7}, 0), w = leaf({3, 2, 4}, 1), b = leaf({3}, 2);
  show_gradients("1d same", torch::conv1d(x, w, b, 1, "same"), {x, w, b});
  show_gradients("1d valid", torch::conv1d(x, w, b, 2, "valid"), {x, w, b});
  const auto image = leaf({1, 2, 5, 4}, 3), k = leaf({3, 1, 2, 3}, 4);
  const auto grouped = leaf({4, 1, 2, 3}, 5);
  show_gradients("2d same", torch::conv2d(image, grouped, {}, 1, "same", {2, 1}, 2),
                 {image, grouped});
  show_gradients("2d string", torch::conv2d(image, grouped, {}, {1, 1}, std::string("valid"), 1, 2),
                 {image, grouped});
  show_error("name", [&] { torch::conv2d(image, k, {}, 1, "full"); });
}

CASE(conv_tbc) {
  const auto x = leaf({6, 2, 3}, 0), w = leaf({3, 3, 4}, 1), b = leaf({4}, 2);
  show_gradients("plain", torch::conv_tbc(x, w, b), {x, w, b});
  show_gradients("padded", torch::conv_tbc(x, w, b, 2), {x, w, b});
}

CASE(own_padding) {
  const auto line = leaf({2, 3, 5}, 0), image = leaf({1, 2, 3, 4}, 1), one = leaf({2, 3, 4}, 2);
  const auto volume = leaf({1, 1, 3, 3, 4}, 3);
  show_gradients("reflect 1d", torch::reflection_pad1d(line, {2, 1}), {line});
  show_gradients("reflect 2d", torch::reflection_pad2d(image, {1, 2, 0, 1}), {image});
  show_gradients("reflect 3d", torch::reflection_pad3d(volume, {1, 2, 0, 1, 2, 1}), {volume});
  show_gradients("replicate 1d", torch::replication_pad1d(line, {2, 1}), {line});
  show_gradients("replicate 2d", torch::replication_pad2d(one, {1, 2, 0, 1}), {one});
  show_gradients("replicate 3d", torch::replication_pad3d(volume, {1, 2, 0, 1, 2, 3}), {volume});
  show_error("count", [&] { torch::reflection_pad2d(image, {1, 2}); });
  show_error("too wide", [&] { torch::reflection_pad1d(line, {5, 1}); });
}
