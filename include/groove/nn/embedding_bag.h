// EmbeddingBag: sums, means or greatest elements of rows of a table, bag by bag.
#pragma once

#include <optional>

#include "groove/nn/any_module.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

/// How the rows of a bag become one; the number is that of at::embedding_bag.
class EmbeddingBagMode {
 public:
  constexpr EmbeddingBagMode(enumtype::kSum) : code_(0) {}
  constexpr EmbeddingBagMode(enumtype::kMean) : code_(1) {}
  constexpr EmbeddingBagMode(enumtype::kMax) : code_(2) {}
  constexpr std::int64_t code() const { return code_; }

 private:
  std::int64_t code_;
};

struct EmbeddingBagOptions {
  EmbeddingBagOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  GROOVE_ARG(std::int64_t, num_embeddings);
  GROOVE_ARG(std::int64_t, embedding_dim);
  /// As in EmbeddingOptions.
  GROOVE_ARG(std::optional<double>, max_norm) = std::nullopt;
  GROOVE_ARG(double, norm_type) = 2.0;
  GROOVE_ARG(bool, scale_grad_by_freq) = false;
  GROOVE_ARG(EmbeddingBagMode, mode) = kMean;
  /// Gradients are dense either way.
  GROOVE_ARG(bool, sparse) = false;
  GROOVE_ARG(Tensor, _weight) = {};
  /// The last offset is only the end of the last bag.
  GROOVE_ARG(bool, include_last_offset) = false;
  /// This row counts nothing and gets no gradient.
  GROOVE_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
};

struct EmbeddingBagFromPretrainedOptions {
  GROOVE_ARG(bool, freeze) = true;
  GROOVE_ARG(std::optional<double>, max_norm) = std::nullopt;
  GROOVE_ARG(double, norm_type) = 2.0;
  GROOVE_ARG(bool, scale_grad_by_freq) = false;
  GROOVE_ARG(EmbeddingBagMode, mode) = kMean;
  GROOVE_ARG(bool, sparse) = false;
  GROOVE_ARG(bool, include_last_offset) = false;
  GROOVE_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
};

namespace functional {

struct EmbeddingBagFuncOptions {
  GROOVE_ARG(Tensor, offsets) = {};
  GROOVE_ARG(std::optional<double>, max_norm) = std::nullopt;
  GROOVE_ARG(double, norm_type) = 2.0;
  GROOVE_ARG(bool, scale_grad_by_freq) = false;
  GROOVE_ARG(EmbeddingBagMode, mode) = kMean;
  GROOVE_ARG(bool, sparse) = false;
  GROOVE_ARG(Tensor, per_sample_weights) = {};
  GROOVE_ARG(bool, include_last_offset) = false;
  GROOVE_ARG(std::optional<std::int64_t>, padding_idx) = std::nullopt;
};
/// input [N, L] of N bags, or [L] with offsets [N] where bags begin; per_sample_weights (kSum only)
/// of input's shape: [N, E]. Writes to weight where max_norm is given.
Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options = {}, Site site = Site::current());

}  // namespace functional

/// weight [num_embeddings, embedding_dim], initially normal.
class EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {}, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  EmbeddingBagOptions options;
  Tensor weight;

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
extern template class Cloneable<EmbeddingBagImpl>;

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl = EmbeddingBagImpl;
  /// Over the rows of `embeddings`, whose memory it shares; without gradient unless freeze(false).
  static EmbeddingBag from_pretrained(const Tensor& embeddings,
                                      const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace groove::nn
