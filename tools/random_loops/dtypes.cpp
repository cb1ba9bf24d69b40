// Rules about tensors that are no float32: wide and whole numbers, truths, halves, and what goes
// from one to the other; indices, masks, and operators with several results.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kD = Theme::kDtypes;
constexpr auto kV = Phase::kValues;
constexpr auto kF = Phase::kForward;
constexpr auto kX = Phase::kAnywhere;

Tensor& wide(Step& t) { return t.m.wide[t.s.k]; }
Tensor& whole(Step& t) { return t.m.whole[t.s.k]; }
Tensor places(Step& t) { return whole(t).remainder(t.size, t.at()); }

const Rule rules[] = {
    // ---- wide and whole numbers that stay ----
    {kD, kV, 4, "d$k = $a.to(kDouble) * $x + d$k * 0.5",
     [](Step& t) {
       wide(t) = t.a.to(kDouble, false, false, t.at())
                     .mul(t.x, t.at())
                     .add(wide(t).mul(0.5, t.at()), 1, t.at());
     }},
    {kD, kV, 3, "d$k.mul_(0.9).add_($b)",
     [](Step& t) { wide(t).mul_(0.9, t.at()).add_(t.b, 1, t.at()); }},
    {kD, kV, 2, "$a = d$k.to(kFloat).tanh()",
     [](Step& t) { t.a = wide(t).to(kFloat, false, false, t.at()).tanh(t.at()); }},
    {kD, kV, 2, "$a.copy_(d$k)", [](Step& t) { t.a.copy_(wide(t), false, t.at()); }},
    {kD, kV, 2, "$a = (($b + d$k) * 0.3).to(kFloat)",
     [](Step& t) {
       t.a = t.b.add(wide(t), 1, t.at()).mul(0.3, t.at()).to(kFloat, false, false, t.at());
     }},
    {kD, kV, 1, "d$k = randn({size, size}, kDouble)",
     [](Step& t) {
       wide(t) = groove::randn({t.size, t.size}, TensorOptions(kDouble), t.at());
     }},
    {kD, kV, 4, "z$k = ($b.clamp(-3, 3) * 7).to(kLong)",
     [](Step& t) {
       whole(t) = t.b.clamp(-3, 3, t.at()).mul(7, t.at()).to(kLong, false, false, t.at());
     }},
    {kD, kV, 3, "z$k = (z$k * 3 + $n).remainder(97)",
     [](Step& t) { whole(t) = whole(t).mul(3, t.at()).add(t.n, 1, t.at()).remainder(97, t.at()); }},
    {kD, kV, 2, "z$k.add_($n).mul_(-1)",
     [](Step& t) { whole(t).add_(t.n, 1, t.at()).mul_(-1, t.at()); }},
    {kD, kV, 1, "z$k = randint(100, {size, size})",
     [](Step& t) {
       whole(t) = groove::randint(100, {t.size, t.size}, {}, t.at()).to(kLong);
     }},
    {kD, kV, 1, "z$k.copy_($b.sign())",
     [](Step& t) { whole(t).copy_(t.b.sign(t.at()), false, t.at()); }},
    {kD, kV, 2, "$a = $b * (z$k + 1).remainder(5)",
     [](Step& t) { t.a = t.b.mul(whole(t).add(1, 1, t.at()).remainder(5, t.at()), t.at()); }},
    {kD, kV, 2, "$a = z$k / (z$k.abs() + 1)",
     [](Step& t) { t.a = whole(t).div(whole(t).abs(t.at()).add(1, 1, t.at()), t.at()); }},
    {kD, kX, 3, "print(z$k.sum().item<std::int64_t>())",
     [](Step& t) {
       t.show("whole", static_cast<double>(whole(t).sum(t.at()).item<std::int64_t>(t.at())));
     }},
    {kD, kX, 2, "print(z$k[$n][$j].item<std::int64_t>())",
     [](Step& t) {
       const auto row = whole(t).select(0, t.n, t.at());
       t.show("one", static_cast<double>(row.select(0, t.j, t.at()).item<std::int64_t>(t.at())));
     }},
    {kD, kX, 2, "print(d$k.std().item())",
     [](Step& t) { t.show("wide", wide(t).std(true, t.at()).item<double>(t.at())); }},
    // ---- indices and masks ----
    {kD, kV, 3, "$a = $b.gather(1, z$k.remainder(size))",
     [](Step& t) { t.a = t.b.gather(1, places(t), t.at()); }},
    {kD, kV, 2, "$a = $a.scatter_add(1, z$k.remainder(size), $b * 0.1)",
     [](Step& t) {
       const auto at = places(t);
       t.a = t.a.scatter_add(1, at, t.b.mul(0.1, t.at()), t.at());
     }},
    {kD, kV, 2, "$a.scatter_(1, z$k.remainder(size).narrow(1, 0, 1), $x)",
     [](Step& t) {
       const auto at = places(t).narrow(1, 0, 1, t.at());
       t.a.scatter_(1, at, t.x, t.at());
     }},
    {kD, kV, 2, "$a.index_add_(0, z$k[$n].remainder(size), $b * 0.1)",
     [](Step& t) {
       const auto at = places(t).select(0, t.n, t.at());
       t.a.index_add_(0, at, t.b.mul(0.1, t.at()), t.at());
     }},
    {kD, kV, 2, "$a.index_put_({$b > $x}, $x)",
     [](Step& t) { t.a.index_put_({t.b.gt(t.x, t.at())}, t.x); }},
    {kD, kV, 2, "$a.index_put_({z$k[$n].remainder(size)}, $b[$j])",
     [](Step& t) {
       const auto at = places(t).select(0, t.n, t.at());
       t.a.index_put_({at}, t.b.select(0, t.j, t.at()));
     }},
    {kD, kV, 2, "$a = where(($b > $c).logical_or($b < $x), $b, $c * 0.5)",
     [](Step& t) {
       const auto mask = t.b.gt(t.c, t.at()).logical_or(t.b.lt(t.x, t.at()), t.at());
       t.a = t.b.where(mask, t.c.mul(0.5, t.at()), t.at());
     }},
    {kD, kV, 1, "$a = one_hot(z$k[$n].remainder(size), size).to(kFloat) + $b * 0.1",
     [](Step& t) {
       const auto at = places(t).select(0, t.n, t.at());
       t.a = groove::one_hot(at, t.size)
                 .to(kFloat, false, false, t.at())
                 .add(t.b.mul(0.1, t.at()), 1, t.at());
     }},
    {kD, kX, 2, "if (($a > $b).any().item<bool>()) $a = $a * 0.9",
     [](Step& t) {
       if (t.a.gt(t.b, t.at()).any().item<bool>(t.at())) t.a = t.a.mul(0.9, t.at());
     }},
    {kD, kX, 1, "print(equal($a, $b))",
     [](Step& t) { t.show("equal", groove::equal(t.a, t.b) ? 1 : 0); }},
    // ---- several results ----
    {kD, kV, 2, "[values, at] = $b.topk(2); $a = $b - values[…, 0]",
     [](Step& t) {
       const auto [values, at] = t.b.topk(2);
       t.a = t.b.sub(values.narrow(1, 0, 1, t.at()), 1, t.at());
       whole(t).narrow(1, 0, 2, t.at()).copy_(at, false, t.at());
     }},
    {kD, kV, 2, "[values, at] = $b.max(1); $a = $b * 0.5 + values; z$k[$n] = at",
     [](Step& t) {
       const auto [values, at] = t.b.max(1);
       t.a = t.b.mul(0.5, t.at()).add(values, 1, t.at());
       whole(t).select(0, t.n, t.at()).copy_(at, false, t.at());
     }},
    {kD, kV, 2, "parts = $b.split({$n, size - $n}, 1); $a = cat({parts[1], parts[0]}, 1)",
     [](Step& t) {
       const auto parts = t.b.split({t.n, t.size - t.n}, 1);
       t.a = groove::cat({parts[1], parts[0]}, 1, t.at());
     }},
    {kD, kV, 2, "rows = $b.unbind(0); $a = stack({rows, backwards}) * $x",
     [](Step& t) {
       auto rows = t.b.unbind(0);
       std::reverse(rows.begin(), rows.end());
       t.a = groove::stack(rows, 0, t.at()).mul(t.x, t.at());
     }},
    {kD, kV, 1, "parts = $a.chunk(2); parts[0].mul_(0.9); parts[1].add_($x)",
     [](Step& t) {
       const auto parts = t.a.chunk(2);
       parts[0].mul_(0.9, t.at());
       parts[1].add_(t.x, 1, t.at());
     }},
    // ---- halves ----
    {kD, kV, 2, "$a = ($b.to(kBFloat16) * $x + $c.to(kBFloat16)).to(kFloat)",
     [](Step& t) {
       t.a = t.b.to(kBFloat16, false, false, t.at())
                 .mul(t.x, t.at())
                 .add(t.c.to(kBFloat16, false, false, t.at()), 1, t.at())
                 .to(kFloat, false, false, t.at());
     }},
    {kD, kV, 2, "$a = $b.to(kHalf).mm($c.to(kHalf)).to(kFloat).tanh()",
     [](Step& t) {
       t.a = t.b.to(kHalf, false, false, t.at())
                 .mm(t.c.to(kHalf, false, false, t.at()), t.at())
                 .to(kFloat, false, false, t.at())
                 .tanh(t.at());
     }},
    {kD, kV, 1, "$a = $b.sum(1, true, kDouble).to(kFloat) * 0.1 + $c",
     [](Step& t) {
       t.a = t.b.sum({1}, true, kDouble, t.at())
                 .to(kFloat, false, false, t.at())
                 .mul(0.1, t.at())
                 .add(t.c, 1, t.at());
     }},
    // ---- autocast ----
    {kD, kV, 2, "{ Autocast on; $a = linear($b, $c).to(kFloat).tanh() }",
     [](Step& t) {
       const amp::Autocast on;
       t.a = groove::linear({t.b, t.at()}, t.c, undefined_tensor())
                 .to(kFloat, false, false, t.at())
                 .tanh(t.at());
     }},
    {kD, kF, 3, "{ Autocast on(i % 3 != $k'); loss = loss + ($h.mm($p) * $x).square().mean() }",
     [](Step& t) {
       const amp::Autocast on(t.i % 3 != t.s.k);
       const auto product = t.h.mm(t.p, t.at()).mul(t.x, t.at());
       t.add_loss(product.square(t.at()).mean(t.at()).to(kFloat, false, false, t.at()));
     }},
    // ---- with history ----
    {kD, kF, 3, "$h = $r.to(kDouble).mm($p.to(kDouble)).to(kFloat).tanh()",
     [](Step& t) {
       t.h = t.r.to(kDouble, false, false, t.at())
                 .mm(t.p.to(kDouble, false, false, t.at()), t.at())
                 .to(kFloat, false, false, t.at())
                 .tanh(t.at());
     }},
    {kD, kF, 3, "loss = loss + ($h * $p).to(kBFloat16).square().mean().to(kFloat)",
     [](Step& t) {
       t.add_loss(t.h.mul(t.p, t.at())
                      .to(kBFloat16, false, false, t.at())
                      .square(t.at())
                      .mean(t.at())
                      .to(kFloat, false, false, t.at()));
     }},
    {kD, kF, 3, "loss = loss + ($p * d$k).square().mean().to(kFloat)",
     [](Step& t) {
       t.add_loss(
           t.p.mul(wide(t), t.at()).square(t.at()).mean(t.at()).to(kFloat, false, false, t.at()));
     }},
    {kD, kF, 3, "$h = ($h * $p).gather(1, z$k.remainder(size))",
     [](Step& t) { t.h = t.h.mul(t.p, t.at()).gather(1, places(t), t.at()); }},
    {kD, kF, 2, "$h = $p.index_select(0, z$k[$n].remainder(size)) + $g",
     [](Step& t) {
       const auto at = places(t).select(0, t.n, t.at());
       t.h = t.p.index_select(0, at, t.at()).add(t.g, 1, t.at());
     }},
    {kD, kF, 2, "$h = $h * ($a > $x)", [](Step& t) { t.h = t.h.mul(t.a.gt(t.x, t.at()), t.at()); }},
    {kD, kF, 2, "$h = $h.masked_fill(z$k.remainder(3) == 0, $x)",
     [](Step& t) {
       const auto mask = whole(t).remainder(3, t.at()).eq(0, t.at());
       t.h = t.h.masked_fill(mask, t.x, t.at());
     }},
    {kD, kF, 2, "loss = loss + $p.max(1).values.sum() * 0.1",
     [](Step& t) {
       const auto [values, at] = t.p.max(1);
       t.add_loss(values.sum(t.at()).mul(0.1, t.at()));
     }},
    {kD, kF, 2, "loss = loss + nll_loss(($h * $p).log_softmax(1), z$k[$n].remainder(size))",
     [](Step& t) {
       const auto at = places(t).select(0, t.n, t.at());
       const auto logs = t.h.mul(t.p, t.at()).log_softmax(1, std::nullopt, t.at());
       t.add_loss(groove::nll_loss(logs, at));
     }},
    {kD, kF, 2, "parts = ($h * $p).chunk(2, 1); loss = loss + (parts[0].sum() - parts[1].sum())",
     [](Step& t) {
       const auto parts = t.h.mul(t.p, t.at()).chunk(2, 1);
       t.add_loss(parts[0].sum(t.at()).sub(parts[1].sum(t.at()), 1, t.at()).mul(0.1, t.at()));
     }},
    {kD, kF, 1, "loss = loss + ($p * $p).sum(1).logsumexp(0) * 0.1",
     [](Step& t) {
       const auto rows = t.p.mul(t.p, t.at()).sum({1}, false, std::nullopt, t.at());
       t.add_loss(rows.logsumexp({0}).mul(0.1, t.at()));
     }},
};

}  // namespace

std::span<const Rule> dtype_rules() { return rules; }

}  // namespace groove::random_loops
