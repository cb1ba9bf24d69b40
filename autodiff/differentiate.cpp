// The tape over a stored graph: records its nodes as if they had run, then walks back.
#include "autodiff/differentiate.h"

#include "autodiff/engine.h"
#include "groove/autograd.h"
#include "kernels/ops/control_flow.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/widen.h"
#include "src/core/check.h"

namespace groove::autodiff {
namespace {

using kernels::GraphBuilder;

// Entry numbers as they are passed on by rules: with their place as origin.
std::vector<NumberRef> entries_of(const Graph& graph, ArrayRef<Scalar> numbers) {
  std::vector<NumberRef> entries;
  for (std::size_t i = 0; i < graph.numbers.size(); ++i)
    entries.push_back({static_cast<std::int32_t>(i), numbers[i].with_origin(-1)});
  return entries;
}
std::vector<Scalar> numbers_of(const groove::Node& node, const std::vector<NumberRef>& entries) {
  std::vector<Scalar> result;
  for (const NumberRef& number : node.numbers)
    result.push_back(
        number.entry < 0
            ? number.constant
            : entries[static_cast<std::size_t>(number.entry)].constant.with_origin(number.entry));
  return result;
}

bool is_taken_apart(const Op& op) { return op.kind == OpKind::kComposite && !op.gradient; }

struct Expander {
  GraphBuilder& builder;

  static void handle(void* self, const Call& call, Tensor* outputs) {
    GraphBuilder& to = static_cast<Expander*>(self)->builder;
    if (!is_taken_apart(*call.op)) return to.add(call, outputs);
    std::vector<Type> types;
    for (const Tensor& input : call.inputs)
      types.push_back(input.defined() ? Type{input.impl()->dtype, input.impl()->geometry.sizes}
                                      : Type{ScalarType::Undefined, {}});
    const Tensors results =
        kernels::compose(Signature{*call.op, types, *call.attrs, call.numbers}, call.inputs);
    for (std::size_t k = 0; k < results.size(); ++k) outputs[k] = results[k];
  }
};

// The position on this thread's tape stays what it was.
struct OwnTape {
  std::uint64_t before = tape_sequence();
  ~OwnTape() { set_tape_sequence(before); }
};

}  // namespace

Graph expand_for_tape(const Graph& graph, ArrayRef<Scalar> numbers) {
  bool has_any = false;
  for (const groove::Node& node : graph.nodes) has_any |= is_taken_apart(*node.op);
  if (!has_any) return graph;
  Graph fresh;
  fresh.numbers = graph.numbers;
  const std::vector<NumberRef> entries = entries_of(graph, numbers);
  GraphBuilder builder(fresh, GraphBuilder::Composites::kKeep);
  Expander expander{builder};
  const DispatchOverride override_(&Expander::handle, &expander);
  const NoAutocast as_given;
  const NoGradGuard no_grad;
  Tensors values(graph.values.size());
  for (const GraphInput& input : graph.inputs)
    values[static_cast<std::size_t>(input.value)] =
        builder.tensor(fresh.add_input(graph.type(input.value), input.strides));
  for (const groove::Node& node : graph.nodes) {
    builder.set_context(node.source, 0, &entries);
    Tensors inputs, outputs(node.outputs.size());
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? Tensor() : values[static_cast<std::size_t>(id)]);
    const std::vector<Scalar> own = numbers_of(node, entries);
    Expander::handle(&expander, Call{node.op, inputs, &node.attrs, own, Site::none()},
                     outputs.data());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      values[static_cast<std::size_t>(node.outputs[k])] = outputs[k];
  }
  for (const GraphOutput& output : graph.outputs)
    fresh.outputs.push_back({builder.value(values[static_cast<std::size_t>(output.value)]), -1, 0});
  return fresh;
}

Differentiated differentiate(const Graph& graph, const kernels::DerivativeRequest& request,
                             ArrayRef<Scalar> numbers) {
  Differentiated result;
  result.graph = graph;
  result.nodes_before = graph.nodes.size();
  Graph& to = result.graph;
  const std::vector<NumberRef> entries = entries_of(graph, numbers);
  GraphBuilder builder(to, GraphBuilder::Composites::kKeep);
  const OwnTape own_tape;
  const AutoGradMode recording(true);
  Tensors values;
  for (std::size_t id = 0; id < graph.values.size(); ++id)
    values.push_back(builder.tensor(static_cast<ValueId>(id)));
  const auto value = [&](ValueId id) -> Tensor& { return values[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    value(graph.inputs[i].value).impl()->requires_grad = request.wanted[i] != 0;
  for (const groove::Node& node : graph.nodes) {
    Tensors inputs, outputs;
    for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? Tensor() : value(id));
    for (const ValueId id : node.outputs) outputs.push_back(value(id));
    const std::vector<Scalar> own = numbers_of(node, entries);
    record_call(Call{node.op, inputs, &node.attrs, own, Site::none()}, outputs.data(),
                advance_tape_sequence());
  }

  BackwardRun run;
  run.accumulate = false;
  const auto add_root = [&](const Edge& edge, const Type& type) {
    const ValueId given = to.add_input(type, contiguous_strides(type.sizes));
    result.given.push_back(given);
    if (!edge) return;
    run.roots.push_back(edge);
    run.root_cotangents.push_back(builder.tensor(given));
  };
  std::vector<Type> types;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!request.wanted[i]) continue;
    const Tensor& input = value(graph.inputs[i].value);
    types.push_back(graph.type(graph.inputs[i].value));
    run.targets.push_back(gradient_edge(input));
    // A sum begins with what is given.
    if (request.seeded[i]) add_root(run.targets.back(), types.back());
  }
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    if (!request.given[k]) continue;
    const Tensor& output = value(graph.outputs[k].value);
    add_root(gradient_edge(output), graph.type(graph.outputs[k].value));
  }
  builder.set_context({}, 0, &entries);
  builder.record([&] {
    Tensors captured(types.size());
    if (!run.roots.empty() && !run.targets.empty()) {
      Walk walk(std::move(run));
      GROOVE_ASSERT(walk.advance(), "a stored graph has user code");
      captured = walk.backward().captured;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Tensor& gradient = captured[i];
      result.gradients.push_back(
          builder.value(gradient.defined() ? gradient : nothing_yet(types[i])));
    }
  });
  to.outputs.clear();
  for (const ValueId id : result.gradients) to.outputs.push_back({id, -1, 0});
  return result;
}

}  // namespace groove::autodiff
