// MaxUnpool1d, MaxUnpool2d and MaxUnpool3d: elements back at the positions that a pool took them
// from.
#pragma once

#include <optional>
#include <vector>

#include "groove/expanding_array.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

template <std::size_t D>
struct MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  /// That of the kernel unless given.
  GROOVE_ARG(ExpandingArray<D>, stride);
  GROOVE_ARG(ExpandingArray<D>, padding) = 0;
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;

namespace functional {

template <std::size_t D>
struct MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  /// That of the kernel unless given.
  GROOVE_ARG(ExpandingArray<D>, stride);
  GROOVE_ARG(ExpandingArray<D>, padding) = 0;
  /// Of the result, all axes or the spatial ones: within a stride of (size - 1) stride + kernel -
  /// 2 padding, which it is unless given.
  GROOVE_ARG(std::optional<std::vector<std::int64_t>>, output_size) = std::nullopt;
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

/// input and indices (i64) in the shape of a pool's result -> the shape of its input, 0 elsewhere.
Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool1dFuncOptions& options, Site site = Site::current());
Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool2dFuncOptions& options, Site site = Site::current());
Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool3dFuncOptions& options, Site site = Site::current());

}  // namespace functional

class MaxUnpool1dImpl : public Cloneable<MaxUnpool1dImpl> {
 public:
  using OpensCallScope = void;  // the output_size may be left out
  MaxUnpool1dImpl(ExpandingArray<1> kernel_size)
      : MaxUnpool1dImpl(MaxUnpool1dOptions(kernel_size)) {}
  explicit MaxUnpool1dImpl(const MaxUnpool1dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<std::int64_t>>& output_size = std::nullopt,
                 Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MaxUnpool1dOptions options;
};
GROOVE_MODULE(MaxUnpool1d);
extern template class Cloneable<MaxUnpool1dImpl>;

class MaxUnpool2dImpl : public Cloneable<MaxUnpool2dImpl> {
 public:
  using OpensCallScope = void;  // the output_size may be left out
  MaxUnpool2dImpl(ExpandingArray<2> kernel_size)
      : MaxUnpool2dImpl(MaxUnpool2dOptions(kernel_size)) {}
  explicit MaxUnpool2dImpl(const MaxUnpool2dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<std::int64_t>>& output_size = std::nullopt,
                 Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MaxUnpool2dOptions options;
};
GROOVE_MODULE(MaxUnpool2d);
extern template class Cloneable<MaxUnpool2dImpl>;

class MaxUnpool3dImpl : public Cloneable<MaxUnpool3dImpl> {
 public:
  using OpensCallScope = void;  // the output_size may be left out
  MaxUnpool3dImpl(ExpandingArray<3> kernel_size)
      : MaxUnpool3dImpl(MaxUnpool3dOptions(kernel_size)) {}
  explicit MaxUnpool3dImpl(const MaxUnpool3dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<std::int64_t>>& output_size = std::nullopt,
                 Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MaxUnpool3dOptions options;
};
GROOVE_MODULE(MaxUnpool3d);
extern template class Cloneable<MaxUnpool3dImpl>;

}  // namespace groove::nn
