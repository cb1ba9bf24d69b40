// Functions and losses, forward, and with their gradient.
#include "cases.h"

namespace F = torch::nn::functional;
using torch::Tensor;

void gradients(Measure& measure, const Operands& on) {
  const Tensor &x = on.x, &y = on.y, &p = on.p, &q = on.q, &mask = on.mask, &whole = on.whole,
               &index = on.index;
  const std::int64_t n = on.n;
  measure.both("mul", {p, q}, [&] { return p * q; });
  measure.both("tanh", {p}, [&] { return p.tanh(); });
  measure.both("softmax", {p}, [&] { return p.softmax(1); });
  measure.both("softmax0", {p}, [&] { return p.softmax(0); });
  measure.both("log_softmax", {p}, [&] { return p.log_softmax(1); });
  measure.both("mm", {p, q}, [&] { return p.mm(q); });
  measure.both("cat", {p, q}, [&] { return torch::cat({p, q}, 1); });
  measure.both("index_select", {p}, [&] { return p.index_select(0, index); });
  measure.both("gather", {p}, [&] { return p.gather(1, whole); });
  measure.both("slice", {p}, [&] { return p.slice(1, 1, 8); });
  measure.both("sort", {p}, [&] { return std::get<0>(p.sort(1)); });
  measure.both("max1", {p}, [&] { return std::get<0>(p.max(1)); });
  measure.both("cumsum", {p}, [&] { return p.cumsum(1); });
  measure.both("var", {p}, [&] { return p.var(1); });
  measure.both("norm", {p}, [&] { return p.norm(2, 1); });
  measure.both("mse", {p}, [&] { return F::mse_loss(p, x); });
  measure.both("ce", {p}, [&] { return F::cross_entropy(p, index); });
  measure.both("bce", {p},
               [&] { return F::binary_cross_entropy_with_logits(p, mask.to(torch::kFloat)); });
  measure.both("smooth", {p}, [&] { return F::smooth_l1_loss(p, x); });
  measure.both("kl", {p}, [&] { return torch::kl_div(p.log_softmax(1), x.softmax(1)); });
  measure.both("layer_norm", {p}, [&] { return torch::layer_norm(p, {n}); });
  measure.both("gelu", {p}, [&] { return torch::gelu(p); });
  measure.both("dropout", {p}, [&] { return torch::dropout(p, 0.3, true); });
  measure.both("pow", {p}, [&] { return p.pow(3); });
  measure.both("prod", {p}, [&] { return p.prod(1); });
  measure.both("index mask", {p}, [&] { return p.index({mask}); });
  measure.both("median", {p}, [&] { return std::get<0>(p.median(1)); });
  measure.both("cos_sim", {p}, [&] { return F::cosine_similarity(p, x); });
  measure.both("expand", {p}, [&] { return p.unsqueeze(0).expand({3, n, n}); });
  measure.both("einsum", {p, q}, [&] { return torch::einsum("ij,kj->ik", {p, q}); });
  measure.both("embedding", {p}, [&] { return torch::embedding(p, index); });
  measure.both("unfold", {p}, [&] { return p.unfold(1, 8, 4); });
  measure.both("logsumexp", {p}, [&] { return p.logsumexp(1); });
  measure.both("normalize", {p}, [&] { return F::normalize(p); });
  measure.both("cdist", {p}, [&] { return torch::cdist(p.slice(1, 0, 16), x.slice(1, 0, 16)); });
  measure.both("huber", {p}, [&] { return F::huber_loss(p, x); });
  measure.both("nll", {p}, [&] { return F::nll_loss(p, index); });
  measure.both("triplet", {p}, [&] { return torch::triplet_margin_loss(p, x, y); });
  measure.both("cosembed", {p},
               [&] { return torch::cosine_embedding_loss(p, x, torch::ones({n})); });
}
