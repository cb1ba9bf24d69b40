// What the tracer asks of the tape (tracer/tape_hooks.h).
#include "tracer/tape_hooks.h"

#include <algorithm>
#include <array>
#include <memory_resource>
#include <unordered_set>

#include "autodiff/backward.h"
#include "autodiff/tape.h"
#include "src/core/check.h"

namespace groove::autodiff {
namespace {

// The history of a result whose tape a compiled backward has used up.
struct ReleasedNode final : Node {
  ReleasedNode() { is_released = true; }
  const char* name() const override { return "compiled"; }
  bool is_spent() const override { return true; }
  bool is_lost() const override { return true; }
  void apply(ArrayRef<Tensor>, ArrayRef<bool>, Tensor*) override { throw_spent(); }
  std::vector<Edge> leaves;  // behind it
};

// Calls visit(node) once for each node that can be reached from the result's, until it gives false.
template <typename Visit>
void walk_history(const TensorImpl& impl, const Visit& visit) {
  std::vector<const TapeNode*> walk{impl.autograd->grad_fn.get()};
  std::array<std::byte, 16'384> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::unordered_set<const TapeNode*> seen(&memory);
  while (!walk.empty()) {
    const TapeNode* const at = walk.back();
    walk.pop_back();
    if (at->is_deferred || !seen.insert(at).second) continue;
    const auto& node = static_cast<const Node&>(*at);
    if (!visit(node)) return;
    for (std::uint32_t i = 0; i < node.edge_count; ++i)
      if (node.edges[i].node) walk.push_back(node.edges[i].node.get());
  }
}

std::vector<const TapeNode*> leaves_behind(const TensorImpl& impl) {
  std::vector<const TapeNode*> leaves;
  bool is_spent = false;
  walk_history(impl, [&](const Node& node) {
    if (node.is_accumulator()) leaves.push_back(&node);
    is_spent |= node.is_spent();
    return true;
  });
  if (!is_spent) leaves.clear();
  return leaves;
}

bool is_behind(const Edge& edge, const TensorImpl* leaf) {
  return leaf->autograd && leaf->autograd->accumulator.get() == edge.node.get();
}

void lead_to(TensorImpl& result, ArrayRef<TensorImpl*> leaves, TapeNodePtr& like) {
  const auto* const known =
      result.autograd ? dynamic_cast<ReleasedNode*>(result.autograd->grad_fn.get()) : nullptr;
  if (!known) return;
  const auto leads_there = [leaves](const TapeNode& node) {
    const auto& behind = static_cast<const ReleasedNode&>(node).leaves;
    return std::equal(behind.begin(), behind.end(), leaves.begin(), leaves.end(), is_behind);
  };
  if (leads_there(*known)) return;
  if (!like || !leads_there(*like)) {
    const auto node = new ReleasedNode;
    like = TapeNodePtr(node);
    for (TensorImpl* const leaf : leaves) node->leaves.push_back(gradient_edge(Tensor(leaf)));
    node->edges = node->leaves.data();
    node->edge_count = static_cast<std::uint32_t>(node->leaves.size());
  }
  result.autograd->grad_fn = like;
}

// Could a backward still run from here? Not when it would reach a spent node.
bool has_live_history(const TensorImpl& impl) {
  if (!impl.autograd || !impl.autograd->grad_fn) return false;
  if (!impl.autograd->grad_fn->is_released) return true;
  bool is_live = true;
  walk_history(impl, [&](const Node& node) { return is_live = !node.is_spent(); });
  return is_live;
}

bool has_hook(const TensorImpl& leaf, const TapeNode* code) {
  const TapeNode* const place = leaf.autograd ? leaf.autograd->accumulator.get() : nullptr;
  if (!place) return false;
  const auto& hooks = static_cast<const Node&>(*place).hooks;
  return hooks && std::any_of(hooks->begin(), hooks->end(),
                              [code](const Node::Hook& hook) { return hook.code.get() == code; });
}

const bool registered = [] {
  tracer::TapeHooks& hooks = tracer::tape_hooks();
  hooks.move_history = [](TensorImpl& from, TensorImpl& to) { move_history(from, to); };
  hooks.needs_gradient = needs_gradient;
  hooks.has_live_history = has_live_history;
  hooks.run_again = [](const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs,
                       TapeNode* user_code, std::shared_ptr<Script>& script, Tensors* results) {
    return run_part(op, attrs, inputs, script, results) ||
           attach_hook(op, inputs, user_code) || attach_function(op, attrs, inputs, user_code);
  };
  hooks.release = [](TapeNode& node) {
    if (auto* const function = dynamic_cast<Node*>(&node)) function->release_saved();
  };
  hooks.has_hook = has_hook;
  hooks.leaves_behind = leaves_behind;
  hooks.lead_to = lead_to;
  hooks.make_released_node = [] { return TapeNodePtr(new ReleasedNode); };
  hooks.sequence = tape_sequence;
  hooks.set_sequence = set_tape_sequence;
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
