#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

CASE(smooth_l1_loss) {
  const auto x = leaf({3, 4}, 0), y = leaf({3, 4}, 1);
  show_gradients("mean", F::smooth_l1_loss(x, y), {x, y});
  torch::nn::SmoothL1Loss module(torch::nn::SmoothL1LossOptions().reduction(torch::kSum).beta(0.5));
  show_gradients("module", module(x, y), {x, y});
  show_error("dtype", [&] { F::mse_loss(x, filled({5})); });
}
