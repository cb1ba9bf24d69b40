// Compiles composites and gradient rules for eager mode: a graph, of one node or of what a rule
// called, through the passes into a program.
#include <algorithm>
#include <set>

#include "eager/composite.h"
#include "jit/passes/passes.h"
#include "jit/pipeline.h"
#include "jit/program.h"
#include "kernels/backend.h"
#include "src/core/allocator.h"
#include "src/core/tensor_impl.h"

namespace groove::jit {
namespace {

class FusedComposite final : public eager::CompiledComposite {
 public:
  FusedComposite(Graph graph, std::vector<Type> outputs)
      : outputs_(std::move(outputs)), program_(std::move(graph)) {}

  std::size_t launch_count() const { return program_.launch_count(); }

  bool run(ArrayRef<Tensor> inputs, Tensor* outputs) const override {
    SmallVector<void*, 8> buffers;
    for (const Tensor& input : inputs) {
      if (input.defined()) buffers.push_back(input.impl()->data());
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      outputs[k] = make_empty(outputs_[k].sizes, outputs_[k].dtype);
      buffers.push_back(outputs[k].impl()->data());
    }
    // Blocks come from the allocator's cache: a program that rests holds no memory.
    const StoragePtr arena = allocate_storage(program_.arena_bytes());
    ProgramContext context{arena->data, 0};
    // Only host code can fail, and is_plain() lets none in.
    return program_.run(buffers.data(), nullptr, nullptr, context) == 0;
  }

 private:
  std::vector<Type> outputs_;
  Program program_;
};

// Results in memory of their own, from kernels only.
bool is_plain(const Graph& graph) {
  std::set<ValueId> results;
  for (const GraphOutput& output : graph.outputs) {
    const std::int32_t node = graph.values[static_cast<std::size_t>(output.value)].node;
    if (node < 0 || graph.nodes[static_cast<std::size_t>(node)].op->kind == OpKind::kView) {
      return false;
    }
    if (!results.insert(output.value).second) return false;
  }
  for (const Node& node : graph.nodes) {
    const OpKind kind = node.op->kind;
    if (node.op->is_random || kind == OpKind::kOpaque || kind == OpKind::kBig) return false;
  }
  return true;
}

// The interpreter is what fused kernels are compared with.
bool is_oracle_in_use() {
  static kernels::Backend* const oracle = kernels::find_backend("interpreter");
  return &kernels::current_backend() == oracle;
}

std::unique_ptr<const eager::CompiledComposite> compile(const Call& call) {
  if (is_oracle_in_use()) return nullptr;
  try {
    Graph graph;
    std::vector<ValueId> operands;
    for (const Tensor& input : call.inputs) {
      if (!input.defined()) {
        operands.push_back(kNoValue);
        continue;
      }
      const TensorImpl& impl = *input.impl();
      if (impl.numel == 0) return nullptr;
      operands.push_back(
          graph.add_input(Type{impl.dtype, impl.geometry.sizes}, impl.geometry.strides));
    }
    const std::int32_t node = graph.add_node(*call.op, operands, *call.attrs, {});
    std::vector<Type> types;
    for (const ValueId id : graph.nodes[static_cast<std::size_t>(node)].outputs) {
      graph.outputs.push_back({id, -1, 0});
      types.push_back(graph.type(id));
    }
    expand_composites(graph);
    if (!is_plain(graph)) return nullptr;
    run_own_passes(graph);
    return std::make_unique<FusedComposite>(std::move(graph), std::move(types));
  } catch (const Error&) {
    return nullptr;  // what cannot be compiled runs part by part
  }
}

std::unique_ptr<const eager::CompiledComposite> compile_gradients(Graph graph) {
  // A check would be made where the graph was, and not where it runs.
  const bool has_checks = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                      [](const Node& node) { return node.op->check != nullptr; });
  if (is_oracle_in_use() || has_checks || !is_plain(graph)) return nullptr;
  const auto operators = static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [](const Node& node) { return node.op->kind != OpKind::kView; }));
  if (operators < 2) return nullptr;
  std::vector<Type> types;
  for (const GraphOutput& output : graph.outputs) types.push_back(graph.type(output.value));
  try {
    run_own_passes(graph);
    auto fused = std::make_unique<FusedComposite>(std::move(graph), std::move(types));
    return fused->launch_count() < operators ? std::move(fused) : nullptr;
  } catch (const Error&) {
    return nullptr;  // what cannot be compiled runs part by part
  }
}

const bool is_registered = (eager::register_composite_compiler(compile),
                            eager::register_graph_compiler(compile_gradients), true);

}  // namespace
}  // namespace groove::jit
