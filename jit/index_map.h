// How a loop sees a value that stands some views, broadcasts and gathers away from it: a chain of
// steps from the value to the loop. Steps are applied to the geometry of the memory in which the
// value lies (or would lie), so a view of an inlined expression is a view of each of its operands.
#pragma once

#include <deque>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

// A loop's logical shape without axes of size 1, and what part of it a value varies along.
enum class Span : std::uint8_t { kFull, kKept };  // kKept: not along the reduced axes

struct LoopShape {
  Shape sizes;
  std::vector<bool> is_reduced;  // per axis; empty for maps and contractions
  bool operator==(const LoopShape&) const = default;
  std::size_t reduced_axes() const;
  std::int64_t points() const { return element_count(sizes); }
};

struct Chain {
  enum class Kind : std::uint8_t {
    kEnd,        // the loop itself, as `span`
    kBroadcast,  // to the shape of value `target`
    kView,       // the view rule of `node`
    kPick,       // from the source of gather `node` to its output
    kAlign,      // from the one-dimensional index of gather `node` to its output
  };
  Kind kind = Kind::kEnd;
  Span span = Span::kFull;
  std::int32_t node = -1;
  ValueId target = kNoValue;
  const Chain* rest = nullptr;
  bool has_pick = false;  // here or further on: the value is not seen at the loop's own index
};

// A run-time number that moves a view: the address moves by stride * start, a negative start
// counting from `size`.
struct Start {
  std::int32_t entry = -1;
  std::int64_t stride = 0, size = 0;
  bool operator==(const Start&) const = default;
};
// A gathered index that moves an address by stride * index.
struct Picked {
  ValueId index = kNoValue;
  const Chain* chain = nullptr;  // from the index value to the loop
  std::int64_t stride = 0;
  bool operator==(const Picked&) const = default;
};

// Where a loop finds the elements of a value: strides along its axes, in elements.
struct Walk {
  Shape strides;  // per axis of LoopShape::sizes
  std::int64_t offset = 0;
  std::vector<Start> starts;
  std::vector<Picked> picked;
  bool operator==(const Walk&) const = default;
};

// Chains of one loop; equal chains are one object.
class Chains {
 public:
  Chains(const Graph& graph, const LoopShape& loop);
  const Chain* end(Span span) const { return span == Span::kFull ? &full_ : &kept_; }
  /// `rest` itself when the shapes are equal.
  const Chain* broadcast(ValueId from, ValueId target, const Chain* rest);
  const Chain* view(std::int32_t node, const Chain* rest);
  const Chain* pick(std::int32_t node, const Chain* rest);
  const Chain* align(std::int32_t node, const Chain* rest);

  /// How the loop walks memory of this geometry at the far end of the chain. Throws
  /// groove::Error when a view does not allow it.
  Walk walk(Geometry geometry, const Chain* chain);

 private:
  const Chain* intern(Chain chain);
  void fit(const Geometry& geometry, Span span, Walk& walk) const;

  const Graph& graph_;
  const LoopShape& loop_;
  Chain full_, kept_;
  std::deque<Chain> chains_;
};

/// Where a value lies: through its views to the memory of the root that is returned.
ValueId locate(const Graph& graph, ValueId value, Geometry& geometry, std::vector<Start>& starts);
/// A shape without its axes of size 1.
Shape without_ones(IntArrayRef sizes);
/// The strides of the loop over contiguous memory of that span.
Shape identity_strides(const LoopShape& loop, Span span);
/// Follows view nodes back to the value they look at.
ValueId root_of(const Graph& graph, ValueId value);
bool is_view(const Graph& graph, ValueId value);

}  // namespace groove::jit
