// CTC: against LibTorch's own recursion, gradients included.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

namespace {

torch::Tensor whole(std::vector<int64_t> values) { return torch::tensor(values, torch::kLong); }

}  // namespace

CASE(ctc_loss_function) {
  const auto x = leaf({6, 3, 4}, 0);
  const auto lp = [&] { return x.log_softmax(2); };
  const auto padded = whole({1, 2, 2, 3, 1, 0, 2, 2, 1}).view({3, 3});
  const auto row = whole({1, 2, 2, 3, 1, 2, 2, 1});
  for (const int reduction : {0, 1, 2}) {
    const auto name = std::to_string(reduction);
    show_gradients("padded " + name,
                   torch::ctc_loss(lp(), padded, whole({6, 5, 6}), whole({3, 2, 3}), 0, reduction),
                   {x});
    show_gradients("in one row " + name,
                   torch::ctc_loss(lp(), row, whole({6, 5, 6}), whole({3, 2, 3}), 0, reduction),
                   {x});
  }
  show_gradients("lists", torch::ctc_loss(lp(), padded, {6, 5, 6}, {3, 2, 3}), {x});
  show_gradients("not normalised", torch::ctc_loss(x, padded, {6, 5, 4}, {3, 2, 2}, 0, 0), {x});
  show_gradients("blank 3", torch::ctc_loss(lp(), padded.clamp_max(2), {6, 5, 6}, {3, 2, 3}, 3, 0),
                 {x});
  show_gradients("no labels", torch::ctc_loss(lp(), padded, {6, 1, 3}, {0, 1, 0}, 0, 0), {x});
  show_gradients("zero_infinity", torch::ctc_loss(lp(), padded, {3, 5, 2}, {3, 2, 3}, 0, 0, true),
                 {x});
  show_gradients("zero_infinity mean",
                 torch::ctc_loss(lp(), padded, {3, 5, 2}, {3, 2, 3}, 0, 1, true), {x});
  show("infinite", torch::ctc_loss(lp(), padded, {3, 5, 2}, {3, 2, 3}, 0, 0));
  const auto one = leaf({5, 4}, 1);
  show_gradients("one sequence",
                 torch::ctc_loss(one.log_softmax(1), whole({1, 3}), whole({5}), whole({2}), 0, 0),
                 {one});
  show_error("blank", [&] { torch::ctc_loss(lp(), padded, {6, 5, 6}, {3, 2, 3}, 4); });
  show_error("frames", [&] { torch::ctc_loss(lp(), padded, {7, 5, 6}, {3, 2, 3}); });
  show_error("labels", [&] { torch::ctc_loss(lp(), padded, {6, 5, 6}, {3, 2, 4}); });
  show_error("count", [&] { torch::ctc_loss(lp(), padded, {6, 5}, {3, 2}); });
}

CASE(ctc_loss_module) {
  const auto x = leaf({6, 2, 5}, 0);
  const auto targets = whole({1, 2, 2, 3, 1, 4}).view({2, 3});
  torch::nn::CTCLoss module;
  show_gradients(printed(*module), module(x.log_softmax(2), targets, whole({6, 6}), whole({3, 2})),
                 {x});
  torch::nn::CTCLoss sums(
      torch::nn::CTCLossOptions().blank(4).reduction(torch::kSum).zero_infinity(true));
  show_gradients(printed(*sums),
                 sums(x.log_softmax(2), targets.clamp_max(3), whole({4, 2}), whole({3, 3})), {x});
  show_gradients("functional",
                 F::ctc_loss(x.log_softmax(2), targets, whole({6, 5}), whole({3, 2}),
                             F::CTCLossFuncOptions().reduction(torch::kNone)),
                 {x});
}
