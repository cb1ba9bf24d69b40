#include "groove/nn/fold.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/sampling.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace functional {

Tensor fold(const Tensor& input, const FoldFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return col2im(input, options.output_size(), options.kernel_size(), options.dilation(),
                options.padding(), options.stride());
}
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  GROOVE_CHECK(input.defined() && input.dim() == 4, "unfold: the input must be [N, C, H, W]");
  return im2col(input, options.kernel_size(), options.dilation(), options.padding(),
                options.stride());
}

}  // namespace functional

Tensor FoldImpl::forward(const Tensor& input, Site site) {
  return functional::fold(input, options, site);
}
void FoldImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Fold(output_size=" << options.output_size()
         << ", kernel_size=" << options.kernel_size() << ", dilation=" << options.dilation()
         << ", padding=" << options.padding() << ", stride=" << options.stride() << ")";
}

Tensor UnfoldImpl::forward(const Tensor& input, Site site) {
  return functional::unfold(input, options, site);
}
void UnfoldImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Unfold(kernel_size=" << options.kernel_size()
         << ", dilation=" << options.dilation() << ", padding=" << options.padding()
         << ", stride=" << options.stride() << ")";
}

template class Cloneable<FoldImpl>;
template class Cloneable<UnfoldImpl>;

}  // namespace groove::nn
