// instance_norm: batch_norm of one image that has the channels of all.
#include "groove/autograd.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// One copy for each image; undefined ones stay so.
Tensor for_images(const Tensor& vector, std::int64_t images) {
  return vector.defined() ? repeat(vector, {images}) : vector;
}

}  // namespace

Tensor instance_norm(Arg input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool) {
  const SiteScope scope(input.site);
  const Shape sizes = checked("instance_norm", *input.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 2, "instance_norm: input {} has no channels; it must be [N, C, …]",
               to_string(sizes));
  GROOVE_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
               "instance_norm: without use_input_stats it needs running_mean and running_var");
  const std::int64_t images = sizes[0], channels = sizes[1];
  for (const Tensor* vector : {&weight, &bias, &running_mean, &running_var})
    GROOVE_CHECK(!vector->defined() || vector->sizes() == IntArrayRef({channels}),
                 "instance_norm: {} does not fit the {} channels of {}", to_string(vector->sizes()),
                 channels, to_string(sizes));
  Shape one = sizes;
  one[0] = 1;
  one[1] = images * channels;
  Tensor mean, variance;
  {
    const NoGradGuard no_grad;
    mean = for_images(running_mean, images);
    variance = for_images(running_var, images);
  }
  const Tensor result =
      batch_norm(reshape(*input.tensor, one), for_images(weight, images), for_images(bias, images),
                 mean, variance, use_input_stats, momentum, eps);
  if (use_input_stats) {
    const NoGradGuard no_grad;
    const auto average = [&](const Tensor& of_images) {
      return groove::mean(reshape(of_images, {images, channels}), 0);
    };
    if (running_mean.defined()) running_mean.copy_(average(mean));
    if (running_var.defined()) running_var.copy_(average(variance));
  }
  return reshape(result, sizes);
}

}  // namespace groove
