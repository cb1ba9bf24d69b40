// What a segment leaves on the tape when results with a live history outlive it: the tape nodes of
// one iteration as a plan over the segment's slots, and what one run gives to a copy of that plan.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/core/autograd_meta.h"
#include "src/core/graph.h"
#include "src/core/pooled.h"

namespace groove::tracer {

class Makings;

struct HistoryPlan {
  // Where a gradient goes: to an inner node, or along the history that a live-in had before.
  struct Edge {
    std::int32_t node = -1;     // index in `nodes`
    std::int32_t outside = -1;  // index in `outside`
    std::uint32_t index = 0;    // output of the inner node
  };
  struct Saved {
    std::int32_t value = -1;    // index in `values`; -1: not saved
    std::uint32_t version = 0;  // writes of its storage, in this run, before it was saved
  };
  // A view op on the way from a base to a view of it.
  struct Step {
    const Op* op = nullptr;
    Attrs attrs;
    std::vector<NumberRef> numbers;
    Type input;
  };
  struct Node {
    // An op; one that wrote its first operand, a view, as part of the base's history; a view's
    // history derived from its base; or a custom function, which is made anew in every run.
    enum class Kind : std::uint8_t { kOp, kWrite, kView, kFunction };
    struct Hook {
      std::uint32_t index = 0;  // of the output
      std::int32_t code = -1;   // index in `code`
    };
    std::size_t outputs() const {
      return kind == Kind::kOp || kind == Kind::kFunction ? types.size() - edges.size() : 1;
    }

    Kind kind = Kind::kOp;
    std::vector<Step> steps;  // from the base to that view
    const Op* op = nullptr;
    Attrs attrs;
    std::vector<NumberRef> numbers;
    std::vector<Type> types;  // inputs, then outputs
    std::vector<Edge> edges;
    std::vector<Saved> saved;  // inputs, then outputs; of a function as it asked for them
    std::int32_t code = -1;    // functions: source in `code` …
    std::vector<std::int32_t> saved_outputs;  // … and which output each saved value is, or -1
    std::vector<Hook> hooks;
    std::uint64_t position = 0;
    bool is_released = false, has_saved = false;
  };
  struct Value {  // a saved tensor
    std::int32_t slot = -1;
    Edge made_by;  // an inner node, or none
  };
  struct Result {
    std::int32_t slot = -1;
    Edge made_by;
  };
  virtual ~HistoryPlan() = default;
  /// For explain(): what became of the backwards through runs of it; empty when nothing.
  virtual std::string describe() const { return {}; }
  /// One of the same structure whose numbers may be set, for runs at other sizes: `makings` tells
  /// when its backward may be made.
  virtual std::shared_ptr<HistoryPlan> copy(std::shared_ptr<Makings> makings) const = 0;

  std::vector<Node> nodes;            // in tape order
  std::vector<std::int32_t> outside;  // live-in slots
  std::vector<Value> values;
  std::vector<Result> results;
  std::vector<std::int32_t> code;        // calls that attached user code
  std::vector<ScalarType> number_kinds;  // of the segment's run-time numbers
  std::string source;                    // of its first call
};
using HistoryPlanPtr = std::shared_ptr<const HistoryPlan>;

// Results of which a backward of the recording has used up the history. No gradient gets past them,
// but they have names, and one that would have to get past them is refused.
struct UsedUpPlan {
  struct Node {
    std::string name;
    bool is_spent = false;
    std::uint32_t outputs = 1;
    std::uint64_t position = 0;
    std::vector<HistoryPlan::Edge> edges;  // the results and live-ins behind it
  };
  std::vector<Node> nodes;            // that made a result, in tape order
  std::vector<std::int32_t> outside;  // slots of live-ins, and of results with a live history
  bool leads_to_live = false;         // to one of these results
  std::vector<HistoryPlan::Result> results;
};
using UsedUpPlanPtr = std::shared_ptr<const UsedUpPlan>;

// What the recorder knows when the tape is asked for a plan.
struct HistoryRequest {
  struct Candidate {
    std::int32_t slot;
    const TensorImpl* impl;
    bool must_live = false;  // one that a backward has used up is no result, otherwise
  };
  struct Outside {
    std::int32_t slot;
    const TapeNode* node;
    std::uint32_t index;
  };
  std::function<std::int32_t(const TensorImpl&)> slot_of;    // -1: unknown
  std::function<std::int32_t(const TapeNode*)> attached_by;  // the call; -1: none
  std::uint64_t first_position = 0, end_position = 0;
  std::vector<Candidate> results;
  std::vector<Outside> outside;
  std::vector<ScalarType> number_kinds;
  std::string source;
  std::vector<std::uint32_t> version_before;  // [slot] of its storage; inside: at the end
};

// A run of the segment, for the tape.
struct HistoryRun {
  struct Value {
    Tensor live_in;  // saved as it is; otherwise a view of `storage`
    StoragePtr storage;
    Geometry geometry;
    ScalarType dtype = kFloat;
    bool requires_grad = false;
    bool counts_apart = false;
    std::uint32_t version_before = 0;
    const TensorImpl* follows = nullptr;  // a tensor that was given this memory afterwards
  };
  HistoryPlanPtr plan;
  std::uint64_t first_position = 0;
  std::uint64_t session = 0;  // of the results: what their handles know them by, with the slot
  PooledVector<Value> values;
  PooledVector<Tensor> outside;
  PooledVector<TapeNodePtr> code;
  PooledVector<std::uint64_t> numbers;
  PooledVector<TensorImpl*> results;  // null: nobody holds it
};

// The same of what is used up, by index in its plan.
struct UsedUpRun {
  UsedUpPlanPtr plan;
  std::uint64_t first_position = 0;
  ArrayRef<TensorImpl*> results;  // null: nobody holds it
  ArrayRef<TensorImpl*> outside;
};

/// A view whose base was written since its own history was made: the tape derives it anew at the
/// next use.
inline bool has_stale_history(const TensorImpl& impl) {
  const AutogradMeta* meta = impl.autograd;
  if (!meta || !meta->view_base.defined() || !impl.storage) return false;
  const TensorImpl& base = *meta->view_base.impl();
  return meta->view_version != version_of(impl) && base.requires_grad && base.autograd &&
         base.autograd->grad_fn;
}

/// A view made while no gradients were recorded, of what requires one and was written since: it has
/// no node on the tape, and an operator that is recorded must not read it.
inline bool is_lost_view(const TensorImpl& impl) {
  const AutogradMeta* meta = impl.autograd;
  return meta && meta->is_made_without_grad && meta->view_base.defined() && impl.storage &&
         meta->view_base.impl()->requires_grad && meta->view_version != version_of(impl);
}

/// A view requires a gradient because its base does, while nothing leads from it to its base: it
/// was made while no gradients were recorded, or before the base required one.
inline bool requires_grad_by_base(const TensorImpl& impl) {
  const AutogradMeta* meta = impl.autograd;
  return meta && !impl.requires_grad && meta->view_base.defined() &&
         meta->view_base.impl()->requires_grad;
}

}  // namespace groove::tracer
