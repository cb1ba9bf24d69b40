// InstanceNorm1d, InstanceNorm2d and InstanceNorm3d.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct InstanceNormOptions {
  InstanceNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  GROOVE_ARG(std::int64_t, num_features);
  GROOVE_ARG(double, eps) = 1e-5;
  /// How far the running statistics move each step.
  GROOVE_ARG(double, momentum) = 0.1;
  GROOVE_ARG(bool, affine) = false;
  GROOVE_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional {

struct InstanceNormFuncOptions {
  GROOVE_ARG(Tensor, running_mean) = {};
  GROOVE_ARG(Tensor, running_var) = {};
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(Tensor, bias) = {};
  GROOVE_ARG(bool, use_input_stats) = true;
  GROOVE_ARG(double, momentum) = 0.1;
  GROOVE_ARG(double, eps) = 1e-5;
};
/// input [N, C, …]; the running statistics (where given) are moved in place.
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {},
                     Site site = Site::current());

}  // namespace functional

/// With `affine` weight and bias [C], initially 1 and 0; with `track_running_stats` buffers
/// running_mean, running_var [C] and num_batches_tracked, initially 0, 1 and 0.
template <std::size_t D>
class InstanceNormImpl : public detail::Resettable {
 public:
  explicit InstanceNormImpl(const InstanceNormOptions& options);
  void reset() override;
  void reset_parameters();
  void reset_running_stats();
  /// input [N, C, …], or [C, …], with D axes behind the channels.
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  InstanceNormOptions options;
  Tensor weight, bias;
  Tensor running_mean, running_var, num_batches_tracked;
};
extern template class InstanceNormImpl<1>;
extern template class InstanceNormImpl<2>;
extern template class InstanceNormImpl<3>;

class InstanceNorm1dImpl : public Cloneable<InstanceNorm1dImpl, InstanceNormImpl<1>> {
 public:
  explicit InstanceNorm1dImpl(std::int64_t num_features)
      : InstanceNorm1dImpl(InstanceNorm1dOptions(num_features)) {}
  explicit InstanceNorm1dImpl(const InstanceNorm1dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(InstanceNorm1d);
extern template class Cloneable<InstanceNorm1dImpl, InstanceNormImpl<1>>;

class InstanceNorm2dImpl : public Cloneable<InstanceNorm2dImpl, InstanceNormImpl<2>> {
 public:
  explicit InstanceNorm2dImpl(std::int64_t num_features)
      : InstanceNorm2dImpl(InstanceNorm2dOptions(num_features)) {}
  explicit InstanceNorm2dImpl(const InstanceNorm2dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(InstanceNorm2d);
extern template class Cloneable<InstanceNorm2dImpl, InstanceNormImpl<2>>;

class InstanceNorm3dImpl : public Cloneable<InstanceNorm3dImpl, InstanceNormImpl<3>> {
 public:
  explicit InstanceNorm3dImpl(std::int64_t num_features)
      : InstanceNorm3dImpl(InstanceNorm3dOptions(num_features)) {}
  explicit InstanceNorm3dImpl(const InstanceNorm3dOptions& options) : Cloneable(options) {}
};
GROOVE_MODULE(InstanceNorm3d);
extern template class Cloneable<InstanceNorm3dImpl, InstanceNormImpl<3>>;

}  // namespace groove::nn
