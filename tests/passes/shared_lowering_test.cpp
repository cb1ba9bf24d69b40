// Groups of one form are lowered once: the launches must be those of lowering each group by itself,
// field by field, whatever repeats and wherever repetitions differ a little.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "jit/pipeline.h"
#include "jit/plan_memory.h"
#include "tests/passes/mlp_graph.h"

namespace groove::jit {
namespace {

std::string text_of(const Operand& operand) {
  std::string text =
      fmt::format("{} {} {} {} {} {}", static_cast<int>(operand.dtype), operand.is_store,
                  operand.buffer, operand.offset, operand.is_identity, operand.is_row_buffer);
  for (const Start& start : operand.starts)
    text += fmt::format(" start {} {} {}", start.entry, start.stride, start.size);
  return text;
}

std::string text_of(const LaunchPlan& launch) {
  std::string text = fmt::format(
      "kind {} stage {} order {} scratch {} {} flags {} {} {} {} ns {} code {} {}\n",
      static_cast<int>(launch.kind), launch.stage, static_cast<int>(launch.order), launch.scratch,
      launch.scratch_bytes, launch.is_splittable, launch.overwrites, launch.copies_base,
      launch.is_dropped, launch.nanoseconds, static_cast<const void*>(launch.callable.get()),
      static_cast<const void*>(launch.contraction.get()));
  text += fmt::format("nodes {}\n", fmt::join(launch.nodes, " "));
  const auto& s = launch.shape;
  text += fmt::format("shape {} {} {} {}, {} {} {}, {} {} {}\nbox {}\n", s.batch, s.m, s.n, s.k,
                      s.a_batch, s.a_row, s.a_col, s.b_batch, s.b_row, s.b_col, launch.box.rank);
  text += to_string(IntArrayRef(launch.box.count, kernels::kMaxAxes)) + "\n";
  for (const auto& strides : launch.box.strides)
    text += to_string(IntArrayRef(strides.data(), strides.size())) + "\n";
  for (const Operand& operand : launch.operands) text += text_of(operand) + "\n";
  for (const ScalarSlot& slot : launch.scalars)
    text += fmt::format("scalar {} {} {}\n", slot.entry, static_cast<int>(slot.dtype), slot.bits);
  return text + (launch.kernel ? kernels::print(*launch.kernel) : "");
}

std::vector<std::string> texts_of(const Lowered& lowered) {
  std::vector<std::string> texts;
  for (const LaunchPlan& launch : lowered.launches) texts.push_back(text_of(launch));
  for (const Buffer& buffer : lowered.buffers) {
    texts.push_back(fmt::format("buffer {} {} {} {} {}", static_cast<int>(buffer.place),
                                buffer.index, buffer.bytes, buffer.value, buffer.same_as));
  }
  return texts;
}

// Kernels written, of how many launches.
struct Count {
  std::size_t kernels = 0, launches = 0;
};

Count expect_equal_launches(Graph graph) {
  run_pipeline(graph);
  const Fusion fusion = fuse(graph);
  const Lowered shared = lower_groups(graph, fusion), single = lower_groups(graph, fusion, {false});
  const std::vector<std::string> got = texts_of(shared), wanted = texts_of(single);
  EXPECT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    EXPECT_EQ(got[i], wanted[i]) << "launch or buffer " << i << " of\n" << print(graph);
    if (got[i] != wanted[i]) break;
  }
  std::set<const kernels::Kernel*> kernels;
  for (const LaunchPlan& launch : shared.launches) kernels.insert(launch.kernel.get());
  return {kernels.size(), shared.launches.size()};
}

// A recurrent cell over time steps: each step selects by a run-time number of its own.
std::string recurrence(int steps) {
  std::string text = "graph(x: f32[16, 8, 24], w: f32[24, 24], u: f32[24, 24], b: f32[24]";
  for (int t = 0; t < steps; ++t) text += fmt::format(", #{}: i64", t);
  text += fmt::format(", #{}: f64) {{\n", steps);
  text += "  h0 = full() {sizes: [8, 24], dtype: f32} <value: 0>\n";
  for (int t = 0; t < steps; ++t) {
    text += fmt::format(
        "  x{0} = select(x) {{dim: 0}} <index: #{0}>\n  p{0} = linear(x{0}, w, b)\n"
        "  q{0} = linear(h{0}, u, b)\n  r{0} = add(p{0}, q{0})\n  s{0} = tanh(r{0})\n"
        "  m{0} = mul_scalar(s{0}) <number: #{2}>\n"
        "  n{0} = softmax(m{0}) {{dim: 1}}\n  c{0} = sum(n{0}) {{dims: [0], keepdim: false}}\n"
        "  d{0} = slice(n{0}) {{dim: 1, length: 12, step: 1}} <start: 0>\n"
        "  e{0} = slice(s{0}) {{dim: 1, length: 12, step: 1}} <start: 12>\n"
        "  f{0} = exp(d{0})\n  g{0} = exp(e{0})\n  k{0} = cat(f{0}, g{0}) {{dim: 1}}\n"
        "  h{1} = add(k{0}, c{0})\n",
        t, t + 1, steps);
  }
  return text + fmt::format("  return h{}\n}}\n", steps);
}

TEST(SharedLowering, TimeStepsAreLoweredOnce) {
  const Count few = expect_equal_launches(parse_graph(recurrence(4)));
  const Count many = expect_equal_launches(parse_graph(recurrence(24)));
  EXPECT_GT(many.launches, 5 * few.launches);
  EXPECT_EQ(many.kernels, few.kernels) << "more steps must not need more kernels";
}

TEST(SharedLowering, ATrainingStepIsTheSame) {
  expect_equal_launches(mlp_step({20, 32, 32, 32, 8}, 16));
}

// Layers of random operators, the same ones each time but for some.
class Layers {
 public:
  explicit Layers(std::uint64_t seed) : random_(seed) {}

  std::string run() {
    std::vector<Choice> choices;
    for (int i = 0; i < 9; ++i) choices.push_back(choose());
    for (int layer = 0; layer < 6; ++layer) {
      for (const Choice& choice : choices) {
        const Choice other = choose();
        const int dice = below(40);
        step(dice == 0 ? other : dice < 4 ? Choice{choice.op, other.a, other.b} : choice, layer);
      }
    }
    return "graph(v0: f32[8, 16], v1: f32[8, 16], long: f32[4, 40000], x: f32[4, 8, 16],\n"
           "      w: f32[16, 16], b: f32[16], i: i64[8], #0: f64, #1: f64, #2: i64, #3: i64) {\n" +
           body_ + fmt::format("  return v{}, v{}\n}}\n", last_, last_ - 1);
  }

 private:
  static constexpr int kChoices = 13;
  int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  struct Choice {
    int op, a, b;  // operands: how many values ago
  };
  Choice choose() { return {below(kChoices), below(3), below(3)}; }
  std::string recent(int ago) { return fmt::format("v{}", std::max(0, last_ - ago)); }
  void push(const std::string& code) { body_ += fmt::format("  v{} = {}\n", ++last_, code); }
  std::string fresh(const std::string& code) {
    body_ += fmt::format("  t{} = {}\n", ++temporaries_, code);
    return fmt::format("t{}", temporaries_);
  }

  void step(const Choice& choice, int layer) {
    const std::string a = recent(choice.a), b = recent(choice.b);
    switch (choice.op) {
      case 0:
        return push(fmt::format("tanh({})", a));
      case 1:
        return push(fmt::format("add({}, {})", a, b));
      case 2:
        return push(fmt::format("mul({}, {})", a, b));
      case 3:
        return push(fmt::format("mul_scalar({}) <number: {}>", a, below(20) == 0 ? 2.5 : 0.5));
      case 4:
        return push(fmt::format("mul_scalar({}) <number: #{}>", a, layer % 2));
      case 5:
        return push(fmt::format("linear({}, w, b)", a));
      case 6:
        return push(fmt::format("softmax({}) {{dim: 1}}", a));
      case 7:
        return push(fmt::format("select(x) {{dim: 0}} <index: #{}>", 2 + layer % 2));
      case 8:
        return push(fmt::format("select(x) {{dim: 0}} <index: {}>", layer % 4));
      case 9: {
        const std::string sum =
            fresh(fmt::format("sum({}) {{dims: [{}], keepdim: true}}", a, choice.b % 2));
        return push(fmt::format("sub({}, {})", b, sum));
      }
      case 10: {
        const std::string other = fresh(fmt::format("permute({}) {{dims: [1, 0]}}", a));
        return push(fmt::format("mm({}, {})", b, fresh(fmt::format("mm({}, {})", other, a))));
      }
      case 11:
        return push(fmt::format("index_select({}, i) {{dim: 0}}", a));
      default: {  // few long rows: chunks and a tree
        const std::string rows = fresh("sum(long) {dims: [1], keepdim: false}");
        const std::string scaled =
            fresh(fmt::format("sum({}) {{dims: [0], keepdim: false}}", fresh("exp(" + rows + ")")));
        return push(fmt::format("mul({}, {})", a, scaled));
      }
    }
  }

  std::mt19937_64 random_;
  std::string body_;
  int last_ = 1, temporaries_ = 0;
};

TEST(SharedLowering, RandomLayersHaveTheLaunchesOfEachByItself) {
  Count all;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    const Count count = expect_equal_launches(parse_graph(Layers(seed).run()));
    all.kernels += count.kernels;
    all.launches += count.launches;
    if (HasFailure()) return;
  }
  EXPECT_LT(all.kernels, all.launches * 3 / 4) << "something is shared";
}

}  // namespace
}  // namespace groove::jit
