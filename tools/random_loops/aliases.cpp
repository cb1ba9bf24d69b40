// Rules about several handles on the same memory: detach, views that stay, set_data, gradients in
// one buffer, parameters as one vector.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kA = Theme::kAliases;
constexpr auto kV = Phase::kValues;
constexpr auto kB = Phase::kBefore;
constexpr auto kX = Phase::kAnywhere;

// Squares of the flat buffer; those of neighbouring places overlap.
Tensor square_at(Step& t, std::int64_t row) {
  return t.m.base.narrow(0, t.size * row, t.size * t.size, t.at()).view({t.size, t.size}, t.at());
}

void put_gradients_together(Step& t) {
  const auto count = t.size * t.size;
  t.p.mutable_grad() = t.m.base.narrow(0, 0, count, t.at()).view({t.size, t.size}, t.at());
  t.q.mutable_grad() =
      t.m.base.narrow(0, t.n * t.size, count, t.at()).view({t.size, t.size}, t.at());
}

const Rule rules[] = {
    // ---- which memory a handle shows ----
    {kA, kB, 6, "$w = $p.detach()", [](Step& t) { t.w = t.p.detach(t.at()); }},
    {kA, kB, 2, "$w = $a.detach()", [](Step& t) { t.w = t.a.detach(t.at()); }},
    {kA, kB, 1, "$w = $p.data()", [](Step& t) { t.w = t.p.data(); }},
    {kA, kB, 2, "$w = $a", [](Step& t) { t.w = t.a; }},
    {kA, kB, 2, "$w = $a.t()", [](Step& t) { t.w = t.a.t(t.at()); }},
    {kA, kB, 3, "$w = base.narrow(0, size * $n, size * size).view({size, size})",
     [](Step& t) { t.w = square_at(t, t.n); }},
    {kA, kB, 3, "$a = base.narrow(0, size * $j, size * size).view({size, size})",
     [](Step& t) { t.a = square_at(t, t.j); }},
    {kA, kB, 1, "$p.set_data($w)", [](Step& t) { t.p.set_data(t.w, t.at()); }},
    {kA, kB, 1, "vector_to_parameters(parameters_to_vector(p), p)",
     [](Step& t) {
       const NoGradGuard off;
       nn::utils::vector_to_parameters(nn::utils::parameters_to_vector(t.m.parameters, t.at()),
                                       t.m.parameters);
     }},
    {kA, kB, 2, "$p.grad, $q.grad = views of base at 0 and $n * size", put_gradients_together},
    {kA, kV, 2, "$w = $p.detach()", [](Step& t) { t.w = t.p.detach(t.at()); }},
    {kA, kV, 1, "$w = $a", [](Step& t) { t.w = t.a; }},
    {kA, kV, 1, "$w = $a.t()", [](Step& t) { t.w = t.a.t(t.at()); }},
    {kA, kV, 1, "$w = base.narrow(0, size * $n, size * size).view({size, size})",
     [](Step& t) { t.w = square_at(t, t.n); }},
    {kA, kV, 1, "$w = $a.clone()", [](Step& t) { t.w = t.a.clone(t.at()); }},
    {kA, kX, 2, "$a.set_data($w)", [](Step& t) { t.a.set_data(t.w, t.at()); }},
    {kA, kX, 1, "$a.set_data(randn({size, size}))",
     [](Step& t) {
       t.a.set_data(groove::randn({t.size, t.size}, {}, t.at()), t.at());
     }},
    {kA, Phase::kStep, 1, "$p.set_data($w)", [](Step& t) { t.p.set_data(t.w, t.at()); }},
    {kA, Phase::kStep, 1, "$p.set_data($p.detach().clone())",
     [](Step& t) { t.p.set_data(t.p.detach(t.at()).clone(t.at()), t.at()); }},
    {kA, Phase::kStep, 1, "vector_to_parameters(parameters_to_vector(p), p)",
     [](Step& t) {
       const NoGradGuard off;
       nn::utils::vector_to_parameters(nn::utils::parameters_to_vector(t.m.parameters, t.at()),
                                       t.m.parameters);
     }},
    {kA, Phase::kZero, 1, "$p.grad, $q.grad = views of base at 0 and $n * size",
     put_gradients_together},
    {kA, Phase::kZero, 2, "base.zero_()", [](Step& t) { t.m.base.zero_(t.at()); }},
    // ---- one tensor in two places where there are two otherwise ----
    {kA, Phase::kForward, 3,
     "u = $p * 0.3, v = (i % $k' == $n ? $p : $q) * $x, loss = loss + (u + v * v).mean()",
     [](Step& t) {
       const Tensor& second = t.i % (7 + 5 * t.s.k) == t.n ? t.p : t.q;
       const auto u = t.p.mul(0.3, t.at()), v = second.mul(t.x, t.at());
       t.m.loss = t.m.loss.add(u.add(v.mul(v, t.at()), 1, t.at()).mean(t.at()), 1, t.at());
     }},
    {kA, Phase::kForward, 3,
     "print(($h + $g).sum().item()), u = $h * 0.3, v = (i % $k' == $n ? $h : $g).sin(), "
     "loss = loss + (u + v * v).mean()",
     [](Step& t) {
       t.show("both", t.h.add(t.g, 1, t.at()).sum(t.at()).item<double>(t.at()));
       const Tensor& second = t.i % (7 + 5 * t.s.k) == t.n ? t.h : t.g;
       const auto u = t.h.mul(0.3, t.at()), v = second.sin(t.at());
       t.m.loss = t.m.loss.add(u.add(v.mul(v, t.at()), 1, t.at()).mean(t.at()), 1, t.at());
     }},
    {kA, kX, 3,
     "leaf0.grad.reset(), u = leaf0 * 0.3, v = (i % $k' == $n ? leaf0 : leaf1) * $x, "
     "(u + v * v).mean().backward(), print(leaf0.grad())",
     [](Step& t) {
       const Tensor& first = t.m.leaves[0];
       const Tensor& second = t.i % (7 + 5 * t.s.k) == t.n ? first : t.m.leaves[1];
       first.mutable_grad().reset();
       const auto u = first.mul(0.3, t.at()), v = second.mul(t.x, t.at());
       u.add(v.mul(v, t.at()), 1, t.at())
           .mean(t.at())
           .backward(undefined_tensor(), std::nullopt, false, t.at());
       t.show(first.grad());
     }},
    // ---- writes through one handle between reads through another ----
    {kA, kX, 4, "$w.add_($x)", [](Step& t) { t.w.add_(t.x, 1, t.at()); }},
    {kA, kX, 3, "(i % $k' == $n ? $w : $a).add_(1)",
     [](Step& t) {
       const Tensor& target = t.i % (7 + 5 * t.s.k) == t.n ? t.w : t.a;
       target.add_(1, 1, t.at());
     }},
    {kA, kX, 3, "$w.mul_($x)", [](Step& t) { t.w.mul_(t.x, t.at()); }},
    {kA, kX, 2, "$w.copy_($a)", [](Step& t) { t.w.copy_(t.a, false, t.at()); }},
    {kA, kX, 2, "$w[$n].copy_($a[$j])",
     [](Step& t) { t.w.select(0, t.n, t.at()).copy_(t.a.select(0, t.j, t.at()), false, t.at()); }},
    {kA, kX, 2, "base.mul_($x)", [](Step& t) { t.m.base.mul_(t.x, t.at()); }},
    {kA, kX, 2, "base.narrow(0, $n, size).add_($x)",
     [](Step& t) { t.m.base.narrow(0, t.n, t.size, t.at()).add_(t.x, 1, t.at()); }},
    {kA, kX, 2, "print(base.sum().item())",
     [](Step& t) { t.show("base", t.m.base.sum(t.at()).item<double>(t.at())); }},
    {kA, kX, 2, "y = $p.detach() * 2, $w.add_($x), $a = ($p.detach() * 3 + y).tanh()",
     [](Step& t) {
       const auto y = t.p.detach(t.at()).mul(2, t.at());
       t.w.add_(t.x, 1, t.at());
       t.a = t.p.detach(t.at()).mul(3, t.at()).add(y, 1, t.at()).tanh(t.at());
     }},
    {kA, kX, 2, "y = $b * 2, (i % $k' == $n ? $w : $a).mul_($x), print((y + $b * 3).sum().item())",
     [](Step& t) {
       const auto y = t.b.mul(2, t.at());
       const Tensor& target = t.i % (7 + 5 * t.s.k) == t.n ? t.w : t.a;
       target.mul_(t.x, t.at());
       t.show("after", y.add(t.b.mul(3, t.at()), 1, t.at()).sum(t.at()).item<double>(t.at()));
     }},
};

}  // namespace

std::span<const Rule> alias_rules() { return rules; }

}  // namespace groove::random_loops
