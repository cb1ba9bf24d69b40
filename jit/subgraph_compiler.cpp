// Compiles the functions of control flow, on the compile thread: a graph becomes a program of its
// own, in the budget with all others. Operators that fail on values look at them between its stages.
#include <atomic>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "jit/subgraph_compiler.h"
#include "kernels/backend.h"
#include "src/core/check.h"
#include "tracer/cache/promotion.h"
#include "tracer/cache/registry.h"
#include "tracer/thread/modes.h"

namespace groove::jit {
namespace {

constexpr std::size_t kLine = 64;
std::size_t rounded(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

struct ValueCheck {
  Node node;                // of the graph as it was given
  std::vector<Type> types;  // of its operands
  Type type;                // of what it reads …
  std::size_t buffer = 0;   // … which lies here
  std::int32_t stage = 0;   // that begins after it
};

// A value that is looked at is an output of the stage before.
std::vector<ValueCheck> cut_at_checks(Graph& graph) {
  std::vector<ValueCheck> checks;
  const Graph given = graph;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    if (kernels::looks_at_values(given, node)) {
      const ValueId read = node.inputs[static_cast<std::size_t>(node.op->check_reads)];
      const Value& value = given.values[static_cast<std::size_t>(read)];
      ValueCheck check{node, operand_types(given, node), value.type, 0, 0};
      if (value.node < 0) {
        check.buffer = static_cast<std::size_t>(value.output);
      } else {
        check.buffer = graph.inputs.size() + graph.outputs.size();
        graph.outputs.push_back({read, -1, graph.stages - 1});
      }
      check.stage = graph.stages++;
      checks.push_back(std::move(check));
    }
    node.stage = graph.stages - 1;
  }
  for (std::size_t k = 0; k < given.outputs.size(); ++k) graph.outputs[k].stage = graph.stages - 1;
  return checks;
}

class SubgraphProgram final : public kernels::CompiledSubgraph {
 public:
  SubgraphProgram(Graph graph, bool is_synchronous)
      : stages_(1), numbers_(graph.numbers), program_(std::make_shared<tracer::Segment>()) {
    const std::size_t given = graph.inputs.size() + graph.outputs.size();
    checks_ = cut_at_checks(graph);
    stages_ = graph.stages;
    for (const ValueCheck& check : checks_) {
      if (check.buffer < given) continue;
      own_.push_back(own_bytes_);
      own_bytes_ += rounded(static_cast<std::size_t>(element_count(check.type.sizes)) *
                            element_size(check.type.dtype));
    }
    program_->source = "a function of control flow";
    if (!graph.nodes.empty() && graph.nodes[0].source.file)
      program_->source +=
          fmt::format(" at {}:{}", graph.nodes[0].source.file, graph.nodes[0].source.line);
    program_->graph = std::move(graph);
    tracer::compile_program(program_, is_synchronous);
  }
  State state() const override {
    switch (program_->state.load(std::memory_order_acquire)) {
      case tracer::State::kArmed:
        return State::kReady;
      case tracer::State::kRetired:
        return program_->failure.empty() ? State::kDropped : State::kImpossible;
      default:
        return State::kComing;
    }
  }
  std::size_t arena_bytes() const override {
    return rounded(program_->executable->arena_bytes()) + own_bytes_;
  }
  bool run(ArrayRef<void*> buffers, ArrayRef<std::uint64_t> numbers, void* arena) const override {
    SmallVector<void*, 32> all(buffers.data(), buffers.size());
    char* const own = static_cast<char*>(arena) + rounded(program_->executable->arena_bytes());
    for (const std::size_t offset : own_) all.push_back(own + offset);
    program_->recent_runs.store(program_->recent_runs.load(std::memory_order_relaxed) + 1,
                                std::memory_order_relaxed);
    const std::uint64_t runs = runs_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (tracer::may_be_promoted(*program_, runs)) tracer::promote_if_it_pays(program_, runs, false);
    ProgramContext context{arena, 0};
    auto check = checks_.begin();
    for (; context.stage < stages_; ++context.stage) {
      for (; check != checks_.end() && check->stage == context.stage; ++check)
        look(*check, all[check->buffer], numbers);
      if (program_->executable->run(all.data(), nullptr, numbers.data(), context) != 0)
        return false;
    }
    return true;
  }
  const std::string& failure() const { return program_->failure; }

 private:
  void look(const ValueCheck& check, void* data, ArrayRef<std::uint64_t> words) const {
    const Node& node = check.node;
    Tensors inputs(node.inputs.size());
    StoragePtr storage = make_storage();
    storage->data = data;
    const Shape& sizes = check.type.sizes;
    inputs[static_cast<std::size_t>(node.op->check_reads)] = Tensor(make_impl(
        std::move(storage), Geometry{sizes, contiguous_strides(sizes), 0}, check.type.dtype));
    std::vector<Scalar> numbers;
    for (const NumberRef& number : node.numbers) {
      const auto entry = static_cast<std::size_t>(number.entry);
      if (number.entry < 0)
        numbers.push_back(number.constant);
      else if (numbers_[entry] == kDouble)
        numbers.emplace_back(std::bit_cast<double>(words[entry]));
      else
        numbers.emplace_back(static_cast<std::int64_t>(words[entry]));
    }
    node.op->check(Signature{*node.op, check.types, node.attrs, numbers}, inputs);
  }

  std::int32_t stages_;
  mutable std::atomic<std::uint64_t> runs_{0};
  std::vector<ScalarType> numbers_;
  std::vector<ValueCheck> checks_;  // in the order of the nodes
  std::vector<std::size_t> own_;    // offsets of what only checks read
  std::size_t own_bytes_ = 0;
  tracer::SegmentPtr program_;
};

// The interpreter is what compiled code is compared with.
bool is_oracle() {
  static kernels::Backend* const oracle = kernels::find_backend("interpreter");
  return &kernels::current_backend() == oracle;
}

std::shared_ptr<const kernels::CompiledSubgraph> compile(const Graph& graph) {
  if (is_oracle()) return nullptr;
  return std::make_shared<SubgraphProgram>(graph, tracer::is_compilation_synchronous());
}

const bool is_registered = (kernels::register_subgraph_compiler(compile), true);

}  // namespace

std::shared_ptr<const kernels::CompiledSubgraph> compile_now(const Graph& graph) {
  if (is_oracle()) return nullptr;
  auto program = std::make_shared<SubgraphProgram>(graph, true);
  GROOVE_CHECK(program->failure().empty(), "compile: {}", program->failure());
  return program;
}

}  // namespace groove::jit
