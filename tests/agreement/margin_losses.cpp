// Losses that ask for margins, with every reduction; and Poisson's.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

namespace {

torch::Tensor signs(torch::IntArrayRef sizes, std::int64_t j) {
  return torch::where(filled(sizes, j) > 0, torch::ones(sizes, torch::kDouble),
                      -torch::ones(sizes, torch::kDouble));
}

}  // namespace

CASE(margin_ranking_loss) {
  const auto a = leaf({3, 4}, 0), b = leaf({3, 4}, 1), y = signs({3, 4}, 2);
  using Options = F::MarginRankingLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::margin_ranking_loss(a, b, y, o); };
  show_reductions("plain", Options(), loss, {a, b});
  show_reductions("margin", Options().margin(0.5), loss, {a, b});
  show_gradients("at", torch::margin_ranking_loss(a, b, y, 0.2), {a, b});
  show_gradients("ties", torch::margin_ranking_loss(a, a * 1, y), {a});
  torch::nn::MarginRankingLoss module(torch::nn::MarginRankingLossOptions().margin(0.3));
  show_gradients(printed(*module), module(a, b, y), {a, b});
  show_error("rank", [&] { F::margin_ranking_loss(a, b, y.select(0, 0)); });
  show_error("shape", [&] { F::margin_ranking_loss(a, filled({3, 5}), y); });
}

CASE(hinge_embedding_loss) {
  const auto x = leaf({3, 4}, 0);
  auto y = signs({3, 4}, 2);
  using Options = F::HingeEmbeddingLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::hinge_embedding_loss(x, y, o); };
  show_reductions("plain", Options(), loss, {x});
  show_reductions("margin", Options().margin(0.5), loss, {x});
  show_gradients("at", torch::hinge_embedding_loss(x, y, 0.2, torch::Reduction::Sum), {x});
  y = torch::where(filled({3, 4}, 5) > 0.3, torch::zeros({3, 4}, torch::kDouble), y);
  show_reductions("other targets", Options(), loss, {x});
  torch::nn::HingeEmbeddingLoss module(torch::nn::HingeEmbeddingLossOptions().margin(2));
  show_gradients(printed(*module), module(x, y), {x});
  show("default", printed(*torch::nn::HingeEmbeddingLoss()));
}

CASE(multi_margin_loss) {
  const auto x = leaf({3, 4}, 0), row = leaf({5}, 1), w = filled({4}, 2).abs();
  const auto y = torch::tensor({2, 0, 3}, torch::kLong), one = torch::tensor(3, torch::kLong);
  using Options = F::MultiMarginLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::multi_margin_loss(x, y, o); };
  show_reductions("plain", Options(), loss, {x});
  show_reductions("squares", Options().p(2).margin(0.3), loss, {x});
  show_reductions("weight", Options().weight(w), loss, {x});
  const auto row_loss = [&](const Options& o) { return F::multi_margin_loss(row, one, o); };
  show_reductions("row", Options(), row_loss, {row});
  show_gradients("row of 1", torch::multi_margin_loss(row, one.unsqueeze(0), 1, 1, {}, 0), {row});
  show_gradients("at", torch::multi_margin_loss(x, y, 2, 0.5, w), {x});
  torch::nn::MultiMarginLoss module(torch::nn::MultiMarginLossOptions().margin(2).p(2));
  show_gradients(printed(*module), module(x, y), {x});
  show_error("p", [&] { F::multi_margin_loss(x, y, Options().p(3)); });
  show_error("class", [&] { F::multi_margin_loss(x, torch::tensor({2, 0, 4}, torch::kLong)); });
  show_error("count", [&] { F::multi_margin_loss(x, torch::tensor({2, 0}, torch::kLong)); });
  show_error("weight", [&] { F::multi_margin_loss(x, y, Options().weight(filled({3}))); });
}

CASE(multilabel_margin_loss) {
  const auto x = leaf({3, 4}, 0), row = leaf({4}, 1);
  const auto y = torch::tensor({2, 0, -1, 3, 1, -1, -1, 0, 0, 1, 2, 3}, torch::kLong).view({3, 4});
  const auto labels = torch::tensor({3, 3, -1, 1}, torch::kLong);
  using Options = F::MultilabelMarginLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::multilabel_margin_loss(x, y, o); };
  show_reductions("plain", Options(), loss, {x});
  const auto row_loss = [&](const Options& o) { return F::multilabel_margin_loss(row, labels, o); };
  show_reductions("row", Options(), row_loss, {row});
  show_gradients("at", torch::multilabel_margin_loss(x, y, torch::Reduction::None), {x});
  torch::nn::MultiLabelMarginLoss module(torch::kSum);
  show_gradients(printed(*module), module(x, y), {x});
  show_error("class", [&] { F::multilabel_margin_loss(row, labels + 1); });
  show_error("shape", [&] { F::multilabel_margin_loss(x, labels); });
}

CASE(soft_margin_losses) {
  const auto x = leaf({3, 4}, 0), big = (filled({6}, 2) * 40).clone().requires_grad_();
  const auto y = signs({3, 4}, 2), w = filled({4}, 3).abs();
  const auto targets = (y + 1) / 2;
  using Options = F::SoftMarginLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::soft_margin_loss(x, y, o); };
  show_reductions("plain", Options(), loss, {x});
  show_gradients("big", torch::soft_margin_loss(big, signs({6}, 1)), {big});
  torch::nn::SoftMarginLoss module(torch::kSum);
  show_gradients(printed(*module), module(x, y), {x});
  using Multilabel = F::MultilabelSoftMarginLossFuncOptions;
  const auto multilabel = [&](const Multilabel& o) {
    return F::multilabel_soft_margin_loss(x, targets, o);
  };
  show_reductions("multilabel", Multilabel(), multilabel, {x});
  show_reductions("multilabel weight", Multilabel().weight(w), multilabel, {x});
  torch::nn::MultiLabelSoftMarginLoss labels(
      torch::nn::MultiLabelSoftMarginLossOptions().weight(w));
  show_gradients(printed(*labels), labels(x, targets), {x});
}

CASE(poisson_nll_loss) {
  const auto x = leaf({3, 4}, 0), y = (filled({3, 4}, 1) + 1) * 3;
  const auto rate = (filled({3, 4}, 2) + 1.5).clone().requires_grad_();
  using Options = F::PoissonNLLLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::poisson_nll_loss(x, y, o); };
  show_reductions("log", Options(), loss, {x});
  show_reductions("full", Options().full(true), loss, {x});
  const auto of_rate = [&](const Options& o) { return F::poisson_nll_loss(rate, y, o); };
  show_reductions("rate", Options().log_input(false).eps(1e-3), of_rate, {rate});
  show_gradients("at", torch::poisson_nll_loss(x, y, true, true, 1e-8, torch::Reduction::Sum), {x});
  torch::nn::PoissonNLLLoss module(torch::nn::PoissonNLLLossOptions().full(true));
  show_gradients(printed(*module), module(x, y), {x});
  show_error("shape", [&] { F::poisson_nll_loss(x, filled({5})); });
}
