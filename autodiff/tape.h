// The tape: nodes with edges to the nodes that made their inputs. A node is freed iteratively, so
// that a chain of any length fits a small stack.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autodiff/part_sums.h"
#include "src/core/allocator.h"
#include "src/core/autograd_meta.h"
#include "src/core/dispatch.h"

namespace groove::autodiff {

// Where the gradient of an input goes: the `index`-th output of `node`; null for nowhere.
struct Edge {
  TapeNodePtr node;
  std::uint32_t index = 0;
  explicit operator bool() const { return static_cast<bool>(node); }
  bool operator==(const Edge& other) const {
    return node.get() == other.node.get() && index == other.index;
  }
};

/// Which thread's tape nodes are recorded on now: this thread's, or that of one whose run it ends.
/// Positions of different tapes are not compared.
std::uint32_t tape_number();
void set_tape_number(std::uint32_t number);

// A node the engine can run. Its owner fills the members; `edges` lives as long as the node.
struct Node : TapeNode, FromPool {
  Edge* edges = nullptr;  // one per input of the op
  std::uint32_t edge_count = 0;
  std::uint32_t output_count = 1;
  std::uint32_t released_on = 0;  // the thread whose backward used it up
  std::uint32_t tape = tape_number();
  // Results with retain_grad(): {output, tensor}; cleared when the tensor dies.
  struct Retained {
    std::uint32_t index;
    TensorImpl* impl;
    const AutogradMeta* meta;
  };
  std::unique_ptr<std::vector<Retained>> retained;
  // Gradient hooks: called, in this order, with the complete cotangent of output `index` before the
  // node runs. Of results, removed ones keep their place, `code` null; a leaf's have positions.
  struct Hook {
    std::uint32_t index;
    TapeNodePtr code;
    std::uint32_t position = 0;
  };
  std::unique_ptr<std::vector<Hook>> hooks;

  /// `gradients[i]` for the edges that `needs`; places of the others may be left undefined.
  virtual void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) = 0;
  /// Drops saved values; later use is an error when there were any.
  virtual void release_saved() {}
  /// True once saved values that it needs are dropped: another backward through it is an error.
  virtual bool is_spent() const { return false; }
  /// The type of what flows along an edge; null when anything goes.
  virtual const Type* edge_type(std::uint32_t) const { return nullptr; }
  /// The saved output `index`, known without a reference, loses its history or its life.
  virtual void adopt_output(std::uint32_t) {}
  /// The saved output `index` now lives in another impl.
  virtual void move_output(std::uint32_t, TensorImpl&) {}
  virtual bool is_accumulator() const { return false; }
  /// apply() finds in `gradients` what was summed up so far, and adds to it.
  virtual bool accumulates() const { return false; }
  /// Of a node with one edge: the part of its input around which the gradient is zero, where that
  /// may be added to a sum without being made.
  virtual std::optional<AxisPart> part() const { return std::nullopt; }

  // A node whose gradient is user code is run in parts, so that a backward can stop while the code
  // runs: what it is called with, and what becomes of its results. Others return null.
  virtual struct UserCode* user_code() { return nullptr; }
  virtual std::vector<Tensor> arguments(ArrayRef<Tensor>) { return {}; }
  virtual void accept(std::vector<Tensor>, ArrayRef<bool>, Tensor*) {}
};

// Code of the program that a backward calls.
struct UserCode {
  virtual std::vector<Tensor> call(std::vector<Tensor> arguments) = 0;

 protected:
  ~UserCode() = default;
};
/// Calls the user code that is, or hangs on, this node.
std::vector<Tensor> call_user_code(TapeNode& node, std::vector<Tensor> arguments);

/// The error of a backward that reaches a spent node.
[[noreturn]] void throw_spent();

// A leaf's place on the tape. The leaf owns it; it knows the leaf without owning it.
struct Accumulator final : Node {
  explicit Accumulator(TensorImpl* leaf);
  const char* name() const override { return "accumulate_grad"; }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override;
  bool is_accumulator() const override { return true; }
  /// Of the leaf's gradient; null where there is none.
  const Storage* memory() const;

  std::atomic<TensorImpl*> leaf;
  std::atomic_flag lock;  // threads that train the same parameters

 private:
  static void settle_all(TensorImpl& impl);
  /// False where another thread's run has taken the gradient meanwhile.
  bool add(TensorImpl& impl, const Tensor& cotangent, bool is_last_look);
};

// The tracer's node: stands for a stage that ran without a tape. The engine (or whoever builds on
// an edge to it) materializes it into real nodes and asks where each edge then goes.
struct DeferredNode : Node {
  DeferredNode() { is_deferred = true; }
  virtual void materialize() = 0;
  /// Where output `index` comes from; called after materialize().
  virtual Edge target(std::uint32_t index) = 0;
  /// Can a backward that comes from this output, and records nothing, run it as one node, in place
  /// of those it stands for?
  virtual bool may_run(std::uint32_t index, bool has_targets) const = 0;
  /// Is this edge on a way from this output?
  virtual bool leads_to(std::uint32_t, std::uint32_t) const { return true; }
  /// Where on the tape the nodes begin that end at `sequence`.
  virtual std::uint64_t first_position() const = 0;
};
/// The real edge behind output `index` of a deferred node.
Edge resolve(DeferredNode& node, std::uint32_t index);
inline void resolve(Edge& edge) {
  while (edge.node && edge.node->is_deferred)
    edge = resolve(static_cast<DeferredNode&>(*edge.node), edge.index);
}

/// A number of this thread, for Node::released_on.
std::uint32_t thread_number();

/// The position that the next node of this thread gets; nodes of one op stream are ordered by it.
std::uint64_t tape_sequence();
void set_tape_sequence(std::uint64_t next);
std::uint64_t advance_tape_sequence();

/// Does gradient flow into this tensor? Sees a view whose base was changed in place.
bool needs_gradient(const TensorImpl& impl);
/// Call before a flag or a hook of the tensor changes: what other threads owe was computed with
/// them as they are.
inline void before_flags_change(TensorImpl& impl) {
  if (impl.storage) before_write(*impl.storage);
}
/// Where the gradient of a tensor goes: its producer, or the accumulator of a leaf.
Edge gradient_edge(const Tensor& tensor);
/// Where it went when the run that is being committed used the tensor with a gradient: the program
/// may have cleared the flag since.
Edge gradient_edge_when_used(const Tensor& tensor);
/// A node as the public interface shows it; null for none.
std::shared_ptr<autograd::Node> shown(TapeNodePtr node);
/// A node that was shown is destroyed.
void forget_shown(const TapeNode& node);
/// The program's own node for which this one stands on the tape; null for others.
std::shared_ptr<autograd::Node> user_node(TapeNode& node);
autograd::edge_list shown_edges(const Node& node);
/// Makes `node` the producer of `impl`. Replaces an older one.
void set_history(TensorImpl& impl, TapeNodePtr node, std::uint32_t index);
/// Has a backward leave the gradient of this result, whose history is no deferred one, in `.grad`.
void retain_gradient(TensorImpl& impl);
/// Makes a tensor a leaf again.
void clear_history(TensorImpl& impl);
/// Moves all that autodiff knows about a tensor to another impl of the same value (the tracer
/// fills a pending impl with the result of an eager run).
void move_history(TensorImpl& from, TensorImpl& to);

/// Records one call whose outputs exist, as the autodiff layer does, at a chosen position on the
/// tape; for the tracer, which knows a matched op's position from its recording.
void record_call(const Call& call, Tensor* outputs, std::uint64_t sequence);

}  // namespace groove::autodiff
