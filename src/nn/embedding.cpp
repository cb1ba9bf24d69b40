#include "groove/nn/embedding.h"

#include <ostream>

#include "groove/autograd.h"
#include "groove/detail/call_scope.h"
#include "groove/nn/init.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/nn/embedding_rows.h"

namespace groove::nn {
std::int64_t padding_row(const char* name, std::optional<std::int64_t> index, std::int64_t rows) {
  if (!index) return -1;
  GROOVE_CHECK_AS(ValueError, *index >= -rows && *index < rows,
                  "{}: padding_idx {} is out of range for {} rows", name, *index, rows);
  return *index < 0 ? *index + rows : *index;
}

void renormalise(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const NoGradGuard no_grad;
  const Tensor flat = indices.reshape({-1});
  const Tensor rows = index_select(weight, 0, flat);
  const Tensor norms = norm(rows, norm_type, {1}, true);
  const Tensor scale = mul(reciprocal(add(norms, 1e-7)), max_norm);
  const Tensor scaled = where(gt(norms, max_norm), mul(rows, scale), rows);
  weight.index_copy_(0, flat, scaled);
}

Tensor functional::embedding(const Tensor& input, const Tensor& weight,
                             const EmbeddingFuncOptions& options, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(weight.dim() == 2, "embedding: weight has {} dimensions; it must be a matrix",
               weight.dim());
  const groove::detail::CallScope scope(site, __func__);
  const std::int64_t padding = padding_row("embedding", options.padding_idx(), weight.size(0));
  if (options.max_norm()) renormalise(weight, input, *options.max_norm(), options.norm_type());
  return groove::embedding(Arg(weight, site), input, padding, options.scale_grad_by_freq());
}

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) { reset(); }

void EmbeddingImpl::reset() {
  GROOVE_CHECK(options.num_embeddings() >= 0 && options.embedding_dim() >= 0,
               "Embedding: num_embeddings {} and embedding_dim {} must not be negative",
               options.num_embeddings(), options.embedding_dim());
  if (options.padding_idx())
    options.padding_idx(padding_row("Embedding", options.padding_idx(), options.num_embeddings()));
  if (options._weight().defined()) {
    GROOVE_CHECK(options._weight().sizes() ==
                     IntArrayRef({options.num_embeddings(), options.embedding_dim()}),
                 "Embedding: the weight given does not have shape [{}, {}]",
                 options.num_embeddings(), options.embedding_dim());
    weight = register_parameter("weight", options._weight());
    return;
  }
  weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
  reset_parameters();
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight.select(0, *options.padding_idx()).fill_(0);
}

Tensor EmbeddingImpl::forward(const Tensor& indices, Site site) {
  return functional::embedding(indices, weight,
                               functional::EmbeddingFuncOptions()
                                   .padding_idx(options.padding_idx())
                                   .max_norm(options.max_norm())
                                   .norm_type(options.norm_type())
                                   .scale_grad_by_freq(options.scale_grad_by_freq()),
                               site);
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  if (options.sparse()) stream << ", sparse=true";
  stream << ")";
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  GROOVE_CHECK(embeddings.dim() == 2,
               "Embedding: from_pretrained takes a matrix, not a tensor with {} dimensions",
               embeddings.dim());
  EmbeddingOptions all(embeddings.size(0), embeddings.size(1));
  all._weight(embeddings)
      .padding_idx(options.padding_idx())
      .max_norm(options.max_norm())
      .norm_type(options.norm_type())
      .scale_grad_by_freq(options.scale_grad_by_freq())
      .sparse(options.sparse());
  Embedding result(all);
  result->weight.set_requires_grad(!options.freeze());
  return result;
}

template class Cloneable<EmbeddingImpl>;

}  // namespace groove::nn
