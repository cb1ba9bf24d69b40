// What a recording left on the tape, as a plan: the nodes that can be reached from the results that
// outlive it, up to where the histories of its live-ins begin.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "autodiff/backward.h"
#include "autodiff/segment_backward.h"
#include "autodiff/views.h"
#include "src/core/faults.h"
#include "tracer/calls/tape_hooks.h"

namespace groove::autodiff {
namespace {

using tracer::HistoryPlan;
using tracer::HistoryRequest;
using tracer::UsedUpPlan;

class Planner {
 public:
  explicit Planner(const HistoryRequest& request) : request_(request) {}

  std::shared_ptr<HistoryPlan> plan(tracer::UsedUpPlanPtr& used_up, std::string& why) {
    std::vector<bool> is_live = find_live();
    for (std::size_t r = 0; r < is_live.size(); ++r) {
      const HistoryRequest::Candidate& result = request_.results[r];
      if (is_live[r])
        collect(static_cast<Node*>(history_of(*result.impl).node.get()));
      else if (result.must_live)
        why_ = "the history of a written input is used up";
    }
    for (std::size_t r = 0; r < is_live.size(); ++r) {
      const Edge root = history_of(*request_.results[r].impl);
      // Behind a live one, though no gradient gets there: it must be the node that is there.
      if (nodes_.count(static_cast<Node*>(root.node.get())) != 0) is_live[r] = true;
      (is_live[r] ? live_ : used_up_).push_back({request_.results[r].slot, root});
    }
    if (why_.empty()) number_nodes();
    if (why_.empty()) fill_nodes();
    why = why_;
    if (!why_.empty()) return nullptr;
    for (const auto& [slot, root] : live_) plan_->results.push_back({slot, planned_edge(root)});
    if (!why_.empty()) return nullptr;
    if (!used_up_.empty()) used_up = plan_used_up();
    plan_->number_kinds = request_.number_kinds;
    plan_->source = request_.source;
    if (!plan_->nodes.empty()) plan_->programs = std::make_unique<BackwardPrograms>(*plan_);
    return plan_;
  }

 private:
  static Edge history_of(const TensorImpl& impl) {
    const AutogradMeta* const meta = impl.autograd;
    return meta && meta->grad_fn ? Edge{meta->grad_fn, meta->output_index} : Edge{};
  }
  // Most often all is used up, and nothing needs to be known of the outside.
  const std::map<std::pair<const TapeNode*, std::uint32_t>, std::int32_t>& outside() {
    if (!outside_.empty()) return outside_;
    for (const HistoryRequest::Outside& known : request_.outside) {
      const auto [at, is_new] = outside_.try_emplace({known.node, known.index}, known.slot);
      if (!is_new && at->second != known.slot) at->second = -1;
    }
    return outside_;
  }
  bool is_outside(const Edge& edge) {
    return outside().find({edge.node.get(), edge.index}) != outside().end();
  }

  // Of a result that a backward has used up, wholly or in part, some gradient may be had all the
  // same: one that does not need what was used. Its own hooks are called with the gradient with
  // respect to itself, which needs nothing. Where there is none it is as good as released.
  std::vector<bool> find_live() {
    std::map<std::pair<const TapeNode*, std::uint32_t>, std::size_t> result_at;
    std::vector<bool> is_live(request_.results.size());
    for (std::size_t r = 0; r < is_live.size(); ++r)
      if (const Edge root = history_of(*request_.results[r].impl))
        result_at.emplace(std::pair{root.node.get(), root.index}, r);
    for (std::size_t r = 0; r < is_live.size(); ++r) {
      const Edge root = history_of(*request_.results[r].impl);
      if (!root) continue;
      is_live[r] = is_live[r] || calls_hooks(root);
      follow_unspent(static_cast<Node*>(root.node.get()), [&](const Edge& edge) {
        const auto inner = result_at.find({edge.node.get(), edge.index});
        if (inner != result_at.end())
          is_live[r] = is_live[inner->second] = true;
        else if (is_outside(edge) || edge.node->is_deferred ||
                 static_cast<const Node&>(*edge.node).is_accumulator())
          is_live[r] = true;
      });
    }
    return is_live;
  }

  static bool calls_hooks(const Edge& edge) {
    const auto& hooks = static_cast<const Node&>(*edge.node).hooks;
    return hooks && std::any_of(hooks->begin(), hooks->end(), [&](const Node::Hook& hook) {
             return hook.code && hook.index == edge.index;
           });
  }

  // The recording knows only what its own thread has used up.
  bool is_spent(const Node& node) {
    if (!node.is_spent() || has_fault(Fault::kSpentNotSeen)) return false;
    if (node.released_on != thread_number()) why_ = "another thread called backward on it";
    return true;
  }

  // Calls visit(edge) for each edge to which a gradient gets without a spent node.
  template <typename Visit>
  void follow_unspent(Node* root, const Visit& visit) {
    std::vector<Node*> walk{root};
    std::unordered_set<Node*> seen;
    while (!walk.empty()) {
      Node* const at = walk.back();
      walk.pop_back();
      if (!seen.insert(at).second || is_spent(*at)) continue;
      for (std::uint32_t i = 0; i < at->edge_count; ++i) {
        const Edge& edge = at->edges[i];
        if (!edge) continue;
        visit(edge);
        if (!is_outside(edge) && !edge.node->is_deferred)
          walk.push_back(static_cast<Node*>(edge.node.get()));
      }
    }
  }

  // Adds what can be reached inside.
  void collect(Node* root) {
    std::vector<Node*> walk{root};
    while (!walk.empty()) {
      Node* const at = walk.back();
      walk.pop_back();
      if (!nodes_.emplace(at, 0).second) continue;
      for (std::uint32_t i = 0; i < at->edge_count; ++i) {
        const Edge& edge = at->edges[i];
        if (!edge || is_outside(edge)) continue;
        if (edge.node->is_deferred)
          why_ = "it reaches a compiled history that no input has";
        else
          walk.push_back(static_cast<Node*>(edge.node.get()));
      }
    }
  }

  void number_nodes() {
    for (const auto& [node, index] : nodes_) order_.push_back(node);
    std::sort(order_.begin(), order_.end(),
              [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Node& node = *order_[i];
      const bool is_function = is_custom_function(node) && request_.attached_by(&node) >= 0;
      if (HistoryPlan::Node planned;
          !dynamic_cast<const OpNode*>(&node) && !is_function && !describe_view(node, planned)) {
        why_ = std::string("its history has a node of another kind: ") + node.name();
      } else if (node.tape != tape_number() || node.sequence < request_.first_position ||
                 node.sequence >= request_.end_position) {
        why_ = std::string("its history reaches outside of the loop: ") + node.name();
      } else if (node.retained && !node.retained->empty()) {
        why_ = std::string("a result retains its gradient: ") + node.name();
      }
      nodes_[order_[i]] = static_cast<std::int32_t>(i);
    }
  }

  void fill_nodes() {
    for (const Node* const node : order_) {
      HistoryPlan::Node planned = described(*node);
      planned.position = node->sequence - request_.first_position;
      if (node->hooks)
        for (const Node::Hook& hook : *node->hooks)
          if (hook.code) planned.hooks.push_back({hook.index, planned_code(*hook.code)});
      for (std::uint32_t i = 0; i < node->edge_count; ++i)
        planned.edges.push_back(planned_edge(node->edges[i]));
      for (const HistoryPlan::Edge& edge : planned.edges)
        if (edge.node >= static_cast<std::int32_t>(plan_->nodes.size()))
          why_ = std::string("the history is not in tape order: ") + node->name();
      plan_->nodes.push_back(std::move(planned));
    }
  }

  std::int32_t planned_code(const TapeNode& code) {
    const std::int32_t call = request_.attached_by(&code);
    if (call < 0) why_ = "a result has a hook that no call of the loop has hung on it";
    return place_of(call, plan_->code);
  }

  HistoryPlan::Node described(const Node& node) {
    const auto place_of = [&](const SavedValue& saved) { return planned_value(node, saved); };
    if (is_custom_function(node)) {
      HistoryPlan::Node planned = describe_function(node, place_of);
      planned.code = planned_code(node);
      // What it saved of its own results lies under other impls, without the history.
      for (std::size_t i = 0; i < planned.saved.size(); ++i)
        if (planned.saved_outputs[i] >= 0 && planned.saved[i].value >= 0)
          plan_->values[static_cast<std::size_t>(planned.saved[i].value)].made_by = {
              nodes_.at(const_cast<Node*>(&node)), -1,
              static_cast<std::uint32_t>(planned.saved_outputs[i])};
      return planned;
    }
    const auto* const write = dynamic_cast<const CopySlices*>(&node);
    const auto* const op = write ? write->write.get() : dynamic_cast<const OpNode*>(&node);
    HistoryPlan::Node planned = op ? op->describe(place_of) : HistoryPlan::Node();
    if (!op || write) describe_view(node, planned);
    return planned;
  }

  HistoryPlan::Edge planned_edge(const Edge& edge) {
    if (!edge) return {};
    if (const auto input = outside().find({edge.node.get(), edge.index});
        input != outside().end()) {
      if (input->second < 0) why_ = "two inputs share one history";
      return {-1, place_of(input->second, plan_->outside), 0};
    }
    const auto inner = nodes_.find(static_cast<Node*>(edge.node.get()));
    if (inner == nodes_.end()) return {};
    return {inner->second, -1, edge.index};
  }

  HistoryPlan::Saved planned_value(const Node& node, const SavedValue& saved) {
    if (!saved.is_set()) return {};
    const TensorImpl& impl = *saved.impl();
    const std::int32_t slot = request_.slot_of(impl);
    if (slot < 0) {
      why_ = std::string("an unknown tensor is saved for the gradient of ") + node.name();
      return {};
    }
    const auto [known, is_new] =
        values_.try_emplace(slot, static_cast<std::int32_t>(plan_->values.size()));
    if (is_new) plan_->values.push_back({slot, planned_edge(history_of(impl))});
    const std::uint32_t before = request_.version_before[static_cast<std::size_t>(slot)];
    if (saved.version() < before)
      why_ =
          std::string("a result is written after it was saved for the gradient of ") + node.name();
    return {known->second, saved.version() - before};
  }

  // ---- what is used up ----

  tracer::UsedUpPlanPtr plan_used_up() {
    auto plan = std::make_shared<UsedUpPlan>();
    std::vector<Node*> made;
    for (const auto& [slot, root] : used_up_) made.push_back(static_cast<Node*>(root.node.get()));
    std::sort(made.begin(), made.end(), [](const Node* a, const Node* b) {
      return a->sequence != b->sequence ? a->sequence < b->sequence : std::less<>()(a, b);
    });
    made.erase(std::unique(made.begin(), made.end()), made.end());
    std::unordered_map<const TapeNode*, std::int32_t> places;
    for (const Node* const node : made)
      places.emplace(node, static_cast<std::int32_t>(places.size()));
    for (Node* const node : made) plan->nodes.push_back(used_up_node(*node, places, *plan));
    for (const auto& [slot, root] : used_up_)
      plan->results.push_back({slot, {places.at(root.node.get()), -1, root.index}});
    return plan;
  }

  // Only results and live-ins can be asked for: it leads to those that are behind it.
  UsedUpPlan::Node used_up_node(Node& node,
                                const std::unordered_map<const TapeNode*, std::int32_t>& places,
                                UsedUpPlan& plan) {
    UsedUpPlan::Node planned{node.name(), false, node.output_count, 0, {}};
    if (node.tape == tape_number() && node.sequence >= request_.first_position)
      planned.position = node.sequence - request_.first_position;
    std::vector<const Node*> walk{&node};
    std::unordered_set<const TapeNode*> seen{&node};
    while (!walk.empty()) {
      const Node& at = *walk.back();
      walk.pop_back();
      planned.is_spent |= at.is_spent();
      for (std::uint32_t i = 0; i < at.edge_count; ++i) {
        const Edge& edge = at.edges[i];
        if (!edge || edge.node.get() == &node) continue;
        if (const auto known = places.find(edge.node.get()); known != places.end()) {
          add_edge(planned, {known->second, -1, edge.index});
          continue;
        }
        const Goal goal = goal_of(edge);
        if (goal.slot >= 0) add_edge(planned, {-1, place_of(goal.slot, plan.outside), 0});
        plan.leads_to_live |= goal.is_live;
        // A live one may be dropped, what is behind it not.
        const bool goes_on = goal.slot < 0 || goal.is_live;
        if (goes_on && !edge.node->is_deferred && seen.insert(edge.node.get()).second)
          walk.push_back(static_cast<const Node*>(edge.node.get()));
      }
    }
    return planned;
  }

  static void add_edge(UsedUpPlan::Node& node, const HistoryPlan::Edge& edge) {
    for (const HistoryPlan::Edge& known : node.edges)
      if (known.node == edge.node && known.outside == edge.outside && known.index == edge.index)
        return;
    node.edges.push_back(edge);
  }

  // The live-in, or the live result, that has this history.
  struct Goal {
    std::int32_t slot = -1;  // none
    bool is_live = false;
  };
  Goal goal_of(const Edge& edge) const {
    const auto is_it = [&](const TapeNode* node, std::uint32_t index) {
      return node == edge.node.get() && index == edge.index;
    };
    for (const auto& [slot, root] : live_)
      if (is_it(root.node.get(), root.index)) return {slot, true};
    for (const HistoryRequest::Outside& known : request_.outside)
      if (is_it(known.node, known.index)) return {known.slot, false};
    return {};
  }

  static std::int32_t place_of(std::int32_t slot, std::vector<std::int32_t>& slots) {
    auto at = std::find(slots.begin(), slots.end(), slot);
    if (at == slots.end()) at = slots.insert(at, slot);
    return static_cast<std::int32_t>(at - slots.begin());
  }

  const HistoryRequest& request_;
  std::map<std::pair<const TapeNode*, std::uint32_t>, std::int32_t> outside_;
  std::vector<std::pair<std::int32_t, Edge>> live_, used_up_;
  std::unordered_map<Node*, std::int32_t> nodes_;
  std::vector<Node*> order_;
  std::unordered_map<std::int32_t, std::int32_t> values_;  // slot -> place
  std::shared_ptr<LivePlan> plan_ = std::make_shared<LivePlan>();
  std::string why_;
};

bool reaches_before(const TensorImpl& impl, std::uint64_t position) {
  if (!impl.autograd || !impl.autograd->grad_fn) return false;
  std::vector<const TapeNode*> walk{impl.autograd->grad_fn.get()};
  std::unordered_set<const TapeNode*> seen;
  while (!walk.empty()) {
    const TapeNode* const at = walk.back();
    walk.pop_back();
    if (!seen.insert(at).second) continue;
    if (at->is_deferred || at->sequence < position) return true;
    const auto& node = static_cast<const Node&>(*at);
    if (node.edge_count > 0 && node.tape != tape_number()) return true;
    for (std::uint32_t i = 0; i < node.edge_count; ++i)
      if (node.edges[i].node) walk.push_back(node.edges[i].node.get());
  }
  return false;
}

[[maybe_unused]] const bool is_registered = [] {
  tracer::tape_hooks().reaches_before = reaches_before;
  tracer::tape_hooks().plan_history = [](const HistoryRequest& request,
                                         tracer::UsedUpPlanPtr& used_up, std::string& why) {
    return Planner(request).plan(used_up, why);
  };
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
