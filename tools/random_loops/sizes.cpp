// Rules about sizes that are other in each iteration, 0 and 1 among them: ragged batches, rows
// chosen by value, sequences, experts.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kS = Theme::kSizes;
constexpr auto kV = Phase::kValues;
constexpr auto kF = Phase::kForward;

// 0 to `most`, without a pattern.
std::int64_t drawn(const Step& t, std::int64_t most) {
  auto word = static_cast<std::uint64_t>(t.i + 1) * 0x9e3779b97f4a7c15u +
              static_cast<std::uint64_t>(t.j) * 0xd1b54a32d192ed03u;
  word = (word ^ word >> 31) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::int64_t>((word >> 33) % static_cast<std::uint64_t>(most + 1));
}
std::int64_t some(const Step& t, std::int64_t most) { return 1 + drawn(t, most - 1); }

Tensor rows(Step& t, std::int64_t count) { return groove::randn({count, t.size}, {}, t.at()); }

const Rule rules[] = {
    {kS, kF, 6, "t = randn({drawn, size}); loss = loss + t.mm($p).tanh().square().mean()",
     [](Step& t) {
       const auto x = rows(t, some(t, 40));
       t.add_loss(x.mm(t.p, t.at()).tanh(t.at()).square(t.at()).mean(t.at()));
     }},
    {kS, kF, 4, "loss = loss + cross_entropy(randn({drawn, size}).mm($p), randint(size, {drawn}))",
     [](Step& t) {
       const std::int64_t count = some(t, 64);
       const auto x = rows(t, count);
       const auto y = groove::randint(t.size, {count}, TensorOptions(kLong), t.at());
       t.add_loss(groove::cross_entropy_loss(Arg(x.mm(t.p, t.at()), t.at()), y));
     }},
    {kS, kF, 3, "t = $m(randn({drawn, size})); loss = loss + (t - t.mean(0)).square().sum() * 0.01",
     [](Step& t) {
       if (t.net.kind != Model::kMlp) return;
       const auto y = t.net.forward(rows(t, some(t, 20)), t.i, t.at());
       const auto mean = y.mean({0}, false, std::nullopt, t.at());
       t.add_loss(y.sub(mean, 1, t.at()).square(t.at()).sum(t.at()).mul(0.01, t.at()));
     }},
    {kS, kF, 4, "keep = $b.select(1, $n) > $x; loss = loss + $b.index({keep}).mm($p).sum() * 0.1",
     [](Step& t) {
       const auto keep = t.b.detach(t.at()).select(1, t.n, t.at()).gt(t.x, t.at());
       const auto x = t.b.detach(t.at()).index({keep}, t.at());
       t.add_loss(x.mm(t.p, t.at()).sum(t.at()).mul(0.1, t.at()));
     }},
    {kS, kF, 3, "for e: at = ($b.argmax(1) == e).nonzero(); t.index_add_(0, at, $b[at].mm($p))",
     [](Step& t) {
       const auto x = t.b.detach(t.at());
       const auto which = x.argmax(1, false, t.at());
       auto sum = groove::zeros({t.size, t.size}, {}, t.at());
       for (std::int64_t expert = 0; expert < 2; ++expert) {
         const auto found = which.eq(expert, t.at()).nonzero(t.at());
         const auto at = found.squeeze(1, t.at());
         if (at.size(0) == 0) continue;
         const auto own = x.index_select(0, at, t.at()).mm(expert == 0 ? t.p : t.q, t.at());
         sum = sum.index_add(0, at, own, t.at());
       }
       t.add_loss(sum.square(t.at()).mean(t.at()));
     }},
    {kS, kF, 3,
     "t = zeros({1, size}); for (drawn) t = (t.mm($p) + $b[$n]).tanh(); loss = loss + t.sum()",
     [](Step& t) {
       auto state = groove::zeros({1, t.size}, {}, t.at());
       const auto x = t.b.detach(t.at());
       const auto at = Site::current();
       for (std::int64_t step = some(t, 9); step > 0; --step)
         state = state.mm(t.p, at).add(x.select(0, step % t.size, at), 1, at).tanh(at);
       t.add_loss(state.sum(t.at()).mul(0.1, t.at()));
     }},
    {kS, kF, 2, "t = cat({randn({drawn, size}), $b}); loss = loss + t.mm($p).softmax(0).std()",
     [](Step& t) {
       const auto x = groove::cat({rows(t, some(t, 12)), t.b.detach(t.at())}, 0, t.at());
       t.add_loss(x.mm(t.p, t.at()).softmax(0, std::nullopt, t.at()).std(true, t.at()));
     }},
    {kS, kF, 2,
     "t = randn({drawn, drawn', size}); loss = loss + t.matmul($p).mean(1).square().sum()",
     [](Step& t) {
       const auto x = groove::randn({some(t, 6), 1 + (t.i * 5 + 2) % 7, t.size}, {}, t.at());
       const auto mean = x.matmul(t.p, t.at()).mean({1}, false, std::nullopt, t.at());
       t.add_loss(mean.square(t.at()).sum(t.at()).mul(0.01, t.at()));
     }},
    {kS, kV, 3, "t = randn({drawn, size}); $a = t.t().mm(t) / drawn + $b * 0.5",
     [](Step& t) {
       const std::int64_t count = some(t, 50);
       const auto x = rows(t, count);
       t.a = x.t(t.at()).mm(x, t.at()).div(count, t.at()).add(t.b.mul(0.5, t.at()), 1, t.at());
     }},
    {kS, kV, 2, "t = randn({drawn or 0, size}); $a = $b + t.sum(0) * 0.1; print(t.numel())",
     [](Step& t) {
       const auto x = rows(t, drawn(t, 3));
       t.a = t.b.add(x.sum({0}, false, std::nullopt, t.at()).mul(0.1, t.at()), 1, t.at());
       t.show("count", static_cast<double>(x.numel()));
     }},
    {kS, kV, 2, "t = arange(drawn); $a = $b * ((t * t).sum().item() % 3 + 0.5)",
     [](Step& t) {
       const auto x = groove::arange(some(t, 30), TensorOptions(kLong), t.at());
       const auto sum = x.mul(x, t.at()).sum(t.at()).item<std::int64_t>(t.at());
       t.a = t.b.mul(static_cast<double>(sum % 3) + 0.5, t.at());
     }},
    {kS, kV, 2, "t = randn({drawn, size}); $a = $b + t.sort(0).cumsum(0)[-1] * 0.1",
     [](Step& t) {
       const auto sorted = std::get<0>(rows(t, some(t, 20)).sort(0, false, t.at()));
       const auto last = sorted.cumsum(0, std::nullopt, t.at()).select(0, -1, t.at());
       t.a = t.b.add(last.mul(0.1, t.at()), 1, t.at());
     }},
    {kS, kV, 2, "$a = $b * 0.5 + $c.index({$c.select(1, $n) > 0}).sum(0) * 0.1",
     [](Step& t) {
       const auto keep = t.c.select(1, t.n, t.at()).gt(0, t.at());
       const auto sum = t.c.index({keep}, t.at()).sum({0}, false, std::nullopt, t.at());
       t.a = t.b.mul(0.5, t.at()).add(sum.mul(0.1, t.at()), 1, t.at());
     }},
};

}  // namespace

std::span<const Rule> size_rules() { return rules; }

}  // namespace groove::random_loops
