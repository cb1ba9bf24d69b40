#include "groove/nn/instance_norm.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/nn/init.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"
#include "src/nn/printed.h"

namespace groove::nn {

Tensor functional::instance_norm(const Tensor& input, const InstanceNormFuncOptions& options,
                                 Site site) {
  return groove::instance_norm(Arg(input, site), options.weight(), options.bias(),
                               options.running_mean(), options.running_var(),
                               options.use_input_stats(), options.momentum(), options.eps());
}

template <std::size_t D>
InstanceNormImpl<D>::InstanceNormImpl(const InstanceNormOptions& options_) : options(options_) {
  reset();
}

template <std::size_t D>
void InstanceNormImpl<D>::reset() {
  const std::int64_t features = options.num_features();
  GROOVE_CHECK(features > 0, "InstanceNorm{}d: num_features is {}; it must be positive", D,
               features);
  const bool is_affine = options.affine(), tracks = options.track_running_stats();
  const auto made = [&](bool is_there) { return is_there ? empty({features}) : Tensor(); };
  weight = register_parameter("weight", made(is_affine), is_affine);
  bias = register_parameter("bias", made(is_affine), is_affine);
  running_mean = register_buffer("running_mean", made(tracks));
  running_var = register_buffer("running_var", made(tracks));
  num_batches_tracked =
      register_buffer("num_batches_tracked", tracks ? empty({}, kLong) : Tensor());
  reset_parameters();
}

template <std::size_t D>
void InstanceNormImpl<D>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <std::size_t D>
void InstanceNormImpl<D>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

template <std::size_t D>
Tensor InstanceNormImpl<D>::forward(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, "instance_norm");
  const std::int64_t rank = input.dim();
  constexpr std::int64_t kRank = D + 2;
  GROOVE_CHECK(rank == kRank || rank == kRank - 1,
               "InstanceNorm{}d: input {} must have {} or {} axes", D, to_string(input.sizes()),
               kRank - 1, kRank);
  const Tensor images = rank == kRank ? input : unsqueeze(input, 0);
  const Tensor result = groove::instance_norm(images, weight, bias, running_mean, running_var,
                                              is_training() || !options.track_running_stats(),
                                              options.momentum(), options.eps());
  return rank == kRank ? result : squeeze(result, 0);
}

template <std::size_t D>
void InstanceNormImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::InstanceNorm" << D << "d(" << options.num_features()
         << ", eps=" << options.eps() << ", momentum=" << options.momentum()
         << ", affine=" << text(options.affine())
         << ", track_running_stats=" << text(options.track_running_stats()) << ")";
}

template class InstanceNormImpl<1>;
template class InstanceNormImpl<2>;
template class InstanceNormImpl<3>;
template class Cloneable<InstanceNorm1dImpl, InstanceNormImpl<1>>;
template class Cloneable<InstanceNorm2dImpl, InstanceNormImpl<2>>;
template class Cloneable<InstanceNorm3dImpl, InstanceNormImpl<3>>;

}  // namespace groove::nn
