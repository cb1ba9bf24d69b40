// Fold and Unfold: windows of images as columns, and back.
#pragma once

#include "groove/expanding_array.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  GROOVE_ARG(ExpandingArray<2>, output_size);
  GROOVE_ARG(ExpandingArray<2>, kernel_size);
  GROOVE_ARG(ExpandingArray<2>, dilation) = 1;
  GROOVE_ARG(ExpandingArray<2>, padding) = 0;
  GROOVE_ARG(ExpandingArray<2>, stride) = 1;
};

struct UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
  GROOVE_ARG(ExpandingArray<2>, kernel_size);
  GROOVE_ARG(ExpandingArray<2>, dilation) = 1;
  GROOVE_ARG(ExpandingArray<2>, padding) = 0;
  GROOVE_ARG(ExpandingArray<2>, stride) = 1;
};

namespace functional {

using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;

/// [N, C * KH * KW, windows] -> [N, C, output_size...], what windows share being summed.
Tensor fold(const Tensor& input, const FoldFuncOptions& options, Site site = Site::current());
/// [N, C, H, W] -> [N, C * KH * KW, windows]
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options, Site site = Site::current());

}  // namespace functional

class FoldImpl : public Cloneable<FoldImpl> {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : FoldImpl(FoldOptions(output_size, kernel_size)) {}
  explicit FoldImpl(const FoldOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  FoldOptions options;
};
GROOVE_MODULE(Fold);
extern template class Cloneable<FoldImpl>;

class UnfoldImpl : public Cloneable<UnfoldImpl> {
 public:
  UnfoldImpl(ExpandingArray<2> kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}
  explicit UnfoldImpl(const UnfoldOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  UnfoldOptions options;
};
GROOVE_MODULE(Unfold);
extern template class Cloneable<UnfoldImpl>;

}  // namespace groove::nn
