#include "groove/nn/embedding_bag.h"

#include <limits>
#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/nn/init.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"
#include "src/nn/embedding_rows.h"

namespace groove::nn {
namespace {

constexpr EmbeddingBagMode kSumMode = kSum, kMeanMode = kMean;

// Bags of one length: a reduction of the rows, which needs no list of bags.
Tensor reduce_rows(const Tensor& weight, const Tensor& input, std::int64_t mode,
                   bool scale_grad_by_freq, const Tensor& per_sample_weights,
                   std::int64_t padding) {
  Tensor rows = groove::embedding(weight, input, padding, scale_grad_by_freq);
  if (per_sample_weights.defined()) rows = mul(rows, unsqueeze(per_sample_weights, 2));
  if (input.size(1) == 0) return sum(rows, 1);
  const bool has_padding = padding >= 0;
  const Tensor counts = has_padding ? unsqueeze(ne(input, padding), 2) : Tensor();
  if (mode == kSumMode.code() || mode == kMeanMode.code()) {
    const Tensor total = sum(has_padding ? where(counts, rows, 0) : rows, 1);
    if (mode == kSumMode.code()) return total;
    if (!has_padding) return div(total, input.size(1));
    return div(total, clamp_min(sum(counts, 1), 1));
  }
  if (!has_padding) return std::get<0>(groove::max(rows, 1));
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Tensor greatest = std::get<0>(groove::max(where(counts, rows, kNone), 1));
  return where(any(counts, 1), greatest, 0);
}

}  // namespace

Tensor functional::embedding_bag(const Tensor& input, const Tensor& weight,
                                 const EmbeddingBagFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Tensor &offsets = options.offsets(), &weights = options.per_sample_weights();
  const std::int64_t mode = options.mode().code();
  GROOVE_CHECK(weight.dim() == 2, "embedding_bag: weight has {} dimensions; it must be a matrix",
               weight.dim());
  GROOVE_CHECK(!weights.defined() || weights.sizes() == input.sizes(),
               "embedding_bag: per_sample_weights {} must have the shape of the input, {}",
               to_string(weights.sizes()), to_string(input.sizes()));
  GROOVE_CHECK(!weights.defined() || mode == kSumMode.code(),
               "embedding_bag: per_sample_weights need the mode kSum");
  GROOVE_CHECK(mode <= kMeanMode.code() || (!options.scale_grad_by_freq() && !options.sparse()),
               "embedding_bag: the mode kMax goes with neither scale_grad_by_freq nor sparse");
  const bool has_rows = input.dim() == 2;
  GROOVE_CHECK(has_rows || input.dim() == 1,
               "embedding_bag: input has {} dimensions; it must have 1 or 2", input.dim());
  GROOVE_CHECK(has_rows != offsets.defined(),
               "embedding_bag: offsets go with input of 1 dimension, and only with it");
  const std::int64_t padding = padding_row("embedding_bag", options.padding_idx(), weight.size(0));
  if (options.max_norm()) renormalise(weight, input, *options.max_norm(), options.norm_type());
  if (has_rows)
    return reduce_rows(weight, input, mode, options.scale_grad_by_freq(), weights, padding);
  return std::get<0>(groove::embedding_bag(weight, input, offsets, options.scale_grad_by_freq(),
                                           mode, options.sparse(), weights,
                                           options.include_last_offset(), options.padding_idx()));
}

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) {
  reset();
}

void EmbeddingBagImpl::reset() {
  GROOVE_CHECK(options.num_embeddings() >= 0 && options.embedding_dim() >= 0,
               "EmbeddingBag: num_embeddings {} and embedding_dim {} must not be negative",
               options.num_embeddings(), options.embedding_dim());
  if (options.padding_idx())
    options.padding_idx(
        padding_row("EmbeddingBag", options.padding_idx(), options.num_embeddings()));
  if (options._weight().defined()) {
    GROOVE_CHECK(options._weight().sizes() ==
                     IntArrayRef({options.num_embeddings(), options.embedding_dim()}),
                 "EmbeddingBag: the weight given does not have shape [{}, {}]",
                 options.num_embeddings(), options.embedding_dim());
    weight = register_parameter("weight", options._weight());
    return;
  }
  weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
  reset_parameters();
}

void EmbeddingBagImpl::reset_parameters() { init::normal_(weight); }

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights, Site site) {
  return functional::embedding_bag(input, weight,
                                   functional::EmbeddingBagFuncOptions()
                                       .offsets(offsets)
                                       .max_norm(options.max_norm())
                                       .norm_type(options.norm_type())
                                       .scale_grad_by_freq(options.scale_grad_by_freq())
                                       .mode(options.mode())
                                       .sparse(options.sparse())
                                       .per_sample_weights(per_sample_weights)
                                       .include_last_offset(options.include_last_offset())
                                       .padding_idx(options.padding_idx()),
                                   site);
}

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::EmbeddingBag(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  if (options.sparse()) stream << ", sparse=true";
  const std::int64_t mode = options.mode().code();
  if (mode != kMeanMode.code()) stream << ", mode=" << (mode == kSumMode.code() ? "kSum" : "kMax");
  if (options.include_last_offset()) stream << ", include_last_offset=true";
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ")";
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& options) {
  GROOVE_CHECK(embeddings.dim() == 2,
               "EmbeddingBag: from_pretrained takes a matrix, not a tensor with {} dimensions",
               embeddings.dim());
  EmbeddingBagOptions all(embeddings.size(0), embeddings.size(1));
  all._weight(embeddings)
      .max_norm(options.max_norm())
      .norm_type(options.norm_type())
      .scale_grad_by_freq(options.scale_grad_by_freq())
      .mode(options.mode())
      .sparse(options.sparse())
      .include_last_offset(options.include_last_offset())
      .padding_idx(options.padding_idx());
  EmbeddingBag result(all);
  result->weight.set_requires_grad(!options.freeze());
  return result;
}

template class Cloneable<EmbeddingBagImpl>;

}  // namespace groove::nn
