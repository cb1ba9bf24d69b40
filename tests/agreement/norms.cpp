// Normalisations: InstanceNorm, BatchNorm3d, local responses, rms_norm; and Bilinear.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

namespace {

template <typename Module>
void show_buffers(const std::string& name, const Module& module) {
  for (const auto& buffer : module->named_buffers())
    show(name + " " + buffer.key(), buffer.value().to(torch::kDouble));
}

// Two training steps and one evaluation.
template <typename Module>
void show_norm(Module module, const torch::Tensor& x) {
  fill(*module);
  const auto text = printed(*module);
  for (const auto& parameter : module->named_parameters()) show(text, parameter.key());
  std::vector<torch::Tensor> inputs = {x};
  for (const auto& parameter : module->parameters()) inputs.push_back(parameter);
  show_gradients(text + " 1", module(x), inputs);
  show_gradients(text + " 2", module(x * x), inputs);
  show_buffers(text, module);
  module->eval();
  show_gradients(text + " eval", module(x), inputs);
}

}  // namespace

CASE(instance_norm_function) {
  const auto x = leaf({2, 3, 4}, 0), image = leaf({2, 2, 3, 2}, 1), w = leaf({3}, 2),
             b = leaf({3}, 3);
  const torch::Tensor none;
  show_gradients("plain", torch::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false), {x});
  show_gradients("affine", torch::instance_norm(x, w, b, {}, {}, true, 0.1, 1e-3, false),
                 {x, w, b});
  auto mean = filled({3}, 4), variance = filled({3}, 5).abs();
  show_gradients("running", torch::instance_norm(x, w, b, mean, variance, true, 0.3, 1e-5, false),
                 {x, w, b});
  show("mean", mean);
  show("variance", variance);
  show_gradients("fixed", torch::instance_norm(x, w, b, mean, variance, false, 0.3, 1e-5, false),
                 {x, w, b});
  show("mean kept", mean);
  show_gradients("functional", F::instance_norm(image), {image});
  show_gradients("functional all",
                 F::instance_norm(x, F::InstanceNormFuncOptions()
                                         .running_mean(mean)
                                         .running_var(variance)
                                         .weight(w)
                                         .bias(b)
                                         .momentum(0.5)
                                         .eps(1e-2)),
                 {x, w, b});
  show("mean moved", mean);
  show_error("none", [&] { torch::instance_norm(x, w, b, {}, {}, false, 0.1, 1e-5, false); });
}

CASE(instance_norm_modules) {
  using namespace torch::nn;
  const auto x = leaf({2, 3, 4}, 0), image = leaf({2, 3, 2, 3}, 1),
             volume = leaf({2, 3, 2, 1, 3}, 2);
  show_norm(InstanceNorm1d(3), x);
  show_norm(InstanceNorm1d(InstanceNorm1dOptions(3).affine(true).track_running_stats(true)), x);
  show_norm(InstanceNorm2d(InstanceNorm2dOptions(3).affine(true).eps(1e-2)), image);
  show_norm(InstanceNorm2d(InstanceNorm2dOptions(3).track_running_stats(true).momentum(0.4)),
            image);
  show_norm(InstanceNorm3d(InstanceNorm3dOptions(3).affine(true).track_running_stats(true)),
            volume);
  show_gradients("one image", InstanceNorm2d(3)(image.select(0, 1)), {image});
  show_gradients("one row", InstanceNorm1d(3)(x.select(0, 1)), {x});
  show_error("1d", [&] { InstanceNorm1d(3)(image); });
  show_error("2d", [&] { InstanceNorm2d(3)(volume); });
  show_error("3d", [&] { InstanceNorm3d(3)(x); });
}

CASE(batch_norm_3d) {
  using namespace torch::nn;
  const auto x = leaf({2, 3, 2, 1, 3}, 0);
  show_norm(BatchNorm3d(3), x);
  show_norm(BatchNorm3d(BatchNorm3dOptions(3).affine(false).momentum(0.4)), x);
  show_norm(BatchNorm3d(BatchNorm3dOptions(3).track_running_stats(false).eps(1e-2)), x);
  show_error("rank", [&] { BatchNorm3d(3)(x.select(3, 0)); });
}

CASE(local_response_norm) {
  using namespace torch::nn;
  const auto x = leaf({2, 5, 3}, 0), image = leaf({2, 6, 2, 2}, 1),
             volume = leaf({1, 4, 2, 1, 2}, 2);
  using Options = F::LocalResponseNormFuncOptions;
  show_gradients("3", F::local_response_norm(x, Options(3).alpha(2)), {x});
  show_gradients("4", F::local_response_norm(image, Options(4).alpha(1.5).beta(0.5).k(2)), {image});
  show_gradients("volume", F::local_response_norm(volume, Options(2)), {volume});
  LocalResponseNorm module(2);
  show_gradients(printed(*module), module(image), {image});
  show("text", printed(*LocalResponseNorm(LocalResponseNormOptions(3).alpha(0.5).k(2))));
  show_error("rank", [&] { F::local_response_norm(x.select(0, 0), Options(3)); });
}

// The gradient of LibTorch's module is not that of its values.
CASE(cross_map_lrn2d) {
  using namespace torch::nn;
  const auto x = filled({2, 8, 2, 2}, 1);
  for (const int size : {1, 2, 3, 4, 5}) {
    CrossMapLRN2d module(CrossMapLRN2dOptions(size).alpha(2).beta(0.6).k(2));
    show(printed(*module), module(x));
  }
  show("default", CrossMapLRN2d(3)(x));
}

CASE(rms_norm) {
  const auto x = leaf({2, 3, 4}, 0), w = leaf({4}, 1), v = leaf({3, 4}, 2);
  show_gradients("plain", torch::rms_norm(x, {4}), {x});
  show_gradients("weight", torch::rms_norm(x, {4}, w), {x, w});
  show_gradients("eps", torch::rms_norm(x, {3, 4}, v, 0.1), {x, v});
  show("zeros", torch::rms_norm(torch::zeros({2, 3}), {3}));
  show_error("shape", [&] { torch::rms_norm(x, {3}); });
  show_error("weight shape", [&] { torch::rms_norm(x, {4}, filled({3})); });
}

CASE(bilinear) {
  const auto a = leaf({5, 3}, 0), b = leaf({5, 2}, 1), w = leaf({4, 3, 2}, 2), bias = leaf({4}, 3),
             c = leaf({2, 5, 3}, 4), d = leaf({2, 5, 2}, 5), x = leaf({3}, 6), y = leaf({2}, 7);
  show_gradients("plain", torch::bilinear(a, b, w, bias), {a, b, w, bias});
  show_gradients("no bias", torch::bilinear(a, b, w), {a, b, w});
  show_gradients("batches", F::bilinear(c, d, w, bias), {c, d, w, bias});
  show_gradients("rows", F::bilinear(x, y, w), {x, y, w});
  torch::nn::Bilinear module(3, 2, 4);
  fill(*module);
  for (const auto& parameter : module->named_parameters()) show(parameter.key(), parameter.value());
  show_gradients(printed(*module), module(a, b), {a, b, module->weight, module->bias});
  torch::nn::Bilinear plain(torch::nn::BilinearOptions(3, 2, 4).bias(false));
  show("text", printed(*plain));
  show("bound", torch::nn::Bilinear(3, 50, 4)->weight.abs().le(1 / std::sqrt(3.0) + 1e-6).all());
  show_error("shape", [&] { torch::bilinear(a, a, w); });
  show_error("batch", [&] { torch::bilinear(a, filled({4, 2}), w); });
}
