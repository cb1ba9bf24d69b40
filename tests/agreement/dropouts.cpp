// Kinds of dropout: what does not depend on which elements go.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

namespace {

// Which of two values all elements of `y` take, and whether both are there.
void show_two_values(const std::string& name, const torch::Tensor& y, double low, double high) {
  const auto is_low = (y - low).abs().lt(1e-9), is_high = (y - high).abs().lt(1e-9);
  show(name + " only these", is_low.logical_or(is_high).all());
  show(name + " both", is_low.any().logical_and(is_high.any()));
}

}  // namespace

CASE(dropout_off) {
  const auto x = leaf({2, 3, 4, 2}, 0);
  show_gradients("feature_dropout eval", torch::feature_dropout(x, 0.5, false), {x});
  show_gradients("feature_dropout 0", torch::feature_dropout(x, 0, true), {x});
  show_gradients("feature_dropout 1", torch::feature_dropout(x, 1, true), {x});
  show_gradients("alpha_dropout eval", torch::alpha_dropout(x, 0.5, false), {x});
  show_gradients("alpha_dropout 0", torch::alpha_dropout(x, 0, true), {x});
  show_gradients("alpha_dropout 1", torch::alpha_dropout(x, 1, true), {x});
  show_gradients("feature_alpha_dropout eval", torch::feature_alpha_dropout(x, 0.5, false), {x});
  show_gradients("feature_alpha_dropout 1", torch::feature_alpha_dropout(x, 1, true), {x});
  show("F alpha_dropout default", F::alpha_dropout(x));
  show("F feature_alpha_dropout default", F::feature_alpha_dropout(x));
  show("F dropout3d eval", F::dropout3d(x, F::Dropout3dFuncOptions().training(false)));
  show_error("p", [&] { torch::alpha_dropout(x, 1.5, true); });
  show_error("p below", [&] { torch::feature_dropout(x, -0.5, true); });
  show_error("rank", [&] { torch::feature_dropout(filled({3}), 0.5, true); });
  show_error("F p", [&] { F::alpha_dropout(x, F::AlphaDropoutFuncOptions().p(2)); });
}

CASE(dropout_values) {
  const auto ones = torch::ones({2, 60, 4}, torch::kDouble);
  show_two_values("feature_dropout", torch::feature_dropout(ones, 0.25, true), 0, 1 / 0.75);
  const auto y = torch::feature_dropout(ones, 0.25, true);
  show("feature_dropout by channel", y.eq(y.narrow(2, 0, 1)).all());
  const double p = 0.3, limit = 1.7580993408473766;
  const double a = 1 / std::sqrt((limit * limit * p + 1) * (1 - p));
  const double kept = a + a * limit * p, gone = -limit * a + limit * a * p;
  show_two_values("alpha_dropout", torch::alpha_dropout(ones, p, true), gone, kept);
  const auto z = torch::feature_alpha_dropout(ones, p, true);
  show_two_values("feature_alpha_dropout", z, gone, kept);
  show("feature_alpha_dropout by channel", z.eq(z.narrow(2, 0, 1)).all());
  const auto x = torch::ones({500}, torch::kDouble).requires_grad_();
  torch::alpha_dropout(x, p, true).sum().backward();
  show_two_values("alpha_dropout gradient", x.grad(), 0, a);
}

CASE(dropout_inplace) {
  const auto all = [](const char* name, auto function, double low, double high) {
    auto x = torch::ones({2, 50, 3}, torch::kDouble);
    const auto y = function(x);
    show(std::string(name) + " the same", x.eq(y).all());
    show_two_values(name, x, low, high);
  };
  all(
      "dropout_", [](auto& x) { return torch::dropout_(x, 0.5, true); }, 0, 2);
  all(
      "feature_dropout_", [](auto& x) { return torch::feature_dropout_(x, 0.5, true); }, 0, 2);
  const double p = 0.5, limit = 1.7580993408473766;
  const double a = 1 / std::sqrt((limit * limit * p + 1) * (1 - p));
  const double kept = a + a * limit * p, gone = -limit * a + limit * a * p;
  all(
      "alpha_dropout_", [](auto& x) { return torch::alpha_dropout_(x, 0.5, true); }, gone, kept);
  all(
      "feature_alpha_dropout_", [](auto& x) { return torch::feature_alpha_dropout_(x, 0.5, true); },
      gone, kept);
}

CASE(dropout_images) {
  const auto image = torch::ones({60, 3, 2}, torch::kDouble);
  const auto y = F::dropout2d(image);
  show_two_values("dropout2d of an image", y, 0, 2);
  show("dropout2d by channel", y.eq(y.narrow(1, 0, 1).narrow(2, 0, 1)).all());
  const auto volume = torch::ones({2, 40, 3, 2, 2}, torch::kDouble);
  const auto z = F::dropout3d(volume);
  show_two_values("dropout3d", z, 0, 2);
  show("dropout3d by channel", z.eq(z.flatten(2).narrow(2, 0, 1).reshape({2, 40, 1, 1, 1})).all());
  auto written = torch::ones({60, 3, 2}, torch::kDouble);
  F::dropout2d(written, F::Dropout2dFuncOptions().inplace(true));
  show_two_values("dropout2d in place", written, 0, 2);
  show("dropout2d shape", F::dropout2d(image).sizes().vec() == image.sizes().vec() ? 1 : 0);
}

CASE(dropout_modules) {
  const auto x = leaf({2, 3, 4, 2}, 0), volume = leaf({1, 2, 2, 2, 2}, 1);
  const auto show_module = [](auto module, const torch::Tensor& input) {
    show("text", printed(*module));
    module->eval();
    show(printed(*module) + " eval", module(input));
  };
  using namespace torch::nn;
  show_module(Dropout2d(0.3), x);
  show_module(Dropout3d(), volume);
  show_module(Dropout3d(Dropout3dOptions().p(0.25).inplace(true)), volume.detach());
  show_module(AlphaDropout(0.3), x);
  show_module(AlphaDropout(AlphaDropoutOptions(0.1).inplace(true)), x);
  show_module(FeatureAlphaDropout(0.3), x);
  show_module(FeatureAlphaDropout(FeatureAlphaDropoutOptions(0.1)), x);
  show_gradients("AlphaDropout of 0", AlphaDropout(0.0)(x), {x});
  show_gradients("AlphaDropout of 1", AlphaDropout(1.0)(x), {x});
  show_error("Dropout3d", [] { Dropout3d drop(1.5); });
  show_error("AlphaDropout", [] { AlphaDropout drop(-0.5); });
}
