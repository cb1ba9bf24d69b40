// Functions as graphs for the user: recorded as those of control flow are.
#include "jit/graph/state.h"

#include <string_view>

#include "groove/jit/capture.h"
#include "kernels/subgraph_run.h"
#include "kernels/tensor/capture.h"
#include "src/core/dispatch.h"

namespace groove::jit::detail {
namespace {

// Numbers are constants, except those that something random draws with: a run draws anew.
void settle_numbers(GraphState& state, const std::vector<Scalar>& recorded) {
  groove::Graph& graph = state.graph;
  std::vector<std::int32_t> renumbered(recorded.size(), -1);
  for (const kernels::DrawEntry& pair : kernels::draws_of(graph)) {
    renumbered[static_cast<std::size_t>(pair.seed)] = 0;
    renumbered[static_cast<std::size_t>(pair.draw)] = 0;
  }
  graph.numbers.clear();
  state.numbers.clear();
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (renumbered[i] < 0) continue;
    renumbered[i] = static_cast<std::int32_t>(graph.numbers.size());
    graph.numbers.push_back(kLong);
    state.numbers.push_back(recorded[i].with_origin(-1));
  }
  for (groove::Node& node : graph.nodes) {
    for (NumberRef& number : node.numbers) {
      if (number.entry < 0) continue;
      const auto entry = static_cast<std::size_t>(number.entry);
      number = {renumbered[entry], recorded[entry].with_origin(-1)};
    }
  }
}

std::string name_of(const Tensor& weight, const CapturedNames& names) {
  for (const auto& [name, tensor] : names)
    if (tensor.defined() && tensor.is_same(weight)) return name;
  return {};
}

}  // namespace

Graph capture(const std::function<Tensors(const Tensors&)>& function, const Tensors& inputs,
              const CapturedNames& names, Site site) {
  std::vector<Type> types;
  for (const Tensor& input : inputs) {
    GROOVE_CHECK(input.defined(), "capture: input {} is undefined", types.size());
    types.push_back({input.impl()->dtype, input.impl()->geometry.sizes});
  }
  FunctionCapture capture("capture");
  capture.add("the function", function, types);
  auto state = std::make_unique<GraphState>(capture.take(0));
  state->draws = capture.draws();
  settle_numbers(*state, capture.numbers());
  groove::Graph& graph = state->graph;
  // A module of the library is called by the header: its user's line is that of the capture.
  for (groove::Node& node : graph.nodes)
    if (node.source.file && std::string_view(node.source.file).ends_with("groove/jit/capture.h"))
      node.source = {site.file_name(), site.line()};
  const auto set_name = [&](std::size_t input, const std::string& name) {
    graph.values[static_cast<std::size_t>(graph.inputs[input].value)].name = name;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) set_name(i, fmt::format("x{}", i));
  for (std::size_t i = 0; i < capture.closed_over().size(); ++i) {
    const Tensor& weight = capture.closed_over()[i];
    const std::string name = name_of(weight, names);
    state->weights[inputs.size() + i] = weight;
    set_name(inputs.size() + i, name.empty() ? fmt::format("w{}", i) : name);
  }
  return Graph(std::move(state));
}

}  // namespace groove::jit::detail
