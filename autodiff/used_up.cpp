// The history of a result whose tape a backward of its own compiled run has used up. Nobody asks
// for it, most often: so it is one object for a run, which serves the next run too as long as
// nobody else has it, and becomes nodes, with the names and places that eager mode gives them, when
// it is looked at.
#include <algorithm>

#include "autodiff/tape.h"
#include "src/core/spin_lock.h"
#include "tracer/calls/tape_hooks.h"

namespace groove::autodiff {
namespace {

using tracer::HistoryPlan;
using tracer::UsedUpPlan;
using tracer::UsedUpRun;

// The history of a result whose run is not over.
struct ReleasedNode final : Node {
  ReleasedNode() { is_released = true; }
  const char* name() const override { return "pending"; }
  bool is_spent() const override { return true; }
  void apply(ArrayRef<Tensor>, ArrayRef<bool>, Tensor*) override { throw_spent(); }
};

struct UsedUpNode final : Node {
  UsedUpNode(tracer::UsedUpPlanPtr of, const UsedUpPlan::Node& as)
      : plan(std::move(of)), planned(as), own_edges(as.edges.size()) {
    is_released = true;
    output_count = as.outputs;
    edges = own_edges.data();
    edge_count = static_cast<std::uint32_t>(own_edges.size());
  }
  const char* name() const override { return planned.name.c_str(); }
  bool is_spent() const override { return planned.is_spent; }
  void apply(ArrayRef<Tensor>, ArrayRef<bool>, Tensor*) override { throw_spent(); }

  tracer::UsedUpPlanPtr plan;
  const UsedUpPlan::Node& planned;
  PooledVector<Edge> own_edges;
};

using Edges = PooledVector<Edge>;

class UsedUpHistory final : public DeferredNode {
 public:
  UsedUpHistory(tracer::UsedUpPlanPtr plan, std::shared_ptr<const Edges> outside)
      : plan_(std::move(plan)), outside_(std::move(outside)) {
    is_released = true;
    output_count = static_cast<std::uint32_t>(plan_->results.size());
  }
  const char* name() const override { return "used up"; }
  bool is_spent() const override { return true; }
  void apply(ArrayRef<Tensor>, ArrayRef<bool>, Tensor*) override { throw_spent(); }
  bool may_run(std::uint32_t, bool) const override { return false; }
  std::uint64_t first_position() const override { return first_position_; }

  void materialize() override {
    const SpinLock guard(lock_);
    if (is_materialized_) return;
    is_materialized_ = true;
    for (const UsedUpPlan::Node& planned : plan_->nodes) {
      auto* const node = new UsedUpNode(plan_, planned);
      nodes_.emplace_back(node);
      node->sequence = first_position_ + planned.position;
      node->tape = tape;
      for (std::size_t i = 0; i < planned.edges.size(); ++i)
        node->edges[i] = edge(planned.edges[i]);
    }
  }
  Edge target(std::uint32_t index) override { return edge(plan_->results[index].made_by); }

  const std::shared_ptr<const Edges>& outside() const { return outside_; }
  // Nobody but the replay has it, and no nodes were made of it.
  bool may_serve_again() const { return use_count() == 1 && !is_materialized_; }
  void begin_at(std::uint64_t position) { first_position_ = position; }

 private:
  Edge edge(const HistoryPlan::Edge& planned) const {
    if (planned.outside >= 0) return (*outside_)[static_cast<std::size_t>(planned.outside)];
    return {TapeNodePtr(nodes_[static_cast<std::size_t>(planned.node)].get()), planned.index};
  }

  tracer::UsedUpPlanPtr plan_;
  std::shared_ptr<const Edges> outside_;
  std::uint64_t first_position_ = 0;
  std::vector<detail::RefPtr<Node>> nodes_;
  std::atomic_flag lock_;
  bool is_materialized_ = false;
};

bool is_history_of(const Edge& edge, const TensorImpl* impl) {
  const AutogradMeta* const meta = impl->autograd;
  if (!meta) return false;
  return meta->grad_fn ? edge.node.get() == meta->grad_fn.get() && edge.index == meta->output_index
                       : edge.node.get() == meta->accumulator.get();
}

std::shared_ptr<const Edges> edges_of(ArrayRef<TensorImpl*> outside) {
  auto edges = std::allocate_shared<Edges>(Pooled<Edges>());
  edges->reserve(outside.size());
  for (TensorImpl* const impl : outside)
    edges->push_back(gradient_edge_when_used(Tensor(impl)));
  return edges;
}

void give_used_up(const UsedUpRun& run, TapeNodePtr& last) {
  auto* history = static_cast<UsedUpHistory*>(last.get());
  const bool leads_there =
      history && std::equal(history->outside()->begin(), history->outside()->end(),
                            run.outside.begin(), run.outside.end(), is_history_of);
  if (!leads_there || !history->may_serve_again()) {
    const auto outside = leads_there ? history->outside() : edges_of(run.outside);
    history = new UsedUpHistory(run.plan, outside);
    last = TapeNodePtr(history);
  }
  history->begin_at(run.first_position);
  for (std::size_t i = 0; i < run.results.size(); ++i)
    if (run.results[i]) set_history(*run.results[i], last, static_cast<std::uint32_t>(i));
}

[[maybe_unused]] const bool is_registered = [] {
  tracer::tape_hooks().make_released_node = [] { return TapeNodePtr(new ReleasedNode); };
  tracer::tape_hooks().give_used_up = give_used_up;
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
