// Rules about hooks on leaves and results, that come and go.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kH = Theme::kHooks;

// The body of one hook; its lines are the same wherever it is registered.
Tensor called(Machine& m, const Tensor& gradient, int kind) {
  ++m.hook_calls;
  switch (kind % 4) {
    case 0:
      return gradient * 2;
    case 1:
      return gradient.clamp(-0.5, 0.5);
    case 2:
      std::fprintf(m.log, "hook %a\n", gradient.sum().item<double>());
      return Tensor();
    default:
      return Tensor();
  }
}

void add(Step& t, const Tensor& tensor, int kind) {
  Machine& m = t.m;
  t.m.hooks.push_back(
      {tensor,
       tensor.register_hook([&m, kind](const Tensor& g) { return called(m, g, kind); }, t.at())});
}

const Rule rules[] = {
    {kH, Phase::kBefore, 1, "$p.register_hook(hook$n)",
     [](Step& t) { add(t, t.p, static_cast<int>(t.n)); }},
    {kH, Phase::kAnywhere, 4, "if (hooks.size() < 4) hooks += $p.register_hook(hook$n)",
     [](Step& t) {
       if (t.m.hooks.size() < 4) add(t, t.p, static_cast<int>(t.n));
     }},
    {kH, Phase::kAnywhere, 4, "remove all hooks",
     [](Step& t) {
       for (const Hook& hook : t.m.hooks) hook.tensor.remove_hook(hook.position, t.at());
       t.m.hooks.clear();
     }},
    {kH, Phase::kAnywhere, 2, "remove the first hook",
     [](Step& t) {
       if (t.m.hooks.empty()) return;
       t.m.hooks.front().tensor.remove_hook(t.m.hooks.front().position, t.at());
       t.m.hooks.erase(t.m.hooks.begin());
     }},
    {kH, Phase::kAnywhere, 3, "a hook on $p for $j' iterations, then none for as many",
     [](Step& t) {
       const int period = static_cast<int>(t.j + 2) * 5;
       if (t.i % (2 * period) == period && t.m.hooks.size() < 4) add(t, t.p, static_cast<int>(t.n));
       if (t.i % (2 * period) == 0) {
         for (const Hook& hook : t.m.hooks) hook.tensor.remove_hook(hook.position, t.at());
         t.m.hooks.clear();
       }
     }},
    {kH, Phase::kForward, 4, "$h.register_hook(hook$n)",
     [](Step& t) {
       Machine& m = t.m;
       const int kind = static_cast<int>(t.n);
       if (t.h.requires_grad())
         t.h.register_hook([&m, kind](const Tensor& g) { return called(m, g, kind); }, t.at());
     }},
    {kH, Phase::kForward, 2, "$h.retain_grad()",
     [](Step& t) {
       if (t.h.requires_grad()) t.h.retain_grad(t.at());
     }},
    {kH, Phase::kAfter, 2, "print($h.grad())",
     [](Step& t) {
       if (t.h.grad().defined()) t.show(t.h.grad());
     }},
    {kH, Phase::kAnywhere, 2, "print(calls of hooks)",
     [](Step& t) { t.show("calls", static_cast<double>(t.m.hook_calls)); }},
};

}  // namespace

std::span<const Rule> hook_rules() { return rules; }

}  // namespace groove::random_loops
