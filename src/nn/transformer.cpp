#include "groove/nn/transformer.h"

#include <limits>
#include <utility>

#include "groove/autograd.h"
#include "groove/detail/call_scope.h"
#include "groove/nn/init.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace {

Tensor activated(const activation_t& activation, const Tensor& input) {
  if (const auto* own = std::get_if<std::function<Tensor(const Tensor&)>>(&activation))
    return (*own)(input);
  return std::holds_alternative<enumtype::kGELU>(activation) ? gelu(input) : relu(input);
}

template <typename Options>
MultiheadAttention attention(const Options& options) {
  return MultiheadAttention(
      MultiheadAttentionOptions(options.d_model(), options.nhead()).dropout(options.dropout()));
}
template <typename Options>
LayerNorm layer_norm(const Options& options) {
  return LayerNorm(LayerNormOptions({options.d_model()}));
}

// An encoder or a decoder: copies of a layer, and a norm behind them.
template <typename Coder, typename Layer>
void build(Coder& coder, const Layer& layer) {
  const std::int64_t count = coder.options.num_layers();
  GROOVE_CHECK(count >= 0, "Transformer: {} layers; there cannot be fewer than 0", count);
  coder.layers = coder.register_module("layers", ModuleList());
  for (std::int64_t i = 0; i < count; ++i) coder.layers->push_back(layer->clone());
  if (coder.options.norm().is_empty()) return;
  coder.norm = coder.options.norm().clone();
  coder.register_module("norm", coder.norm.ptr());
}

// What follows the attention in a layer: two linear ones on each position.
template <typename Layer>
Tensor fed_forward(Layer& layer, const Tensor& x) {
  return layer.linear2(layer.dropout(activated(layer.options.activation(), layer.linear1(x))));
}

// Of all layers, which are of that class, and of a norm that the library knows.
template <typename Layer, typename Coder>
void reset_parameters_of(Coder& coder) {
  for (const auto& layer : *coder.layers) layer->template as<Layer>()->reset_parameters();
  if (coder.norm.is_empty()) return;
  if (auto* norm = dynamic_cast<LayerNormImpl*>(coder.norm.ptr().get())) norm->reset_parameters();
}

}  // namespace

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  const std::int64_t size = options.d_model(), wide = options.dim_feedforward();
  self_attn = register_module("self_attn", attention(options));
  linear1 = register_module("linear1", Linear(size, wide));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(wide, size));
  norm1 = register_module("norm1", layer_norm(options));
  norm2 = register_module("norm2", layer_norm(options));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask, Site site) {
  const groove::detail::CallScope scope(site, "TransformerEncoderLayer");
  const Tensor attended =
      std::get<0>(self_attn->forward(src, src, src, src_key_padding_mask, true, src_mask));
  const Tensor x = norm1(src + dropout1(attended));
  return norm2(x + dropout2(fed_forward(*this, x)));
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  const std::int64_t size = options.d_model(), wide = options.dim_feedforward();
  self_attn = register_module("self_attn", attention(options));
  multihead_attn = register_module("multihead_attn", attention(options));
  linear1 = register_module("linear1", Linear(size, wide));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(wide, size));
  norm1 = register_module("norm1", layer_norm(options));
  norm2 = register_module("norm2", layer_norm(options));
  norm3 = register_module("norm3", layer_norm(options));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
  dropout3 = register_module("dropout3", Dropout(options.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
  norm3->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory,
                                            const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask, Site site) {
  const groove::detail::CallScope scope(site, "TransformerDecoderLayer");
  const Tensor own =
      std::get<0>(self_attn->forward(tgt, tgt, tgt, tgt_key_padding_mask, true, tgt_mask));
  const Tensor x = norm1(tgt + dropout1(own));
  const Tensor other = std::get<0>(
      multihead_attn->forward(x, memory, memory, memory_key_padding_mask, true, memory_mask));
  const Tensor y = norm2(x + dropout2(other));
  return norm3(y + dropout3(fed_forward(*this, y)));
}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderImpl::reset();
}

void TransformerEncoderImpl::reset() { build(*this, options.encoder_layer()); }

void TransformerEncoderImpl::reset_parameters() {
  reset_parameters_of<TransformerEncoderLayerImpl>(*this);
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask, Site site) {
  const groove::detail::CallScope scope(site, "TransformerEncoder");
  Tensor x = src;
  for (const auto& layer : *layers)
    x = layer->as<TransformerEncoderLayerImpl>()->forward(x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderImpl::reset();
}

void TransformerDecoderImpl::reset() { build(*this, options.decoder_layer()); }

void TransformerDecoderImpl::reset_parameters() {
  reset_parameters_of<TransformerDecoderLayerImpl>(*this);
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask, Site site) {
  const groove::detail::CallScope scope(site, "TransformerDecoder");
  Tensor x = tgt;
  for (const auto& layer : *layers)
    x = layer->as<TransformerDecoderLayerImpl>()->forward(
        x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) {
  TransformerImpl::reset();
}

namespace {

// Half of a Transformer as its options describe it.
template <typename Coder, typename CoderOptions, typename LayerOptions>
AnyModule described(const TransformerOptions& options, std::int64_t layers) {
  const LayerOptions layer = LayerOptions(options.d_model(), options.nhead())
                                 .dim_feedforward(options.dim_feedforward())
                                 .dropout(options.dropout())
                                 .activation(options.activation());
  return AnyModule(Coder(CoderOptions(layer, layers).norm(AnyModule(layer_norm(options)))));
}

}  // namespace

void TransformerImpl::reset() {
  encoder = options.custom_encoder().is_empty()
                ? described<TransformerEncoder, TransformerEncoderOptions,
                            TransformerEncoderLayerOptions>(options, options.num_encoder_layers())
                : options.custom_encoder().clone();
  register_module("encoder", encoder.ptr());
  decoder = options.custom_decoder().is_empty()
                ? described<TransformerDecoder, TransformerDecoderOptions,
                            TransformerDecoderLayerOptions>(options, options.num_decoder_layers())
                : options.custom_decoder().clone();
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask,
                                const Tensor& tgt_mask, const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask, Site site) {
  const groove::detail::CallScope scope(site, "Transformer");
  GROOVE_CHECK(src.dim() == 3 && tgt.dim() == 3,
               "Transformer: src {} and tgt {} must have 3 axes: [length, batch, d_model]",
               to_string(src.sizes()), to_string(tgt.sizes()));
  GROOVE_CHECK(src.size(1) == tgt.size(1), "Transformer: src has a batch of {}, tgt one of {}",
               src.size(1), tgt.size(1));
  GROOVE_CHECK(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
               "Transformer: src has {} features and tgt {}; d_model is {}", src.size(2),
               tgt.size(2), options.d_model());
  const Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
  return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                 memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(std::int64_t size, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return triu(full({size, size}, -std::numeric_limits<double>::infinity(), kFloat), 1);
}

template class Cloneable<TransformerEncoderLayerImpl>;
template class Cloneable<TransformerDecoderLayerImpl>;
template class Cloneable<TransformerEncoderImpl>;
template class Cloneable<TransformerDecoderImpl>;
template class Cloneable<TransformerImpl>;

}  // namespace groove::nn
