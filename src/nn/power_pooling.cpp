#include "groove/nn/power_pooling.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/math.h"
#include "groove/ops/pooling.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace {

// From the means of the windows' powers. Means below 0 (odd powers) have roots of NaN, as in
// LibTorch.
Tensor root(const Tensor& mean, IntArrayRef kernel_size, double norm_type) {
  std::int64_t count = 1;
  for (const std::int64_t size : kernel_size) count *= size;
  return pow(sign(mean) * relu(abs(mean)) * count, 1 / norm_type);
}

}  // namespace

namespace functional {

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Tensor mean = groove::avg_pool1d(pow(input, options.norm_type()), options.kernel_size(),
                                         options.stride(), 0, options.ceil_mode());
  return root(mean, options.kernel_size(), options.norm_type());
}
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Tensor mean = groove::avg_pool2d(pow(input, options.norm_type()), options.kernel_size(),
                                         options.stride(), 0, options.ceil_mode());
  return root(mean, options.kernel_size(), options.norm_type());
}
Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Tensor mean = groove::avg_pool3d(pow(input, options.norm_type()), options.kernel_size(),
                                         options.stride(), 0, options.ceil_mode());
  return root(mean, options.kernel_size(), options.norm_type());
}

}  // namespace functional

Tensor LPPool1dImpl::forward(const Tensor& input, Site site) {
  return functional::lp_pool1d(input, options, site);
}
void LPPool1dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LPPool1d(norm_type=" << options.norm_type()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
         << ", ceil_mode=" << text(options.ceil_mode()) << ")";
}

Tensor LPPool2dImpl::forward(const Tensor& input, Site site) {
  return functional::lp_pool2d(input, options, site);
}
void LPPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LPPool2d(norm_type=" << options.norm_type()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
         << ", ceil_mode=" << text(options.ceil_mode()) << ")";
}

Tensor LPPool3dImpl::forward(const Tensor& input, Site site) {
  return functional::lp_pool3d(input, options, site);
}
void LPPool3dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LPPool3d(norm_type=" << options.norm_type()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
         << ", ceil_mode=" << text(options.ceil_mode()) << ")";
}

template class Cloneable<LPPool1dImpl>;
template class Cloneable<LPPool2dImpl>;
template class Cloneable<LPPool3dImpl>;

}  // namespace groove::nn
