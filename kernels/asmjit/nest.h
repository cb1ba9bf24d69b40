// The loop nests of kernels/nest_driver.h. A body is emitted for whole vectors and again for the
// masked tail.
#pragma once

#include <utility>
#include <vector>

#include "kernels/asmjit/emitter.h"
#include "kernels/nest_driver.h"

namespace groove::kernels::assembly {

/// Throws groove::Error for what generated code cannot do.
NestFunction generate_nest(const Kernel& kernel, Isa isa);

// A reduction while its loop is emitted. Sums and the like live in accumulators: registers in
// unrolled loops, else 32 lanes on the stack (rows). Arg reductions keep a best value and its
// index per lane in registers and need no order.
struct Reduction {
  std::int32_t id = -1;
  Prim prim = Prim::kReduceSum;
  ScalarType dtype = kFloat;  // of the accumulator; bool reduces as i32
  bool is_bool = false;
  bool is_arg = false;
  Mem lanes;                        // rows: kRowLanes accumulators
  Mem tree;                         // chunk results waiting for their partner
  std::vector<Value> accumulators;  // one per unrolled vector
  std::vector<Value> indices;       // arg reductions: i64
  Value result;
};

class Nest final : public EmitterHost {
 public:
  Nest(const Kernel& kernel, Isa isa);
  NestFunction generate();

  Value load(Emitter& emitter, const Instr& instr) override;
  Value load_at(Emitter& emitter, const Instr& instr, const Value& offset) override;
  void store(Emitter& emitter, const Instr& instr, const Value& value) override;
  Value param(Emitter& emitter, const Instr& instr) override;
  Value index(Emitter& emitter, const Instr& instr) override;
  void reduce(Emitter& emitter, std::int32_t id, const Value& operand) override;

 private:
  // nest.cpp
  void set_up();
  void emit_level(Level level, const Phase& phase);
  void emit_body(const Phase& phase, int unrolled, const Tail* tail);
  void emit_side_by_side(const Phase& phase, int copies);
  bool fits_twice(const Phase& phase) const;
  void start_row(const Phase& phase);
  std::uint32_t streamed_stores(const Phase& phase) const;
  void start_streams(const Phase& phase);
  void advance_vector();
  void for_each_row(void (Nest::*row)());
  void map_row();
  void store_or_stream(Emitter& emitter, int access, const Value& value);
  Mem argument(std::size_t offset) const;
  Mem element(int access, ScalarType dtype) const;
  bool has_vector_work(const Phase& phase) const;
  int weight(const Phase& phase) const;  // instructions in the innermost loop
  bool is_uniform(std::int32_t id) const { return levels_[id] != Level::kVector; }

  // nest_row.cpp
  void reduction_rows();
  void row_phase(const Phase& phase);
  void load_pointers(const Phase& phase);
  void reduce_row(const Phase& phase);
  void chunk_of_row(const Phase& phase, const Gp& end);
  void vectors_until(const Phase& phase, const Gp& end, int unrolled, bool side_by_side = false);
  void whole_vectors(const Phase& phase, const Gp& limit, int unrolled, bool side_by_side);
  void store_row_results(const Phase& phase);
  const std::vector<Lookahead::Ask>& asks(const Phase& phase) const {
    return lookahead_.phases[static_cast<std::size_t>(&phase - kernel_.phases.data())];
  }
  void start_lookahead(const Phase& phase);
  void look_ahead(const Phase& phase, int copies);

  // nest_column.cpp
  void columns();
  int columns_at_once();
  void column_group(int unrolled, const Tail* tail);
  void start_columns();
  void next_row_of_columns();
  void column_chunk(const Gp& row, const Gp& rows, int unrolled, const Tail* tail);
  void push_columns(const Gp& depth, const Gp& chunk, int unrolled);
  void collapse_columns(const Gp& depth, int unrolled);
  Mem column_slot(const Reduction& reduction, const Gp& depth, int unrolled, int copy);

  // nest_reduce.cpp
  void find_reductions(const Phase& phase);
  Value identity(const Reduction& reduction);
  Value empty_result(const Reduction& reduction);
  Value combine(Prim prim, ScalarType dtype, const Value& a, const Value& b);
  Value from_accumulator(const Reduction& reduction, const Value& value);
  void begin_arg(Reduction& reduction, int unrolled);
  void accumulate_arg(Reduction& reduction, const Value& x);
  Value arg_result(const Reduction& reduction);
  Value swap_lanes(const Value& value, int distance);
  Value lane0(ScalarType dtype, const Value& value);
  Value combine_lanes(const Reduction& reduction);
  Mem lanes_of(const Reduction& reduction, int vector) const;
  Value combine_in_vector(Prim prim, ScalarType dtype, Value value);
  int lane_bytes(const Reduction& reduction) const {
    return is_wide_dtype(reduction.dtype) ? 8 : 4;
  }
  Value tail_mask() const;
  void push_tree(const Mem& depth_at, const Mem& chunk_at);
  void collapse_tree(const Mem& depth_at);
  Mem tree_slot(const Reduction& reduction, const Gp& depth) const;

  const Kernel& kernel_;
  Function function_;
  Emitter emitter_;
  Compiler& cc_;
  const std::vector<Level> levels_;
  std::vector<Gp> pointers_;    // of the current row
  std::vector<Mem> resting_;    // where they lie between phases; empty: in their registers
  std::vector<Gp> moving_;      // strided accesses: of the current vector
  std::vector<Gp> strides_;     // strided accesses: bytes along axis 0
  std::vector<Value> offsets_;  // strided loads: lane offsets
  Gp i_;                        // position along axis 0
  Gp length_;                   // elements along axis 0
  Gp index1_;                   // index along axis 1
  Gp streamed_;                 // NestArguments::streamed, 0 in a row that is not aligned
  bool uses_index1_ = false;
  int unrolled_ = 0;            // which copy of the body is being emitted
  const Tail* tail_ = nullptr;  // and whether it is cut short
  enum class Accumulate : std::uint8_t { kRegisters, kLanes, kDirect } accumulate_{};
  enum class Streams : std::uint8_t { kAsk, kAlways, kNever } streams_{};  // in this loop
  std::vector<Reduction> reductions_;
  const Lookahead lookahead_;
  std::vector<Gp> next_row_;  // for each that the phase asks for: where it begins
};

}  // namespace groove::kernels::assembly
