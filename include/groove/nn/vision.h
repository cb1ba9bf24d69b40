// nn::functional::grid_sample and affine_grid: images read at other positions.
#pragma once

#include <optional>

#include "groove/nn/convolution.h"

namespace groove::nn::functional {

// An enumerator of grid_sample, as the code that grid_sampler takes.
class grid_sample_mode_t {
 public:
  constexpr grid_sample_mode_t(enumtype::kBilinear) : code_(0) {}
  constexpr grid_sample_mode_t(enumtype::kNearest) : code_(1) {}
  constexpr grid_sample_mode_t(enumtype::kBicubic) : code_(2) {}
  constexpr std::int64_t code() const { return code_; }

 private:
  std::int64_t code_;
};
class grid_sample_padding_t {
 public:
  constexpr grid_sample_padding_t(enumtype::kZeros) : code_(0) {}
  constexpr grid_sample_padding_t(enumtype::kBorder) : code_(1) {}
  constexpr grid_sample_padding_t(enumtype::kReflection) : code_(2) {}
  constexpr std::int64_t code() const { return code_; }

 private:
  std::int64_t code_;
};

struct GridSampleFuncOptions {
  using mode_t = grid_sample_mode_t;
  using padding_mode_t = grid_sample_padding_t;
  GROOVE_ARG(mode_t, mode) = kBilinear;
  GROOVE_ARG(padding_mode_t, padding_mode) = kZeros;
  /// Do -1 and 1 mean the centres of the outer elements, not their outer edges? false unless given.
  GROOVE_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

/// input [N, C, H, W] at grid [N, H', W', 2] -> [N, C, H', W'], or [N, C, D, H, W] at
/// [N, D', H', W', 3] -> [N, C, D', H', W']; the grid holds x, y and z between -1 and 1.
Tensor grid_sample(const Tensor& input, const Tensor& grid,
                   const GridSampleFuncOptions& options = {}, Site site = Site::current());
/// theta [N, 2, 3] with size [N, C, H, W] -> grid [N, H, W, 2], or [N, 3, 4] with
/// [N, C, D, H, W] -> [N, D, H, W, 3].
Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners = false,
                   Site site = Site::current());

}  // namespace groove::nn::functional
