// Rules about a pool of tensors of which some are taken in each iteration, the same ones twice now
// and then: buffers of earlier steps, lists of samples.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kP = Theme::kPool;
constexpr auto kV = Phase::kValues;
constexpr auto kX = Phase::kAnywhere;
constexpr std::size_t kMost = 12;

void put(Step& t, const Tensor& member) {
  t.m.pool.push_back(member);
  if (t.m.pool.size() > kMost) t.m.pool.pop_front();
}

// Any one, by the iteration and its place in it.
Tensor& taken(Step& t, int place) {
  if (t.m.pool.empty()) put(t, t.b.detach(t.at()).clone(t.at()));
  const auto drawn = static_cast<std::uint64_t>(t.i) * 0x9e3779b97f4a7c15u +
                     static_cast<std::uint64_t>(place) * 0xc4ceb9fe1a85ec53u +
                     static_cast<std::uint64_t>(t.n);
  return t.m.pool[((drawn ^ drawn >> 29) * 0xbf58476d1ce4e5b9u >> 33) % t.m.pool.size()];
}

std::vector<Tensor> some(Step& t, int count) {
  std::vector<Tensor> all;
  for (int place = 0; place < count; ++place) all.push_back(taken(t, place));
  return all;
}

const Rule rules[] = {
    // ---- what is in it ----
    {kP, kX, 4, "pool.push_back($b.clone())",
     [](Step& t) { put(t, t.b.detach(t.at()).clone(t.at())); }},
    {kP, kX, 3, "pool.push_back($b)", [](Step& t) { put(t, t.b.detach(t.at())); }},
    {kP, kX, 2, "pool.push_back($b * $x)",
     [](Step& t) { put(t, t.b.detach(t.at()).mul(t.x, t.at())); }},
    {kP, kX, 1, "pool.push_back($b.t())", [](Step& t) { put(t, t.b.detach(t.at()).t(t.at())); }},
    {kP, kX, 1, "pool.push_back($h.detach())", [](Step& t) { put(t, t.h.detach(t.at())); }},
    {kP, kX, 1, "pool.pop_front()",
     [](Step& t) {
       if (t.m.pool.size() > 2) t.m.pool.pop_front();
     }},
    {kP, kX, 1, "swap(pool.front(), pool.back())",
     [](Step& t) {
       if (t.m.pool.size() > 1) std::swap(t.m.pool.front(), t.m.pool.back());
     }},
    {kP, kX, 2, "one of pool .mul_($x)", [](Step& t) { taken(t, 0).mul_(t.x, t.at()); }},
    {kP, kX, 1, "one of pool .copy_($b)",
     [](Step& t) { taken(t, 1).copy_(t.b.detach(t.at()), false, t.at()); }},
    {kP, kX, 1, "two of pool .add_($x)",
     [](Step& t) {
       const Site here = t.at();
       for (int place = 0; place < 2; ++place) taken(t, place).add_(t.x, 1, here);
     }},
    // ---- what is taken from it ----
    {kP, kV, 4, "$a = stack(six of pool).mean(0) * $x",
     [](Step& t) {
       t.a = groove::stack(some(t, 6), 0, t.at()).mean(0, false, {}, t.at()).mul(t.x, t.at());
     }},
    {kP, kV, 3, "for (five of pool : each) $a = ($a + each * $x).tanh()",
     [](Step& t) {
       const Site product = t.at(), sum = t.at(), bound = t.at();
       for (const Tensor& each : some(t, 5))
         t.a = t.a.add(each.mul(t.x, product), 1, sum).tanh(bound);
     }},
    {kP, kV, 3, "$a = one of pool * one of pool - one of pool",
     [](Step& t) { t.a = taken(t, 0).mul(taken(t, 1), t.at()).sub(taken(t, 2), 1, t.at()); }},
    {kP, kV, 2, "$a = cat(four of pool, 0).narrow(0, $n, size)",
     [](Step& t) {
       t.a = groove::cat(some(t, 4), 0, t.at()).narrow(0, t.n, t.size, t.at()).clone(t.at());
     }},
    {kP, kV, 2, "$a = one of pool, or what $b * $x is",
     [](Step& t) {
       const Tensor made = t.b.mul(t.x, t.at());
       put(t, made);
       const Site here = t.at();
       Tensor all = t.c;
       for (int place = 0; place < 4; ++place)
         all = all.mul(0.5, here).add(taken(t, place), 1, here);
       t.a = all;
     }},
    {kP, Phase::kForward, 3, "for (four of pool : each) loss += (each.mm($p)).sin().mean()",
     [](Step& t) {
       const Site product = t.at(), sine = t.at(), mean = t.at();
       for (const Tensor& each : some(t, 4)) t.add_loss(each.mm(t.p, product).sin(sine).mean(mean));
     }},
    {kP, Phase::kForward, 2, "$h = stack(three of pool).sum(0) * $p + $h",
     [](Step& t) {
       t.h = groove::stack(some(t, 3), 0, t.at())
                 .sum(0, false, {}, t.at())
                 .mul(t.p, t.at())
                 .add(t.h, 1, t.at());
     }},
    {kP, kX, 1, "print(one of pool.sum())", [](Step& t) { t.show(taken(t, 3)); }},
};

}  // namespace

std::span<const Rule> pool_rules() { return rules; }

}  // namespace groove::random_loops
