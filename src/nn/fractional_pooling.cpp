#include "groove/nn/fractional_pooling.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/creation.h"
#include "groove/ops/pooling.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace {

template <std::size_t D>
Shape output_size(const Tensor& input, const FractionalMaxPoolOptions<D>& options) {
  GROOVE_CHECK(input.defined() && input.dim() > static_cast<std::int64_t>(D),
               "fractional_max_pool{}d: the input must have {} dimensions", D, D + 2);
  if (options.output_size()) return IntArrayRef(*options.output_size());
  GROOVE_CHECK(options.output_ratio().has_value(),
               "fractional_max_pool{}d: give an output_size or an output_ratio", D);
  Shape sizes;
  for (std::size_t i = 0; i < D; ++i) {
    const auto in = static_cast<double>(input.size(input.dim() - static_cast<std::int64_t>(D - i)));
    sizes.push_back(static_cast<std::int64_t>(in * (**options.output_ratio())[i]));
  }
  return sizes;
}

// Those given, or new ones.
template <std::size_t D>
Tensor samples(const Tensor& input, const FractionalMaxPoolOptions<D>& options) {
  if (options._random_samples().defined()) return options._random_samples();
  const std::int64_t images = input.dim() == D + 1 ? 1 : input.size(0);
  return rand({images, input.size(-static_cast<std::int64_t>(D) - 1), D}, input.scalar_type());
}

template <std::size_t D>
void check(const FractionalMaxPoolOptions<D>& options) {
  GROOVE_CHECK(options.output_size().has_value() != options.output_ratio().has_value(),
               "FractionalMaxPool{}d: give either output_size or output_ratio", D);
  if (!options.output_ratio()) return;
  for (const double ratio : **options.output_ratio())
    GROOVE_CHECK(ratio > 0 && ratio < 1,
                 "FractionalMaxPool{}d: output_ratio {} must lie between 0 and 1", D, ratio);
}

}  // namespace

namespace functional {

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, "fractional_max_pool2d");
  const Shape sizes = output_size<2>(input, options);
  return groove::fractional_max_pool2d(input, options.kernel_size(), sizes,
                                       samples<2>(input, options));
}
Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options,
                             Site site) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options, site));
}
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, "fractional_max_pool3d");
  const Shape sizes = output_size<3>(input, options);
  return groove::fractional_max_pool3d(input, options.kernel_size(), sizes,
                                       samples<3>(input, options));
}
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options,
                             Site site) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, options, site));
}

}  // namespace functional

FractionalMaxPool2dImpl::FractionalMaxPool2dImpl(FractionalMaxPool2dOptions options_)
    : options(std::move(options_)) {
  check<2>(options);
}
Tensor FractionalMaxPool2dImpl::forward(const Tensor& input, Site site) {
  return functional::fractional_max_pool2d(input, options, site);
}
std::tuple<Tensor, Tensor> FractionalMaxPool2dImpl::forward_with_indices(const Tensor& input,
                                                                         Site site) {
  return functional::fractional_max_pool2d_with_indices(input, options, site);
}
void FractionalMaxPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::FractionalMaxPool2d()";
}

FractionalMaxPool3dImpl::FractionalMaxPool3dImpl(FractionalMaxPool3dOptions options_)
    : options(std::move(options_)) {
  check<3>(options);
}
Tensor FractionalMaxPool3dImpl::forward(const Tensor& input, Site site) {
  return functional::fractional_max_pool3d(input, options, site);
}
std::tuple<Tensor, Tensor> FractionalMaxPool3dImpl::forward_with_indices(const Tensor& input,
                                                                         Site site) {
  return functional::fractional_max_pool3d_with_indices(input, options, site);
}
void FractionalMaxPool3dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::FractionalMaxPool3d()";
}

template class Cloneable<FractionalMaxPool2dImpl>;
template class Cloneable<FractionalMaxPool3dImpl>;

}  // namespace groove::nn
