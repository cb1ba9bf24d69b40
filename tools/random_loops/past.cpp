// Rules about results that are kept with their histories, and asked about when a backward has gone
// through these.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kP = Theme::kPast;
constexpr auto kAny = Phase::kAnywhere;

void keep(Step& t, const Tensor& result) {
  if (!result.requires_grad()) return;
  t.m.past.push_back(result);
  if (t.m.past.size() > 6) t.m.past.pop_front();
}

void show_gradient(Step& t, const Tensor& of, const Tensor& with_respect_to) {
  const auto gradients = autograd::grad(
      {of}, {with_respect_to}, {groove::ones(of.sizes(), {}, t.at())}, true, false, true, t.at());
  if (gradients[0].defined())
    t.show(gradients[0]);
  else
    t.show("no gradient", 0);
}

const Rule rules[] = {
    {kP, Phase::kForward, 4, "past.push_back($h)", [](Step& t) { keep(t, t.h); }},
    {kP, Phase::kForward, 1, "past.push_back(loss)", [](Step& t) { keep(t, t.m.loss); }},
    {kP, Phase::kForward, 2, "$h = $h * $p, $h.register_hook(g * $x), past.push_back($h)",
     [](Step& t) {
       t.h = t.h.mul(t.p, t.at());
       Machine& m = t.m;
       const double x = t.x;
       t.h.register_hook(
           [&m, x](const Tensor& gradient) {
             ++m.hook_calls;
             return gradient * x;
           },
           t.at());
       keep(t, t.h);
     }},
    {kP, kAny, 3, "print(grad(past.front(), past.front()))",
     [](Step& t) {
       if (!t.m.past.empty()) show_gradient(t, t.m.past.front(), t.m.past.front());
     }},
    {kP, kAny, 2, "print(grad(past.back(), past.back()))",
     [](Step& t) {
       if (!t.m.past.empty()) show_gradient(t, t.m.past.back(), t.m.past.back());
     }},
    {kP, kAny, 2, "print(grad(past.back(), $p))",
     [](Step& t) {
       if (!t.m.past.empty()) show_gradient(t, t.m.past.back(), t.p);
     }},
    {kP, kAny, 1, "print(grad(past.back(), past.front()))",
     [](Step& t) {
       if (!t.m.past.empty()) show_gradient(t, t.m.past.back(), t.m.past.front());
     }},
    {kP, kAny, 1, "past.front().backward(ones)",
     [](Step& t) {
       if (!t.m.past.empty())
         t.m.past.front().backward(groove::ones(t.m.past.front().sizes(), {}, t.at()), true, false,
                                   {}, t.at());
     }},
    {kP, kAny, 2, "print(names of past)",
     [](Step& t) {
       for (const Tensor& result : t.m.past) {
         const auto node = result.grad_fn();
         std::fprintf(t.m.log, "%s %d\n", node ? node->name().c_str() : "none",
                      static_cast<int>(result.output_nr()));
       }
     }},
    {kP, kAny, 1, "past.clear()", [](Step& t) { t.m.past.clear(); }},
};

}  // namespace

std::span<const Rule> past_rules() { return rules; }

}  // namespace groove::random_loops
