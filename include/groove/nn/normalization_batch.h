// BatchNorm1d, BatchNorm2d, BatchNorm3d and GroupNorm.
#pragma once

#include <optional>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct BatchNormOptions {
  BatchNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  GROOVE_ARG(std::int64_t, num_features);
  GROOVE_ARG(double, eps) = 1e-5;
  /// How far the running statistics move each step; nullopt: their plain average.
  GROOVE_ARG(std::optional<double>, momentum) = 0.1;
  GROOVE_ARG(bool, affine) = true;
  GROOVE_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

struct GroupNormOptions {
  GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  GROOVE_ARG(std::int64_t, num_groups);
  GROOVE_ARG(std::int64_t, num_channels);
  GROOVE_ARG(double, eps) = 1e-5;
  GROOVE_ARG(bool, affine) = true;
};

namespace functional {

struct BatchNormFuncOptions {
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(Tensor, bias) = {};
  GROOVE_ARG(bool, training) = false;
  GROOVE_ARG(std::optional<double>, momentum) = 0.1;
  GROOVE_ARG(double, eps) = 1e-5;
};
/// input [N, C, …]; in training the running statistics (where given) are moved in place.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options = {}, Site site = Site::current());

struct GroupNormFuncOptions {
  GroupNormFuncOptions(std::int64_t num_groups) : num_groups_(num_groups) {}
  GROOVE_ARG(std::int64_t, num_groups);
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(Tensor, bias) = {};
  GROOVE_ARG(double, eps) = 1e-5;
};
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options,
                  Site site = Site::current());

}  // namespace functional

/// weight and bias [C], initially 1 and 0; buffers running_mean, running_var [C] and
/// num_batches_tracked, initially 0, 1 and 0.
class BatchNormImplBase : public detail::Resettable {
 public:
  explicit BatchNormImplBase(const BatchNormOptions& options);
  void reset() override;
  void reset_parameters();
  void reset_running_stats();
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  BatchNormOptions options;
  Tensor weight, bias;
  Tensor running_mean, running_var, num_batches_tracked;

 protected:
  virtual const char* kind() const = 0;
  virtual void check(const Tensor& input) const = 0;
};

class BatchNorm1dImpl : public Cloneable<BatchNorm1dImpl, BatchNormImplBase> {
 public:
  explicit BatchNorm1dImpl(std::int64_t num_features)
      : BatchNorm1dImpl(BatchNorm1dOptions(num_features)) {}
  explicit BatchNorm1dImpl(const BatchNorm1dOptions& options) : Cloneable(options) {}

 protected:
  const char* kind() const override { return "BatchNorm1d"; }
  void check(const Tensor& input) const override;
};
GROOVE_MODULE(BatchNorm1d);
extern template class Cloneable<BatchNorm1dImpl, BatchNormImplBase>;

class BatchNorm2dImpl : public Cloneable<BatchNorm2dImpl, BatchNormImplBase> {
 public:
  explicit BatchNorm2dImpl(std::int64_t num_features)
      : BatchNorm2dImpl(BatchNorm2dOptions(num_features)) {}
  explicit BatchNorm2dImpl(const BatchNorm2dOptions& options) : Cloneable(options) {}

 protected:
  const char* kind() const override { return "BatchNorm2d"; }
  void check(const Tensor& input) const override;
};
GROOVE_MODULE(BatchNorm2d);
extern template class Cloneable<BatchNorm2dImpl, BatchNormImplBase>;

class BatchNorm3dImpl : public Cloneable<BatchNorm3dImpl, BatchNormImplBase> {
 public:
  explicit BatchNorm3dImpl(std::int64_t num_features)
      : BatchNorm3dImpl(BatchNorm3dOptions(num_features)) {}
  explicit BatchNorm3dImpl(const BatchNorm3dOptions& options) : Cloneable(options) {}

 protected:
  const char* kind() const override { return "BatchNorm3d"; }
  void check(const Tensor& input) const override;
};
GROOVE_MODULE(BatchNorm3d);
extern template class Cloneable<BatchNorm3dImpl, BatchNormImplBase>;

/// weight and bias [C], initially 1 and 0.
class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(std::int64_t num_groups, std::int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  GroupNormOptions options;
  Tensor weight, bias;
};
GROOVE_MODULE(GroupNorm);
extern template class Cloneable<GroupNormImpl>;

}  // namespace groove::nn
