#include "tools/random_programs/compare.h"

#include <fmt/format.h>

#include <cstdio>

#include "groove/jit.h"
#include "groove/parallel.h"
#include "jit/pipeline.h"
#include "jit/program.h"
#include "kernels/asmjit/isa.h"
#include "kernels/backend.h"
#include "tests/tracer/graph_executor.h"
#include "tracer/cache/compiler.h"
#include "tracer/tell/testing.h"

namespace groove::random_programs {
namespace {

// Replaces a program's kernels by LLVM's while it is in use, or flips the lowest bit of an output.
class WatchedExecutable final : public Executable {
 public:
  WatchedExecutable(std::shared_ptr<Executable> real, const Graph& graph, const Way& way)
      : real_(std::move(real)), is_promoted_(way.tier == Tier::kPromoted) {
    if (!way.plants_fault) return;
    for (const GraphOutput& output : graph.outputs) {
      if (output.stage + 1 != graph.stages) continue;
      if (!is_floating(graph.type(output.value).dtype)) continue;
      if (output.writes < 0) continue;
      written_ = output.writes;
    }
  }
  std::size_t arena_bytes() const override { return real_->arena_bytes(); }
  std::int32_t run(void* const* buffers, const std::int64_t* sizes, const std::uint64_t* scalars,
                   ProgramContext& context) const noexcept override {
    if (is_promoted_ && runs_++ == 1) real_->promote();
    const std::int32_t status = real_->run(buffers, sizes, scalars, context);
    if (written_ >= 0 && buffers[written_]) *static_cast<unsigned char*>(buffers[written_]) ^= 1;
    return status;
  }
  std::string describe() const override { return real_->describe(); }

 private:
  std::shared_ptr<Executable> real_;
  bool is_promoted_;
  std::int32_t written_ = -1;
  mutable int runs_ = 0;
};

// The real compiler's passes, with the options of the way.
class ChosenCompiler final : public Compiler {
 public:
  void choose(const Way& way) { way_ = way; }
  std::shared_ptr<Executable> compile(Graph graph) override {
    if (way_.prints_graphs) {
      fmt::print("{}\n", groove::print(graph));
      std::fflush(stdout);
    }
    if (way_.is_node_by_node) return std::make_unique<testing::GraphExecutable>(std::move(graph));
    const Graph recorded = graph;
    jit::run_pipeline(graph);
    jit::ProgramOptions options;
    options.is_fused = way_.is_fused;
    options.is_never_serial = way_.is_never_serial;
    options.fills_freed_memory = way_.fills_freed_memory;
    // Where memory is watched, all that can be is computed a second time.
    if (way_.fills_freed_memory) options.rematerialise = {0, 0, 1, 1e9};
    auto program = std::make_unique<jit::Program>(std::move(graph), options);
    if (!way_.plants_fault && way_.tier != Tier::kPromoted) return program;
    return std::make_unique<WatchedExecutable>(std::move(program), recorded, way_);
  }

 private:
  Way way_;
};

const char* name(Tier tier) {
  static const char* const names[] = {"interpreter", "asmjit", "llvm", "asmjit then llvm"};
  return names[static_cast<std::size_t>(tier)];
}

const char* backend_of(Tier tier) { return name(tier == Tier::kPromoted ? Tier::kAsmjit : tier); }

}  // namespace

std::string llvm_problem() {
  kernels::Backend* const llvm = kernels::find_backend("llvm");
  return llvm ? llvm->unavailable() : "it is not part of this build";
}

Totals& totals() {
  static Totals all;
  return all;
}

std::string print(const Way& way) {
  std::string text = fmt::format("{}, {}", way.is_traced ? "traced" : "eager", name(way.tier));
  text += fmt::format(", {} thread{}", way.threads, way.threads > 1 ? "s" : "");
  if (way.is_avx2) text += ", avx2";
  if (!way.is_traced) return text;
  if (way.is_node_by_node) text += ", graph node by node";
  if (!way.is_synchronous) text += ", background";
  if (!way.is_fused) text += ", not fused";
  if (way.is_never_serial) text += ", never serial";
  if (way.fills_freed_memory) text += ", freed memory filled";
  if (way.hot != 1) text += fmt::format(", hot {}", way.hot);
  if (way.is_checked) text += ", each run checked";
  if (way.failing_live_in >= 0)
    text += fmt::format(", check of live-in {} fails", way.failing_live_in);
  if (way.exit >= 0) text += fmt::format(", exit at word {}", way.exit);
  if (way.passes != PassChoice::kAsIs)
    text += fmt::format(", passes [{}]", print(draw_passes(way.passes, way.pass_seed)));
  return text;
}

Log run(const Program& program, const Way& way) {
  namespace tt = tracer::testing;
  static ChosenCompiler chosen;
  kernels::set_current_backend(*kernels::find_backend(backend_of(way.tier)));
  kernels::set_isa_limit(way.is_avx2 ? kernels::Isa::kAvx2 : kernels::Isa::kAvx512);
  jit::tier_policy() = {
      .least_share = 0, .most_milliseconds = 12, .always_takes_it = program.seed % 2 == 0};
  set_num_threads(way.threads);
  Log log;
  if (!way.is_traced) {
    jit::set_mode(jit::Mode::kEager);
    log = run_program(program);
  } else {
    Compiler* const compiler = registered_compiler();
    chosen.choose(way);
    register_compiler(chosen);
    if (way.passes != PassChoice::kAsIs)
      jit::choose_passes(draw_passes(way.passes, way.pass_seed));
    tt::set_hot(way.hot);
    tt::set_synchronous(way.is_synchronous);
    tt::forget_everything();
    tt::force_exit_at(way.exit);
    tt::fail_live_in_check(way.failing_live_in);
    tt::set_check(way.is_checked ? 1 : 0);
    tt::set_large_arena(way.fills_freed_memory ? 1 : 0);
    jit::set_mode(jit::Mode::kAuto);
    log = run_program(program);
    jit::synchronize();
    const jit::Summary summary = jit::summary();
    totals().hits += summary.hits;
    totals().leaves += summary.leaves;
    totals().segments += summary.segments;
    jit::set_mode(jit::Mode::kEager);
    tt::force_exit_at(-1);
    tt::fail_live_in_check(-1);
    tt::set_check(-1);
    tt::set_large_arena(0);
    tt::forget_everything();
    register_compiler(*compiler);
    jit::choose_passes({});
  }
  set_num_threads(1);
  return log;
}

std::string difference(const Log& expected, const Log& actual) {
  for (std::size_t n = 0; n < std::max(expected.size(), actual.size()); ++n) {
    const std::string a = n < expected.size() ? expected[n] : "(nothing)";
    const std::string b = n < actual.size() ? actual[n] : "(nothing)";
    if (a != b) return fmt::format("  expected {}\n  but got  {}\n", a, b);
  }
  return "";
}

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  const auto attempt = [&](const Program& candidate) {
    if (!fails(candidate)) return false;
    program = candidate;
    return true;
  };
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (std::size_t length = std::max<std::size_t>(program.body.size() / 2, 1); length >= 1;
         length /= 2)
      for (std::size_t at = program.body.size(); at-- > 0;) {
        if (at + length > program.body.size()) continue;
        Program candidate = program;
        const auto from = candidate.body.begin() + static_cast<std::ptrdiff_t>(at);
        candidate.body.erase(from, from + static_cast<std::ptrdiff_t>(length));
        has_changed |= attempt(candidate);
      }
    for (int steps = 1; steps < program.steps; ++steps) {
      Program candidate = program;
      candidate.steps = steps;
      if (attempt(candidate)) has_changed = true;
    }
  }
  for (std::size_t at = 0; at < program.body.size(); ++at) {
    const auto simplify = [&](auto change) {
      Program candidate = program;
      change(candidate.body[at]);
      attempt(candidate);
    };
    const Instruction each = program.body[at];
    if (each.every > 1) simplify([](Instruction& i) { i.every = 1, i.phase = 0; });
    if (each.guard) simplify([](Instruction& i) { i.guard = 0; });
    if (each.is_eager) simplify([](Instruction& i) { i.is_eager = false; });
    if (each.has_no_grad) simplify([](Instruction& i) { i.has_no_grad = false; });
    if (each.is_named) simplify([](Instruction& i) { i.is_named = false; });
    if (each.x_per_step != 0) simplify([](Instruction& i) { i.x_per_step = 0; });
    if (each.j_per_step != 0) simplify([](Instruction& i) { i.j_per_step = 0; });
    if (each.i_per_step != 0) simplify([](Instruction& i) { i.i_per_step = 0; });
    if (each.x != 0.5) simplify([](Instruction& i) { i.x = 0.5; });
  }
  for (const bool is_parameter : {true, false}) {
    const std::size_t count = (is_parameter ? program.parameters : program.buffers).size();
    for (std::size_t n = 0; n < count; ++n)
      for (std::size_t d = 0;
           d < (is_parameter ? program.parameters : program.buffers)[n].sizes.size(); ++d)
        for (const std::int64_t size : {1, 2, 3}) {
          Program candidate = program;
          std::int64_t& own = (is_parameter ? candidate.parameters : candidate.buffers)[n].sizes[d];
          if (own <= size) break;
          own = size;
          if (attempt(candidate)) break;
        }
  }
  return program;
}

}  // namespace groove::random_programs
