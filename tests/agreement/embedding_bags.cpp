// Bags of rows: every mode, fixed and given lengths, padding and weights.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

namespace {

torch::Tensor whole(std::vector<int64_t> values) { return torch::tensor(values, torch::kLong); }

}  // namespace

CASE(embedding_bag_function) {
  const auto w = leaf({6, 3}, 0), s = leaf({7}, 1);
  const auto indices = whole({1, 5, 2, 2, 0, 1, 3}), offsets = whole({0, 3, 3, 5});
  const char* names[] = {"sum", "mean", "max"};
  for (const int mode : {0, 1, 2}) {
    show_gradients(names[mode], std::get<0>(torch::embedding_bag(w, indices, offsets, false, mode)),
                   {w});
    show_gradients(std::string(names[mode]) + " last",
                   std::get<0>(torch::embedding_bag(w, indices, whole({0, 3, 7}), false, mode,
                                                    false, {}, true)),
                   {w});
    show_gradients(
        std::string(names[mode]) + " padding",
        std::get<0>(torch::embedding_bag(w, indices, offsets, false, mode, false, {}, false, 2)),
        {w});
  }
  show_gradients("weights",
                 std::get<0>(torch::embedding_bag(w, indices, offsets, false, 0, false, s)),
                 {w, s});
  show_gradients("frequency", std::get<0>(torch::embedding_bag(w, indices, offsets, true, 0)), {w});
  show_gradients("frequency mean", std::get<0>(torch::embedding_bag(w, indices, offsets, true, 1)),
                 {w});
  show_error("index", [&] { torch::embedding_bag(w, whole({6}), whole({0})); });
  show_error("mode", [&] { torch::embedding_bag(w, indices, offsets, false, 1, false, s); });
  show_error("offset", [&] { torch::embedding_bag(w, indices, whole({1, 3})); });
  show_error("offset beyond", [&] { torch::embedding_bag(w, indices, whole({0, 8})); });
}

CASE(embedding_bag_functional) {
  const auto w = leaf({6, 3}, 0), s = leaf({2, 4}, 1), t = leaf({8}, 2);
  const auto rows = whole({1, 5, 2, 2, 0, 1, 3, 0}).view({2, 4});
  const auto flat = rows.reshape({-1}), offsets = whole({0, 2, 8});
  using Options = F::EmbeddingBagFuncOptions;
  const auto all = [&](const std::string& name, Options options) {
    show_gradients(name, F::embedding_bag(rows, w, options), {w});
    show_gradients(name + " padding", F::embedding_bag(rows, w, Options(options).padding_idx(-4)),
                   {w});
    show_gradients(name + " offsets", F::embedding_bag(flat, w, options.offsets(offsets)), {w});
  };
  all("default", Options());
  all("sum", Options().mode(torch::kSum));
  all("mean", Options().mode(torch::kMean));
  all("max", Options().mode(torch::kMax));
  show_gradients("weights",
                 F::embedding_bag(rows, w, Options().mode(torch::kSum).per_sample_weights(s)),
                 {w, s});
  show_gradients(
      "weights of offsets",
      F::embedding_bag(flat, w, Options().mode(torch::kSum).per_sample_weights(t).offsets(offsets)),
      {w, t});
  auto scaled = filled({6, 3}, 3);
  show("max_norm", F::embedding_bag(rows, scaled, Options().max_norm(0.7).mode(torch::kSum)));
  show("max_norm written", scaled);
  show_error("weights mode", [&] { F::embedding_bag(rows, w, Options().per_sample_weights(s)); });
  show_error("offsets", [&] { F::embedding_bag(rows, w, Options().offsets(offsets)); });
  show_error("no offsets", [&] { F::embedding_bag(flat, w); });
  show_error("frequency", [&] {
    F::embedding_bag(rows, w, Options().mode(torch::kMax).scale_grad_by_freq(true));
  });
}

CASE(embedding_bag_module) {
  using namespace torch::nn;
  const auto rows = whole({1, 5, 2, 2, 0, 1}).view({2, 3}), offsets = whole({0, 2});
  EmbeddingBag module(6, 4);
  fill(*module);
  show_gradients(printed(*module), module(rows), {module->weight});
  show_gradients("offsets", module(rows.reshape({-1}), offsets), {module->weight});
  EmbeddingBag sums(EmbeddingBagOptions(6, 4).mode(torch::kSum).padding_idx(2));
  show("padding row", sums->weight[2].ne(0).all());
  fill(*sums);
  const auto weights = leaf({2, 3}, 4);
  show_gradients(printed(*sums), sums(rows, torch::Tensor(), weights), {sums->weight, weights});
  show("text", printed(*EmbeddingBag(EmbeddingBagOptions(6, 4)
                                         .mode(torch::kMax)
                                         .max_norm(2)
                                         .norm_type(1.5)
                                         .include_last_offset(true))));
  show("text of more",
       printed(*EmbeddingBag(EmbeddingBagOptions(6, 4).scale_grad_by_freq(true).sparse(true))));
  const auto table = filled({6, 4}, 5);
  auto fixed =
      EmbeddingBag::from_pretrained(table, EmbeddingBagFromPretrainedOptions().mode(torch::kSum));
  show("from_pretrained", fixed(rows));
  show("frozen", fixed->weight.requires_grad() ? 1 : 0);
  Sequential sequence(EmbeddingBag(6, 4));
  fill(*sequence);
  show("sequential", sequence->forward(rows));
  show_error("padding", [] { EmbeddingBag bag(EmbeddingBagOptions(3, 2).padding_idx(3)); });
}
