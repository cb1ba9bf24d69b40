// Rules about memory that the program reads and writes itself: pointers, accessors, from_blob.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {
namespace {

constexpr auto kM = Theme::kMemory;
constexpr auto kV = Phase::kValues;
constexpr auto kB = Phase::kBefore;
constexpr auto kX = Phase::kAnywhere;

void point_at(Step& t) {
  t.m.pointed = t.a;
  t.m.pointed_memory = t.a.detach(t.at());
  t.m.pointer = t.a.data_ptr<float>(t.at());
}

const Rule rules[] = {
    // ---- the program's own memory, seen as $k ----
    {kM, kX, 4, "memory$k[$n] = (i % 7) * 0.25",
     [](Step& t) { t.m.memory[t.s.k][t.n] = static_cast<float>(t.i % 7) * 0.25f; }},
    {kM, kX, 2, "for (e : memory$k) e = e * 0.5 + 0.1",
     [](Step& t) {
       for (float& element : t.m.memory[t.s.k]) element = element * 0.5f + 0.1f;
     }},
    {kM, kX, 3, "print(memory$k[$n])", [](Step& t) { t.show("memory", t.m.memory[t.s.k][t.n]); }},
    {kM, kX, 4, "b$k.add_($a)", [](Step& t) { t.k.add_(t.a, 1, t.at()); }},
    {kM, kX, 3, "b$k.mul_($x)", [](Step& t) { t.k.mul_(t.x, t.at()); }},
    {kM, kX, 2, "b$k.copy_($a)", [](Step& t) { t.k.copy_(t.a, false, t.at()); }},
    {kM, kX, 2, "b$k[$n].copy_($a[$j])",
     [](Step& t) { t.k.select(0, t.n, t.at()).copy_(t.a.select(0, t.j, t.at()), false, t.at()); }},
    {kM, kV, 3, "$a = b$k.clone() * $x", [](Step& t) { t.a = t.k.clone(t.at()).mul(t.x, t.at()); }},
    {kM, kV, 2, "$a = (b$k.mm($b) * 0.1).tanh()",
     [](Step& t) { t.a = t.k.mm(t.b, t.at()).mul(0.1, t.at()).tanh(t.at()); }},
    {kM, kV, 2, "$a = from_blob(memory$k, {size, size}) + $b",
     [](Step& t) {
       t.a = groove::from_blob(t.m.memory[t.s.k].data(), {t.size, t.size}, {}, t.at())
                 .add(t.b, 1, t.at());
     }},
    {kM, kV, 1, "b$k = from_blob(memory$k, {size, size})",
     [](Step& t) {
       t.k = groove::from_blob(t.m.memory[t.s.k].data(), {t.size, t.size}, {}, t.at());
     }},
    {kM, kB, 4, "$p = from_blob(memory of $p, {size, size}).requires_grad_()",
     [](Step& t) {
       t.p = groove::from_blob(t.m.memory[kBlobs + t.s.p].data(), {t.size, t.size}, {}, t.at())
                 .requires_grad_(true, t.at());
     }},
    {kM, kX, 2, "memory of $p[$n] *= 0.5, if it is from_blob",
     [](Step& t) {
       float& element = t.m.memory[static_cast<std::size_t>(kBlobs + t.s.p)][t.n];
       element *= 0.5f;
     }},
    {kM, Phase::kForward, 2, "$h = $h + from_blob(memory$k, {size, size}) * $p",
     [](Step& t) {
       const auto seen = groove::from_blob(t.m.memory[t.s.k].data(), {t.size, t.size}, {}, t.at());
       t.h = t.h.add(seen.mul(t.p, t.at()), 1, t.at());
     }},
    // ---- 20 MB, of which a pointer is kept ----
    {kM, kB, 1, "large = zeros({5 << 20}), large_pointer = large.data_ptr()",
     [](Step& t) {
       t.m.large = groove::zeros({5 << 20}, {}, t.at());
       t.m.large_pointer = t.m.large.data_ptr<float>(t.at());
     }},
    {kM, kX, 1, "if (i % $k' == $n) large.add_($x)",
     [](Step& t) {
       if (t.m.large_pointer && t.i % (7 + 5 * t.s.k) == t.n) t.m.large.add_(t.x, 1, t.at());
     }},
    {kM, kX, 1, "large[$n] = $a[$n][$j]",
     [](Step& t) {
       if (!t.m.large_pointer) return;
       const auto row = t.a.select(0, t.n, t.at());
       t.m.large.select(0, t.n, t.at()).copy_(row.select(0, t.j, t.at()), false, t.at());
     }},
    {kM, kX, 1, "print(large_pointer[$n])",
     [](Step& t) {
       if (t.m.large_pointer) t.show("large", t.m.large_pointer[t.n]);
     }},
    // ---- tensors filled by hand ----
    {kM, kV, 4, "$a = empty({size, size}), $a.data_ptr()[…] = …",
     [](Step& t) {
       t.a = groove::empty({t.size, t.size}, {}, t.at());
       float* const to = t.a.data_ptr<float>(t.at());
       for (std::int64_t e = 0; e < t.size * t.size; ++e)
         to[e] = static_cast<float>((e * 7 + t.i * 3) % 11) * 0.125f - 0.5f;
     }},
    {kM, kV, 3, "t = zeros({size, size}), t.accessor()[$n][…] = …, $a = $b * t",
     [](Step& t) {
       const auto filled = groove::zeros({t.size, t.size}, {}, t.at());
       auto to = filled.accessor<float, 2>(t.at());
       for (std::int64_t e = 0; e < t.size; ++e) to[t.n][e] = static_cast<float>((e + t.i) % 5);
       t.a = t.b.mul(filled, t.at());
     }},
    {kM, kV, 2, "t = $b * $x, t.data_ptr()[$n] = 0.5, $a = t + $c",
     [](Step& t) {
       const auto made = t.b.mul(t.x, t.at());
       made.data_ptr<float>(t.at())[t.n] = 0.5f;
       t.a = made.add(t.c, 1, t.at());
     }},
    {kM, kX, 3, "$a.data_ptr()[$n] = i % 5 - 2",
     [](Step& t) { t.a.data_ptr<float>(t.at())[t.n] = static_cast<float>(t.i % 5 - 2); }},
    {kM, kX, 1, "$a.accessor()[$n][$j] += 0.5",
     [](Step& t) { t.a.accessor<float, 2>(t.at())[t.n][t.j] += 0.5f; }},
    {kM, kX, 2, "print($a.accessor()[$n][$j])",
     [](Step& t) { t.show("accessor", t.a.accessor<float, 2>(t.at())[t.n][t.j]); }},
    {kM, kV, 2, "$a = tensor(std::vector{…}).view({size, size})",
     [](Step& t) {
       std::vector<float> numbers(static_cast<std::size_t>(t.size * t.size));
       for (std::size_t e = 0; e < numbers.size(); ++e)
         numbers[e] = static_cast<float>((e * 5 + static_cast<std::size_t>(t.i)) % 9) * 0.2f;
       t.a = groove::tensor(numbers, {}, t.at()).view({t.size, t.size}, t.at());
     }},
    {kM, kV, 1, "rows = {tensor({…}), …}, $a = stack(rows)",
     [](Step& t) {
       Tensors rows;
       for (std::int64_t row = 0; row < t.size; ++row)
         rows.push_back(
             groove::full({t.size}, static_cast<double>((row + t.i) % 4) * 0.3, {}, t.at()));
       t.a = groove::stack(rows, 0, t.at());
     }},
    // ---- pointers that are kept ----
    {kM, Phase::kBefore, 3, "pointed = $a, pointer = $a.data_ptr()", point_at},
    {kM, kX, 1, "pointed = $a, pointer = $a.data_ptr()", point_at},
    {kM, kX, 3, "print(pointer[$n])",
     [](Step& t) {
       if (t.m.pointer) t.show("pointer", t.m.pointer[t.n]);
     }},
    {kM, kX, 2, "pointer[$n] = $x",
     [](Step& t) {
       if (t.m.pointer) t.m.pointer[t.n] = static_cast<float>(t.x);
     }},
    {kM, kX, 1, "pointed.add_($b)",
     [](Step& t) {
       if (t.m.pointer) t.m.pointed.add_(t.b, 1, t.at());
     }},
};

}  // namespace

std::span<const Rule> memory_rules() { return rules; }

}  // namespace groove::random_loops
