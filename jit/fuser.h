// The state of a fusion while groups are made, and what its parts share: placing nodes
// (fusion.cpp), whether they fit (fusion_fit.cpp), groups that become one (fusion_absorb.cpp), what
// a group costs (fusion_cost.cpp), epilogues that are better off elsewhere (fusion_sink.cpp) or
// with a product that host code computes (fusion_lift.cpp), groups that are cheaper as one
// (fusion_merge.cpp) and column sums taken on the way (fusion_columns.cpp).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "jit/bodies.h"
#include "jit/group_graph.h"
#include "jit/uses.h"
#include "kernels/lowering.h"
#include "kernels/order.h"

namespace groove::jit {

inline constexpr std::size_t kMaxNodes = 48;     // of a group: registers and compile time
inline constexpr std::size_t kMaxOperands = 24;  // loads and stores of a group, roughly
inline constexpr std::size_t kMaxEpilogueNodes = 8;
inline constexpr std::int64_t kSplitRow = 4 * kernels::order::kRowChunk;
inline constexpr std::int64_t kShortRow = 16;  // of a vector: shorter ones run in part of one
// Rows that do not fill the lanes of their order are over when they begin: phases of a joint loop
// would wait for each other in each of them, loops of their own work on many rows at once.
inline constexpr std::int64_t kShortReduction = kernels::order::kRowLanes;
// Between equal costs rounding must not choose: at other sizes it would choose otherwise.
inline constexpr double kNoDifference = 1e-6;  // nanoseconds
inline constexpr std::int64_t kSplitRows = 8;  // fewer rows than this leave threads idle

class Fuser {
 public:
  Fuser(const Graph& graph, const FusionOptions& options);
  Fusion run();
  /// Of groups that were made before.
  double estimate(const Fusion& fusion);

 private:
  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }
  ValueId root_of(ValueId value) const { return roots_[static_cast<std::size_t>(value)]; }
  Group& group(std::int32_t index) { return fusion_.groups[static_cast<std::size_t>(index)]; }
  std::int32_t group_of_value(ValueId value) const {
    const std::int32_t producer = graph_.values[static_cast<std::size_t>(value)].node;
    return producer < 0 ? -1 : fusion_.group_of[static_cast<std::size_t>(producer)];
  }
  Span span_of_value(ValueId value) const {
    const std::int32_t producer = graph_.values[static_cast<std::size_t>(value)].node;
    return fusion_.span_of[static_cast<std::size_t>(producer)];
  }
  bool is_update(std::int32_t index) const {
    return node(index).op->kind == OpKind::kElementwise &&
           !uses_.feeds_more_than_updates[static_cast<std::size_t>(index)];
  }
  template <typename Choose>
  std::uint64_t chosen(Choices::Of of, std::initializer_list<std::int64_t> about,
                       const Choose& choose) const {
    return jit::chosen(options_.choices, of, about, choose);
  }
  bool is_again(std::int32_t index) const {
    return options_.is_again && (*options_.is_again)[static_cast<std::size_t>(index)];
  }
  // What runs again stays apart from what runs for the first time before it.
  bool is_too_early(const Group& into, std::int32_t index) const {
    return is_again(index) && !is_again(into.seed);
  }

  // fusion.cpp
  void place(std::int32_t index);
  std::int32_t new_group(GroupKind kind, std::int32_t index, LoopShape loop);
  std::vector<std::int32_t> producers(std::int32_t index) const;
  LoopShape map_loop(std::int32_t index) const;
  void place_map(std::int32_t index);
  void place_reduction(std::int32_t index);
  static bool can_split(const Node& n);
  bool joins_row(std::int32_t home, std::int32_t index, const LoopShape& loop);
  void place_contraction(std::int32_t index);
  void mark_stored();

  // fusion_fit.cpp
  static bool counts(const Node& n);
  bool indices_fit(const Group& into, std::int32_t index) const;
  bool find_span(const Group& into, std::int32_t index, Span& span) const;
  static Shape kept_sizes(const LoopShape& loop);
  bool joins(std::int32_t home, std::int32_t index);
  bool wants_full_vectors(const Group& into, std::int32_t index);
  bool wants_flat_loop(const Group& product, std::int32_t index);
  bool crowds(std::int32_t home, const std::vector<std::int32_t>& nodes);
  std::vector<ValueId> drawn_for(const std::vector<std::int32_t>& nodes) const;
  bool broadcasts(std::int32_t index) const;
  static bool is_kept(const Group& into, Span span);
  // How a node reads memory, or a value of the group it is in, over a loop.
  struct Read {
    std::size_t loop, operand;  // index among loops_
    Span span;
    bool is_inside;
    ValueId root;
    bool is_walked;  // otherwise no walk describes it
    Walk walk;
  };
  struct Loop {
    Loop(const Graph& graph, const LoopShape& of) : shape(of), chains(graph, shape) {}
    const LoopShape shape;
    Chains chains;
  };
  std::size_t loop_of(std::int32_t home);
  const Read* read_of(std::int32_t home, std::size_t loop, std::int32_t index, std::size_t operand,
                      Span span);
  bool reads_fit(std::int32_t home, std::int32_t index, Span span) {
    return reads_fit(home, index, span, group_operands(group(home)));
  }
  bool reads_fit(std::int32_t home, std::int32_t index, Span span, std::size_t others);
  bool members_fit(std::int32_t home);
  Geometry contiguous(ValueId value) const;
  bool reads_inside(const Group& into, ValueId root, Span reader, const Walk& walk) const;
  std::size_t group_operands(const Group& of) const;

  // fusion_absorb.cpp
  void for_each_after(std::int32_t from, const std::function<void(std::int32_t)>& visit);
  bool search(std::vector<std::int32_t> open, std::int32_t to);
  bool is_acyclic(std::int32_t home, const std::vector<std::int32_t>& from);
  bool reaches(std::int32_t from, std::int32_t to);
  bool reaches_around(std::int32_t from, std::int32_t to);
  bool absorb(std::int32_t from, std::int32_t home);
  bool join_rows(std::int32_t from, std::int32_t home);

  // fusion_cost.cpp
  double cost(std::int32_t id);
  bool pays_by_fours(std::int32_t index);
  bool leaves(std::int32_t id, ValueId value) const;
  std::int64_t run_length(std::int32_t id);
  bool fits_tiles(const Group& product);
  static double laying_down(const Group& product);

  // fusion_sink.cpp
  void sink_epilogues();
  bool sinks(std::int32_t product, std::int32_t loop);

  // fusion_merge.cpp
  using Groups = std::vector<std::int32_t>;
  void merge_groups();
  GroupGraph group_graph() const;
  bool merges(GroupGraph& order, std::int32_t id, std::int32_t post_dominator);
  std::vector<Groups> proposals(const GroupGraph& order, std::int32_t id,
                                std::int32_t post_dominator);
  bool may_merge(std::int32_t id) const;
  bool may_become_one(const Groups& members) const;
  double too_long(const Groups& members);
  double delay(const GroupGraph& order, const Groups& members) const;
  std::int64_t bytes_kept(const GroupGraph& order, const Groups& members) const;
  double known_cost(std::int32_t id);
  void forget(std::int32_t id);
  double joint_cost(const Groups& members);
  double gain(const GroupGraph& order, const Groups& members);
  bool move(const Groups& members, std::int32_t home);
  std::int32_t home_of(const Groups& members) const;
  void restore(const Groups& members, const std::vector<Groups>& nodes,
               const std::vector<std::vector<Span>>& spans);

  // fusion_lift.cpp
  void lift_epilogues();
  void lift(std::int32_t product, std::int32_t loop);
  bool can_lift(std::int32_t product, std::int32_t loop, std::int32_t index);
  bool gather(std::int32_t product, std::int32_t loop, std::int32_t index,
              std::vector<std::int32_t>& moved);

  // fusion_columns.cpp
  void accumulate_columns();
  bool is_summed_in_chunks(const Group& columns) const;
  bool sums_full_rows(std::int32_t columns);
  bool accumulates(std::int32_t columns, std::int32_t home);
  bool shares_operand(std::int32_t columns, std::int32_t home) const;
  bool walks_in_rows(std::int32_t home, std::size_t leading);

  const Graph& graph_;
  const FusionOptions& options_;
  const Uses uses_;
  Fusion fusion_;
  std::vector<std::int32_t> seen_;  // per group: the last search that came by
  std::int32_t search_ = 0;
  bool has_fours_ = false;                // some group
  std::deque<Loop> loops_;                // of all groups
  std::vector<std::vector<Read>> reads_;  // per node, those found so far
  Bodies bodies_;
  std::vector<ValueId> roots_;         // per value: what it is a view of
  std::vector<char> is_splat_;         // per value
  std::vector<char> is_plain_;         // per value: its memory is in its own order
  std::vector<std::int32_t> changed_;  // per group: the round of merging that it changed in
  std::int32_t round_ = 0;
  // While groups are merged, per group: what it costs, its run_length(), how often it has changed.
  std::vector<double> costs_;
  std::vector<std::int64_t> runs_;
  std::vector<std::int32_t> versions_;
  struct Joint {
    std::int32_t version = -1;  // the sum of its members'
    double cost = 0;
  };
  std::map<Groups, Joint> joints_;  // tried so far
};

}  // namespace groove::jit
