#include "groove/nn/pooling.h"

#include <ostream>

#include "groove/nn/pooling3d.h"
#include "groove/ops/convolutions.h"
#include "src/core/call_frame.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace {

// The size an adaptive pool asks for; -1 keeps an axis.
std::array<std::int64_t, 2> sizes(const ExpandingArrayWithOptionalElem<2>& output_size) {
  return {(*output_size)[0].value_or(-1), (*output_size)[1].value_or(-1)};
}
IntArrayRef as_list(const std::array<std::int64_t, 2>& values) { return {values.data(), 2}; }

template <std::size_t D>
void describe(std::ostream& stream, const char* name, const MaxPoolOptions<D>& options) {
  stream << "torch::nn::" << name << "(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding()
         << ", dilation=" << options.dilation() << ", ceil_mode=" << text(options.ceil_mode())
         << ")";
}
template <std::size_t D>
void describe(std::ostream& stream, const char* name, const AvgPoolOptions<D>& options) {
  stream << "torch::nn::" << name << "(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}
template <typename Size>
void describe(std::ostream& stream, const char* name, const AdaptivePoolOptions<Size>& options) {
  stream << "torch::nn::" << name << "(output_size=" << options.output_size() << ")";
}

}  // namespace

namespace functional {

Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options, Site site) {
  return groove::max_pool1d(Arg(input, site), options.kernel_size(), options.stride(),
                            options.padding(), options.dilation(), options.ceil_mode());
}
Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options, Site site) {
  const CallFrame frame(site);
  return std::get<0>(max_pool2d_with_indices(input, options, site));
}
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                   const MaxPool2dFuncOptions& options, Site site) {
  return groove::max_pool2d_with_indices(Arg(input, site), options.kernel_size(), options.stride(),
                                         options.padding(), options.dilation(),
                                         options.ceil_mode());
}
Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options, Site site) {
  return groove::avg_pool1d(Arg(input, site), options.kernel_size(), options.stride(),
                            options.padding(), options.ceil_mode(), options.count_include_pad());
}
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options, Site site) {
  return groove::avg_pool2d(Arg(input, site), options.kernel_size(), options.stride(),
                            options.padding(), options.ceil_mode(), options.count_include_pad(),
                            options.divisor_override());
}
Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options,
                           Site site) {
  return groove::adaptive_avg_pool1d(Arg(input, site), options.output_size());
}
Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options,
                           Site site) {
  return groove::adaptive_avg_pool2d(Arg(input, site), as_list(sizes(options.output_size())));
}
Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options,
                           Site site) {
  const CallFrame frame(site);
  return std::get<0>(
      groove::adaptive_max_pool2d(Arg(input, site), as_list(sizes(options.output_size()))));
}

}  // namespace functional

Tensor MaxPool1dImpl::forward(const Tensor& input, Site site) {
  return functional::max_pool1d(input, options, site);
}
void MaxPool1dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "MaxPool1d", options);
}

Tensor MaxPool2dImpl::forward(const Tensor& input, Site site) {
  return functional::max_pool2d(input, options, site);
}
std::tuple<Tensor, Tensor> MaxPool2dImpl::forward_with_indices(const Tensor& input, Site site) {
  const CallFrame frame(site);
  return functional::max_pool2d_with_indices(input, options, site);
}
void MaxPool2dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "MaxPool2d", options);
}

std::tuple<Tensor, Tensor> MaxPool1dImpl::forward_with_indices(const Tensor& input, Site site) {
  return functional::max_pool1d_with_indices(input, options, site);
}

Tensor AvgPool1dImpl::forward(const Tensor& input, Site site) {
  return functional::avg_pool1d(input, options, site);
}
void AvgPool1dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "AvgPool1d", options);
}

Tensor AvgPool2dImpl::forward(const Tensor& input, Site site) {
  return functional::avg_pool2d(input, options, site);
}
void AvgPool2dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "AvgPool2d", options);
}

Tensor AdaptiveAvgPool1dImpl::forward(const Tensor& input, Site site) {
  return functional::adaptive_avg_pool1d(input, options, site);
}
void AdaptiveAvgPool1dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "AdaptiveAvgPool1d", options);
}

Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& input, Site site) {
  return functional::adaptive_avg_pool2d(input, options, site);
}
void AdaptiveAvgPool2dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "AdaptiveAvgPool2d", options);
}

Tensor AdaptiveMaxPool2dImpl::forward(const Tensor& input, Site site) {
  return functional::adaptive_max_pool2d(input, options, site);
}
std::tuple<Tensor, Tensor> AdaptiveMaxPool2dImpl::forward_with_indices(const Tensor& input,
                                                                       Site site) {
  return functional::adaptive_max_pool2d_with_indices(input, options, site);
}
void AdaptiveMaxPool2dImpl::pretty_print(std::ostream& stream) const {
  describe(stream, "AdaptiveMaxPool2d", options);
}

template class Cloneable<MaxPool1dImpl>;
template class Cloneable<MaxPool2dImpl>;
template class Cloneable<AvgPool1dImpl>;
template class Cloneable<AvgPool2dImpl>;
template class Cloneable<AdaptiveAvgPool1dImpl>;
template class Cloneable<AdaptiveAvgPool2dImpl>;
template class Cloneable<AdaptiveMaxPool2dImpl>;

}  // namespace groove::nn
