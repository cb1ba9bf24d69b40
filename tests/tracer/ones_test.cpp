// Programs for any size, where a size is 1: byte for byte what eager mode gives, each operator by
// itself with its gradient, and compiled.
#include <groove/groove.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "groove/jit.h"
#include "src/core/check.h"
#include "tests/tracer/at_once.h"

namespace groove::testing {
namespace {

constexpr std::int64_t kColumns = 6;

struct Inputs {
  Tensor x;       // [rows, 6], requires grad
  Tensor weight;  // [6, 6], requires grad
  Tensor bias;    // [6], requires grad
  Tensor rows;    // [rows]: positions of rows of `x`
  Tensor labels;  // [rows]: columns
  std::int64_t count;
};

struct OneCase {
  const char* name;
  std::function<Tensor(const Inputs&)> of;
  bool is_compiled = true;  // where rows are 1
};

const OneCase kCases[] = {
    {"map", [](const Inputs& t) { return t.x.mul(t.bias).tanh().add(t.bias); }},
    {"linear",
     [](const Inputs& t) { return nn::functional::linear(t.x, t.weight, t.bias).relu(); }},
    {"mm_of_two", [](const Inputs& t) { return t.x.t().mm(t.x); }},
    {"mm_of_rows", [](const Inputs& t) { return t.x.mm(t.x.t()).softmax(1); }},
    {"short_dots", [](const Inputs& t) { return t.x.mm(t.weight.slice(1, 0, 3)); }},
    {"column", [](const Inputs& t) { return t.x.mm(t.weight.slice(1, 0, 1)).squeeze(1); }},
    {"matrix_by_vector", [](const Inputs& t) { return t.x.mv(t.bias); }},
    {"outer", [](const Inputs& t) { return t.x.select(1, 0).outer(t.bias); }},
    {"batched",
     [](const Inputs& t) {
       return t.x.view({t.count, 2, 3}).bmm(t.x.view({t.count, 3, 2}));
     }},
    {"sum_of_rows", [](const Inputs& t) { return t.x.sum(1); }},
    {"sum_of_columns", [](const Inputs& t) { return t.x.exp().sum(0); }},
    {"mean_of_all", [](const Inputs& t) { return t.x.sigmoid().mean(); }},
    {"mean_of_columns", [](const Inputs& t) { return (t.x - t.x.mean(0)).square(); }},
    {"std_of_columns", [](const Inputs& t) { return t.x.std(0); }},
    {"var_biased", [](const Inputs& t) { return t.x.var(IntArrayRef{0}, false); }},
    {"softmax_of_rows", [](const Inputs& t) { return t.x.softmax(1); }},
    {"softmax_of_columns", [](const Inputs& t) { return t.x.log_softmax(0); }},
    {"logsumexp", [](const Inputs& t) { return t.x.logsumexp(0); }},
    {"max_of_columns", [](const Inputs& t) { return std::get<0>(t.x.max(0)); }},
    {"argmax_of_columns", [](const Inputs& t) { return t.x.argmax(0).to(kFloat); }},
    {"amax", [](const Inputs& t) { return t.x.amax({0}); }},
    {"prod", [](const Inputs& t) { return t.x.prod(0); }},
    {"norm", [](const Inputs& t) { return t.x.norm(2, 0); }},
    {"cumsum", [](const Inputs& t) { return t.x.cumsum(0); }},
    {"sort", [](const Inputs& t) { return std::get<0>(t.x.sort(0)); }},
    {"layer_norm",
     [](const Inputs& t) {
       return nn::functional::layer_norm(t.x, nn::functional::LayerNormFuncOptions({kColumns}));
     }},
    {"cross_entropy", [](const Inputs& t) { return nn::functional::cross_entropy(t.x, t.labels); }},
    {"mse", [](const Inputs& t) { return nn::functional::mse_loss(t.x, t.x.detach().flip({1})); }},
    {"smooth_l1",
     [](const Inputs& t) { return nn::functional::smooth_l1_loss(t.x, t.x.detach() * 2); }},
    {"transposed", [](const Inputs& t) { return t.x.t().contiguous().relu(); }},
    {"transposed_map", [](const Inputs& t) { return t.x.t().exp().mul(t.bias.unsqueeze(1)); }},
    {"reshaped", [](const Inputs& t) { return t.x.t().reshape({t.count * kColumns}).sin(); }},
    {"flattened", [](const Inputs& t) { return t.x.flatten().mul(2); }},
    {"viewed",
     [](const Inputs& t) {
       return t.x.view({-1, 2, 3}).transpose(0, 1).tanh();
     }},
    {"expanded",
     [](const Inputs& t) {
       return t.bias.expand({t.count, kColumns}).mul(t.x);
     }},
    {"unsqueezed", [](const Inputs& t) { return t.x.unsqueeze(1).add(t.weight).sum(2); }},
    {"pairs",
     [](const Inputs& t) { return t.x.unsqueeze(0).sub(t.x.unsqueeze(1)).abs().sum({2}); }},
    {"cat_of_rows",
     [](const Inputs& t) {
       return cat({t.x, t.weight}, 0).tanh();
     }},
    {"cat_of_columns",
     [](const Inputs& t) {
       return cat({t.x, t.x.mul(2)}, 1).exp();
     }},
    {"cat_of_itself",
     [](const Inputs& t) {
       return cat({t.x, t.x}, 0).sum(0);
     }},
    {"stack",
     [](const Inputs& t) {
       return stack({t.x, t.x.neg()}, 1).relu();
     }},
    {"gather", [](const Inputs& t) { return t.x.gather(1, t.labels.unsqueeze(1)); }},
    {"index_select", [](const Inputs& t) { return t.weight.index_select(0, t.labels).mul(t.x); }},
    {"index",
     [](const Inputs& t) {
       return t.x.index({t.rows, t.labels});
     }},
    {"index_add",
     [](const Inputs& t) {
       return zeros({kColumns, kColumns}).index_add(0, t.labels, t.x);
     }},
    {"scatter_add",
     [](const Inputs& t) {
       return zeros({t.count, kColumns}).scatter_add(1, t.labels.unsqueeze(1), t.x);
     }},
    {"embedding", [](const Inputs& t) { return nn::functional::embedding(t.labels, t.weight); }},
    {"one_hot",
     [](const Inputs& t) {
       return nn::functional::one_hot(t.labels, kColumns).to(kFloat).mul(t.x);
     }},
    {"where", [](const Inputs& t) { return where(t.x > 0, t.x, t.x * 0.1); }},
    {"masked_fill", [](const Inputs& t) { return t.x.masked_fill(t.x < 0, -1e9).softmax(1); }},
    {"flip", [](const Inputs& t) { return t.x.flip({0}).mul(t.bias); }},
    {"roll", [](const Inputs& t) { return t.x.roll(1, 0).mul(2); }},
    {"triangle", [](const Inputs& t) { return t.x.mm(t.x.t()).tril(); }},
    {"slices", [](const Inputs& t) { return t.x.slice(1, 0, 3).mul(t.x.slice(1, 3, 6)); }},
    {"first_row", [](const Inputs& t) { return t.x.select(0, 0).mul(t.bias); }},
    {"last_row", [](const Inputs& t) { return t.x.select(0, -1).exp(); }},
    {"convolution",
     [](const Inputs& t) {
       return conv1d(t.x.unsqueeze(1), t.weight.slice(0, 0, 2).slice(1, 0, 3).unsqueeze(1));
     }},
    {"convolution_along_rows",
     [](const Inputs& t) { return conv1d(t.x.t().unsqueeze(0), t.weight.unsqueeze(2)); }},
    {"attention",
     [](const Inputs& t) {
       const auto x = t.x.view({1, t.count, 2, 3}).transpose(1, 2);
       return matmul(matmul(x, x.transpose(2, 3)).div(1.7).softmax(-1), x)
           .transpose(1, 2)
           .reshape({t.count, kColumns});
     }},
    {"einsum",
     [](const Inputs& t) {
       return einsum("nc,cd->nd", {t.x, t.weight});
     }},
    {"cosine", [](const Inputs& t) { return cosine_similarity(t.x, t.bias.unsqueeze(0), 1); }},
    {"distances", [](const Inputs& t) { return cdist(t.x, t.weight); }},
    {"two_layers",
     [](const Inputs& t) {
       const auto h = t.x.mm(t.weight).add(t.bias).tanh();
       return h.mm(t.weight.t()).sub(t.x).square().mean();
     }},
};

// Every byte, without an operator.
void note(const Tensor& value, std::string& log) {
  GROOVE_CHECK(value.is_contiguous() && value.scalar_type() == kFloat, "a dense tensor of f32");
  const auto* const at = reinterpret_cast<const char*>(value.const_data_ptr<float>());
  log.append(at, static_cast<std::size_t>(value.numel()) * sizeof(float));
  log += '|';
}

// Gives the operators that ran eagerly in later steps at 1.
std::uint64_t run(const OneCase& one, int steps, std::string& log) {
  groove::manual_seed(5);
  const Tensor weight = randn({kColumns, kColumns}).requires_grad_();
  const Tensor bias = randn({kColumns}).requires_grad_();
  std::uint64_t eager = 0, drawn = 1;
  for (int i = 0; i < steps; ++i) {
    // Others come first, so that it is known what follows from a size; without a pattern.
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    const bool is_one = i > 12 && (drawn >> 40) % 3 == 0;
    const std::int64_t count = is_one ? 1 : 2 + static_cast<std::int64_t>((drawn >> 33) % 11);
    const auto before = jit::summary();
    const Tensor x = randn({count, kColumns}).requires_grad_();
    const Inputs t{
        x, weight, bias, arange(count, kLong), arange(count, kLong).remainder(kColumns), count};
    const Tensor y = one.of(t).contiguous();
    const Tensor loss = y.mul(y.detach().add(0.5)).sum();
    for (const Tensor& p : {weight, bias}) p.mutable_grad() = Tensor();
    if (loss.requires_grad()) loss.backward();
    note(y, log);
    for (const Tensor& p : {x, weight, bias})
      if (p.grad().defined()) note(p.grad(), log);
    if (count == 1 && i > steps / 2) eager += jit::summary().ops_eager - before.ops_eager;
  }
  return eager;
}

class Ones : public CompiledAtOnce, public ::testing::WithParamInterface<OneCase> {};

TEST_P(Ones, TheSameBitsCompiled) {
  constexpr int kSteps = 90;
  std::string expected, found;
  jit::set_mode(jit::Mode::kEager);
  run(GetParam(), kSteps, expected);
  jit::set_mode(jit::Mode::kAuto);
  const std::uint64_t eager = run(GetParam(), kSteps, found);
  EXPECT_TRUE(found == expected) << jit::explain();
  EXPECT_EQ(eager == 0, GetParam().is_compiled) << eager << "\n" << jit::explain();
}

INSTANTIATE_TEST_SUITE_P(All, Ones, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace groove::testing
