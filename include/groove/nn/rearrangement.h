// Modules that only move elements: pixels into channels and back, and Unflatten.
#pragma once

#include <vector>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct PixelShuffleOptions {
  PixelShuffleOptions(std::int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  GROOVE_ARG(std::int64_t, upscale_factor);
};
struct PixelUnshuffleOptions {
  PixelUnshuffleOptions(std::int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  GROOVE_ARG(std::int64_t, downscale_factor);
};
struct UnflattenOptions {
  UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes)
      : dim_(dim), sizes_(std::move(sizes)) {}
  GROOVE_ARG(std::int64_t, dim);
  /// One of them may be -1.
  GROOVE_ARG(std::vector<std::int64_t>, sizes);
};

namespace functional {

using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;

/// [.., C r^2, H, W] -> [.., C, H r, W r]
Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options,
                     Site site = Site::current());
/// [.., C, H r, W r] -> [.., C r^2, H, W]
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options,
                       Site site = Site::current());

}  // namespace functional

class PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
 public:
  explicit PixelShuffleImpl(const PixelShuffleOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  PixelShuffleOptions options;
};
GROOVE_MODULE(PixelShuffle);
extern template class Cloneable<PixelShuffleImpl>;

class PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
 public:
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  PixelUnshuffleOptions options;
};
GROOVE_MODULE(PixelUnshuffle);
extern template class Cloneable<PixelUnshuffleImpl>;

class UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(std::int64_t dim, std::vector<std::int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(const UnflattenOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  UnflattenOptions options;
};
GROOVE_MODULE(Unflatten);
extern template class Cloneable<UnflattenImpl>;

}  // namespace groove::nn
