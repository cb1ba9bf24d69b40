// Backward through a compiled run as one step: the nodes that it stands for, run one by one, or,
// when the same was asked for before, as a program of their gradient rules. Either way every sum is
// made of the same parts in the same order as by the engine.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "autodiff/op_node.h"
#include "tracer/calls/history.h"
#include "tracer/calls/segment.h"
#include "tracer/watch/makings.h"

namespace groove::autodiff {

// What one backward asks of a run: cotangents of results, and which outside edges need gradients.
struct BackwardCall {
  const tracer::HistoryRun& run;
  ArrayRef<Tensor> cotangents;  // by result; undefined where none came
  ArrayRef<bool> needs;         // by outside edge
  Tensor* sums;                 // by outside edge: so far, and after
};

/// A saved tensor of a run, by its place in the plan.
using ValueOf = std::function<Tensor(std::size_t value, bool is_output)>;
/// One of a plan's nodes with its numbers and, where they are given, saved values; without edges.
detail::RefPtr<Node> make_node(const tracer::HistoryRun& run, std::size_t index, bool has_origins,
                               const ValueOf& value_of);

struct Question;
struct Answer;

// The programs made for one plan so far.
class BackwardPrograms {
 public:
  /// `makings`: of a plan at sizes of its own among many; otherwise null.
  explicit BackwardPrograms(const tracer::HistoryPlan& plan,
                            std::shared_ptr<tracer::Makings> makings = nullptr);
  ~BackwardPrograms();

  /// Does it all; the nodes that have run, by place in the plan.
  std::vector<bool> run(const BackwardCall& call, const ValueOf& value_of);
  /// For explain().
  std::string describe() const;
  /// Can a run of this plan be one node to the engine? With targets, only when every result leads
  /// to every outside edge.
  bool can_run(bool has_targets) const { return can_run_ && (is_uniform_ || !has_targets); }
  /// … when gradients come from this result? What others lead to may be used up, or user code.
  bool can_run_from(std::size_t result) const { return can_run_from_[result]; }
  /// Is outside edge `edge` on a way from a result?
  bool leads_to(std::size_t result, std::size_t edge) const { return leads_to_[result][edge]; }

 private:
  struct Program;
  std::vector<bool> run_nodes(const BackwardCall& call, const ValueOf& value_of,
                              bool has_origins) const;
  std::shared_ptr<Program> program_for(const BackwardCall& call);
  void make(const tracer::SegmentPtr& code, bool is_synchronous) const;
  void build(const Question& question, Answer& answer, Graph& graph) const;
  bool run_program(Program& program, const BackwardCall& call, const ValueOf& value_of) const;

  const tracer::HistoryPlan& plan_;
  std::shared_ptr<tracer::Makings> makings_;
  std::vector<std::size_t> first_slot_;      // of each node's outputs
  std::vector<std::vector<bool>> leads_to_;  // [result][outside edge]
  std::vector<bool> can_run_from_;           // [result]
  bool can_run_ = true, is_uniform_ = true;
  std::atomic<std::uint64_t> node_runs_{0};
  std::vector<std::shared_ptr<Program>> programs_;
};

// The plan of a segment with what became of its backwards.
struct LivePlan final : tracer::HistoryPlan {
  LivePlan() = default;
  explicit LivePlan(const tracer::HistoryPlan& content) : HistoryPlan(content) {}
  std::shared_ptr<tracer::HistoryPlan> copy(
      std::shared_ptr<tracer::Makings> makings) const override {
    auto result = std::make_shared<LivePlan>(static_cast<const HistoryPlan&>(*this));
    result->programs = std::make_unique<BackwardPrograms>(*result, std::move(makings));
    return result;
  }
  std::string describe() const override { return programs ? programs->describe() : ""; }
  std::unique_ptr<BackwardPrograms> programs;
};

}  // namespace groove::autodiff
