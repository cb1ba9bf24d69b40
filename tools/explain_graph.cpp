// explain-graph: what the compiler makes of a training step. Trains a model of bench/anchors until
// its loop runs compiled, takes the recorded graph of the step, and tells kernels, bytes moved and
// arena of a step with every operator on its own ("before fusion") and as it is compiled.
#include <fmt/format.h>
#include <groove/jit.h>
#include <groove/memory.h>
#include <sys/resource.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "../bench/anchors/anchors_models.h"
#include "jit/pipeline.h"
#include "jit/program.h"
#include "src/core/check.h"
#include "tools/explain_graph/allocations.h"
#include "tracer/tell/coverage.h"

namespace {

namespace jit = groove::jit;

struct Model {
  const char* name;
  const char* anchor;
};
constexpr Model kModels[] = {
    {"mlp", "A2"}, {"lenet", "A4"}, {"lstm-loop", "A6b"}, {"char-gpt", "A7"}};

constexpr int kMostBlocks = 12;  // until steps are steady

struct Used {
  std::int64_t allocated = 0, faults = 0;
};

template <typename Work>
Used use(const Work& work) {
  const auto faults = [] {
    rusage now{};
    getrusage(RUSAGE_SELF, &now);
    return static_cast<std::int64_t>(now.ru_minflt + now.ru_majflt);
  };
  const Used before{allocations(), faults()};
  work();
  return {allocations() - before.allocated, faults() - before.faults};
}

struct Moved {
  std::int64_t loaded = 0, stored = 0;
};

// Elements of memory that a loop touches: an axis along which it stays costs nothing.
std::int64_t elements(const groove::kernels::Box& box, std::size_t access) {
  std::int64_t count = 1;
  for (int axis = 0; axis < box.rank; ++axis) {
    if (box.strides[access][axis] != 0) count *= box.count[axis];
  }
  return count;
}

std::int64_t product_elements(const groove::kernels::ContractionShape& s, bool is_a) {
  const bool has_batch = (is_a ? s.a_batch : s.b_batch) != 0;
  return (has_batch ? s.batch : 1) * s.k * (is_a ? s.m : s.n);
}

// Every load and store of memory, once for each element that a launch touches.
Moved bytes_of(const jit::LaunchPlan& launch, const std::vector<jit::Buffer>& buffers) {
  Moved moved;
  const auto goes_through_memory = [&](const jit::Operand& operand) {
    const auto& known = launch.operands;
    return std::any_of(known.begin(), known.end(), [&](const jit::Operand& each) {
      return each.buffer == operand.buffer && each.is_store == operand.is_store;
    });
  };
  for (jit::LaunchPlan part : launch.parts) {
    auto& own = part.operands;
    for (jit::Operand& operand : own) {
      if (!goes_through_memory(operand)) operand.buffer = -1;
    }
    const Moved also = bytes_of(part, buffers);
    moved.loaded += also.loaded;
    moved.stored += also.stored;
  }
  if (!launch.parts.empty()) return moved;
  const bool is_product = launch.kind == jit::LaunchPlan::Kind::kContraction;
  for (std::size_t i = 0; i < launch.operands.size(); ++i) {
    const jit::Operand& operand = launch.operands[i];
    if (operand.buffer < 0 || operand.is_row_buffer) continue;
    const auto size = static_cast<std::int64_t>(groove::element_size(operand.dtype));
    std::int64_t bytes = 0;
    if (launch.kind == jit::LaunchPlan::Kind::kOpaque) {
      bytes = buffers[static_cast<std::size_t>(operand.buffer)].bytes;
    } else if (is_product && i < 2 && !launch.product) {
      bytes = buffers[static_cast<std::size_t>(operand.buffer)].bytes;
    } else if (is_product && i < 2) {
      bytes = size * product_elements(launch.shape, i == 0);
    } else {
      bytes = size * elements(launch.box, is_product ? i - 2 : i);
    }
    (operand.is_store ? moved.stored : moved.loaded) += bytes;
  }
  return moved;
}

struct Told {
  std::size_t kernels = 0, arena = 0;
  Moved moved;
  std::string launches;
};

Told tell(const groove::Graph& graph, bool is_fused) {
  jit::ProgramOptions options;
  options.is_fused = is_fused;
  const jit::Program program(graph, options);
  Told told;
  told.kernels = program.launch_count();
  told.arena = program.arena_bytes();
  const jit::Lowered lowered = program.lowered();
  for (const jit::LaunchPlan& launch : lowered.launches) {
    if (launch.is_dropped) continue;
    const Moved moved = bytes_of(launch, lowered.buffers);
    told.moved.loaded += moved.loaded;
    told.moved.stored += moved.stored;
    std::string names;
    for (const std::int32_t node : launch.nodes)
      names += " " + program.graph().nodes[static_cast<std::size_t>(node)].op->name;
    told.launches += fmt::format("  {:>12} loaded {:>12} stored {}\n", moved.loaded, moved.stored,
                                 names.empty() ? " copy" : names);
  }
  return told;
}

// The step is the largest graph: loops inside it were compiled earlier and are not used any more.
groove::Graph step_of(const std::vector<jit::SegmentView>& segments, std::string& place) {
  const jit::SegmentView* largest = nullptr;
  for (const jit::SegmentView& segment : segments) {
    if (segment.state != "armed" || segment.graph.empty()) continue;
    if (!largest || segment.graph.size() > largest->graph.size()) largest = &segment;
  }
  GROOVE_CHECK(largest, "explain-graph: no loop was compiled; is GROOVE_MODE eager?");
  place = largest->source;
  groove::Graph graph = groove::parse_graph(largest->graph);
  jit::run_pipeline(graph);
  return graph;
}

void explain(const Model& model, int steps, bool wants_launches) {
  const AnchorPtr anchor = make_anchor(model.anchor);
  // Steady once two blocks ask for memory equally often: nothing is compiled any more.
  const auto block = [&] {
    const Used used = use([&] { anchor->run(steps); });
    jit::synchronize();
    return used.allocated;
  };
  std::int64_t last = block(), now = block();
  for (int i = 0; i < kMostBlocks && (i < 3 || now != last); ++i) {
    last = now;
    now = block();
  }
  groove::memory::reset_peak();
  const Used few = use([&] { anchor->run(steps); });
  watch_allocations(groove::tracer::tally().compiled);
  const Used many = use([&] { anchor->run(3 * steps); });
  const std::int64_t allocated = allocations_of_a_step(3 * steps);
  const std::size_t peak = groove::memory::statistics().peak;
  std::string place;
  const groove::Graph graph = step_of(jit::inspect(), place);
  fmt::print("{}: a step at {}, {} operators\n", model.name, place, graph.nodes.size());
  for (const bool is_fused : {false, true}) {
    const Told told = tell(graph, is_fused);
    fmt::print("{} fusion: {} kernels, {} bytes moved ({} loaded, {} stored), arena {} bytes\n",
               is_fused ? "after" : "before", told.kernels, told.moved.loaded + told.moved.stored,
               told.moved.loaded, told.moved.stored, told.arena);
    if (wants_launches) fmt::print("{}", told.launches);
  }
  fmt::print("peak {} bytes allocated in a step, parameters, optimizer and data included\n", peak);
  // A block ends with eager calls that read results; they are in both.
  fmt::print("a steady step: {} allocations, {:.2f} page faults\n\n", allocated,
             static_cast<double>(many.faults - few.faults) / (2 * steps));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Kernels, bytes moved and memory of a training step, before and after fusion.");
  std::vector<std::string> names;
  int steps = 20;
  bool wants_launches = false;
  app.add_option("models", names, "mlp, lenet, lstm-loop, char-gpt; all of them by default");
  app.add_option("--steps", steps, "of each of the five blocks that are trained");
  app.add_flag("--launches", wants_launches, "what each launch moves");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const Model& model : kModels) {
      if (names.empty() || std::find(names.begin(), names.end(), model.name) != names.end())
        explain(model, steps, wants_launches);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "explain-graph: %s\n", error.what());
    return 1;
  }
}
