// Rules about complex matrices that stay between iterations: arithmetic, writes through the views
// of their parts, transforms, and gradients through them.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kC = Theme::kComplex;
constexpr auto kV = Phase::kValues;
constexpr auto kF = Phase::kForward;
constexpr auto kX = Phase::kAnywhere;

Tensor& number(Step& t) { return t.m.complexes[t.s.k]; }
Tensor& other(Step& t) { return t.m.complexes[kBlobs - 1 - t.s.k]; }
// Of absolute values below 1.
Tensor bounded(Step& t, const Tensor& z) { return z.div(z.abs(t.at()).add(1, 1, t.at()), t.at()); }

const Rule rules[] = {
    // ---- new values ----
    {kC, kV, 4, "c$k = complex($a, $b)",
     [](Step& t) {
       number(t) = groove::complex({t.a, t.at()}, t.b);
     }},
    {kC, kV, 2, "c$k = polar($b.abs(), $c)",
     [](Step& t) {
       number(t) = groove::polar({t.b.abs(t.at()), t.at()}, t.c);
     }},
    {kC, kV, 2, "c$k = view_as_complex(stack({$b, $c}, -1))",
     [](Step& t) {
       number(t) = groove::view_as_complex({groove::stack({t.b, t.c}, -1, t.at()), t.at()});
     }},
    {kC, kV, 4, "c$k = bounded(c$k * c$k' + $a)",
     [](Step& t) { number(t) = bounded(t, number(t).mul(other(t), t.at()).add(t.a, 1, t.at())); }},
    {kC, kV, 3, "c$k = bounded(c$k.mm(c$k'.t()) * $x)",
     [](Step& t) {
       number(t) = bounded(t, number(t).mm(other(t).t(t.at()), t.at()).mul(t.x, t.at()));
     }},
    {kC, kV, 2, "c$k = c$k'.conj() - c$k * 0.5",
     [](Step& t) {
       number(t) = groove::conj({other(t), t.at()}).sub(number(t).mul(0.5, t.at()), 1, t.at());
     }},
    {kC, kV, 1, "c$k = c$k'", [](Step& t) { number(t) = other(t); }},
    {kC, kV, 2, "c$k = bounded(c$k').exp()",
     [](Step& t) { number(t) = bounded(t, other(t)).exp(t.at()); }},
    {kC, kV, 3, "c$k = fft(c$k', n, 0, ortho)",
     [](Step& t) {
       number(t) = groove::fft::fft({other(t), t.at()}, {}, 0, "ortho");
     }},
    {kC, kV, 2, "c$k = ifft(complex($a, $b))",
     [](Step& t) {
       number(t) = groove::fft::ifft({groove::complex({t.a, t.at()}, t.b), t.at()});
     }},
    {kC, kV, 2, "$a = irfft(rfft($b), size)",
     [](Step& t) {
       t.a = groove::fft::irfft({groove::fft::rfft({t.b, t.at()}), t.at()}, t.size);
     }},
    {kC, kV, 3, "$a = c$k.abs().tanh()", [](Step& t) { t.a = number(t).abs(t.at()).tanh(t.at()); }},
    {kC, kV, 2, "$a = angle(c$k) * 0.3",
     [](Step& t) {
       t.a = groove::angle({number(t), t.at()}).mul(0.3, t.at());
     }},
    {kC, kV, 2, "$a = real(c$k).tanh() - imag(c$k') * 0.1",
     [](Step& t) {
       const auto im = groove::imag({other(t), t.at()}).mul(0.1, t.at());
       t.a = groove::real({number(t), t.at()}).tanh(t.at()).sub(im, 1, t.at());
     }},
    // ---- writes ----
    {kC, kV, 3, "c$k.mul_($x).add_($b)",
     [](Step& t) { number(t).mul_(t.x, t.at()).add_(t.b, 1, t.at()); }},
    {kC, kV, 2, "c$k.mul_(c$k'); c$k.div_(c$k.abs() + 1)",
     [](Step& t) {
       number(t).mul_(other(t), t.at());
       number(t).div_(number(t).abs(t.at()).add(1, 1, t.at()), t.at());
     }},
    {kC, kV, 2, "c$k.copy_($a)", [](Step& t) { number(t).copy_(t.a, false, t.at()); }},
    {kC, kV, 2, "c$k[$n].copy_(c$k'[$j])",
     [](Step& t) {
       number(t).select(0, t.n, t.at()).copy_(other(t).select(0, t.j, t.at()), false, t.at());
     }},
    {kC, kV, 3, "real(c$k).copy_($b)",
     [](Step& t) {
       groove::real({number(t), t.at()}).copy_(t.b, false, t.at());
     }},
    {kC, kV, 2, "imag(c$k)[i % size].mul_($x)",
     [](Step& t) {
       groove::imag({number(t), t.at()}).select(0, t.i % t.size, t.at()).mul_(t.x, t.at());
     }},
    {kC, kV, 2, "view_as_real(c$k).clamp_(-3, 3)",
     [](Step& t) {
       groove::view_as_real({number(t), t.at()}).clamp_(-3, 3, t.at());
     }},
    {kC, kV, 1, "$a = real(c$k)",
     [](Step& t) {
       t.a = groove::real({number(t), t.at()});
     }},
    // ---- reads ----
    {kC, kX, 2, "print(view_as_real(c$k))",
     [](Step& t) {
       t.show(groove::view_as_real({number(t), t.at()}));
     }},
    {kC, kX, 2, "print(c$k.sum().item<std::complex<float>>())",
     [](Step& t) {
       const auto sum = number(t).sum(t.at()).item<std::complex<float>>(t.at());
       t.show("re", sum.real());
       t.show("im", sum.imag());
     }},
    {kC, kX, 1, "if (c$k.abs().max().item<float>() > 2) c$k = c$k * 0.5",
     [](Step& t) {
       if (number(t).abs(t.at()).max(t.at()).item<float>(t.at()) > 2)
         number(t) = number(t).mul(0.5, t.at());
     }},
    // ---- with history ----
    {kC, kF, 4, "loss = loss + (complex($h, $p) * c$k).abs().square().mean()",
     [](Step& t) {
       const auto z = groove::complex({t.h, t.at()}, t.p).mul(number(t), t.at());
       t.add_loss(z.abs(t.at()).square(t.at()).mean(t.at()));
     }},
    {kC, kF, 3, "$h = real(ifft(fft(complex($h, $p)) * c$k)).tanh()",
     [](Step& t) {
       const auto there = groove::fft::fft({groove::complex({t.h, t.at()}, t.p), t.at()});
       const auto back = groove::fft::ifft({there.mul(number(t), t.at()), t.at()});
       t.h = groove::real({back, t.at()}).tanh(t.at());
     }},
    {kC, kF, 2, "loss = loss + rfft($p).abs().mean() * 0.1",
     [](Step& t) {
       t.add_loss(groove::fft::rfft({t.p, t.at()}).abs(t.at()).mean(t.at()).mul(0.1, t.at()));
     }},
    {kC, kF, 2, "$h = imag(view_as_complex(stack({$p, $r}, -1)).mm(c$k)).sin()",
     [](Step& t) {
       const auto pair = groove::stack({t.p, t.r}, -1, t.at());
       const auto product = groove::view_as_complex({pair, t.at()}).mm(number(t), t.at());
       t.h = groove::imag({product, t.at()}).sin(t.at());
     }},
    {kC, kF, 2, "loss = loss + angle(complex($p, $q)).sin().mean()",
     [](Step& t) {
       const auto z = groove::complex({t.p, t.at()}, t.q);
       t.add_loss(groove::angle({z, t.at()}).sin(t.at()).mean(t.at()));
     }},
    {kC, kF, 1, "loss = loss + view_as_real(polar($p.abs() + 1, $h).conj()).square().mean() * 0.1",
     [](Step& t) {
       const auto z = groove::polar({t.p.abs(t.at()).add(1, 1, t.at()), t.at()}, t.h);
       const auto pair = groove::view_as_real({groove::conj({z, t.at()}), t.at()});
       t.add_loss(pair.square(t.at()).mean(t.at()).mul(0.1, t.at()));
     }},
};

}  // namespace

std::span<const Rule> complex_rules() { return rules; }

}  // namespace groove::random_loops
