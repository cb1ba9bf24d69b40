// Decoding with a beam: sizes grow by one token each step, and the best hypotheses are gathered.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  NoGradGuard no_grad;
  constexpr std::int64_t kTokens = 9, kBeam = 3;
  nn::Embedding table(kTokens, 8);
  nn::GRUCell cell(8, 8);
  nn::Linear head(8, kTokens);
  for (int sentence = 0; sentence < 240; ++sentence) {
    if (sentence == 160) steady();  // every place in a sentence has shapes of its own
    auto tokens = groove::full({kBeam, 1}, sentence % kTokens, groove::kLong);
    auto scores = groove::zeros({kBeam});
    auto h = groove::zeros({kBeam, 8});
    const int length = 6 + sentence % 3;
    for (int t = 0; t < length; ++t) {
      h = cell->forward(table(tokens.select(1, tokens.size(1) - 1)), h);
      auto all = groove::log_softmax(head(h), 1) + scores.unsqueeze(1);
      auto [best, places] = all.view({-1}).topk(kBeam);
      auto from = (places.to(groove::kDouble) / kTokens).floor().to(groove::kLong);
      auto next = places - from * kTokens;
      scores = best;
      h = h.index_select(0, from);
      tokens = groove::cat({tokens.index_select(0, from), next.unsqueeze(1)}, 1);
    }
    print("tokens", tokens);
    print("score", scores[0].item<double>());
  }
}

[[maybe_unused]] const bool registered = add({"beam_search", run});

}  // namespace
}  // namespace groove::programs
