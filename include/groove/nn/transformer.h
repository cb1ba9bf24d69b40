// The Transformer (Vaswani et al. 2017), its encoder, its decoder and their layers, sequences
// first: [length, batch, d_model]. Each layer normalises after it has added.
//
// Masks that are given: `…_mask` [target length, source length] is added to the products of queries
// and keys, `…_key_padding_mask` [batch, source length] (bool) is true for keys that are left out.
#pragma once

#include <functional>
#include <variant>

#include "groove/enums.h"
#include "groove/nn/any_module.h"
#include "groove/nn/attention.h"
#include "groove/nn/containers.h"
#include "groove/nn/normalization.h"

namespace groove::nn {

using activation_t =
    std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;

struct TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(std::int64_t d_model, std::int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}
  GROOVE_ARG(std::int64_t, d_model);
  GROOVE_ARG(std::int64_t, nhead);
  GROOVE_ARG(std::int64_t, dim_feedforward) = 2048;
  GROOVE_ARG(double, dropout) = 0.1;
  GROOVE_ARG(activation_t, activation) = kReLU;
};
struct TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(std::int64_t d_model, std::int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}
  GROOVE_ARG(std::int64_t, d_model);
  GROOVE_ARG(std::int64_t, nhead);
  GROOVE_ARG(std::int64_t, dim_feedforward) = 2048;
  GROOVE_ARG(double, dropout) = 0.1;
  GROOVE_ARG(activation_t, activation) = kReLU;
};

/// Attention of a sequence to itself, then two linear layers on each position.
class TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(std::int64_t d_model, std::int64_t nhead)
      : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {}, Site site = Site::current());
  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr;

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
GROOVE_MODULE(TransformerEncoderLayer);
extern template class Cloneable<TransformerEncoderLayerImpl>;

/// The same with attention to what an encoder gave (`memory`) between the two.
class TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(std::int64_t d_model, std::int64_t nhead)
      : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options);
  void reset() override;
  void reset_parameters();
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}, Site site = Site::current());
  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Dropout dropout1{nullptr};
  LayerNorm norm1{nullptr};
  MultiheadAttention multihead_attn{nullptr};
  Dropout dropout2{nullptr};
  LayerNorm norm2{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  Dropout dropout3{nullptr};
  LayerNorm norm3{nullptr};

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                                  {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
GROOVE_MODULE(TransformerDecoderLayer);
extern template class Cloneable<TransformerDecoderLayerImpl>;

struct TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, std::int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& layer, std::int64_t num_layers)
      : encoder_layer_(TransformerEncoderLayer(layer)), num_layers_(num_layers) {}
  /// Copies of it are the layers.
  GROOVE_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  GROOVE_ARG(std::int64_t, num_layers);
  /// Of what the last layer gives; none where it is empty.
  GROOVE_ARG(AnyModule, norm);
};
struct TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, std::int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& layer, std::int64_t num_layers)
      : decoder_layer_(TransformerDecoderLayer(layer)), num_layers_(num_layers) {}
  GROOVE_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  GROOVE_ARG(std::int64_t, num_layers);
  GROOVE_ARG(AnyModule, norm);
};

class TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, std::int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {}, Site site = Site::current());
  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
GROOVE_MODULE(TransformerEncoder);
extern template class Cloneable<TransformerEncoderImpl>;

class TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, std::int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}, Site site = Site::current());
  TransformerDecoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                                  {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
GROOVE_MODULE(TransformerDecoder);
extern template class Cloneable<TransformerDecoderImpl>;

struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(std::int64_t d_model, std::int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(std::int64_t d_model, std::int64_t nhead, std::int64_t num_encoder_layers,
                     std::int64_t num_decoder_layers)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}
  GROOVE_ARG(std::int64_t, d_model) = 512;
  GROOVE_ARG(std::int64_t, nhead) = 8;
  GROOVE_ARG(std::int64_t, num_encoder_layers) = 6;
  GROOVE_ARG(std::int64_t, num_decoder_layers) = 6;
  GROOVE_ARG(std::int64_t, dim_feedforward) = 2048;
  GROOVE_ARG(double, dropout) = 0.1;
  GROOVE_ARG(activation_t, activation) = kReLU;
  /// In place of the encoder or decoder that the numbers above describe.
  GROOVE_ARG(AnyModule, custom_encoder);
  GROOVE_ARG(AnyModule, custom_decoder);
};

/// src [source length, batch, d_model], tgt [target length, batch, d_model]; gives what tgt is.
class TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options = {});
  void reset() override;
  /// Xavier-uniform weights.
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}, Site site = Site::current());
  /// [size, size]: 0 up to the diagonal, -infinity above it.
  static Tensor generate_square_subsequent_mask(std::int64_t size, Site site = Site::current());
  TransformerOptions options;
  AnyModule encoder, decoder;

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                                  {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())},
                                  {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
GROOVE_MODULE(Transformer);
extern template class Cloneable<TransformerImpl>;

}  // namespace groove::nn
