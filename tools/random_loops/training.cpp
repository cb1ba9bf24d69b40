// Rules about training: models, gradients, optimizers, and both made again.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kT = Theme::kTraining;
constexpr auto kP = Theme::kPlain;

struct Rounded : autograd::Function<Rounded> {
  static Tensor forward(autograd::AutogradContext* context, Tensor x, double scale) {
    context->save_for_backward({x});
    context->saved_data["scale"] = scale;
    return groove::round(x * scale) / scale;
  }
  static autograd::tensor_list backward(autograd::AutogradContext* context,
                                        autograd::tensor_list gradients) {
    const auto x = context->get_saved_variables()[0];
    const double scale = context->saved_data["scale"].toDouble();
    return {gradients[0] * (x.abs() < scale).to(groove::kFloat), Tensor()};
  }
};
struct Product : autograd::Function<Product> {
  static Tensor forward(autograd::AutogradContext* context, Tensor x, Tensor y) {
    context->save_for_backward({x, y});
    return x.mm(y);
  }
  static autograd::tensor_list backward(autograd::AutogradContext* context,
                                        autograd::tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    return {gradients[0].mm(saved[1].t()), saved[0].t().mm(gradients[0])};
  }
};

// Functions of a program: their lines are the same for all callers.
void train(Model& model, optim::Optimizer& optimizer, const Tensor& x, int steps) {
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = model.forward(x, step, Site::current()).square().mean();
    loss.backward();
    optimizer.step();
  }
}
void fit(const Tensor& parameter, const Tensor& x, int kind, int steps) {
  OptimizerPlace optimizer;
  optimizer.make(kind, {parameter}, 0.01);
  for (int step = 0; step < steps; ++step) {
    optimizer.now().zero_grad();
    auto loss = parameter.mm(x).square().mean();
    loss.backward();
    optimizer.now().step();
  }
}
std::vector<Tensor> trained(Step& t) {
  std::vector<Tensor> all = t.m.parameters;
  if (t.s.o == 1) {
    all.clear();
    for (const auto& model : t.m.models)
      for (const auto& parameter : model->parameters()) all.push_back(parameter);
  }
  return all;
}

// What makes a program a training program; drawn by hand, so without weights.
const Rule rules[] = {
    {kP, Phase::kZero, 0, "$o.zero_grad()", [](Step& t) { t.opt.zero_grad(true, t.at()); }},
    {kP, Phase::kBackward, 0, "if (loss.requires_grad()) loss.backward()",
     [](Step& t) {
       if (t.m.loss.requires_grad())
         t.m.loss.backward(undefined_tensor(), std::nullopt, false, t.at());
     }},
    {kP, Phase::kStep, 0, "$o.step()", [](Step& t) { t.opt.step(t.at()); }},
    {kP, Phase::kForward, 4, "$h = $m($r)", [](Step& t) { t.h = t.net.forward(t.r, t.i, t.at()); }},
    {kT, Phase::kForward, 4, "$h = $m($r)", [](Step& t) { t.h = t.net.forward(t.r, t.i, t.at()); }},
    {kT, Phase::kForward, 2, "$h = Rounded::apply($h, 4.0)",
     [](Step& t) { t.h = Rounded::apply(t.h, 4.0); }},
    {kT, Phase::kForward, 2, "$h = Product::apply($r, $p).tanh()",
     [](Step& t) { t.h = Product::apply(t.r, t.p).tanh(t.at()); }},
    {kT, Phase::kForward, 1, "$h = dropout($h, 0.25)",
     [](Step& t) { t.h = groove::dropout(Arg(t.h, t.at()), 0.25, true); }},
    {kT, Phase::kForward, 1, "loss = loss + cross_entropy($h, $a.argmax(1))",
     [](Step& t) {
       const auto target = t.a.argmax(1, false, t.at());
       t.m.loss = t.m.loss.add(groove::cross_entropy_loss(Arg(t.h, t.at()), target), 1, t.at());
     }},
    {kT, Phase::kForward, 1, "print(loss.item())",
     [](Step& t) { t.show("loss", t.m.loss.item<double>(t.at())); }},
    {kT, Phase::kZero, 2, "$p.grad.reset()", [](Step& t) { t.p.mutable_grad().reset(); }},
    {kT, Phase::kZero, 2, "$o.zero_grad(false)", [](Step& t) { t.opt.zero_grad(false, t.at()); }},
    {kT, Phase::kBackward, 2, "loss.backward({}, true), loss.backward()",
     [](Step& t) {
       t.m.loss.backward(undefined_tensor(), true, false, t.at());
       t.m.loss.backward(undefined_tensor(), std::nullopt, false, t.at());
     }},
    {kT, Phase::kBackward, 2, "loss2 = ($p - $a).square().mean(), loss2.backward()",
     [](Step& t) {
       const auto second = t.p.sub(t.a, 1, t.at()).square(t.at()).mean(t.at());
       second.backward(undefined_tensor(), std::nullopt, false, t.at());
     }},
    {kT, Phase::kAfter, 3, "clip_grad_norm_(p, 0.5)",
     [](Step& t) {
       t.show("norm", nn::utils::clip_grad_norm_(t.m.parameters, 0.5, 2.0, false, t.at()));
     }},
    {kT, Phase::kAfter, 1, "clip_grad_value_(p, 0.1)",
     [](Step& t) { nn::utils::clip_grad_value_(t.m.parameters, 0.1, t.at()); }},
    {kT, Phase::kAfter, 2, "$p.grad().mul_($x)",
     [](Step& t) {
       if (t.p.grad().defined()) t.p.grad().mul_(t.x, t.at());
     }},
    {kP, Phase::kAfter, 2, "print($p.grad())",
     [](Step& t) {
       if (t.p.grad().defined()) t.show(t.p.grad());
     }},
    {kT, Phase::kAfter, 1, "$w = $p.grad()",
     [](Step& t) {
       if (t.p.grad().defined()) t.w = t.p.grad();
     }},
    {kT, Phase::kAfter, 1, "$a = $p.grad().detach() * $x",
     [](Step& t) {
       if (t.p.grad().defined()) t.a = t.p.grad().detach(t.at()).mul(t.x, t.at());
     }},
    {kT, Phase::kStep, 3, "{ NoGradGuard off; $p.sub_($p.grad() * 0.05) }",
     [](Step& t) {
       const NoGradGuard off;
       if (t.p.grad().defined()) t.p.sub_(t.p.grad().mul(0.05, t.at()), 1, t.at());
     }},
    {kT, Phase::kStep, 2, "{ NoGradGuard off; $a.mul_(0.9).add_($p, 0.1) }",
     [](Step& t) {
       const NoGradGuard off;
       t.a.mul_(0.9, t.at()).add_(t.p, 0.1, t.at());
     }},
    {kT, Phase::kStep, 1, "{ NoGradGuard off; $p.clamp_(-2, 2) }",
     [](Step& t) {
       const NoGradGuard off;
       t.p.clamp_(-2, 2, t.at());
     }},
    {kT, Phase::kForward, 2,
     "g = grad({($p * $h).square().sum()}, {$p}, create_graph)[0], "
     "loss = loss + g.square().mean()",
     [](Step& t) {
       const auto made = t.p.mul(t.h, t.at()).square(t.at()).sum(t.at());
       const auto gradient = autograd::grad({made}, {t.p}, {}, true, true)[0];
       t.m.loss = t.m.loss.add(gradient.square(t.at()).mean(t.at()), 1, t.at());
     }},
    {kT, Phase::kStep, 1, "saved = clones of p",
     [](Step& t) {
       t.m.saved.clear();
       for (const Tensor& parameter : t.m.parameters)
         t.m.saved.push_back(parameter.detach(t.at()).clone(t.at()));
     }},
    {kT, Phase::kStep, 2, "{ NoGradGuard off; p = saved }",
     [](Step& t) {
       const NoGradGuard off;
       for (std::size_t at = 0; at < t.m.saved.size(); ++at)
         t.m.parameters[at].copy_(t.m.saved[at], false, t.at());
     }},
    {kT, Phase::kStep, 3, "$o = Optimizer(…, 0.01)",
     [](Step& t) { t.m.optimizers[t.s.o].make(t.m.program.optimizers[t.s.o], trained(t), 0.01); }},
    {kT, Phase::kStep, 1, "$m = Model(…)",
     [](Step& t) {
       auto& place = t.m.models[t.s.m];
       const int kind = place->kind, size = place->size;
       place.reset();
       place = std::make_unique<Model>(kind, size);
     }},
    {kT, Phase::kStep, 1, "$o.param_groups()[0].options().set_lr($x * 0.05)",
     [](Step& t) { t.opt.param_groups()[0].options().set_lr(0.05 * std::abs(t.x)); }},
    {kT, Phase::kStep, 2, "(i % $k' == $n ? the other optimizer : $o).step()",
     [](Step& t) {
       const bool is_other = t.i % (7 + 5 * t.s.k) == t.n;
       t.m.optimizers[is_other ? 1 - t.s.o : t.s.o].now().step(t.at());
     }},
    {kT, Phase::kStep, 2, "if (i % $k' == $n) swap(models[0], models[1])",
     [](Step& t) {
       if (t.i % (7 + 5 * t.s.k) == t.n) std::swap(t.m.models[0], t.m.models[1]);
     }},
    {kT, Phase::kStep, 3, "train($m, $o, $a, $n + 2)",
     [](Step& t) { train(t.net, t.opt, t.a, static_cast<int>(t.n) + 2); }},
    {kT, Phase::kStep, 3,
     "{ Optimizer local({$p}), as $o; for ($n + 2 steps) of $p.mm($a).square().mean() }",
     [](Step& t) { fit(t.p, t.a, t.m.program.optimizers[t.s.o], static_cast<int>(t.n) + 2); }},
    {kT, Phase::kAnywhere, 2, "$p.requires_grad_(i % 2)",
     [](Step& t) { t.p.requires_grad_(t.i % 2 == 1, t.at()); }},
    {kT, Phase::kAnywhere, 1, "$m.train(i % 2)",
     [](Step& t) {
       if (t.net.tree) t.net.tree->train(t.i % 2 == 1);
     }},
    {kT, Phase::kAnywhere, 1, "{ NoGradGuard off; $a = $m($b).tanh() }",
     [](Step& t) {
       const NoGradGuard off;
       t.a = t.net.forward(t.b, t.i, t.at()).tanh(t.at());
     }},
};

}  // namespace

std::span<const Rule> training_rules() { return rules; }

}  // namespace groove::random_loops
