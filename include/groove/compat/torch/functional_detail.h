// torch::nn::functional::detail: functions with their options as plain arguments, as modules that
// programs derive from LibTorch's call them.
#pragma once

#include <optional>

#include "groove/compat/names.h"
#include "groove/nn.h"

namespace torch::nn::functional::detail {

namespace F = groove::nn::functional;
using groove::Site;
using groove::Tensor;

#define GROOVE_DROPOUT(name, Options)                                                   \
  inline Tensor name(Tensor input, double p, bool training, bool inplace,               \
                     Site site = Site::current()) {                                     \
    return F::name(input, F::Options().p(p).training(training).inplace(inplace), site); \
  }
GROOVE_DROPOUT(dropout, DropoutFuncOptions)
GROOVE_DROPOUT(dropout2d, Dropout2dFuncOptions)
GROOVE_DROPOUT(dropout3d, Dropout3dFuncOptions)
GROOVE_DROPOUT(alpha_dropout, AlphaDropoutFuncOptions)
GROOVE_DROPOUT(feature_alpha_dropout, FeatureAlphaDropoutFuncOptions)
#undef GROOVE_DROPOUT

inline Tensor embedding(const Tensor& input, const Tensor& weight,
                        std::optional<std::int64_t> padding_idx, std::optional<double> max_norm,
                        double norm_type, bool scale_grad_by_freq, bool sparse,
                        Site site = Site::current()) {
  return F::embedding(input, weight,
                      F::EmbeddingFuncOptions()
                          .padding_idx(padding_idx)
                          .max_norm(max_norm)
                          .norm_type(norm_type)
                          .scale_grad_by_freq(scale_grad_by_freq)
                          .sparse(sparse),
                      site);
}

}  // namespace torch::nn::functional::detail
