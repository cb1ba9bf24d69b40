// The tape node of a compiled run whose results outlive it: it stands for all the nodes that eager
// mode would have made. A backward runs it as one; whoever needs the nodes themselves gets them.
#pragma once

#include <atomic>

#include "autodiff/segment_backward.h"
#include "src/core/pooled.h"

namespace groove::autodiff {

class SegmentNode final : public DeferredNode {
 public:
  explicit SegmentNode(tracer::HistoryRun run);
  ~SegmentNode() override;
  const char* name() const override { return "compiled"; }
  void materialize() override;
  Edge target(std::uint32_t index) override;
  bool may_run(std::uint32_t index, bool has_targets) const override;
  bool leads_to(std::uint32_t output, std::uint32_t edge) const override {
    return programs().leads_to(output, edge);
  }
  std::uint64_t first_position() const override {
    return run_.first_position + run_.plan->nodes.front().position;
  }

  bool accumulates() const override { return true; }
  /// See follow_in_histories().
  void follow(const TensorImpl& result, const StoragePtr& before, std::uint64_t session,
              std::int32_t id);

  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* sums) override;
  void release_saved() override;

 private:
  void drop_values();
  void settle_values() const;
  bool has_fresh_values(std::size_t result) const;
  Tensor value(std::size_t index) const;
  Edge edge(const tracer::HistoryPlan::Edge& planned) const;
  BackwardPrograms& programs() const { return *static_cast<const LivePlan&>(*run_.plan).programs; }

  tracer::HistoryRun run_;
  PooledVector<Edge> outside_;
  std::vector<detail::RefPtr<Node>> nodes_;  // once materialized
  std::vector<bool> has_run_;                // of the nodes, in the last backward
  std::vector<bool> is_used_up_;             // … by backwards that kept nothing
  bool has_distinct_edges_ = true;
  mutable std::atomic_flag lock_;
  bool is_materialized_ = false;
  bool has_moved_ = false;  // a value, which the program of the backward does not know
  SegmentNode *previous_ = nullptr, *next_ = nullptr;  // of those that live
  friend class LiveNodes;
};

/// The tensor, until now over `before`, was given other memory: the tape saves tensors, not what
/// they held. `session` and `id` are what it was known by among the results of a run, if it is one.
void follow_in_histories(const TensorImpl& result, const StoragePtr& before, std::uint64_t session,
                         std::int32_t id);

/// Puts the real node behind a tensor's history in its place.
void resolve_history(TensorImpl& impl);

}  // namespace groove::autodiff
