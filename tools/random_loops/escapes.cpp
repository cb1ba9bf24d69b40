// Rules about tensors that outlive their iteration, and about statements that throw.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kE = Theme::kEscapes;
constexpr auto kX = Theme::kErrors;
constexpr auto kAny = Phase::kAnywhere;

const Rule rules[] = {
    {kE, kAny, 4, "kept.assign(1, $a + $b)",
     [](Step& t) { t.m.kept.assign(1, t.a.add(t.b, 1, t.at())); }},
    {kE, kAny, 2, "kept.push_back($a)", [](Step& t) { t.m.kept.push_back(t.a); }},
    {kE, kAny, 2, "kept.push_back($h)", [](Step& t) { t.m.kept.push_back(t.h.detach(t.at())); }},
    {kE, kAny, 2, "kept.push_back($a[$n])",
     [](Step& t) { t.m.kept.push_back(t.a.select(0, t.n, t.at())); }},
    {kE, kAny, 1, "kept.push_back(loss.detach())",
     [](Step& t) { t.m.kept.push_back(t.m.loss.detach(t.at())); }},
    {kE, kAny, 1, "kept.clear()", [](Step& t) { t.m.kept.clear(); }},
    {kE, kAny, 2, "print(kept.front().sum().item())",
     [](Step& t) {
       if (!t.m.kept.empty()) t.show("kept", t.m.kept.front().sum(t.at()).item<double>(t.at()));
     }},
    {kE, Phase::kValues, 1, "$a = kept.front() * $x + $b",
     [](Step& t) {
       if (!t.m.kept.empty()) t.a = t.m.kept.front().mul(t.x, t.at()).add(t.b, 1, t.at());
     }},
    {kE, Phase::kValues, 2, "std::swap($a, $b)", [](Step& t) { std::swap(t.a, t.b); }},
    {kE, Phase::kValues, 1, "$a = $b", [](Step& t) { t.a = t.b; }},
    {kE, kAny, 1, "kept.front().add_($x)",
     [](Step& t) {
       if (!t.m.kept.empty()) t.m.kept.front().add_(t.x, 1, t.at());
     }},
    {kE, kAny, 1, "print($a.mean().item()) with a copy of the handle",
     [](Step& t) {
       const Tensor copy = t.a;
       t.show("mean", copy.mean(t.at()).item<double>(t.at()));
     }},
    {kX, kAny, 3, "$a = $b.mm(randn({size + 1, size}))",
     [](Step& t) {
       t.a = t.b.mm(groove::randn({t.size + 1, t.size}, {}, t.at()), t.at());
     }},
    {kX, kAny, 2, "t = $b * $x, $a = t.view({size, size + 1})",
     [](Step& t) {
       const auto made = t.b.mul(t.x, t.at());
       t.a = made.view({t.size, t.size + 1}, t.at());
     }},
    {kX, kAny, 2, "$a = $b.index_select(0, ($c[0] * 3).to(kLong))",
     [](Step& t) {
       t.a = t.b.index_select(
           0, t.c.select(0, 0, t.at()).mul(3, t.at()).to(kLong, false, false, t.at()), t.at());
     }},
    {kX, kAny, 1, "$p.add_($a)", [](Step& t) { t.p.add_(t.a, 1, t.at()); }},
    {kX, kAny, 1, "$a.add_($h)[throws half way]",
     [](Step& t) {
       t.a.add_(t.x, 1, t.at());
       if (t.i % 3 == 0) throw Error("a program's own");
       t.a.sub_(t.x, 1, t.at());
     }},
};

}  // namespace

std::span<const Rule> escape_rules() { return rules; }

}  // namespace groove::random_loops
