// Multi-head attention (Vaswani et al. 2017), sequences first: [length, batch, embedding].
#pragma once

#include <tuple>

#include "groove/nn/any_module.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/functional.h"
#include "groove/nn/holder.h"
#include "groove/nn/modules.h"

namespace groove::nn {

struct MultiheadAttentionOptions {
  MultiheadAttentionOptions(std::int64_t embed_dim, std::int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  GROOVE_ARG(std::int64_t, embed_dim);
  /// embed_dim is a multiple of it.
  GROOVE_ARG(std::int64_t, num_heads);
  /// Of the weights, in training.
  GROOVE_ARG(double, dropout) = 0.0;
  GROOVE_ARG(bool, bias) = true;
  /// Learnt key and value at the end of each sequence.
  GROOVE_ARG(bool, add_bias_kv) = false;
  /// The same of zeros.
  GROOVE_ARG(bool, add_zero_attn) = false;
  /// Embeddings of keys and values; embed_dim unless given.
  GROOVE_ARG(std::int64_t, kdim);
  GROOVE_ARG(std::int64_t, vdim);
};

namespace functional {

struct MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(std::int64_t embed_dim_to_check, std::int64_t num_heads,
                                       Tensor in_proj_weight, Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn, double dropout_p,
                                       Tensor out_proj_weight, Tensor out_proj_bias);
  GROOVE_ARG(std::int64_t, embed_dim_to_check);
  GROOVE_ARG(std::int64_t, num_heads);
  /// [3 * embedding, embedding]: for queries, keys and values; the bias may be undefined.
  GROOVE_ARG(Tensor, in_proj_weight);
  GROOVE_ARG(Tensor, in_proj_bias);
  /// [1, 1, embedding], or both undefined
  GROOVE_ARG(Tensor, bias_k);
  GROOVE_ARG(Tensor, bias_v);
  GROOVE_ARG(bool, add_zero_attn);
  GROOVE_ARG(double, dropout_p);
  GROOVE_ARG(Tensor, out_proj_weight);
  GROOVE_ARG(Tensor, out_proj_bias);
  GROOVE_ARG(bool, training) = true;
  /// [batch, source length], bool: true where a key is left out.
  GROOVE_ARG(Tensor, key_padding_mask);
  GROOVE_ARG(bool, need_weights) = true;
  /// [target length, source length]: added to the products.
  GROOVE_ARG(Tensor, attn_mask);
  /// With a weight each instead of in_proj_weight: [embedding, embedding, kdim or vdim].
  GROOVE_ARG(bool, use_separate_proj_weight) = false;
  GROOVE_ARG(Tensor, q_proj_weight);
  GROOVE_ARG(Tensor, k_proj_weight);
  GROOVE_ARG(Tensor, v_proj_weight);
  /// [batch * heads, source length, embedding / heads]: instead of what key and value give.
  GROOVE_ARG(Tensor, static_k);
  GROOVE_ARG(Tensor, static_v);
  /// Weights as the mean of the heads' [batch, target, source], or each.
  GROOVE_ARG(bool, average_attn_weights) = true;
};

/// query [target length, batch, embedding], key and value [source length, batch, …]. Gives the
/// result, like query, and the weights (undefined unless wanted).
std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options, Site site = Site::current());

}  // namespace functional

class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(std::int64_t embed_dim, std::int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options);
  void reset() override;
  void _reset_parameters();
  /// See functional::multi_head_attention_forward.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true,
                                     Site site = Site::current());
  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight, in_proj_bias, bias_k, bias_v;
  Linear out_proj = nullptr;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  std::int64_t head_dim = 0;

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)},
                                  {5, AnyValue(Tensor())}, {6, AnyValue(true)})
};
GROOVE_MODULE(MultiheadAttention);
extern template class Cloneable<MultiheadAttentionImpl>;

}  // namespace groove::nn
