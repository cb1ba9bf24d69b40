// LayerNorm, and functions that scale vectors.
#pragma once

#include <vector>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct LayerNormOptions {
  LayerNormOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  /// The sizes of the last axes.
  GROOVE_ARG(std::vector<std::int64_t>, normalized_shape);
  GROOVE_ARG(double, eps) = 1e-5;
  GROOVE_ARG(bool, elementwise_affine) = true;
};

struct CosineSimilarityOptions {
  GROOVE_ARG(std::int64_t, dim) = 1;
  GROOVE_ARG(double, eps) = 1e-8;
};

namespace functional {

struct LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  GROOVE_ARG(std::vector<std::int64_t>, normalized_shape);
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(Tensor, bias) = {};
  GROOVE_ARG(double, eps) = 1e-5;
};
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options,
                  Site site = Site::current());

struct NormalizeFuncOptions {
  GROOVE_ARG(double, p) = 2.0;
  GROOVE_ARG(std::int64_t, dim) = 1;
  GROOVE_ARG(double, eps) = 1e-12;
  /// Takes the result, and its shape.
  GROOVE_ARG(std::optional<Tensor>, out) = std::nullopt;
};
/// input / max(norm of order p along dim, eps)
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {},
                 Site site = Site::current());

using CosineSimilarityFuncOptions = CosineSimilarityOptions;
/// x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the operands broadcast.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                         const CosineSimilarityFuncOptions& options = {},
                         Site site = Site::current());

}  // namespace functional

/// weight and bias of the normalised shape, initially 1 and 0.
class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  explicit LayerNormImpl(std::vector<std::int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LayerNormOptions options;
  Tensor weight, bias;
};
GROOVE_MODULE(LayerNorm);
extern template class Cloneable<LayerNormImpl>;

class CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& x1, const Tensor& x2, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  CosineSimilarityOptions options;
};
GROOVE_MODULE(CosineSimilarity);
extern template class Cloneable<CosineSimilarityImpl>;

}  // namespace groove::nn
