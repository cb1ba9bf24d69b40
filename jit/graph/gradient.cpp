// Gradients of graphs for the user: what those of control flow's functions are made by.
#include "jit/graph/state.h"

#include "autodiff/differentiate.h"
#include "groove/jit/differentiate.h"
#include "kernels/derivative.h"

namespace groove::autodiff {
namespace {

using jit::detail::GraphState;

// A value that is 1 everywhere.
ValueId add_one(groove::Graph& graph, const Type& type) {
  static const Op* const full = find_op("full");
  const Attrs attrs = Attrs().add(IntArrayRef(type.sizes)).add(type.dtype);
  const std::int32_t node = graph.add_node(*full, {}, attrs, {NumberRef{-1, Scalar(1.0)}});
  return graph.nodes[static_cast<std::size_t>(node)].outputs[0];
}

}  // namespace

jit::Graph differentiate(const jit::Graph& graph, const GradientOptions& options) {
  const GraphState& state = graph.state();
  groove::Graph given = jit::detail::in_order(state);
  const std::string problem = jit::detail::problem_of(given);
  GROOVE_CHECK(problem.empty(), "differentiate: {}", problem);
  for (const GraphOutput& output : given.outputs)
    GROOVE_CHECK(
        output.writes < 0,
        "differentiate: the graph overwrites its inputs; set_outputs() makes them results");
  given.stages = 1;
  for (groove::Node& node : given.nodes) node.stage = 0;
  for (GraphOutput& output : given.outputs) output.stage = 0;

  kernels::DerivativeRequest request;
  request.wanted.resize(given.inputs.size());
  const std::vector<jit::Value> inputs = graph.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    request.wanted[i] = options.inputs.empty() && is_floating(inputs[i].type().dtype);
  for (const jit::Value& wanted : options.inputs) {
    std::size_t i = 0;
    while (i < inputs.size() && !(inputs[i] == wanted)) ++i;
    GROOVE_CHECK(i < inputs.size(), "differentiate: {} is no input of this graph",
                 wanted.defined() ? fmt::format("`{}`", wanted.name()) : "an absent value");
    GROOVE_CHECK(is_floating(wanted.type().dtype),
                 "differentiate: the input `{}` is {}; only floating ones have gradients",
                 wanted.name(), wanted.type().text());
    request.wanted[i] = true;
  }
  request.seeded.resize(given.inputs.size());
  std::size_t floating = 0;
  for (const GraphOutput& output : given.outputs) {
    request.given.push_back(is_floating(given.type(output.value).dtype));
    floating += request.given.back() != 0;
  }
  GROOVE_CHECK(floating > 0, "differentiate: no output has a floating dtype");
  const bool is_loss =
      given.outputs.size() == 1 && element_count(given.type(given.outputs[0].value).sizes) == 1;

  std::vector<Scalar> numbers;
  for (std::size_t i = 0; i < state.numbers.size(); ++i)
    numbers.push_back(state.numbers[i].value_or(Scalar()).with_origin(static_cast<int>(i)));
  Graph expanded = expand_for_tape(given, numbers);
  // Expanded graphs have lost names and, where nothing was taken apart, kept them.
  for (std::size_t i = 0; i < given.inputs.size(); ++i)
    expanded.values[static_cast<std::size_t>(expanded.inputs[i].value)].name = inputs[i].name();
  const std::vector<GraphOutput> own_outputs = expanded.outputs;
  Differentiated done = differentiate(expanded, request, numbers);
  Graph& result = done.graph;
  if (options.keep_outputs)
    result.outputs.insert(result.outputs.begin(), own_outputs.begin(), own_outputs.end());

  if (is_loss) {
    // The cotangent is a constant instead of the last input.
    const ValueId cotangent = done.given.back();
    const ValueId one = add_one(result, result.type(cotangent));
    for (groove::Node& node : result.nodes)
      for (ValueId& id : node.inputs)
        if (id == cotangent) id = one;
    for (GraphOutput& output : result.outputs)
      if (output.value == cotangent) output.value = one;
    result.inputs.pop_back();
  } else {
    std::size_t index = 0;
    for (const ValueId id : done.given)
      result.values[static_cast<std::size_t>(id)].name = fmt::format("cotangent{}", index++);
  }

  auto made = std::make_unique<GraphState>(std::move(result));
  if (is_loss) {  // it stands where the first node of the derivative may read it
    made->order.pop_back();
    made->order.insert(made->order.begin(),
                       static_cast<std::int32_t>(made->graph.nodes.size() - 1));
  }
  for (std::size_t i = 0; i < state.weights.size(); ++i) made->weights[i] = state.weights[i];
  made->numbers = state.numbers;
  made->draws = state.draws;
  jit::Graph gradients(std::move(made));
  gradients.remove_dead_code();
  return gradients;
}

}  // namespace groove::autodiff
