// Rules about what a program has besides tensors: seeds, modes, threads, files, copies of modules.
#include <sstream>

#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kS = Theme::kState;
constexpr auto kV = Phase::kValues;
constexpr auto kX = Phase::kAnywhere;

const Rule rules[] = {
    // ---- random numbers ----
    {kS, kX, 2, "manual_seed($n)", [](Step& t) { manual_seed(static_cast<std::uint64_t>(t.n)); }},
    {kS, kX, 2, "state = get_random_state()", [](Step& t) { t.m.random = get_random_state(); }},
    {kS, kX, 2, "set_random_state(state)",
     [](Step& t) {
       if (t.m.random) set_random_state(*t.m.random);
     }},
    {kS, kV, 3, "$a = rand({size, size}) * $x + $b * 0.5",
     [](Step& t) {
       t.a = groove::rand({t.size, t.size}, {}, t.at())
                 .mul(t.x, t.at())
                 .add(t.b.mul(0.5, t.at()), 1, t.at());
     }},
    {kS, kV, 2, "$a = $b.index_select(0, randperm(size))",
     [](Step& t) { t.a = t.b.index_select(0, groove::randperm(t.size), t.at()); }},
    {kS, kV, 1, "$a = $b.softmax(1).multinomial(2).to(kFloat).sum() * 0.1 + $c",
     [](Step& t) {
       const auto drawn = t.b.softmax(1, std::nullopt, t.at()).multinomial(2, false);
       t.a =
           t.c.add(drawn.to(kFloat, false, false, t.at()).sum(t.at()).mul(0.1, t.at()), 1, t.at());
     }},
    // ---- modes ----
    {kS, kX, 2, "set_num_threads(1 + i % 2)",
     [](Step& t) { groove::set_num_threads(1 + t.i % 2); }},
    {kS, kX, 2, "GradMode::set_enabled(i % $k' != $n), for this iteration",
     [](Step& t) { GradMode::set_enabled(t.i % (7 + 5 * t.s.k) != t.n); }},
    {kS, kV, 2, "{ InferenceMode on; $a = ($b * $x + $c).tanh().clone() }, $a = $a.clone()",
     [](Step& t) {
       {
         const InferenceMode on;
         t.a = t.b.mul(t.x, t.at()).add(t.c, 1, t.at()).tanh(t.at()).clone(t.at());
       }
       t.a = t.a.clone(t.at());
     }},
    {kS, kX, 2, "$m.eval(), $a = $m($b), $m.train()",
     [](Step& t) {
       t.net.tree->eval();
       t.a = t.net.forward(t.b, t.i, t.at()).detach(t.at()).tanh(t.at());
       t.net.tree->train();
     }},
    {kS, Phase::kZero, 2, "for (p : $m.parameters()) p.requires_grad_(i % $k' < $n)",
     [](Step& t) {
       for (Tensor& parameter : t.net.parameters())
         parameter.requires_grad_(t.i % (7 + 5 * t.s.k) < t.n, t.at());
     }},
    // ---- copies and files ----
    {kS, Phase::kStep, 2, "model = clone of $m; $a = model($b)",
     [](Step& t) {
       const NoGradGuard off;
       if (t.net.kind != Model::kMlp) return;
       const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(t.net.tree->clone());
       t.a = copy->forward(t.b).tanh(t.at());
     }},
    {kS, Phase::kStep, 3, "for (p, q : $m.parameters(), the other model's) q.lerp_(p, 0.1)",
     [](Step& t) {
       const NoGradGuard off;
       auto from = t.net.parameters(), to = t.m.models[1 - t.s.m]->parameters();
       if (from.size() != to.size()) return;
       for (std::size_t at = 0; at < from.size(); ++at)
         if (from[at].sizes() == to[at].sizes())
           to[at].mul_(0.9, t.at()).add_(from[at], 0.1, t.at());
     }},
    {kS, Phase::kStep, 1, "save($o, file), load($o, file)",
     [](Step& t) {
       std::stringstream file;
       groove::save(t.opt, file);
       groove::load(t.opt, file);
     }},
    {kS, Phase::kStep, 1, "save({p}, file), load({$a}, file)",
     [](Step& t) {
       std::stringstream file;
       groove::save(t.p.detach(t.at()), file);
       groove::load(t.a, file);
     }},
    {kS, Phase::kBackward, 3, "(loss / 2).backward({}, true)",
     [](Step& t) {
       if (t.m.loss.requires_grad())
         t.m.loss.div(2, t.at()).backward(undefined_tensor(), true, false, t.at());
     }},
    {kS, Phase::kForward, 2, "total = total + loss.detach(), now and then printed",
     [](Step& t) {
       t.m.total = t.m.total.defined() ? t.m.total.add(t.m.loss.detach(t.at()), 1, t.at())
                                       : t.m.loss.detach(t.at());
       if (t.i % (7 + 5 * t.s.k) != t.n) return;
       t.show("total", t.m.total.item<double>(t.at()));
       t.m.total = Tensor();
     }},
    {kS, kV, 2, "other = $b, moved = std::move($a), $a = moved * $x + other",
     [](Step& t) {
       const Tensor other = t.b, moved = std::move(t.a);
       t.a = moved.mul(t.x, t.at()).add(other, 1, t.at());
     }},
    {kS, kV, 2, "list = {$a, $b, $c}; for (l : list) $a = $a * 0.5 + l * 0.2",
     [](Step& t) {
       const std::vector<Tensor> list{t.a, t.b, t.c};
       const Site site = t.at();
       for (const Tensor& one : list) t.a = t.a.mul(0.5, site).add(one.mul(0.2, site), 1, site);
     }},
};

}  // namespace

std::span<const Rule> state_rules() { return rules; }

}  // namespace groove::random_loops
