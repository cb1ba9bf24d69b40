#include "groove/nn/vision.h"

#include "groove/detail/call_scope.h"
#include "groove/ops/sampling.h"

namespace groove::nn::functional {

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options,
                   Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return grid_sampler(input, grid, options.mode().code(), options.padding_mode().code(),
                      options.align_corners().value_or(false));
}

Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return affine_grid_generator(theta, size, align_corners);
}

}  // namespace groove::nn::functional
