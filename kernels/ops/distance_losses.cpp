// Distances between vectors and losses over pairs and counts, spelled with others.
#include "groove/ops/distance_losses.h"

#include <numbers>

#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

std::size_t rank_of(const char* name, const Tensor& x) {
  return checked(name, x).geometry.sizes.size();
}
Shape sizes_of(const char* name, const Tensor& x) { return checked(name, x).geometry.sizes; }

}  // namespace

Tensor pairwise_distance(Arg x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const SiteScope scope(x1.site);
  const std::size_t rank =
      std::max(rank_of("pairwise_distance", *x1.tensor), rank_of("pairwise_distance", x2));
  GROOVE_CHECK(rank > 0, "pairwise_distance: the operands have no axes");
  return norm(*x1.tensor - x2 + eps, p, static_cast<std::int64_t>(rank) - 1, keepdim);
}

Tensor cosine_similarity(Arg x1, const Tensor& x2, std::int64_t dim, double eps) {
  const SiteScope scope(x1.site);
  // Before the norms: an axis that is broadcast counts as often.
  const Shape sizes = broadcast_of("cosine_similarity", sizes_of("cosine_similarity", *x1.tensor),
                                   sizes_of("cosine_similarity", x2));
  const auto scaled = [&](const Tensor& x) {
    const Tensor wide = x.sizes() == IntArrayRef(sizes) ? x : expand(x, sizes);
    return div(wide, clamp_min(norm(wide, 2, dim, true), eps));
  };
  return sum(scaled(*x1.tensor) * scaled(x2), dim);
}

Tensor cosine_embedding_loss(Arg input1, const Tensor& input2, const Tensor& target, double margin,
                             std::int64_t reduction) {
  const SiteScope scope(input1.site);
  const char* name = "cosine_embedding_loss";
  check_reduction(name, reduction);
  const std::size_t rank = rank_of(name, target);
  GROOVE_CHECK(
      rank <= 1 && rank_of(name, *input1.tensor) == rank + 1 && rank_of(name, input2) == rank + 1,
      "{}: inputs {} and {} and target {} must be [N, D], [N, D] and [N], or [D], [D] "
      "and []",
      name, to_string(sizes_of(name, *input1.tensor)), to_string(sizes_of(name, input2)),
      to_string(sizes_of(name, target)));
  constexpr double kEpsilon = 1e-12f;
  const auto axis = static_cast<std::int64_t>(rank);
  const Tensor product = sum(*input1.tensor * input2, axis);
  const Tensor first = sum(square(*input1.tensor), axis) + kEpsilon;
  const Tensor second = sum(square(input2), axis) + kEpsilon;
  const Tensor cosine = product / sqrt(first * second);
  const Tensor alike = where(eq(target, 1), 1 - cosine, 0);
  const Tensor apart = where(eq(target, -1), clamp_min(cosine - margin, 0), 0);
  return reduce_loss(alike + apart, reduction);
}

Tensor hinge_embedding_loss(Arg self, const Tensor& target, double margin, std::int64_t reduction) {
  const SiteScope scope(self.site);
  check_reduction("hinge_embedding_loss", reduction);
  const Tensor apart = where(ne(target, 1), clamp_min(margin - *self.tensor, 0), 0);
  const Tensor alike = where(ne(target, -1), *self.tensor, 0);
  return reduce_loss(apart + alike, reduction);
}

Tensor margin_ranking_loss(Arg input1, const Tensor& input2, const Tensor& target, double margin,
                           std::int64_t reduction) {
  const SiteScope scope(input1.site);
  check_reduction("margin_ranking_loss", reduction);
  return reduce_loss(clamp_min(-target * (*input1.tensor - input2) + margin, 0), reduction);
}

Tensor soft_margin_loss(Arg self, const Tensor& target, std::int64_t reduction) {
  const SiteScope scope(self.site);
  check_reduction("soft_margin_loss", reduction);
  return reduce_loss(softplus(-target * *self.tensor, 1, std::numeric_limits<double>::infinity()),
                     reduction);
}

Tensor triplet_margin_loss(Arg anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, std::int64_t reduction) {
  const SiteScope scope(anchor.site);
  const char* name = "triplet_margin_loss";
  check_reduction(name, reduction);
  const Tensor& a = *anchor.tensor;
  GROOVE_CHECK(
      rank_of(name, a) == rank_of(name, positive) && rank_of(name, a) == rank_of(name, negative),
      "{}: anchor {}, positive {} and negative {} must have as many axes", name,
      to_string(sizes_of(name, a)), to_string(sizes_of(name, positive)),
      to_string(sizes_of(name, negative)));
  const Tensor alike = pairwise_distance(a, positive, p, eps);
  Tensor apart = pairwise_distance(a, negative, p, eps);
  if (swap) apart = minimum(apart, pairwise_distance(positive, negative, p, eps));
  return reduce_loss(clamp_min(margin + alike - apart, 0), reduction);
}

Tensor poisson_nll_loss(Arg input, const Tensor& target, bool log_input, bool full, double eps,
                        std::int64_t reduction) {
  const SiteScope scope(input.site);
  check_reduction("poisson_nll_loss", reduction);
  const Tensor& x = *input.tensor;
  Tensor loss = log_input ? exp(x) - target * x : x - target * log(x + eps);
  if (full) {
    const Tensor stirling =
        target * log(target) - target + 0.5 * log(2 * std::numbers::pi * target);
    loss = loss + masked_fill(stirling, le(target, 1), 0);
  }
  return reduce_loss(loss, reduction);
}

}  // namespace groove
