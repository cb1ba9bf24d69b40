// Which nodes run together. A group becomes one kernel or one contraction with an epilogue; the
// order of every reduction stays that of its op's logical shape, because a group never changes
// the axes a node works on.
#pragma once

#include <string>
#include <vector>

#include "jit/choices.h"
#include "jit/index_map.h"
#include "kernels/lowering.h"
#include "kernels/machine.h"
#include "src/core/graph.h"

namespace groove::jit {

template <typename How>
const How* lowering_as(const groove::Node& node) {
  return node.op->lowering ? std::get_if<How>(&node.op->lowering->how) : nullptr;
}

enum class GroupKind : std::uint8_t {
  kMap,          // elementwise and gathers
  kRow,          // row reductions with what surrounds them, phase by phase
  kColumn,       // a column reduction, producers inlined, consumers per column
  kContraction,  // one product (is_product()) and its epilogue
  kConcatenate,
  kOverwrite,  // a strided region of a copy of the base is replaced
  kOpaque,
};

struct Group {
  GroupKind kind = GroupKind::kMap;
  LoopShape loop;
  std::vector<std::uint8_t> matrix_axis;  // products: per loop axis 0 (n), 1 (m) or 2 (batch)
  std::vector<std::int32_t> nodes;        // ascending
  std::int32_t seed = -1;                 // the node the group was made for
  std::int32_t stage = 0;
  bool is_update = false;  // feeds nothing but overwritten inputs: an optimizer
  bool is_short = false;   // kRow with rows of less than a vector: nothing but the reduction
  bool is_split = false;   // kRow with few, long rows: chunks over threads, then a tree
  bool is_fours = false;   // kMap of one node alone, four elements at once (kernels/fours.h)
  // kMap and kRow: sums of columns whose chunks of rows this group adds up while it walks the rows.
  std::vector<std::int32_t> columns;
  // kColumn: the group that does so, or the group itself in a loop of its own; -1: it walks down
  // the columns.
  std::int32_t accumulates_in = -1;
};

// A value that lies in a region of another one's memory.
struct Placement {
  ValueId whole = kNoValue;  // none: memory of its own
  Geometry region = {};
};

struct Fusion {
  std::vector<Group> groups;           // each after the groups it reads from
  std::vector<std::int32_t> group_of;  // per node; -1: view, constant or dead
  std::vector<Span> span_of;           // per node, within its group
  std::vector<char> is_stored;         // per value: has memory of its own
  std::vector<Placement> placements;   // per value
  std::vector<std::int32_t> stage_of;  // per node: the stage it runs in; -1: dead
};

struct FusionOptions {
  bool is_enabled = true;  // off: every node on its own
  // Per node, or null: it runs a second time, later (jit/rematerialise.h), and joins no group of
  // nodes that run for the first time.
  const std::vector<char>* is_again = nullptr;
  bool merges = true;  // off, for tests: no groups become one that their nodes do not ask for
  kernels::Machine machine = kernels::this_machine();  // that the groups are made for
  Choices* choices = nullptr;                          // by cost; null: nobody makes them again
};

/// Needs insert_copies. Every non-view node that is alive ends up in one group.
Fusion fuse(const Graph& graph, const FusionOptions& options = {});

/// A contraction, or host code that hands over its sums in blocks (kernels/block_product.h).
bool is_product(const Graph& graph, const Node& node);
/// A node without inputs whose elements are all the same number: emitted wherever it is read.
bool is_splat(const Node& node);
/// How many instructions an elementwise body has, over operands that are there; 0 for other nodes.
double body_instructions(const Graph& graph, const Node& node);
/// How many instructions an element fewer the node has by fours (kernels/fours.h); 0 for most.
double saved_by_fours(const Graph& graph, const Node& node);
/// Is a body of so many long (exp, tanh, …)? Then its result is worth keeping, and it full vectors.
bool is_dear(double instructions);
/// What the groups cost by the model of jit/costs.h, in nanoseconds on one thread, but for what no
/// fusion changes: bodies in full vectors and the operands of products.
double estimate(const Graph& graph, const Fusion& fusion);
/// The memory a stored value or an input lies in.
Geometry memory_geometry(const Graph& graph, ValueId value);
/// The chain from an operand of a grouped node to the loop, through broadcasts, gathers and views,
/// starting at the operand itself.
const Chain* operand_chain(const Graph& graph, Chains& chains, std::int32_t node,
                           std::size_t operand, const Chain* from_output);
/// Walks up through views: the value they look at, and the chain from there.
ValueId resolve(const Graph& graph, Chains& chains, ValueId value, const Chain*& chain);
/// Do these axes make one axis for that walk?
bool is_collapsible(const LoopShape& loop, const Walk& walk, const std::vector<char>& axes);
/// Does memory walked like this collapse to the axes that the group's kernel has?
bool collapses(const Group& into, const Walk& walk);

}  // namespace groove::jit
