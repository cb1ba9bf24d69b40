#include "groove/nn/normalization.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/nn/init.h"
#include "groove/ops/creation.h"
#include "groove/ops/distance_losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "src/core/check.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace functional {

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options, Site site) {
  return groove::layer_norm(Arg(input, site), options.normalized_shape(), options.weight(),
                            options.bias(), options.eps());
}

Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Tensor result =
      div(input, clamp_min(norm(input, Scalar(options.p()), options.dim(), true), options.eps()));
  if (!options.out()) return result;
  Tensor out = *options.out();
  return out.resize_(result.sizes()).copy_(result);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                         const CosineSimilarityFuncOptions& options, Site site) {
  return groove::cosine_similarity(Arg(x1, site), x2, options.dim(), options.eps());
}

}  // namespace functional

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) { reset(); }

void LayerNormImpl::reset() {
  GROOVE_CHECK(!options.normalized_shape().empty(), "LayerNorm: normalized_shape is empty");
  const bool is_affine = options.elementwise_affine();
  const auto made = [&] {
    return is_affine ? groove::empty(options.normalized_shape()) : Tensor();
  };
  weight = register_parameter("weight", made(), is_affine);
  bias = register_parameter("bias", made(), is_affine);
  reset_parameters();
}

void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

Tensor LayerNormImpl::forward(const Tensor& input, Site site) {
  return groove::layer_norm(Arg(input, site), options.normalized_shape(), weight, bias,
                            options.eps());
}

void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LayerNorm(" << IntArrayRef(options.normalized_shape())
         << ", eps=" << options.eps()
         << ", elementwise_affine=" << text(options.elementwise_affine()) << ")";
}

Tensor CosineSimilarityImpl::forward(const Tensor& x1, const Tensor& x2, Site site) {
  return functional::cosine_similarity(x1, x2, options, site);
}
void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::CosineSimilarity(dim=" << options.dim()
         << ", eps=" << options.eps() << ")";
}

template class Cloneable<LayerNormImpl>;
template class Cloneable<CosineSimilarityImpl>;

}  // namespace groove::nn
