#include "groove/nn/normalization_batch.h"

#include <ostream>

#include "groove/autograd.h"
#include "groove/detail/call_scope.h"
#include "groove/nn/init.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"
#include "src/nn/printed.h"

namespace groove::nn {

namespace functional {

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(input.dim() >= 2, "batch_norm: input {} has no channels; it must be [N, C, …]",
               to_string(input.sizes()));
  if (options.training()) {
    GROOVE_CHECK(input.numel() != input.size(1),
                 "batch_norm: training needs more than one value for each channel; the input is {}",
                 to_string(input.sizes()));
  }
  const groove::detail::CallScope scope(site, __func__);
  return groove::batch_norm(Arg(input, site), options.weight(), options.bias(), running_mean,
                            running_var, options.training(), options.momentum().value_or(0),
                            options.eps());
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return groove::group_norm(Arg(input, site), options.num_groups(), options.weight(),
                            options.bias(), options.eps());
}

}  // namespace functional

BatchNormImplBase::BatchNormImplBase(const BatchNormOptions& options_) : options(options_) {
  reset();
}

void BatchNormImplBase::reset() {
  const std::int64_t features = options.num_features();
  GROOVE_CHECK(features > 0, "BatchNorm: num_features is {}; it must be positive", features);
  weight = register_parameter("weight", options.affine() ? empty({features}) : Tensor(),
                              options.affine());
  bias =
      register_parameter("bias", options.affine() ? empty({features}) : Tensor(), options.affine());
  const bool tracks = options.track_running_stats();
  running_mean = register_buffer("running_mean", tracks ? empty({features}) : Tensor());
  running_var = register_buffer("running_var", tracks ? empty({features}) : Tensor());
  num_batches_tracked =
      register_buffer("num_batches_tracked", tracks ? empty({}, kLong) : Tensor());
  reset_parameters();
}

void BatchNormImplBase::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

void BatchNormImplBase::reset_running_stats() {
  if (!options.track_running_stats()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

Tensor BatchNormImplBase::forward(const Tensor& input, Site site) {
  const CallFrame frame(site);
  check(input);
  const groove::detail::CallScope scope(site, __func__);
  std::optional<double> momentum = options.momentum();
  if (is_training() && num_batches_tracked.defined()) {
    const NoGradGuard no_grad;
    num_batches_tracked.add_(1);
    if (!momentum) momentum = 1.0 / num_batches_tracked.item<double>();
  }
  return functional::batch_norm(input, running_mean, running_var,
                                functional::BatchNormFuncOptions()
                                    .weight(weight)
                                    .bias(bias)
                                    .training(is_training() || !running_mean.defined())
                                    .momentum(momentum)
                                    .eps(options.eps()),
                                site);
}

void BatchNormImplBase::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::" << kind() << "(" << options.num_features() << ", eps=" << options.eps()
         << ", momentum=";
  if (options.momentum()) {
    stream << *options.momentum();
  } else {
    stream << "None";
  }
  stream << ", affine=" << text(options.affine())
         << ", track_running_stats=" << text(options.track_running_stats()) << ")";
}

void BatchNorm1dImpl::check(const Tensor& input) const {
  GROOVE_CHECK(input.dim() == 2 || input.dim() == 3,
               "BatchNorm1d: input {} must be [N, C] or [N, C, L]", to_string(input.sizes()));
}
void BatchNorm2dImpl::check(const Tensor& input) const {
  GROOVE_CHECK(input.dim() == 4, "BatchNorm2d: input {} must be [N, C, H, W]",
               to_string(input.sizes()));
}
void BatchNorm3dImpl::check(const Tensor& input) const {
  GROOVE_CHECK(input.dim() == 5, "BatchNorm3d: input {} must be [N, C, D, H, W]",
               to_string(input.sizes()));
}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options_) : options(options_) { reset(); }

void GroupNormImpl::reset() {
  const std::int64_t channels = options.num_channels();
  GROOVE_CHECK(options.num_groups() > 0 && channels > 0 && channels % options.num_groups() == 0,
               "GroupNorm: {} channels cannot be divided into {} groups", channels,
               options.num_groups());
  weight = register_parameter("weight", options.affine() ? empty({channels}) : Tensor(),
                              options.affine());
  bias =
      register_parameter("bias", options.affine() ? empty({channels}) : Tensor(), options.affine());
  reset_parameters();
}

void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

Tensor GroupNormImpl::forward(const Tensor& input, Site site) {
  return functional::group_norm(input,
                                functional::GroupNormFuncOptions(options.num_groups())
                                    .weight(weight)
                                    .bias(bias)
                                    .eps(options.eps()),
                                site);
}

void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
         << ", eps=" << options.eps() << ", affine=" << text(options.affine()) << ")";
}

template class Cloneable<BatchNorm1dImpl, BatchNormImplBase>;
template class Cloneable<BatchNorm2dImpl, BatchNormImplBase>;
template class Cloneable<BatchNorm3dImpl, BatchNormImplBase>;
template class Cloneable<GroupNormImpl>;

}  // namespace groove::nn
