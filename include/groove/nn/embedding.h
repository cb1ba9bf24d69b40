// Embedding: rows of a table, chosen by index.
#pragma once

#include <optional>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct EmbeddingOptions {
  EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  GROOVE_ARG(std::int64_t, num_embeddings);
  GROOVE_ARG(std::int64_t, embedding_dim);
  /// This row is zero at first and gets no gradient; negative numbers count from the end.
  GROOVE_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  /// Rows that are looked up are first scaled down, in the table itself, to at most this norm of
  /// order norm_type.
  GROOVE_ARG(std::optional<double>, max_norm) = std::nullopt;
  GROOVE_ARG(double, norm_type) = 2.0;
  /// A row's gradient is divided by how often the row was looked up.
  GROOVE_ARG(bool, scale_grad_by_freq) = false;
  /// Gradients are dense either way.
  GROOVE_ARG(bool, sparse) = false;
  GROOVE_ARG(Tensor, _weight) = {};
};

struct EmbeddingFromPretrainedOptions {
  GROOVE_ARG(bool, freeze) = true;
  GROOVE_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  GROOVE_ARG(std::optional<double>, max_norm) = std::nullopt;
  GROOVE_ARG(double, norm_type) = 2.0;
  GROOVE_ARG(bool, scale_grad_by_freq) = false;
  GROOVE_ARG(bool, sparse) = false;
};

namespace functional {

struct EmbeddingFuncOptions {
  GROOVE_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  GROOVE_ARG(std::optional<double>, max_norm) = std::nullopt;
  GROOVE_ARG(double, norm_type) = 2.0;
  GROOVE_ARG(bool, scale_grad_by_freq) = false;
  GROOVE_ARG(bool, sparse) = false;
};
/// Rows of weight [V, E] at indices of any shape: [..., E]. Writes to weight where max_norm is
/// given.
Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options = {}, Site site = Site::current());

}  // namespace functional

/// weight [num_embeddings, embedding_dim], initially normal.
class EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& indices, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  EmbeddingOptions options;
  Tensor weight;
};
extern template class Cloneable<EmbeddingImpl>;

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;
  /// Over the rows of `embeddings`, whose memory it shares; without gradient unless freeze(false).
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

}  // namespace groove::nn
