// Pixels and channels that change places, and Flatten and Unflatten.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

CASE(rearrangement_functions) {
  const auto a = leaf({2, 8, 2, 3}, 0), b = leaf({9, 2, 1}, 1), c = leaf({2, 3, 4, 6}, 2),
             d = leaf({2, 2, 4, 1, 2}, 3);
  show_gradients("pixel_shuffle", torch::pixel_shuffle(a, 2), {a});
  show_gradients("pixel_shuffle image", torch::pixel_shuffle(b, 3), {b});
  show_gradients("pixel_shuffle batches", torch::pixel_shuffle(d, 2), {d});
  show_gradients("pixel_shuffle 1", torch::pixel_shuffle(a, 1), {a});
  show_gradients("pixel_unshuffle", torch::pixel_unshuffle(c, 2), {c});
  show_gradients("pixel_unshuffle image", torch::pixel_unshuffle(c.select(0, 1), 1), {c});
  show_gradients("channel_shuffle", torch::channel_shuffle(a, 4), {a});
  show_gradients("channel_shuffle 5d", torch::channel_shuffle(d, 2), {d});
  show_gradients("channel_shuffle 1", torch::channel_shuffle(c, 1), {c});
  show_gradients("F pixel_shuffle", F::pixel_shuffle(a, 2), {a});
  show_gradients("F pixel_unshuffle", F::pixel_unshuffle(c, F::PixelUnshuffleFuncOptions(2)), {c});
  show_error("pixel_shuffle", [&] { torch::pixel_shuffle(c, 2); });
  show_error("pixel_shuffle factor", [&] { torch::pixel_shuffle(a, 0); });
  show_error("pixel_shuffle rank", [&] { torch::pixel_shuffle(filled({4, 4}), 2); });
  show_error("pixel_unshuffle", [&] { torch::pixel_unshuffle(a, 2); });
  show_error("channel_shuffle", [&] { torch::channel_shuffle(a, 3); });
}

CASE(rearrangement_modules) {
  const auto a = leaf({2, 8, 2, 2}, 0);
  using namespace torch::nn;
  const auto show_module = [&](auto module) { show_gradients(printed(*module), module(a), {a}); };
  show_module(PixelShuffle(2));
  show_module(PixelShuffle(PixelShuffleOptions(1)));
  show_module(PixelUnshuffle(2));
  show_module(PixelUnshuffle(PixelUnshuffleOptions(1)));
  show_module(Unflatten(1, std::vector<int64_t>{2, 4}));
  show_module(Unflatten(UnflattenOptions(-3, {4, -1})));
  show_module(Flatten());
  show_module(Flatten(FlattenOptions().start_dim(2).end_dim(3)));
  show_error("Unflatten", [&] { Unflatten(UnflattenOptions(1, {3, 3}))(a); });
}
