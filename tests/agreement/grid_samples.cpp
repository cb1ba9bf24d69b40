// Images read at positions that a tensor holds, and the grids of affine maps.
#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

namespace {

const char* const kModes[] = {"bilinear", "nearest", "bicubic"};
const char* const kOutsides[] = {"zeros", "border", "reflection"};

}  // namespace

CASE(grid_sampler_2d) {
  const auto image = leaf({2, 2, 4, 5}, 0);
  const auto grid = filled({2, 3, 4, 2}, 1).mul(1.7).clone().requires_grad_();
  for (std::int64_t mode = 0; mode < 3; ++mode)
    for (std::int64_t outside = 0; outside < 3; ++outside)
      for (const bool aligned : {false, true})
        show_gradients(
            std::string(kModes[mode]) + " " + kOutsides[outside] + (aligned ? " aligned" : ""),
            torch::grid_sampler_2d(image, grid, mode, outside, aligned), {image, grid});
}

CASE(grid_sampler_3d) {
  const auto volume = leaf({2, 2, 3, 4, 5}, 0);
  const auto grid = filled({2, 2, 3, 2, 3}, 1).mul(1.7).clone().requires_grad_();
  for (std::int64_t mode = 0; mode < 3; ++mode)
    for (std::int64_t outside = 0; outside < 3; ++outside)
      for (const bool aligned : {false, true})
        show_gradients(
            std::string(kModes[mode]) + " " + kOutsides[outside] + (aligned ? " aligned" : ""),
            torch::grid_sampler_3d(volume, grid, mode, outside, aligned), {volume, grid});
}

CASE(grid_sample) {
  const auto image = leaf({2, 2, 4, 5}, 0), volume = leaf({1, 2, 3, 4, 2}, 1);
  const auto grid = leaf({2, 3, 4, 2}, 2), grid3 = leaf({1, 2, 3, 2, 3}, 3);
  show_gradients("default", F::grid_sample(image, grid), {image, grid});
  show_gradients("options",
                 F::grid_sample(image, grid,
                                F::GridSampleFuncOptions()
                                    .mode(torch::kBicubic)
                                    .padding_mode(torch::kReflection)
                                    .align_corners(true)),
                 {image, grid});
  show_gradients("nearest",
                 F::grid_sample(image, grid,
                                F::GridSampleFuncOptions()
                                    .mode(torch::kNearest)
                                    .padding_mode(torch::kBorder)
                                    .align_corners(false)),
                 {image, grid});
  show_gradients(
      "3d",
      F::grid_sample(volume, grid3,
                     F::GridSampleFuncOptions().mode(torch::kBilinear).padding_mode(torch::kZeros)),
      {volume, grid3});
  show_gradients("sampler", torch::grid_sampler(volume, grid3, 0, 1, true), {volume, grid3});
  // Positions at centres, edges and corners, where slopes end.
  const auto edges = torch::tensor({-1.0, -1.0, 1.0, 1.0, 0.0, 0.0, -0.5, 0.5, 1.5, -1.5, 3.0, 1.0},
                                   torch::kDouble)
                         .reshape({1, 2, 3, 2})
                         .requires_grad_();
  const auto square = leaf({1, 1, 5, 5}, 4), one = leaf({1, 2, 1, 1}, 5);
  for (const bool aligned : {false, true})
    for (std::int64_t outside = 0; outside < 3; ++outside) {
      const std::string name = std::string(kOutsides[outside]) + (aligned ? " aligned" : "");
      show_gradients("edges " + name, torch::grid_sampler_2d(square, edges, 0, outside, aligned),
                     {square, edges});
      show_gradients("nearest edges " + name,
                     torch::grid_sampler_2d(square, edges, 1, outside, aligned), {square, edges});
      show("one " + name, torch::grid_sampler_2d(one, edges, 0, outside, aligned));
    }
  const auto floats = image.detach().to(torch::kFloat);
  show("float", (torch::grid_sampler_2d(floats, grid.detach().to(torch::kFloat), 0, 0, false) -
                 torch::grid_sampler_2d(image, grid, 0, 0, false))
                        .abs()
                        .max() < 1e-5);
  show_error("dtype", [&] { F::grid_sample(floats, grid); });
  show_error("batch", [&] { F::grid_sample(filled({3, 2, 4, 5}), grid); });
  show_error("rank", [&] { F::grid_sample(filled({2, 4, 5}), grid); });
  show_error("last axis", [&] { F::grid_sample(image, filled({2, 3, 4, 3})); });
}

CASE(affine_grid) {
  const auto theta = leaf({2, 2, 3}, 0), theta3 = leaf({2, 3, 4}, 1);
  for (const bool aligned : {false, true}) {
    const std::string name = aligned ? " aligned" : "";
    show_gradients("2d" + name, F::affine_grid(theta, {2, 3, 4, 5}, aligned), {theta});
    show_gradients("2d one" + name, F::affine_grid(theta, {2, 3, 1, 4}, aligned), {theta});
    show_gradients("3d" + name, F::affine_grid(theta3, {2, 1, 2, 3, 4}, aligned), {theta3});
    show_gradients("generator" + name, torch::affine_grid_generator(theta, {2, 1, 3, 2}, aligned),
                   {theta});
  }
  const auto image = leaf({2, 1, 4, 4}, 2);
  show_gradients("both", F::grid_sample(image, F::affine_grid(theta, {2, 1, 3, 3})),
                 {image, theta});
  show_error("size", [&] { F::affine_grid(theta, {2, 3, 4}); });
  show_error("theta", [&] { F::affine_grid(theta3, {2, 3, 4, 4}); });
  show_error("zero", [&] { F::affine_grid(theta, {2, 3, 0, 4}); });
}
