// What a recording left on the tape, as a plan: the nodes that can be reached from the results that
// outlive it, up to where the histories of its live-ins begin.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "autodiff/segment_backward.h"
#include "autodiff/views.h"
#include "src/core/faults.h"
#include "tracer/tape_hooks.h"

namespace groove::autodiff {
namespace {

using tracer::HistoryPlan;
using tracer::HistoryRequest;

class Planner {
 public:
  explicit Planner(const HistoryRequest& request) : request_(request) {}

  tracer::HistoryPlanPtr plan(std::string& why) {
    const std::vector<bool> is_live = find_live();
    for (std::size_t r = 0; r < is_live.size(); ++r) {
      const HistoryRequest::Candidate& result = request_.results[r];
      if (is_live[r]) {
        const Edge root = history_of(*result.impl);
        collect(static_cast<Node*>(root.node.get()));
        live_.push_back({result.slot, root});
      } else if (result.must_live) {
        why_ = "the history of a written input is used up";
      }
    }
    if (why_.empty()) number_nodes();
    if (why_.empty()) fill_nodes();
    why = why_;
    if (!why_.empty()) return nullptr;
    for (const auto& [slot, root] : live_) plan_->results.push_back({slot, planned_edge(root)});
    if (!why_.empty()) return nullptr;
    plan_->number_kinds = request_.number_kinds;
    plan_->place = request_.place;
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
  // same: one that does not need what was used. Where there is none it is as good as released.
  std::vector<bool> find_live() {
    std::map<std::pair<const TapeNode*, std::uint32_t>, std::size_t> result_at;
    std::vector<bool> is_live(request_.results.size());
    for (std::size_t r = 0; r < is_live.size(); ++r)
      if (const Edge root = history_of(*request_.results[r].impl))
        result_at.emplace(std::pair{root.node.get(), root.index}, r);
    for (std::size_t r = 0; r < is_live.size(); ++r) {
      const Edge root = history_of(*request_.results[r].impl);
      if (!root) continue;
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
      if (HistoryPlan::Node planned;
          !dynamic_cast<const OpNode*>(&node) && !describe_view(node, planned)) {
        why_ = std::string("its history has a node of another kind: ") + node.name();
      } else if (node.sequence < request_.first_position ||
                 node.sequence >= request_.end_position) {
        why_ = std::string("its history reaches outside of the loop: ") + node.name();
      } else if ((node.retained && !node.retained->empty()) || node.hooks) {
        why_ = std::string("a result has a hook or retains its gradient: ") + node.name();
      }
      nodes_[order_[i]] = static_cast<std::int32_t>(i);
    }
  }

  void fill_nodes() {
    for (const Node* const node : order_) {
      HistoryPlan::Node planned = described(*node);
      planned.position = node->sequence - request_.first_position;
      for (std::uint32_t i = 0; i < node->edge_count; ++i)
        planned.edges.push_back(planned_edge(node->edges[i]));
      for (const HistoryPlan::Edge& edge : planned.edges)
        if (edge.node >= static_cast<std::int32_t>(plan_->nodes.size()))
          why_ = std::string("the history is not in tape order: ") + node->name();
      plan_->nodes.push_back(std::move(planned));
    }
  }

  HistoryPlan::Node described(const Node& node) {
    const auto place_of = [&](const SavedValue& saved) { return planned_value(node, saved); };
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
      auto& known = plan_->outside;
      auto at = std::find(known.begin(), known.end(), input->second);
      if (at == known.end()) at = known.insert(at, input->second);
      return {-1, static_cast<std::int32_t>(at - known.begin()), 0};
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

  const HistoryRequest& request_;
  std::map<std::pair<const TapeNode*, std::uint32_t>, std::int32_t> outside_;
  std::vector<std::pair<std::int32_t, Edge>> live_;
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
    for (std::uint32_t i = 0; i < node.edge_count; ++i)
      if (node.edges[i].node) walk.push_back(node.edges[i].node.get());
  }
  return false;
}

[[maybe_unused]] const bool is_registered = [] {
  tracer::tape_hooks().reaches_before = reaches_before;
  tracer::tape_hooks().plan_history = [](const HistoryRequest& request, std::string& why) {
    return Planner(request).plan(why);
  };
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
