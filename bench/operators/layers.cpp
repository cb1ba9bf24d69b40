// Layers on images, sequences and volumes.
#include "cases.h"

namespace F = torch::nn::functional;
using torch::Tensor;

void layers(Measure& measure, std::int64_t N, std::int64_t C, std::int64_t H) {
  const Tensor image = parameter({N, C, H, H}), sequence = parameter({N, C, H * 4}),
               volume = parameter({N, C / 4, H / 2, H / 2, H / 2}),
               grid = torch::rand({N, H, H, 2}) * 2 - 1;
  auto conv = torch::nn::Conv2d(torch::nn::Conv2dOptions(C, C, 3).padding(1));
  auto convs = torch::nn::Conv2d(torch::nn::Conv2dOptions(C, C * 2, 3).padding(1).stride(2));
  auto dw = torch::nn::Conv2d(torch::nn::Conv2dOptions(C, C, 3).padding(1).groups(C));
  auto pw = torch::nn::Conv2d(torch::nn::Conv2dOptions(C, C * 4, 1));
  auto dil = torch::nn::Conv2d(torch::nn::Conv2dOptions(C, C, 3).padding(2).dilation(2));
  auto ct = torch::nn::ConvTranspose2d(
      torch::nn::ConvTranspose2dOptions(C, C / 2, 4).stride(2).padding(1));
  auto c1 = torch::nn::Conv1d(torch::nn::Conv1dOptions(C, C, 5).padding(2));
  auto c3 = torch::nn::Conv3d(torch::nn::Conv3dOptions(C / 4, C / 4, 3).padding(1));
  auto ct3 =
      torch::nn::ConvTranspose3d(torch::nn::ConvTranspose3dOptions(C / 4, C / 4, 2).stride(2));
  auto bn = torch::nn::BatchNorm2d(C);
  auto gn = torch::nn::GroupNorm(4, C);
  auto in = torch::nn::InstanceNorm2d(C);
  auto bn3 = torch::nn::BatchNorm3d(C / 4);
  measure.both("conv2d", {image}, [&] { return conv(image); });
  measure.both("conv2d s2", {image}, [&] { return convs(image); });
  measure.both("depthwise", {image}, [&] { return dw(image); });
  measure.both("pointwise", {image}, [&] { return pw(image); });
  measure.both("dilated", {image}, [&] { return dil(image); });
  measure.both("convT2d", {image}, [&] { return ct(image); });
  measure.both("conv1d", {sequence}, [&] { return c1(sequence); });
  measure.both("conv3d", {volume}, [&] { return c3(volume); });
  measure.both("convT3d", {volume}, [&] { return ct3(volume); });
  measure.both("batch_norm", {image}, [&] { return bn(image); });
  measure.both("group_norm", {image}, [&] { return gn(image); });
  measure.both("instance_norm", {image}, [&] { return in(image); });
  measure.both("batch_norm3d", {volume}, [&] { return bn3(volume); });
  measure.both("lrn", {image}, [&] { return F::local_response_norm(image, 5); });
  measure.both("max_pool", {image}, [&] { return torch::max_pool2d(image, 2); });
  measure.both("max_pool 3s2", {image}, [&] { return torch::max_pool2d(image, 3, 2, 1); });
  measure.both("avg_pool", {image}, [&] { return torch::avg_pool2d(image, 2); });
  measure.both("adaptive", {image}, [&] { return torch::adaptive_avg_pool2d(image, {1, 1}); });
  measure.both("adaptive7", {image}, [&] { return torch::adaptive_avg_pool2d(image, {7, 7}); });
  measure.both("adaptive max", {image}, [&] {
    return std::get<0>(torch::adaptive_max_pool2d(image, {7, 7}));
  });
  measure.both("max_pool3d", {volume}, [&] { return torch::max_pool3d(volume, 2); });
  measure.both("max_pool1d", {sequence}, [&] { return torch::max_pool1d(sequence, 2); });
  measure.both("lp_pool", {image},
               [&] { return F::lp_pool2d(image, F::LPPool2dFuncOptions(2, 2)); });
  measure.both("nearest", {image}, [&] {
    return F::interpolate(
        image,
        F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kNearest));
  });
  measure.both("bilinear", {image}, [&] {
    return F::interpolate(image, F::InterpolateFuncOptions()
                                     .scale_factor(std::vector<double>{2, 2})
                                     .mode(torch::kBilinear)
                                     .align_corners(false));
  });
  measure.both("bicubic", {image}, [&] {
    return F::interpolate(image, F::InterpolateFuncOptions()
                                     .scale_factor(std::vector<double>{2, 2})
                                     .mode(torch::kBicubic)
                                     .align_corners(false));
  });
  measure.both("reflect pad", {image}, [&] {
    return F::pad(image, F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReflect));
  });
  measure.both("replicate pad", {image}, [&] {
    return F::pad(image, F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReplicate));
  });
  measure.both("pixel_shuffle", {image}, [&] { return torch::pixel_shuffle(image, 2); });
  measure.both("F unfold", {image},
               [&] { return F::unfold(image, F::UnfoldFuncOptions(3).padding(1)); });
  measure.both("grid_sample", {image}, [&] {
    return F::grid_sample(image, grid, F::GridSampleFuncOptions().align_corners(false));
  });
  measure.forward("affine_grid", [&] {
    return F::affine_grid(torch::rand({N, 2, 3}), {N, C, H, H}, false);
  });
  measure.both("channel mean", {image}, [&] { return image.mean({2, 3}); });
  measure.both("nchw->nhwc", {image}, [&] { return image.permute({0, 2, 3, 1}).contiguous(); });
  measure.both("prelu", {image}, [&] { return torch::prelu(image, torch::full({1}, 0.25)); });
  measure.both("dropout2d", {image}, [&] { return F::dropout2d(image); });
  measure.both("softmax ch", {image}, [&] { return image.softmax(1); });
  measure.both("ce 2d", {image}, [&] {
    return F::cross_entropy(image, torch::zeros({N, H, H}, torch::kLong));
  });
  measure.both("glu", {image}, [&] { return torch::glu(image, 1); });
}
