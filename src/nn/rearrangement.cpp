#include "groove/nn/rearrangement.h"

#include <ostream>

#include "groove/ops/image_views.h"
#include "groove/ops/views.h"

namespace groove::nn {
namespace functional {

Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options, Site site) {
  return groove::pixel_shuffle(Arg(input, site), options.upscale_factor());
}
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options, Site site) {
  return groove::pixel_unshuffle(Arg(input, site), options.downscale_factor());
}

}  // namespace functional

Tensor PixelShuffleImpl::forward(const Tensor& input, Site site) {
  return functional::pixel_shuffle(input, options, site);
}
void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelShuffle(upscale_factor=" << options.upscale_factor() << ")";
}

Tensor PixelUnshuffleImpl::forward(const Tensor& input, Site site) {
  return functional::pixel_unshuffle(input, options, site);
}
void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelUnshuffle(downscale_factor=" << options.downscale_factor() << ")";
}

Tensor UnflattenImpl::forward(const Tensor& input, Site site) {
  return unflatten(Arg(input, site), options.dim(), options.sizes());
}
void UnflattenImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
  const char* separator = "";
  for (const std::int64_t size : options.sizes()) {
    stream << separator << size;
    separator = ", ";
  }
  stream << "})";
}

template class Cloneable<PixelShuffleImpl>;
template class Cloneable<PixelUnshuffleImpl>;
template class Cloneable<UnflattenImpl>;

}  // namespace groove::nn
