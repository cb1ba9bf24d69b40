#include "groove/nn/softmaxes.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace functional {

Tensor softmin(const Tensor& input, const SoftminFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return softmax(neg(input), options.dim(), options.dtype());
}

Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Tensor uniform = clamp_min(rand_like(logits), 0x1p-32);  // log(0) would be no number
  const Tensor noise = neg(log(neg(log(uniform))));
  const Tensor soft = softmax(div(add(logits, noise), options.tau()), options.dim());
  if (!options.hard()) return soft;
  const Tensor index = std::get<1>(groove::max(soft, options.dim(), true));
  const Tensor one_hot = scatter(zeros_like(logits), options.dim(), index, 1.0);
  return add(sub(one_hot, soft.detach()), soft);
}

}  // namespace functional

Tensor SoftminImpl::forward(const Tensor& input, Site site) {
  return functional::softmin(input, options.dim(), site);
}
void SoftminImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmin(dim=" << options.dim() << ")";
}

Tensor Softmax2dImpl::forward(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, "softmax2d");
  GROOVE_CHECK(input.dim() == 4 || input.dim() == 3,
               "Softmax2d: input {} must be [N, C, H, W] or [C, H, W]", to_string(input.sizes()));
  return softmax(input, -3);
}
void Softmax2dImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Softmax2d()"; }

template class Cloneable<SoftminImpl>;
template class Cloneable<Softmax2dImpl>;

}  // namespace groove::nn
