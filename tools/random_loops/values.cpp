// Rules about tensors as values: operators, writes in place, views that live for a moment, reads.
#include <sstream>

#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kV = Phase::kValues;
constexpr auto kF = Phase::kForward;
constexpr auto kP = Theme::kPlain;

const Rule rules[] = {
    // ---- new values ----
    {kP, kV, 6, "$a = ($b.mm($c) * 0.1).tanh() + 0.3",
     [](Step& t) { t.a = t.b.mm(t.c, t.at()).mul(0.1, t.at()).tanh(t.at()).add(0.3, 1, t.at()); }},
    {kP, kV, 4, "$a = $b * $x + $c * 0.5",
     [](Step& t) { t.a = t.b.mul(t.x, t.at()).add(t.c.mul(0.5, t.at()), 1, t.at()); }},
    {kP, kV, 4, "$a = ($b - $b.mean(1, true)) / ($b.std(0, true) + 0.5)",
     [](Step& t) {
       t.a = t.b.sub(t.b.mean({1}, true, std::nullopt, t.at()), 1, t.at())
                 .div(t.b.std({0}, true, true, t.at()).add(0.5, 1, t.at()), t.at());
     }},
    {kP, kV, 2, "$a = $b.softmax($j % 2)",
     [](Step& t) { t.a = t.b.softmax(t.j % 2, std::nullopt, t.at()); }},
    {kP, kV, 2, "$a = where($b > $x, $c, $b.sin())",
     [](Step& t) { t.a = t.c.where(t.b.gt(t.x, t.at()), t.b.sin(t.at()), t.at()); }},
    {kP, kV, 2, "$a = cat({$b.narrow(0, 0, $n), $c.narrow(0, $n, size - $n)})",
     [](Step& t) {
       t.a = groove::cat({t.b.narrow(0, 0, t.n, t.at()), t.c.narrow(0, t.n, t.size - t.n, t.at())},
                         0, t.at());
     }},
    {kP, kV, 2, "$a = $b.index_select(0, $c.argsort(0).select(1, $n))",
     [](Step& t) {
       t.a = t.b.index_select(0, t.c.argsort(0, false, t.at()).select(1, t.n, t.at()), t.at());
     }},
    {kP, kV, 2, "$a = $b.clamp(-1, $x).relu() - $c.sigmoid()",
     [](Step& t) {
       t.a = t.b.clamp(-1, t.x, t.at()).relu(t.at()).sub(t.c.sigmoid(t.at()), 1, t.at());
     }},
    {kP, kV, 2, "$a = $b.t().clone() * 0.5 + $c * 0.5",
     [](Step& t) {
       t.a = t.b.t(t.at()).clone(t.at()).mul(0.5, t.at()).add(t.c.mul(0.5, t.at()), 1, t.at());
     }},
    {kP, kV, 2, "$a = randn({size, size}) * $x",
     [](Step& t) {
       t.a = groove::randn({t.size, t.size}, {}, t.at()).mul(t.x, t.at());
     }},
    {kP, kV, 1, "$a = $b.cumsum($j % 2).tanh()",
     [](Step& t) { t.a = t.b.cumsum(t.j % 2, std::nullopt, t.at()).tanh(t.at()); }},
    {kP, kV, 1, "$a = $b.masked_fill($c < 0, $x)",
     [](Step& t) { t.a = t.b.masked_fill(t.c.lt(0, t.at()), t.x, t.at()); }},
    {kP, kV, 1, "$a = $b * (i % 3 + 1) * 0.3",
     [](Step& t) { t.a = t.b.mul(t.i % 3 + 1, t.at()).mul(0.3, t.at()); }},
    {kP, kV, 1, "$a = $b.sum(0).expand({size, size}).tanh()",
     [](Step& t) {
       t.a = t.b.sum({0}, false, std::nullopt, t.at())
                 .expand({t.size, t.size}, false, t.at())
                 .tanh(t.at());
     }},
    // A size that changes with the iteration.
    {kP, kV, 2, "t = randn({1 + i % $j', size}); $a = ($b.mm(t.t()).mm(t) * 0.1).tanh()",
     [](Step& t) {
       const auto rows = groove::randn({1 + t.i % (t.j + 2), t.size}, {}, t.at());
       t.a = t.b.mm(rows.t(t.at()), t.at()).mm(rows, t.at()).mul(0.1, t.at()).tanh(t.at());
     }},
    {kP, kV, 1, "$a = $b.narrow(0, 0, 1 + i % size).sum(0, true) * 0.2 + $c * 0.5",
     [](Step& t) {
       t.a = t.b.narrow(0, 0, 1 + t.i % t.size, t.at())
                 .sum({0}, true, std::nullopt, t.at())
                 .mul(0.2, t.at())
                 .add(t.c.mul(0.5, t.at()), 1, t.at());
     }},
    // ---- writes in place ----
    {kP, kV, 3, "$a[i % size].copy_($a[0].clone())",
     [](Step& t) {
       t.a.select(0, t.i % t.size, t.at())
           .copy_(t.a.select(0, 0, t.at()).clone(t.at()), false, t.at());
     }},
    {kP, kV, 4, "$a[i % size].copy_($b[$n].clone())",
     [](Step& t) {
       t.a.select(0, t.i % t.size, t.at())
           .copy_(t.b.select(0, t.n, t.at()).clone(t.at()), false, t.at());
     }},
    {kP, kV, 3, "$a.mul_(0.9).add_($b * 0.1)",
     [](Step& t) { t.a.mul_(0.9, t.at()).add_(t.b.mul(0.1, t.at()), 1, t.at()); }},
    {kP, kV, 2, "$a.add_($x)", [](Step& t) { t.a.add_(t.x, 1, t.at()); }},
    {kP, kV, 2, "$a.copy_($b)", [](Step& t) { t.a.copy_(t.b, false, t.at()); }},
    {kP, kV, 2, "$a.tanh_()", [](Step& t) { t.a.tanh_(t.at()); }},
    {kP, kV, 1, "$a.zero_()", [](Step& t) { t.a.zero_(t.at()); }},
    {kP, kV, 1, "$a.uniform_(-1, 1)", [](Step& t) { t.a.uniform_(-1, 1, t.at()); }},
    {kP, kV, 2, "$a.narrow(1, $n, 1).mul_($x)",
     [](Step& t) { t.a.narrow(1, t.n, 1, t.at()).mul_(t.x, t.at()); }},
    {kP, kV, 2, "$a.view({-1}).narrow(0, i % size, 2).fill_($x)",
     [](Step& t) { t.a.view({-1}, t.at()).narrow(0, t.i % t.size, 2, t.at()).fill_(t.x, t.at()); }},
    {kP, kV, 1, "$a.t().add_($b, 0.1)", [](Step& t) { t.a.t(t.at()).add_(t.b, 0.1, t.at()); }},
    {kP, kV, 1, "$a[$n] = $b[i % size] * $x",
     [](Step& t) {
       t.a[{t.n, t.at()}].copy_(t.b[{t.i % t.size, t.at()}].mul(t.x, t.at()), false, t.at());
     }},
    {kP, kV, 1, "$a[$n][i % size] = $x",
     [](Step& t) {
       t.a[{t.n, t.at()}][{t.i % t.size, t.at()}].fill_(t.x, t.at());
     }},
    // ---- reads ----
    {kP, Phase::kAnywhere, 4, "print($a.sum().item())",
     [](Step& t) { t.show("sum", t.a.sum(t.at()).item<double>(t.at())); }},
    {kP, Phase::kAnywhere, 2, "print($r[$n][$j].item())",
     [](Step& t) {
       t.show("element", t.r[{t.n, t.at()}][{t.j, t.at()}].item<double>(t.at()));
     }},
    {kP, Phase::kAnywhere, 2, "print($r.const_data_ptr())", [](Step& t) { t.show(t.r); }},
    {kP, Phase::kAnywhere, 1, "std::cout << $a[$n]",
     [](Step& t) {
       std::ostringstream out;
       out << t.a.select(0, t.n, t.at());
       std::fprintf(t.m.log, "%d:%d %s\n", t.s.number, t.i, out.str().c_str());
     }},
    {kP, Phase::kAnywhere, 1, "print($a.gt(0).nonzero().size(0))",
     [](Step& t) {
       t.show("rows", static_cast<double>(t.a.gt(0, t.at()).nonzero(t.at()).size(0, t.at())));
     }},
    {kP, Phase::kAnywhere, 1, "print($a.masked_select($b > $x).sum().item())",
     [](Step& t) {
       t.show("selected",
              t.a.masked_select(t.b.gt(t.x, t.at()), t.at()).sum(t.at()).item<double>(t.at()));
     }},
    {kP, Phase::kAnywhere, 1, "print($a._version())",
     [](Step& t) { t.show("version", static_cast<double>(t.a._version())); }},
    // ---- values with history ----
    {kP, kF, 4, "$h = $r.mm($p).tanh()", [](Step& t) { t.h = t.r.mm(t.p, t.at()).tanh(t.at()); }},
    {kP, kF, 3, "$h = ($g * $p + $r).sin()",
     [](Step& t) { t.h = t.g.mul(t.p, t.at()).add(t.r, 1, t.at()).sin(t.at()); }},
    {kP, kF, 2, "$h = cat({$g.narrow(0, 0, $n), $r.narrow(0, $n, size - $n)}).softmax(1)",
     [](Step& t) {
       t.h = groove::cat({t.g.narrow(0, 0, t.n, t.at()), t.r.narrow(0, t.n, t.size - t.n, t.at())},
                         0, t.at())
                 .softmax(1, std::nullopt, t.at());
     }},
    {kP, kF, 1, "$h.mul_($x)", [](Step& t) { t.h.mul_(t.x, t.at()); }},
    {kP, kF, 1, "$h[$n].copy_($r[$j])",
     [](Step& t) { t.h.select(0, t.n, t.at()).copy_(t.r.select(0, t.j, t.at()), false, t.at()); }},
    {kP, kF, 1, "$h = $h.detach()", [](Step& t) { t.h = t.h.detach(t.at()); }},
    {kP, kF, 1, "{ NoGradGuard off; $a = $h * 1 }",
     [](Step& t) {
       const NoGradGuard off;
       t.a = t.h.mul(1, t.at());
     }},
    {kP, kF, 4, "loss = loss + ($p * $b.detach()).sin().sum()",
     [](Step& t) {
       t.m.loss =
           t.m.loss.add(t.p.mul(t.b.detach(t.at()), t.at()).sin(t.at()).sum(t.at()), 1, t.at());
     }},
    {kP, kF, 4, "t = $p.mm($b.detach()).relu(), loss = loss + t.square().mean()",
     [](Step& t) {
       const auto product = t.p.mm(t.b.detach(t.at()), t.at()).relu(t.at());
       t.m.loss = t.m.loss.add(product.square(t.at()).mean(t.at()), 1, t.at());
     }},
    {kP, kF, 6, "loss = loss + ($h - $a).square().mean()",
     [](Step& t) {
       t.m.loss = t.m.loss.add(t.h.sub(t.a, 1, t.at()).square(t.at()).mean(t.at()), 1, t.at());
     }},
};

}  // namespace

std::span<const Rule> value_rules() { return rules; }

}  // namespace groove::random_loops
