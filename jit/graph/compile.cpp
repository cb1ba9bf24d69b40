// Graphs as machine code: as functions of control flow, in memory that each call brings along.
#include "jit/graph/state.h"
#include "jit/subgraph_compiler.h"

#include <atomic>

#include "groove/autograd.h"
#include "src/core/dispatch.h"

namespace groove::jit {

namespace detail {

struct CompiledState {
  GraphState state;     // without writes, so that results have memory of their own
  groove::Graph graph;  // in order
  std::shared_ptr<const kernels::CompiledSubgraph> code;  // null: node by node

  explicit CompiledState(const GraphState& from) : state(from), graph(in_order(from)) {}
};

}  // namespace detail

CompiledGraph Graph::compile() const {
  const std::string problem = this->problem();
  GROOVE_CHECK(problem.empty(), "compile: {}", problem);
  auto compiled = std::make_shared<detail::CompiledState>(*state_);
  // Results are copies, arguments contiguous; a stage is for looking at values in between.
  groove::Graph& graph = compiled->graph;
  for (GraphInput& input : graph.inputs)
    input.strides = contiguous_strides(graph.type(input.value).sizes);
  for (groove::Node& node : graph.nodes) node.stage = 0;
  for (GraphOutput& output : graph.outputs) output = {output.value, -1, 0};
  graph.stages = 1;
  compiled->code = compile_now(graph);
  CompiledGraph result;
  result.state_ = std::move(compiled);
  return result;
}

Tensors CompiledGraph::operator()(const Tensors& arguments) const {
  GROOVE_CHECK(state_, "this CompiledGraph was made by nobody; Graph::compile() gives one");
  const detail::CompiledState& compiled = *state_;
  const auto by_node = [&] {
    const NoGradGuard no_history;
    return Graph(std::make_unique<detail::GraphState>(compiled.state)).run(arguments);
  };
  using State = kernels::CompiledSubgraph::State;
  if (!compiled.code || compiled.code->state() != State::kReady || is_dispatch_overridden())
    return by_node();
  const Tensors given = detail::all_inputs(compiled.state, arguments);
  const NoGradGuard no_history;
  Tensors inputs;
  for (const Tensor& tensor : given) {
    inputs.push_back(tensor.detach().contiguous());
    host_read(*inputs.back().impl());
  }
  std::vector<std::uint64_t> words;
  const RandomState random = get_random_state();
  const std::vector<Scalar> numbers = detail::numbers_for_run(compiled.state);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    words.push_back(numbers[i].bits_as(compiled.graph.numbers[i]));
  const Tensors outputs = kernels::make_outputs(compiled.graph);
  SmallVector<void*, 32> buffers;
  for (const Tensor& input : inputs) buffers.push_back(input.impl()->data());
  for (const Tensor& output : outputs) buffers.push_back(output.impl()->data());
  const StoragePtr arena = allocate_storage(compiled.code->arena_bytes());
  if (!compiled.code->run(ArrayRef<void*>(buffers.data(), buffers.size()), words, arena->data)) {
    set_random_state(random);  // host code failed: whoever runs it alone throws its error
    return by_node();
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (const std::int32_t written = compiled.state.graph.outputs[k].writes; written >= 0)
      given[static_cast<std::size_t>(written)].detach().copy_(outputs[k]);
  return outputs;
}

}  // namespace groove::jit
