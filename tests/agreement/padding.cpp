// Padding: every mode and rank, with cuts, as functions and modules.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

CASE(padding_functions) {
  const auto a = leaf({3, 5}, 0), b = leaf({2, 3, 4}, 1), c = leaf({2, 2, 3, 3}, 2),
             d = leaf({1, 2, 3, 2, 3}, 3);
  show_gradients("reflection 1d", torch::reflection_pad1d(a, {2, 1}), {a});
  show_gradients("reflection 1d batch", torch::reflection_pad1d(b, {3, 0}), {b});
  show_gradients("reflection 2d", torch::reflection_pad2d(c, {1, 2, 0, 1}), {c});
  show_gradients("reflection 2d image", torch::reflection_pad2d(b, {1, 2, 2, 1}), {b});
  show_gradients("reflection 3d", torch::reflection_pad3d(d, {1, 2, 1, 0, 2, 1}), {d});
  show_gradients("reflection cut", torch::reflection_pad1d(a, {-2, 3}), {a});
  show_gradients("replication 1d", torch::replication_pad1d(a, {7, 1}), {a});
  show_gradients("replication 1d batch", torch::replication_pad1d(b, {0, 3}), {b});
  show_gradients("replication 2d", torch::replication_pad2d(c, {1, 2, 4, 1}), {c});
  show_gradients("replication 3d", torch::replication_pad3d(d, {1, 2, 1, 0, 2, 4}), {d});
  show_gradients("replication cut", torch::replication_pad1d(a, {-1, 3}), {a});
  show_error("reflection size", [&] { torch::reflection_pad1d(a, {5, 0}); });
  show_error("reflection rank", [&] { torch::reflection_pad2d(a, {1, 1, 1, 1}); });
  show_error("replication pad", [&] { torch::replication_pad2d(c, {1, 1}); });
  show_error("replication rank", [&] { torch::replication_pad3d(b, {1, 1, 1, 1, 1, 1}); });
}

CASE(padding_functional) {
  const auto a = leaf({2, 5}, 0), b = leaf({2, 3, 4}, 1), c = leaf({2, 2, 3, 3}, 2),
             d = leaf({1, 2, 3, 2, 3}, 3);
  using Options = F::PadFuncOptions;
  show_gradients("constant", F::pad(b, Options({1, 2, 0, 1, 1, 0}).value(2.5)), {b});
  show_gradients("constant cut", F::pad(b, Options({-1, 2})), {b});
  show_gradients("constant 3d", F::pad(d, Options({1, 0, 0, 1, 1, 1}).value(-1)), {d});
  for (const std::int64_t after : {1, 2}) {
    const auto name = std::to_string(after);
    show_gradients("reflect 1d " + name, F::pad(a, Options({2, after}).mode(torch::kReflect)), {a});
    show_gradients("replicate 1d " + name, F::pad(b, Options({0, after}).mode(torch::kReplicate)),
                   {b});
    show_gradients("circular 1d " + name, F::pad(b, Options({1, after}).mode(torch::kCircular)),
                   {b});
    show_gradients("reflect 2d " + name, F::pad(c, Options({1, after, 2, 1}).mode(torch::kReflect)),
                   {c});
    show_gradients("replicate 2d " + name,
                   F::pad(c, Options({3, after, 0, 1}).mode(torch::kReplicate)), {c});
    show_gradients("circular 2d " + name,
                   F::pad(c, Options({3, after, 0, 1}).mode(torch::kCircular)), {c});
    show_gradients("reflect 3d " + name,
                   F::pad(d, Options({1, after, 0, 1, 2, 1}).mode(torch::kReflect)), {d});
    show_gradients("replicate 3d " + name,
                   F::pad(d, Options({1, after, 0, 1, 4, 1}).mode(torch::kReplicate)), {d});
    show_gradients("circular 3d " + name,
                   F::pad(d, Options({1, after, 0, 2, 3, 1}).mode(torch::kCircular)), {d});
  }
  show_gradients("circular cut", F::pad(b, Options({-1, 2}).mode(torch::kCircular)), {b});
  show_error("circular", [&] { F::pad(b, Options({5, 0}).mode(torch::kCircular)); });
  show_error("odd", [&] { F::pad(b, Options({1, 1, 1})); });
}

CASE(padding_modules) {
  const auto a = leaf({2, 3, 5}, 0), b = leaf({2, 2, 3, 4}, 1), c = leaf({1, 2, 3, 3, 3}, 2);
  const auto show_module = [](auto module, const torch::Tensor& x) {
    show_gradients(printed(*module), module(x), {x});
  };
  using namespace torch::nn;
  show_module(ReflectionPad1d(2), a);
  show_module(ReflectionPad1d(ReflectionPad1dOptions({3, 1})), a);
  show_module(ReflectionPad2d(1), b);
  show_module(ReflectionPad2d(ReflectionPad2dOptions({1, 1, 2, 0})), b);
  show_module(ReflectionPad3d(1), c);
  show_module(ReflectionPad3d(ReflectionPad3dOptions({1, 1, 2, 0, 1, 2})), c);
  show_module(ReplicationPad1d(2), a);
  show_module(ReplicationPad1d(ReplicationPad1dOptions({3, 1})), a);
  show_module(ReplicationPad2d(2), b);
  show_module(ReplicationPad2d(ReplicationPad2dOptions({1, 1, 2, 0})), b);
  show_module(ReplicationPad3d(1), c);
  show_module(ReplicationPad3d(ReplicationPad3dOptions({1, 2, 1, 2, 1, 2})), c);
  show_module(ZeroPad1d(2), a);
  show_module(ZeroPad1d(ZeroPad1dOptions({3, 1})), a);
  show_module(ZeroPad2d(1), b);
  show_module(ZeroPad2d(ZeroPad2dOptions({1, 1, 2, 0})), b);
  show_module(ZeroPad3d(1), c);
  show_module(ZeroPad3d(ZeroPad3dOptions({1, 0, 2, 0, 0, 2})), c);
  show_module(ConstantPad1d(2, 3.5), a);
  show_module(ConstantPad1d(ConstantPad1dOptions({3, 1}, 1.25)), a);
  show_module(ConstantPad2d(1, 2), b);
  show_module(ConstantPad2d(ConstantPad2dOptions({1, 1, 2, 0}, -1)), b);
  show_module(ConstantPad3d(1, 0.5), c);
  show_module(ConstantPad3d(ConstantPad3dOptions({1, 0, 2, 0, 0, 2}, 7)), c);
  show_error("rank", [&] { ReflectionPad1d(1)(b); });
  show_error("size", [&] { ReflectionPad2d(4)(b); });
}
