#include "groove/nn/attention.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "groove/autograd.h"
#include "groove/detail/call_scope.h"
#include "groove/nn/init.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace functional {
namespace {

using Options = MultiheadAttentionForwardFuncOptions;

// What all checks speak of.
struct Sizes {
  std::int64_t target, batch, embedding, heads, of_head;
};

Sizes sizes_of(const Tensor& query, const Tensor& key, const Tensor& value,
               const Options& options) {
  for (const Tensor* input : {&query, &key, &value})
    GROOVE_CHECK(input->dim() == 3,
                 "multi_head_attention_forward: an input of shape {}; query, key and value must be "
                 "[length, batch, embedding]",
                 to_string(input->sizes()));
  const std::int64_t embedding = query.size(2), heads = options.num_heads();
  GROOVE_CHECK(embedding == options.embed_dim_to_check(),
               "multi_head_attention_forward: the query has embeddings of {}; embed_dim is {}",
               embedding, options.embed_dim_to_check());
  GROOVE_CHECK(heads > 0, "multi_head_attention_forward: {} heads; there must be one or more",
               heads);
  GROOVE_CHECK(embedding % heads == 0,
               "multi_head_attention_forward: embed_dim {} must be divisible by num_heads {}",
               embedding, heads);
  GROOVE_CHECK(
      key.size(0) == value.size(0) && key.size(1) == value.size(1) && key.size(1) == query.size(1),
      "multi_head_attention_forward: query {}, key {} and value {} do not fit: keys and "
      "values are as many, and all of one batch size",
      to_string(query.sizes()), to_string(key.sizes()), to_string(value.sizes()));
  return {query.size(0), query.size(1), embedding, heads, embedding / heads};
}

Tensor rows(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  return tensor.defined() ? narrow(tensor, 0, first, count) : Tensor();
}

// Queries, keys and values in the embedding of the heads. Inputs that are one tensor are projected
// at once: the rows of the product are the same.
std::array<Tensor, 3> projected(const Tensor& query, const Tensor& key, const Tensor& value,
                                const Options& options, std::int64_t size) {
  const Tensor& weight = options.in_proj_weight();
  const Tensor& bias = options.in_proj_bias();
  const auto parts = [size](const Tensor& joined, std::int64_t count) {
    std::vector<Tensor> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(narrow(joined, -1, i * size, size));
    return all;
  };
  if (options.use_separate_proj_weight())
    return {linear(query, options.q_proj_weight(), rows(bias, 0, size)),
            linear(key, options.k_proj_weight(), rows(bias, size, size)),
            linear(value, options.v_proj_weight(), rows(bias, 2 * size, size))};
  if (query.is_same(key) && key.is_same(value)) {
    const std::vector<Tensor> all = parts(linear(query, weight, bias), 3);
    return {all[0], all[1], all[2]};
  }
  const Tensor q = linear(query, rows(weight, 0, size), rows(bias, 0, size));
  if (key.is_same(value)) {
    const std::vector<Tensor> both =
        parts(linear(key, rows(weight, size, 2 * size), rows(bias, size, 2 * size)), 2);
    return {q, both[0], both[1]};
  }
  return {q, linear(key, rows(weight, size, size), rows(bias, size, size)),
          linear(value, rows(weight, 2 * size, size), rows(bias, 2 * size, size))};
}

// One more source position, which no mask leaves out.
Tensor with_column(const Tensor& mask) {
  return mask.defined() ? cat({mask, zeros({mask.size(0), 1}, mask.options())}, 1) : mask;
}

// [length, batch, embedding] as [batch * heads, length, embedding / heads]
Tensor by_head(const Tensor& x, const Sizes& sizes) {
  return transpose(reshape(x, {-1, sizes.batch * sizes.heads, sizes.of_head}), 0, 1);
}

}  // namespace

MultiheadAttentionForwardFuncOptions::MultiheadAttentionForwardFuncOptions(
    std::int64_t embed_dim_to_check, std::int64_t num_heads, Tensor in_proj_weight,
    Tensor in_proj_bias, Tensor bias_k, Tensor bias_v, bool add_zero_attn, double dropout_p,
    Tensor out_proj_weight, Tensor out_proj_bias)
    : embed_dim_to_check_(embed_dim_to_check),
      num_heads_(num_heads),
      in_proj_weight_(std::move(in_proj_weight)),
      in_proj_bias_(std::move(in_proj_bias)),
      bias_k_(std::move(bias_k)),
      bias_v_(std::move(bias_v)),
      add_zero_attn_(add_zero_attn),
      dropout_p_(dropout_p),
      out_proj_weight_(std::move(out_proj_weight)),
      out_proj_bias_(std::move(out_proj_bias)) {}

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                        const Tensor& value, const Options& options,
                                                        Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Sizes sizes = sizes_of(query, key, value, options);
  auto [q, k, v] = projected(query, key, value, options, sizes.embedding);
  q = q * (1 / std::sqrt(static_cast<double>(sizes.of_head)));
  Tensor mask = options.attn_mask(), padding = options.key_padding_mask();
  const bool has_static = options.static_k().defined() || options.static_v().defined();
  GROOVE_CHECK(options.bias_k().defined() == options.bias_v().defined(),
               "multi_head_attention_forward: bias_k and bias_v go together");
  if (options.bias_k().defined()) {
    GROOVE_CHECK(!has_static,
                 "multi_head_attention_forward: a bias cannot be added to static keys and values");
    k = cat({k, options.bias_k().repeat({1, sizes.batch, 1})});
    v = cat({v, options.bias_v().repeat({1, sizes.batch, 1})});
    mask = with_column(mask);
    padding = with_column(padding);
  }
  q = by_head(q, sizes);
  k = options.static_k().defined() ? options.static_k() : by_head(k, sizes);
  v = options.static_v().defined() ? options.static_v() : by_head(v, sizes);
  if (options.add_zero_attn()) {
    const Tensor none = zeros({k.size(0), 1, sizes.of_head}, k.options());
    k = cat({k, none}, 1);
    v = cat({v, none}, 1);
    mask = with_column(mask);
    padding = with_column(padding);
  }
  const std::int64_t source = k.size(1);
  Tensor weights = bmm(q, transpose(k, 1, 2));
  if (mask.defined()) weights = weights + mask.unsqueeze(0);
  const auto each_head = [&](const Tensor& all) {
    return reshape(all, {sizes.batch, sizes.heads, sizes.target, source});
  };
  if (padding.defined()) {
    GROOVE_CHECK(padding.dim() == 2 && padding.size(0) == sizes.batch && padding.size(1) == source,
                 "multi_head_attention_forward: key_padding_mask is {}; it must be [{}, {}], the "
                 "batch and the keys",
                 to_string(padding.sizes()), sizes.batch, source);
    weights = reshape(masked_fill(each_head(weights), padding.unsqueeze(1).unsqueeze(2),
                                  -std::numeric_limits<double>::infinity()),
                      weights.sizes());
  }
  weights = dropout(groove::softmax(weights, -1),
                    DropoutFuncOptions().p(options.dropout_p()).training(options.training()));
  const Tensor joined =
      reshape(transpose(bmm(weights, v), 0, 1), {sizes.target, sizes.batch, sizes.embedding});
  const Tensor result = linear(joined, options.out_proj_weight(), options.out_proj_bias());
  if (!options.need_weights()) return {result, Tensor()};
  weights = each_head(weights);
  if (options.average_attn_weights())
    weights = div(sum(weights, 1), static_cast<double>(sizes.heads));
  return {result, weights};
}

}  // namespace functional

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_)
    : Cloneable("torch::nn::MultiheadAttention"), options(options_) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const std::int64_t size = options.embed_dim(), heads = options.num_heads();
  GROOVE_CHECK(heads > 0 && size % heads == 0,
               "MultiheadAttention: embed_dim {} must be divisible by num_heads {}", size, heads);
  head_dim = size / heads;
  _qkv_same_embed_dim = options.kdim() == size && options.vdim() == size;
  // Each has its name, there or not.
  const auto parameter = [this](const char* name, bool is_there, Shape sizes) {
    return register_parameter(name, is_there ? empty(sizes) : Tensor(), is_there);
  };
  const bool is_joined = _qkv_same_embed_dim;
  if (is_joined) in_proj_weight = parameter("in_proj_weight", true, {3 * size, size});
  q_proj_weight = parameter("q_proj_weight", !is_joined, {size, size});
  k_proj_weight = parameter("k_proj_weight", !is_joined, {size, options.kdim()});
  v_proj_weight = parameter("v_proj_weight", !is_joined, {size, options.vdim()});
  if (!is_joined) in_proj_weight = parameter("in_proj_weight", false, {});
  in_proj_bias = parameter("in_proj_bias", options.bias(), {3 * size});
  out_proj = register_module("out_proj", Linear(LinearOptions(size, size).bias(options.bias())));
  if (options.add_bias_kv()) {
    bias_k = parameter("bias_k", true, {1, 1, size});
    bias_v = parameter("bias_v", true, {1, 1, size});
  } else {
    bias_k = bias_v = Tensor();
  }
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
    if (weight.defined()) init::xavier_uniform_(weight);
  if (in_proj_bias.defined()) {
    init::constant_(in_proj_bias, 0);
    init::constant_(out_proj->bias, 0);
  }
  for (const Tensor& bias : {bias_k, bias_v})
    if (bias.defined()) init::xavier_normal_(bias);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask,
    bool need_weights, const Tensor& attn_mask, bool average_attn_weights, Site site) {
  return functional::multi_head_attention_forward(
      query, key, value,
      functional::MultiheadAttentionForwardFuncOptions(
          options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k, bias_v,
          options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights),
      site);
}

template class Cloneable<MultiheadAttentionImpl>;

}  // namespace groove::nn
