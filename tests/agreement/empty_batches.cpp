// Batches of no image, which every spatial operator takes, and results that lie contiguous.
#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;
using std::get;

namespace {

torch::Tensor none(std::vector<std::int64_t> sizes) {
  return torch::zeros(sizes, torch::kDouble).requires_grad_();
}

}  // namespace

CASE(empty_batches) {
  const auto volume = none({0, 2, 4, 4, 4}), image = none({0, 2, 4, 4}), line = none({0, 2, 6});
  const auto w = leaf({3, 2, 2, 2, 2}), columns = none({0, 8, 9});
  show_gradients("conv3d", torch::conv3d(volume, w), {volume});
  show_gradients("conv_transpose3d", torch::conv_transpose3d(volume, leaf({2, 3, 2, 2, 2})),
                 {volume});
  show_gradients("max_pool3d", torch::max_pool3d(volume, 2), {volume});
  show("max_pool3d positions", get<1>(torch::max_pool3d_with_indices(volume, 2)));
  show_gradients("avg_pool3d", torch::avg_pool3d(volume, 2, 1, 1, true, false), {volume});
  show("adaptive_avg_pool3d", torch::adaptive_avg_pool3d(volume, {2, 3, 1}));
  show("adaptive_max_pool3d", get<1>(torch::adaptive_max_pool3d(volume, {2, 3, 1})));
  show("max_pool1d", get<1>(torch::max_pool1d_with_indices(line, 2)));
  show("adaptive_max_pool1d", get<1>(torch::adaptive_max_pool1d(line, 2)));
  show_gradients("im2col", torch::im2col(image, {2, 2}, {1, 1}, {0, 0}, {1, 1}), {image});
  show_gradients("col2im", torch::col2im(columns, {4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}),
                 {columns});
  show_gradients("grid_sampler", torch::grid_sampler(image, none({0, 2, 3, 2}), 0, 0, false),
                 {image});
  show("fractional", get<1>(torch::fractional_max_pool2d(image, {2, 2}, {2, 2},
                                                         torch::zeros({0, 2, 2}, torch::kDouble))));
  show("max_unpool2d",
       torch::max_unpool2d(none({0, 2, 2, 2}), torch::zeros({0, 2, 2, 2}, torch::kLong), {4, 4}));
  show("lp_pool", F::lp_pool2d(image, F::LPPool2dFuncOptions(2, 2)));
  show("bilinear", torch::upsample_bilinear2d(image, {3, 5}, false));
}

CASE(contiguous_results) {
  const auto volume = leaf({2, 2, 3, 4, 5}, 1), image = leaf({2, 2, 5, 4}, 2).transpose(2, 3);
  const auto turned = volume.transpose(2, 4);
  const auto is_whole = [](const torch::Tensor& tensor) {
    return tensor.is_contiguous() ? "contiguous" : "strided";
  };
  const auto kernel = leaf({2, 2, 2, 2, 2}), grid = leaf({2, 3, 2, 2}, 3);
  show("conv3d", is_whole(torch::conv3d(volume, kernel)));
  show("conv3d bias", is_whole(torch::conv3d(volume, kernel, leaf({2}))));
  show("conv_transpose3d", is_whole(torch::conv_transpose3d(volume, kernel, {}, 1, 1)));
  show_gradients("max_pool3d", torch::max_pool3d(turned, 2), {volume});
  show_gradients("avg_pool3d", torch::avg_pool3d(turned, {2, 3, 1}, 1), {volume});
  show("im2col", is_whole(torch::im2col(image, {2, 2}, {1, 1}, {0, 0}, {1, 1})));
  show("col2im", is_whole(torch::col2im(leaf({1, 8, 9}), {4, 4}, {2, 2}, {1, 1}, {1, 1}, {2, 2})));
  show("grid_sampler", torch::grid_sampler(image, grid, 0, 0, false));
  show("grid_sampler order", is_whole(torch::grid_sampler(image, grid, 0, 0, false)));
  show("interpolate", torch::upsample_bilinear2d(image, {3, 7}, true));
}
