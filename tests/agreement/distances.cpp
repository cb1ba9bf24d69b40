// Distances between vectors and losses over them.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

CASE(pairwise_distance) {
  const auto a = leaf({3, 4}, 0), b = leaf({3, 4}, 1), row = leaf({4}, 2), c = leaf({2, 1, 4}, 3);
  show_gradients("plain", torch::pairwise_distance(a, b), {a, b});
  show_gradients("keepdim", torch::pairwise_distance(a, b, 2, 1e-6, true), {a, b});
  for (const double p : {0.5, 1.0, 3.0, 1e300 * 1e300})
    show_gradients("p " + std::to_string(p), torch::pairwise_distance(a, b, p, 1e-3), {a, b});
  show_gradients("broadcast", torch::pairwise_distance(a, row), {a, row});
  show_gradients("broadcast 3d", torch::pairwise_distance(c, a), {c, a});
  show_gradients("rows", torch::pairwise_distance(row, row * 2), {row});
  show_gradients("functional",
                 F::pairwise_distance(a, b, F::PairwiseDistanceFuncOptions().p(1).eps(0.1)),
                 {a, b});
  torch::nn::PairwiseDistance module(torch::nn::PairwiseDistanceOptions().p(3).keepdim(true));
  show_gradients(printed(*module), module(a, b), {a, b});
  show("text", printed(*torch::nn::PairwiseDistance()));
  show_error("shape", [&] { torch::pairwise_distance(a, filled({3, 5})); });
}

CASE(cosine_similarity) {
  const auto a = leaf({3, 4}, 0), b = leaf({3, 4}, 1), row = leaf({4}, 2), c = leaf({2, 3, 1}, 3);
  show_gradients("plain", torch::cosine_similarity(a, b), {a, b});
  show_gradients("dim 0", torch::cosine_similarity(a, b, 0, 1e-3), {a, b});
  show_gradients("last", torch::cosine_similarity(a, row, -1), {a, row});
  show_gradients("broadcast", torch::cosine_similarity(a, c, 2), {a, c});
  show_gradients("rows", torch::cosine_similarity(row, row * -2, 0), {row});
  show_gradients("functional", F::cosine_similarity(a, b, F::CosineSimilarityFuncOptions().dim(0)),
                 {a, b});
  show("zeros", torch::cosine_similarity(a, torch::zeros({3, 4}, torch::kDouble)));
  torch::nn::CosineSimilarity module(torch::nn::CosineSimilarityOptions().dim(0).eps(0.5));
  show("module", module(a, b));
  show("text", printed(*module));
  show_error("shape", [&] { torch::cosine_similarity(a, filled({3, 5})); });
}

CASE(cosine_embedding_loss) {
  const auto a = leaf({3, 4}, 0), b = leaf({3, 4}, 1), row = leaf({4}, 2), other = leaf({4}, 3);
  const auto y = torch::tensor({1.0, -1.0, 1.0}, torch::kDouble), one = torch::tensor(-1.0);
  using Options = F::CosineEmbeddingLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::cosine_embedding_loss(a, b, y, o); };
  show_reductions("plain", Options(), loss, {a, b});
  show_reductions("margin", Options().margin(-0.5), loss, {a, b});
  show_gradients("at", torch::cosine_embedding_loss(a, b, -y, -0.9), {a, b});
  show_gradients("rows", torch::cosine_embedding_loss(row, other, one, -1), {row, other});
  torch::nn::CosineEmbeddingLoss module(torch::nn::CosineEmbeddingLossOptions().margin(0.25));
  show_gradients(printed(*module), module(a, b, y), {a, b});
  show_error("target", [&] { F::cosine_embedding_loss(a, b, filled({3, 1})); });
  show_error("shape", [&] { F::cosine_embedding_loss(a, b, one); });
}

CASE(triplet_margin_loss) {
  const auto a = leaf({3, 4}, 0), p = leaf({3, 4}, 1), n = leaf({3, 4}, 2);
  using Options = F::TripletMarginLossFuncOptions;
  const auto loss = [&](const Options& o) { return F::triplet_margin_loss(a, p, n, o); };
  show_reductions("plain", Options(), loss, {a, p, n});
  show_reductions("swap", Options().swap(true), loss, {a, p, n});
  show_reductions("order 1", Options().p(1).margin(0.3).eps(1e-3), loss, {a, p, n});
  show_gradients("at", torch::triplet_margin_loss(a, p, n, 2, 3, 1e-6, true), {a, p, n});
  const auto x = leaf({4}, 3), y = leaf({4}, 4), z = leaf({4}, 5);
  show_gradients("rows", torch::triplet_margin_loss(x, y, z), {x, y, z});
  torch::nn::TripletMarginLoss module(torch::nn::TripletMarginLossOptions().margin(0.5).swap(true));
  show_gradients(printed(*module), module(a, p, n), {a, p, n});
  show_error("rank", [&] { F::triplet_margin_loss(a, p, z); });
}

CASE(triplet_margin_with_distance_loss) {
  const auto a = leaf({3, 4}, 0), p = leaf({3, 4}, 1), n = leaf({3, 4}, 2);
  using Options = F::TripletMarginWithDistanceLossFuncOptions;
  const auto loss = [&](const Options& o) {
    return F::triplet_margin_with_distance_loss(a, p, n, o);
  };
  const auto distance = [](const torch::Tensor& x, const torch::Tensor& y) {
    return (x - y).abs().sum(-1);
  };
  show_reductions("plain", Options(), loss, {a, p, n});
  show_reductions("swap", Options().swap(true).margin(0.4), loss, {a, p, n});
  show_reductions("own", Options().distance_function(distance), loss, {a, p, n});
  show_reductions("own swap", Options().distance_function(distance).swap(true), loss, {a, p, n});
  torch::nn::TripletMarginWithDistanceLoss module(
      torch::nn::TripletMarginWithDistanceLossOptions().distance_function(distance).margin(2));
  show_gradients(printed(*module), module(a, p, n), {a, p, n});
}
