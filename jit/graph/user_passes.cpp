// The table of the program's passes, and what they may do to a graph.
#include "jit/user_passes.h"
#include "jit/passes/passes.h"
#include "jit/shared_programs.h"

#include "jit/graph/state.h"

#include "groove/jit/pass.h"
#include "kernels/subgraph_run.h"
#include "src/core/fork.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace groove::jit {

static_assert(PassPlace::kRecorded == kRecordedPlace && PassPlace::kExpanded == kExpandedPlace &&
              PassPlace::kOptimized == kOptimizedPlace);

namespace {

using detail::GraphState;

struct UserPass {
  std::string name;
  std::shared_ptr<const PassFunction> function;
  PassPlace place;
  std::shared_ptr<std::once_flag> complaint = std::make_shared<std::once_flag>();
};
struct Table {
  std::mutex mutex;
  std::vector<UserPass> passes;
};
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

// The stage in which each input is first there: the tracer binds it at its first use.
std::vector<std::int32_t> first_stages(const groove::Graph& graph) {
  std::vector<std::int32_t> first(graph.inputs.size(), graph.stages);
  const auto use = [&](ValueId id, std::int32_t stage) {
    if (id == kNoValue) return;
    const groove::Value& value = graph.values[static_cast<std::size_t>(id)];
    if (value.node >= 0) return;
    auto& earliest = first[static_cast<std::size_t>(value.output)];
    earliest = std::min(earliest, stage);
  };
  for (const groove::Node& node : graph.nodes)
    for (const ValueId id : node.inputs) use(id, node.stage);
  for (const GraphOutput& output : graph.outputs) {
    use(output.value, output.stage);
    if (output.writes >= 0)
      use(graph.inputs[static_cast<std::size_t>(output.writes)].value, output.stage);
  }
  return first;
}

// Values and nodes of `before` have the same numbers in `state`.
std::string lost(const groove::Graph& before, const GraphState& state) {
  const groove::Graph& after = state.graph;
  if (after.inputs.size() != before.inputs.size()) return "it changes the number of inputs";
  if (after.outputs.size() != before.outputs.size()) return "it changes the number of outputs";
  for (std::size_t k = 0; k < before.outputs.size(); ++k) {
    const GraphOutput &old = before.outputs[k], &now = after.outputs[k];
    if (!(before.type(old.value) == after.type(now.value)))
      return fmt::format("output {} has another type", k);
    if (old.writes != now.writes || old.stage != now.stage)
      return fmt::format("output {} is written elsewhere or at another time; use replace()", k);
  }
  return {};
}

// With stages, in a graph that is in order.
std::string early(const groove::Graph& before, const groove::Graph& after) {
  const auto made_in = [&](ValueId id) {
    const std::int32_t node = id == kNoValue ? -1 : after.values[static_cast<std::size_t>(id)].node;
    return node < 0 ? 0 : after.nodes[static_cast<std::size_t>(node)].stage;
  };
  for (std::size_t i = 0; i < after.nodes.size(); ++i)
    for (const ValueId id : after.nodes[i].inputs)
      if (made_in(id) > after.nodes[i].stage)
        return fmt::format("node {} ({}) reads what a later part of the step makes", i,
                           after.nodes[i].op->name);
  for (std::size_t k = 0; k < after.outputs.size(); ++k)
    if (made_in(after.outputs[k].value) > after.outputs[k].stage)
      return fmt::format("output {} is made after it is needed", k);
  const std::vector<std::int32_t> old = first_stages(before), now = first_stages(after);
  for (std::size_t i = 0; i < old.size(); ++i)
    if (now[i] < old[i]) return fmt::format("input {} is read before it is there", i);
  return {};
}

// An operator that fails on values is checked where the program calls it; compiled code does not
// look again. So only calls that the program made may read what nothing proves to be right.
std::string unchecked(const groove::Graph& before, const GraphState& state) {
  for (const std::int32_t index : state.order) {
    const groove::Node& node = state.graph.nodes[static_cast<std::size_t>(index)];
    if (!kernels::looks_at_values(state.graph, node)) continue;
    const auto reads = static_cast<std::size_t>(node.op->check_reads);
    const bool is_known =
        std::any_of(before.nodes.begin(), before.nodes.end(), [&](const groove::Node& one) {
          return one.op == node.op && one.attrs == node.attrs && one.stage <= node.stage &&
                 one.inputs[reads] == node.inputs[reads] &&
                 operand_types(before, one) == operand_types(state.graph, node);
        });
    if (!is_known)
      return fmt::format("{} looks at values that nobody checked; prove their range, with clamp()",
                         node.op->name);
  }
  return {};
}

// Throws groove::Error where the pass throws, or leaves what cannot be compiled.
void run(const UserPass& pass, groove::Graph& graph) {
  auto state = std::make_unique<GraphState>(graph);
  GraphState& edited = *state;
  for (std::size_t i = 0; i < graph.numbers.size(); ++i) {  // as recorded
    for (const groove::Node& node : graph.nodes)
      for (const NumberRef& number : node.numbers)
        if (number.entry == static_cast<std::int32_t>(i)) edited.numbers[i] = number.constant;
  }
  Graph facade(std::move(state));
  try {
    (*pass.function)(facade);
  } catch (const std::exception& error) {
    throw_error(fmt::format("pass `{}`: {}", pass.name, error.what()));
  }
  GraphState& after = facade.state();
  std::string problem =
      &after == &edited ? lost(graph, after) : "it puts another graph in its place";
  groove::Graph result;
  if (problem.empty()) problem = detail::problem_of(after);
  if (problem.empty()) {
    result = detail::in_order(after);
    problem = early(graph, result);
  }
  if (problem.empty()) problem = unchecked(graph, after);
  GROOVE_CHECK(problem.empty(), "pass `{}` leaves an invalid graph: {}", pass.name, problem);
  graph = std::move(result);
}

}  // namespace

void register_pass(const std::string& name, PassFunction function, PassPlace place) {
  GROOVE_CHECK(!name.empty() && function, "register_pass: a pass has a name and a function");
  for (const Pass& own : passes())
    GROOVE_CHECK(name != own.name, "register_pass: `{}` is one of Groove's own passes", name);
  Table& t = table();
  const ForkGate gate;
  const std::lock_guard lock(t.mutex);
  for (const UserPass& pass : t.passes)
    GROOVE_CHECK(pass.name != name,
                 "register_pass: there is a pass `{}`; unregister_pass() takes it away", name);
  t.passes.push_back({name, std::make_shared<const PassFunction>(std::move(function)), place});
  forget_shared_programs();
}

bool unregister_pass(const std::string& name) {
  Table& t = table();
  const ForkGate gate;
  const std::lock_guard lock(t.mutex);
  forget_shared_programs();
  return std::erase_if(t.passes, [&](const UserPass& pass) { return pass.name == name; }) > 0;
}

void run_pass(const std::string& name, Graph& graph) {
  std::optional<UserPass> found;
  {
    Table& t = table();
    const ForkGate gate;
    const std::lock_guard lock(t.mutex);
    for (const UserPass& pass : t.passes)
      if (pass.name == name) found = pass;
  }
  const std::string problem = graph.problem();
  GROOVE_CHECK(problem.empty(), "run_pass: the graph is invalid before it: {}", problem);
  GraphState fresh = graph.state();
  groove::Graph changed = detail::in_order(fresh);
  if (found) {
    run(*found, changed);
  } else {
    const auto own = std::find_if(passes().begin(), passes().end(),
                                  [&](const Pass& pass) { return name == pass.name; });
    GROOVE_CHECK(own != passes().end(), "run_pass: there is no pass `{}`", name);
    own->run(changed);
  }
  auto state = std::make_unique<GraphState>(std::move(changed));
  state->weights = std::move(fresh.weights);
  state->numbers = std::move(fresh.numbers);
  state->draws = fresh.draws;
  graph = Graph(std::move(state));
}

void run_user_passes(groove::Graph& graph, PassPlace place, const PassObserver& observer) {
  std::vector<UserPass> here;
  {
    Table& t = table();
    const ForkGate gate;
    const std::lock_guard lock(t.mutex);
    for (const UserPass& pass : t.passes)
      if (pass.place == place) here.push_back(pass);
  }
  for (const UserPass& pass : here) {
    try {
      run(pass, graph);
      // What it made comes after the passes that would have seen to it.
      if (place != PassPlace::kRecorded) expand_composites(graph);
      if (place == PassPlace::kOptimized) widen_halves(graph);
      observer(pass.name, "of the program", graph);
    } catch (const Error& error) {
      std::call_once(*pass.complaint, [&] {
        std::fprintf(stderr, "groove: %s; compiling without it\n", error.what());
      });
    }
  }
}

}  // namespace groove::jit
