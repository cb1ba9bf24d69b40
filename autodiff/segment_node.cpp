#include "autodiff/segment_node.h"

#include <algorithm>
#include <mutex>

#include "autodiff/views.h"
#include "src/core/check.h"
#include "src/core/fork.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/thread/threads.h"

namespace groove::autodiff {

using tracer::HistoryPlan;
using tracer::HistoryRun;

// All nodes of their kind, for what changes the tensors that they have saved.
class LiveNodes {
 public:
  static LiveNodes& instance() {  // never destroyed: other static objects may hold tensors
    static LiveNodes& all = *new LiveNodes;
    return all;
  }
  void add(SegmentNode& node) {
    const std::lock_guard guard(mutex_);
    node.next_ = first_;
    if (first_) first_->previous_ = &node;
    first_ = &node;
  }
  void remove(SegmentNode& node) {
    const std::lock_guard guard(mutex_);
    (node.previous_ ? node.previous_->next_ : first_) = node.next_;
    if (node.next_) node.next_->previous_ = node.previous_;
  }
  // Those that nobody is destroying.
  std::vector<detail::RefPtr<SegmentNode>> all() {
    const std::lock_guard guard(mutex_);
    std::vector<detail::RefPtr<SegmentNode>> nodes;
    for (SegmentNode* node = first_; node; node = node->next_)
      if (node->try_retain()) nodes.push_back(detail::RefPtr<SegmentNode>::adopt(node));
    return nodes;
  }
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  SegmentNode* first_ = nullptr;
};

namespace {

[[maybe_unused]] const bool is_fork_handled = hold_over_fork(
    ForkRank::kTracerTables, []() -> auto& { return LiveNodes::instance().mutex(); });

}  // namespace

void follow_in_histories(const TensorImpl& result, const StoragePtr& before, std::uint64_t session,
                         std::int32_t id) {
  if (before->use_count() == 1) return;
  for (const auto& node : LiveNodes::instance().all()) node->follow(result, before, session, id);
}

void SegmentNode::follow(const TensorImpl& result, const StoragePtr& before, std::uint64_t session,
                         std::int32_t id) {
  const SpinLock guard(lock_);
  for (std::size_t i = 0; i < run_.values.size(); ++i) {
    HistoryRun::Value& value = run_.values[i];
    const bool is_it =
        value.follows == &result || (session == run_.session && run_.plan->values[i].slot == id);
    if (!is_it || value.live_in.defined() || value.storage != before) continue;
    value.storage = result.storage;
    value.geometry = result.geometry;
    value.dtype = result.dtype;
    value.counts_apart = result.counts_apart;
    value.follows = &result;
    has_moved_ = true;
  }
}

SegmentNode::SegmentNode(HistoryRun run) : run_(std::move(run)) {
  LiveNodes::instance().add(*this);
  const HistoryPlan& plan = *run_.plan;
  sequence = run_.first_position + plan.nodes.back().position;
  outside_.reserve(run_.outside.size());
  for (const Tensor& live_in : run_.outside) {
    const Edge edge = gradient_edge_when_used(live_in);
    has_distinct_edges_ &= std::find(outside_.begin(), outside_.end(), edge) == outside_.end();
    outside_.push_back(edge);
  }
  run_.outside.clear();
  edges = outside_.data();
  edge_count = static_cast<std::uint32_t>(outside_.size());
  output_count = static_cast<std::uint32_t>(plan.results.size());
  for (const HistoryRun::Value& value : run_.values)
    if (value.live_in.defined())
      value.live_in.impl()->tape_references.fetch_add(1, std::memory_order_relaxed);
}

SegmentNode::~SegmentNode() {
  LiveNodes::instance().remove(*this);
  drop_values();
}

void SegmentNode::drop_values() {
  for (const HistoryRun::Value& value : run_.values)
    if (value.live_in.defined())
      value.live_in.impl()->tape_references.fetch_sub(1, std::memory_order_relaxed);
  run_.values.clear();
}

Edge SegmentNode::edge(const HistoryPlan::Edge& planned) const {
  if (planned.outside >= 0) return outside_[static_cast<std::size_t>(planned.outside)];
  if (planned.node < 0) return {};
  return {TapeNodePtr(nodes_[static_cast<std::size_t>(planned.node)].get()), planned.index};
}

// A saved tensor under an impl of its own, without a history.
Tensor SegmentNode::value(std::size_t index) const {
  const HistoryRun::Value& from = run_.values[index];
  if (from.live_in.defined()) return from.live_in;
  const auto impl = make_impl(from.storage, from.geometry, from.dtype);
  impl->counts_apart = from.counts_apart;
  return Tensor(impl);
}

// ---- as one node ----

// Of the nodes that gradients from a result pass: what others have saved may be written meanwhile,
// as the parameters of another network are by the step of its optimizer.
bool SegmentNode::has_fresh_values(std::size_t result) const {
  const HistoryPlan& plan = *run_.plan;
  const auto last = static_cast<std::size_t>(plan.results[result].made_by.node);
  std::vector<bool> is_passed(last + 1);
  is_passed[last] = true;
  for (std::size_t n = last + 1; n-- > 0;) {  // edges lead to earlier ones
    if (!is_passed[n]) continue;
    for (const HistoryPlan::Saved& saved : plan.nodes[n].saved) {
      if (saved.value < 0) continue;
      const HistoryRun::Value& value = run_.values[static_cast<std::size_t>(saved.value)];
      const Storage& storage =
          value.live_in.defined() ? *value.live_in.impl()->storage : *value.storage;
      const std::uint32_t now = value.counts_apart ? storage.unnoticed : storage.version;
      if (now != value.version_before + saved.version) return false;
    }
    for (const HistoryPlan::Edge& edge : plan.nodes[n].edges)
      if (edge.node >= 0) is_passed[static_cast<std::size_t>(edge.node)] = true;
  }
  return true;
}

// A write that another thread owes has not been counted yet. Ending its run may come here.
void SegmentNode::settle_values() const {
  std::vector<StoragePtr> owed;
  {
    const SpinLock guard(lock_);
    for (const HistoryRun::Value& value : run_.values) {
      const StoragePtr& storage =
          value.live_in.defined() ? value.live_in.impl()->storage : value.storage;
      if (storage->flags & Storage::kNotThere) owed.push_back(storage);
    }
  }
  for (const StoragePtr& storage : owed) tracer::settle_writes(*storage);
}

bool SegmentNode::may_run(std::uint32_t index, bool has_targets) const {
  if (!programs().can_run_from(index)) return false;
  settle_values();
  const SpinLock guard(lock_);
  return !is_materialized_ && !has_moved_ && is_used_up_.empty() && has_distinct_edges_ &&
         programs().can_run(has_targets) && has_fresh_values(index) &&
         tracer::tape_hooks().may_run_compiled && tracer::tape_hooks().may_run_compiled();
}

void SegmentNode::apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* sums) {
  std::vector<bool> has_run = programs().run(
      {run_, cotangents, needs, sums}, [this](std::size_t index, bool) { return value(index); });
  const SpinLock guard(lock_);
  has_run_ = std::move(has_run);
}

// Nodes that were not reached keep what they saved.
void SegmentNode::release_saved() {
  const SpinLock guard(lock_);
  if (is_used_up_.empty()) is_used_up_.resize(run_.plan->nodes.size());
  std::vector<bool> is_kept(run_.values.size());
  for (std::size_t n = 0; n < is_used_up_.size(); ++n) {
    if (has_run_[n]) is_used_up_[n] = true;
    if (is_used_up_[n]) continue;
    for (const HistoryPlan::Saved& saved : run_.plan->nodes[n].saved)
      if (saved.value >= 0) is_kept[static_cast<std::size_t>(saved.value)] = true;
  }
  if (std::find(is_kept.begin(), is_kept.end(), true) == is_kept.end()) drop_values();
}

// ---- as the nodes it stands for ----

void SegmentNode::materialize() {
  const SpinLock guard(lock_);
  if (is_materialized_) return;
  is_materialized_ = true;
  const HistoryPlan& plan = *run_.plan;
  // As an input, a saved result has its history; as an output it has none, since the node that made
  // it must not be held by what it saves.
  Tensors inputs(plan.values.size()), outputs(plan.values.size());
  const auto value_of = [&](std::size_t index, bool is_output) {
    Tensor& known = (is_output ? outputs : inputs)[index];
    if (known.defined()) return known;
    const HistoryPlan::Edge& made_by = plan.values[index].made_by;
    // Written in place since it was saved: its history is yet to come, and its version says so.
    if (!is_output && made_by.node >= static_cast<std::int32_t>(nodes_.size())) return value(index);
    known = value(index);
    if (made_by.node >= 0 && !is_output && !run_.values[index].live_in.defined()) {
      const Edge history = edge(made_by);
      set_history(*known.impl(), history.node, history.index);
    }
    return known;
  };
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const bool is_used_up = !is_used_up_.empty() && is_used_up_[n];
    auto node = make_node(run_, n, false, is_used_up ? ValueOf() : ValueOf(value_of));
    node->tape = tape;
    if (is_used_up) {
      node->release_saved();
      node->released_on = released_on;
    }
    const std::vector<HistoryPlan::Edge>& planned = plan.nodes[n].edges;
    for (std::size_t i = 0; i < planned.size(); ++i) node->edges[i] = edge(planned[i]);
    for (const HistoryPlan::Node::Hook& hook : plan.nodes[n].hooks) {
      if (!node->hooks) node->hooks = std::make_unique<std::vector<Node::Hook>>();
      node->hooks->push_back({hook.index, run_.code[static_cast<std::size_t>(hook.code)]});
    }
    nodes_.push_back(std::move(node));
  }
  drop_values();
}

Edge SegmentNode::target(std::uint32_t index) { return edge(run_.plan->results[index].made_by); }

void resolve_history(TensorImpl& impl) {
  AutogradMeta* const meta = impl.autograd;
  if (!meta || !meta->grad_fn || !meta->grad_fn->is_deferred) return;
  Edge edge{meta->grad_fn, meta->output_index};
  resolve(edge);
  set_history(impl, edge.node, edge.index);
}

namespace {

void attach_history(HistoryRun run) {
  const PooledVector<TensorImpl*> results = std::move(run.results);
  const TapeNodePtr node(new SegmentNode(std::move(run)));
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i]) set_history(*results[i], node, static_cast<std::uint32_t>(i));
}

[[maybe_unused]] const bool is_registered = [] {
  tracer::tape_hooks().attach_history = attach_history;
  tracer::tape_hooks().track_view = track_view;
  tracer::tape_hooks().refresh_view = refresh_view;
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
