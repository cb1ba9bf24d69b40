#include "groove/nn/pooling3d.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/pooling.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace {

// The sizes an adaptive pool asks for; -1 keeps an axis.
template <std::size_t D>
std::array<std::int64_t, D> sizes(const ExpandingArrayWithOptionalElem<D>& output_size) {
  std::array<std::int64_t, D> result;
  for (std::size_t i = 0; i < D; ++i) result[i] = (*output_size)[i].value_or(-1);
  return result;
}

}  // namespace

namespace functional {

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input,
                                                   const MaxPool1dFuncOptions& options, Site site) {
  return groove::max_pool1d_with_indices(Arg(input, site), options.kernel_size(), options.stride(),
                                         options.padding(), options.dilation(),
                                         options.ceil_mode());
}
Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options, Site site) {
  return groove::max_pool3d(Arg(input, site), options.kernel_size(), options.stride(),
                            options.padding(), options.dilation(), options.ceil_mode());
}
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input,
                                                   const MaxPool3dFuncOptions& options, Site site) {
  return groove::max_pool3d_with_indices(Arg(input, site), options.kernel_size(), options.stride(),
                                         options.padding(), options.dilation(),
                                         options.ceil_mode());
}
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options, Site site) {
  return groove::avg_pool3d(Arg(input, site), options.kernel_size(), options.stride(),
                            options.padding(), options.ceil_mode(), options.count_include_pad(),
                            options.divisor_override());
}
Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options,
                           Site site) {
  return groove::adaptive_avg_pool3d(Arg(input, site), sizes(options.output_size()));
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options, Site site) {
  return groove::adaptive_max_pool1d(Arg(input, site), options.output_size());
}
std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options, Site site) {
  return groove::adaptive_max_pool2d(Arg(input, site), sizes(options.output_size()));
}
std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options, Site site) {
  return groove::adaptive_max_pool3d(Arg(input, site), sizes(options.output_size()));
}
Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options,
                           Site site) {
  return std::get<0>(adaptive_max_pool1d_with_indices(input, options, site));
}
Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options,
                           Site site) {
  return std::get<0>(adaptive_max_pool3d_with_indices(input, options, site));
}

}  // namespace functional

Tensor MaxPool3dImpl::forward(const Tensor& input, Site site) {
  return functional::max_pool3d(input, options, site);
}
std::tuple<Tensor, Tensor> MaxPool3dImpl::forward_with_indices(const Tensor& input, Site site) {
  return functional::max_pool3d_with_indices(input, options, site);
}
void MaxPool3dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::MaxPool3d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding()
         << ", dilation=" << options.dilation() << ", ceil_mode=" << text(options.ceil_mode())
         << ")";
}

Tensor AvgPool3dImpl::forward(const Tensor& input, Site site) {
  return functional::avg_pool3d(input, options, site);
}
void AvgPool3dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AvgPool3d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}

Tensor AdaptiveAvgPool3dImpl::forward(const Tensor& input, Site site) {
  return functional::adaptive_avg_pool3d(input, options, site);
}
void AdaptiveAvgPool3dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveAvgPool3d(output_size=" << options.output_size() << ")";
}

Tensor AdaptiveMaxPool1dImpl::forward(const Tensor& input, Site site) {
  return functional::adaptive_max_pool1d(input, options, site);
}
std::tuple<Tensor, Tensor> AdaptiveMaxPool1dImpl::forward_with_indices(const Tensor& input,
                                                                       Site site) {
  return functional::adaptive_max_pool1d_with_indices(input, options, site);
}
void AdaptiveMaxPool1dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveMaxPool1d(output_size=" << options.output_size() << ")";
}

Tensor AdaptiveMaxPool3dImpl::forward(const Tensor& input, Site site) {
  return functional::adaptive_max_pool3d(input, options, site);
}
std::tuple<Tensor, Tensor> AdaptiveMaxPool3dImpl::forward_with_indices(const Tensor& input,
                                                                       Site site) {
  return functional::adaptive_max_pool3d_with_indices(input, options, site);
}
void AdaptiveMaxPool3dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveMaxPool3d(output_size=" << options.output_size() << ")";
}

template class Cloneable<MaxPool3dImpl>;
template class Cloneable<AvgPool3dImpl>;
template class Cloneable<AdaptiveAvgPool3dImpl>;
template class Cloneable<AdaptiveMaxPool1dImpl>;
template class Cloneable<AdaptiveMaxPool3dImpl>;

}  // namespace groove::nn
