// Attention and the Transformer's modules.
#include "cases.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using namespace agreement;

static std::string names(const nn::Module& module) {
  std::string all;
  for (const auto& parameter : module.named_parameters()) {
    all += parameter.key() + " [";
    for (const std::int64_t size : parameter.value().sizes()) all += std::to_string(size) + " ";
    all += "] ";
  }
  return all;
}

template <typename Holder>
static Holder filled_module(Holder module) {
  fill(*module);
  module->eval();
  return module;
}

CASE(multihead_attention) {
  auto attention = filled_module(nn::MultiheadAttention(6, 2));
  show("names", names(*attention));
  show("text", printed(*attention));
  const auto x = leaf({4, 3, 6}, 1), y = leaf({5, 3, 6}, 2), z = leaf({5, 3, 6}, 3);
  for (const auto& [name, key, value] :
       {std::tuple{"self", x, x}, std::tuple{"other", y, y}, std::tuple{"three", y, z}}) {
    const auto [result, weights] = attention(x, key, value);
    show_gradients(name, result,
                   {x, key, value, attention->in_proj_weight, attention->in_proj_bias,
                    attention->out_proj->weight});
    show(std::string(name) + " weights", weights);
  }
}

CASE(multihead_attention_masks) {
  auto attention = filled_module(nn::MultiheadAttention(
      nn::MultiheadAttentionOptions(6, 3).add_bias_kv(true).add_zero_attn(true)));
  show("names", names(*attention));
  const auto x = leaf({4, 2, 6}, 1);
  const auto mask = torch::triu(torch::full({4, 4}, -1e9, torch::kDouble), 1);
  const auto padding = torch::tensor({0, 1, 0, 0, 0, 0, 0, 1}, torch::kLong).reshape({2, 4}).eq(1);
  const auto all = attention->forward(x, x, x, padding, true, mask);
  show_gradients("both", std::get<0>(all), {x, attention->bias_k, attention->bias_v});
  show("weights", std::get<1>(all));
  show("each head", std::get<1>(attention->forward(x, x, x, padding, true, mask, false)));
  show("without", std::get<0>(attention->forward(x, x, x, {}, false)));
  show("undefined", std::get<1>(attention->forward(x, x, x, {}, false)).defined() ? 1.0 : 0.0);
  show_error("mask", [&] { attention->forward(x, x, x, padding.slice(0, 0, 1)); });
}

CASE(multihead_attention_sizes) {
  auto attention = filled_module(
      nn::MultiheadAttention(nn::MultiheadAttentionOptions(4, 2).kdim(4).vdim(4).bias(false)));
  show("names", names(*attention));
  auto other =
      filled_module(nn::MultiheadAttention(nn::MultiheadAttentionOptions(4, 2).kdim(3).vdim(3)));
  show("names of three", names(*other));
  const auto x = leaf({3, 2, 4}, 1), key = leaf({5, 2, 3}, 2), value = leaf({5, 2, 3}, 4);
  show_gradients("three", std::get<0>(other(x, key, value)), {x, key, value, other->k_proj_weight});
  show_error("heads", [] { nn::MultiheadAttention(5, 2); });
  nn::AnyModule erased(attention);
  show("erased", std::get<0>(erased.forward<std::tuple<torch::Tensor, torch::Tensor>>(x, x, x)));
}

CASE(transformer_encoder) {
  nn::TransformerEncoderLayer layer(
      nn::TransformerEncoderLayerOptions(6, 2).dim_feedforward(5).activation(torch::kGELU));
  fill(*layer);
  layer->eval();
  show("names", names(*layer));
  show("text", printed(*layer));
  const auto x = leaf({4, 3, 6}, 1);
  show_gradients("layer", layer(x), {x, layer->linear1->weight, layer->norm2->bias});
  nn::TransformerEncoder encoder(nn::TransformerEncoderOptions(layer, 2).norm(
      nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({6})))));
  encoder->to(torch::kDouble);
  encoder->eval();
  show("encoder names", names(*encoder));
  show("encoder text", printed(*encoder));
  const auto mask = nn::TransformerImpl::generate_square_subsequent_mask(4);
  show("mask", mask);
  const auto padding =
      torch::tensor({0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1}, torch::kLong).reshape({3, 4}).eq(1);
  show_gradients("encoder", encoder(x, mask.to(torch::kDouble), padding), {x});
  show_gradients("defaults", encoder(x), {x});
}

CASE(transformer_decoder) {
  nn::TransformerDecoderLayer layer(nn::TransformerDecoderLayerOptions(6, 3).dim_feedforward(7));
  fill(*layer);
  layer->eval();
  show("names", names(*layer));
  show("text", printed(*layer));
  const auto x = leaf({4, 2, 6}, 1), memory = leaf({5, 2, 6}, 2);
  const auto mask = nn::TransformerImpl::generate_square_subsequent_mask(4).to(torch::kDouble);
  show_gradients("layer", layer(x, memory, mask), {x, memory});
  nn::TransformerDecoder decoder(layer, 2);
  decoder->eval();
  show("decoder names", names(*decoder));
  const auto padding =
      torch::tensor({0, 0, 1, 0, 1, 0, 0, 0, 0, 1}, torch::kLong).reshape({2, 5}).eq(1);
  show_gradients("decoder", decoder(x, memory, mask, torch::Tensor(), torch::Tensor(), padding),
                 {x, memory});
}

CASE(transformer) {
  nn::Transformer model(nn::TransformerOptions(8, 2, 2, 1)
                            .dim_feedforward(12)
                            .dropout(0.1)
                            .activation([](const torch::Tensor& t) { return torch::tanh(t); }));
  show("names", names(*model));
  fill(*model);
  model->eval();
  const auto src = leaf({5, 2, 8}, 1), tgt = leaf({3, 2, 8}, 2);
  const auto mask = nn::TransformerImpl::generate_square_subsequent_mask(3).to(torch::kDouble);
  show_gradients("output", model(src, tgt, torch::Tensor(), mask), {src, tgt});
  show_gradients("forward", model->forward(src, tgt), {src, tgt});
  show_error("batch", [&] { model(src, filled({3, 3, 8})); });
  show_error("features", [&] { model(src, filled({3, 2, 7})); });
  show_error("axes", [&] { model(src, filled({3, 8})); });
}
