// Writes the kernel of a group. Values are asked for from the stores backwards; a first pass finds
// how memory is walked, so that the axes can be collapsed before any instruction names one.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "jit/launch_plan.h"
#include "kernels/expr.h"
#include "kernels/lowering.h"

namespace groove::jit {

// The sums of the chunks of rows, ascending; each a row of one element a column.
struct ColumnChunks {
  struct Row {
    BufferId buffer;
    std::int64_t offset;
  };
  std::vector<Row> rows;
};

/// Adds up the rows of each of `blocks` blocks that lie one after the other; `rows` are those of
/// the first.
LaunchPlan combine_rows(ScalarType dtype, const std::vector<ColumnChunks::Row>& rows,
                        std::int64_t blocks, std::int64_t columns, BufferId target);

class KernelWriter {
 public:
  KernelWriter(const Graph& graph, const Fusion& fusion, const std::vector<BufferId>& buffer_of,
               const Group& group, std::int32_t group_id);

  /// Also stores `value`, seen from the loop's full span, to memory walked like this.
  void add_store(ValueId value, Span span, Walk walk, BufferId buffer);
  Chains& chains() { return chains_; }

  /// Everything the group stores. Fills order, box, operands, scalars, callable, estimate.
  void write(LaunchPlan& plan, kernels::Kernel& kernel);
  /// The same for the fours of a group that has them.
  void write_fours(LaunchPlan& plan, kernels::Kernel& kernel);

  /// First half of a split reduction: per chunk the reduced values into `partials` ([row][chunk],
  /// one buffer per reduction), rows from chunk `first`, `count` elements long.
  struct Chunks {
    std::int64_t first = 0, chunks = 0, length = 0, all = 0;
    std::size_t leading = 0;  // rows: the axes that are walked chunk by chunk
  };
  void write_chunks(LaunchPlan& plan, kernels::Kernel& kernel, const Chunks& part,
                    const std::vector<BufferId>& partials);
  /// Second half: a tree over the partials, then what follows the reduction.
  void write_tree(LaunchPlan& plan, kernels::Kernel& kernel, std::int64_t chunks,
                  const std::vector<BufferId>& partials);
  // A sum of columns that the group takes on its way, and per reduced value where the sums of the
  // chunks go: [chunk][column].
  struct ColumnSum {
    std::int32_t reduction = -1;
    std::vector<BufferId> partials;
  };
  /// As write(), for chunks of 128 rows and with those sums.
  void write_rows(LaunchPlan& plan, kernels::Kernel& kernel, const Chunks& part,
                  const std::vector<ColumnSum>& sums);
  /// What follows: a tree over the chunks of each reduced value, then what the group computes once
  /// a column.
  void write_columns(LaunchPlan& plan, kernels::Kernel& kernel,
                     const std::vector<ColumnChunks>& chunks);
  /// After write(): the members that a later phase of a row needs again and that are dear to
  /// compute. Another writer given them before its write() keeps them in rows of `scratch`.
  const std::vector<std::int32_t>& computed_again() const { return again_; }
  void keep(const std::vector<std::int32_t>& members, BufferId scratch, std::int64_t row_bytes);
  std::int64_t row_length() const;
  std::int64_t row_count() const;

 private:
  struct Memory {  // one way the loop walks memory, or counts elements (flat indices)
    enum class Use : std::uint8_t { kLoad, kStore, kCount };
    Use use = Use::kLoad;
    BufferId buffer = -1;
    ScalarType dtype = kFloat;
    Walk walk;
    bool is_identity = false;
    bool is_partial = false;  // [rows][chunks] of a split reduction, [chunks][columns] of a sum
    int access = -1;
    bool is_row_buffer = false;
  };
  enum class Mode : std::uint8_t { kWhole, kChunks, kTree, kRows, kColumns };
  struct Store {
    ValueId value;
    const Chain* chain;
    std::size_t memory;
    bool is_kept;  // one element a row or column
  };
  // The signature of a node with the storage it refers to.
  struct NodeSignature {
    NodeSignature(const Graph& graph, const Node& node)
        : types(operand_types(graph, node)),
          numbers(recorded_numbers(graph, node)),
          signature{*node.op, types, node.attrs, numbers},
          result(derive_types(graph, node)) {}
    std::vector<Type> types;
    std::vector<Scalar> numbers;
    Signature signature;
    TypeResult result;
  };
  struct Kept;
  using Key = std::pair<std::int64_t, const Chain*>;

  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }
  Span span_of(std::int32_t index) const {
    return fusion_.span_of[static_cast<std::size_t>(index)];
  }
  bool is_member(std::int32_t index) const {
    return index >= 0 && fusion_.group_of[static_cast<std::size_t>(index)] == group_id_;
  }
  bool is_reduction(std::int32_t index) const;
  const Chain* member_chain(std::int32_t index, const Chain* chain) const;

  // First pass.
  void collect(ValueId value, const Chain* chain);
  void collect_member(std::int32_t index, const Chain* chain);
  std::size_t remember(Memory memory);
  void collect_stores();
  void find_phases();
  int phase_of_operand(ValueId value) const;

  // Second pass.
  void lay_out(LaunchPlan& plan, int keep_inner);
  void lay_out_cut_axis(const std::vector<std::size_t>& axis, Shape& sizes,
                        std::vector<Shape>& strides);
  std::int64_t chunk_length() const;
  std::int64_t kept_length() const;
  void collect_sum(const ColumnSum& sum);
  void add_to_sum(const ColumnSum& sum);
  std::int64_t memory_stride(const Memory& memory, const std::vector<std::size_t>& axes) const;
  std::size_t add_partial(BufferId buffer, ScalarType dtype, bool is_store, std::int64_t chunks);
  std::int32_t the_reduction() const;
  std::vector<std::vector<std::size_t>> arrangement() const;
  void make_accesses(kernels::Builder& builder, LaunchPlan& plan);
  kernels::Expr value(ValueId value, const Chain* chain);
  kernels::Expr load(std::size_t memory);
  const kernels::Exprs& member(std::int32_t index, const Chain* chain);
  kernels::Exprs emit_node(std::int32_t index, const Chain* chain);
  const Kept* kept(std::int32_t index, const Chain* chain) const;
  kernels::Exprs contraction_result(std::int32_t index);
  void reduce(std::int32_t index);
  void finish_reduction(std::int32_t index);
  kernels::Expr parameter(const ScalarSlot& slot);
  kernels::Expr flat_index(std::int32_t index, const Chain* chain);
  kernels::Exprs numbers_of(std::int32_t index, const NodeSignature& own);
  void emit_stores(int phase);
  void next_phase();
  void finish(LaunchPlan& plan, kernels::Builder& builder, kernels::Kernel& kernel);

  const Graph& graph_;
  const Fusion& fusion_;
  const std::vector<BufferId>& buffer_of_;
  const Group& group_;
  const std::int32_t group_id_;
  Chains chains_;

  std::vector<Memory> memories_;
  std::map<Key, std::size_t> memory_of_;  // (value or ~node of a flat index, chain)
  std::map<Key, bool> visited_;
  std::vector<Store> stores_;
  std::map<std::int32_t, int> phase_of_;  // member node -> phase in which it can be emitted

  kernels::Builder* builder_ = nullptr;
  kernels::Box box_;
  std::vector<ScalarSlot> scalars_;
  std::vector<kernels::Expr> parameters_;
  int phase_ = 0;
  Mode mode_ = Mode::kWhole;
  Chunks part_;
  std::vector<ColumnSum> sums_of_columns_;
  struct Partial {
    std::size_t load, store;  // memories
  };
  std::map<std::int32_t, std::vector<Partial>> partials_;  // per reduction
  kernels::Expr sums_;                                     // contractions: the finished sum
  std::map<std::int32_t, kernels::Exprs> reduced_;         // raw results of reductions
  struct Made {
    int phase;
    kernels::Exprs exprs;
  };
  std::map<Key, Made> made_;

  std::vector<std::int32_t> again_;
  struct Kept {  // a member in a row buffer, and the memories that store and load it
    std::int32_t index;
    std::size_t store, load;
  };
  std::vector<Kept> kept_;
};

}  // namespace groove::jit
