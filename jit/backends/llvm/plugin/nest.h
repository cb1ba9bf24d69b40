// A kernel as one LLVM function: the loop nest of kernels/nest_driver.h, already vectorised, with
// masked tails and with sums in the orders of kernels/order.h. Loop state lives in allocas that
// become registers when the function is whole.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "jit/backends/llvm/plugin/values.h"
#include "kernels/nest_driver.h"

namespace groove::llvm_tier {

using kernels::Kernel;
using kernels::Level;
using kernels::Order;
using kernels::Phase;
using llvm::AllocaInst;

class Nest {
 public:
  /// 16 lanes when `is_wide`, else 8.
  Nest(llvm::Module& module, const Kernel& kernel, bool is_wide, std::int64_t first_cache);
  void emit(const std::string& name);

 private:
  // Sums and the like live in accumulators: registers in unrolled loops, else 32 lanes in memory
  // (rows). Arg reductions keep a best value and its index per lane and need no order.
  struct Reduction {
    std::int32_t id = -1;
    Prim prim = Prim::kReduceSum;
    ScalarType dtype = kFloat;  // of the accumulator; bool reduces as i32
    bool is_bool = false, is_arg = false;
    llvm::Constant* identity = nullptr;
    AllocaInst* lanes = nullptr;             // rows: the 32 lanes in memory
    std::vector<AllocaInst*> accumulators;   // one per unrolled vector; arg reductions: the best
    std::vector<AllocaInst*> indices;        // arg reductions: i64
    std::vector<AllocaInst*> results;        // rows: one scalar; columns: a vector per copy
    std::vector<AllocaInst*> trees;          // of results waiting for their partner
  };
  struct Region {
    llvm::BasicBlock *before, *after;
  };

  // nest.cpp
  void set_up();
  void emit_level(Level level, const Phase& phase);
  void emit_body(const Phase& phase, int copy, Value* tail);
  void emit_one(std::int32_t id);
  void begin_region(std::int32_t id);
  void end_region(std::int32_t id);
  void vectors_until(const Phase& phase, Value* end, int unrolled);
  void map_rows();
  bool has_vector_work(const Phase& phase) const;
  int weight(const Phase& phase) const;
  void promote_to_registers();
  void remove_what_nothing_uses();

  // nest_memory.cpp
  Value* load(const Instr& instr);
  Value* load_at(const Instr& instr);
  Value* lookup(const Instr& instr);
  Value* index(std::uint64_t axis);
  void store(const Instr& instr);
  void store_once(const Instr& instr);
  Value* load_vector(ScalarType dtype, Value* at);
  void store_vector(ScalarType dtype, Value* value, Value* at);
  void start_streams();
  void store_streams();
  void store_strided(ScalarType dtype, Value* value, Value* at, Value* stride);
  Value* load_one(ScalarType dtype, Value* at);
  Value* gather(ScalarType dtype, Value* base, Value* offsets);
  bool masks_in_memory(ScalarType dtype) const;
  Value* element(std::uint64_t access);
  void keep_table();
  void take_pointers(const Phase& phase);
  Value* row_pointer(std::uint64_t access);
  Value* row_stride(std::uint64_t access);
  Value* for_tail(Value* offsets, Value* otherwise);

  // nest_reduce.cpp
  void rows();
  void row_phase(const Phase& phase);
  const std::vector<kernels::Lookahead::Ask>& asks(const Phase& phase) const {
    return lookahead_.phases[static_cast<std::size_t>(&phase - kernel_.phases.data())];
  }
  void start_lookahead(const Phase& phase);
  void look_ahead(const Phase& phase, int copies);
  void reduce_row(const Phase& phase);
  void chunk_of_row(const Phase& phase, Value* end);
  void turn_back();
  void columns();
  int columns_at_once() const;
  void column_group(int unrolled, Value* tail);
  void column_chunk(AllocaInst* row, std::int64_t length, int unrolled, Value* tail);
  void start_columns();
  void next_row();
  void find_reductions(const Phase& phase, int copies);
  void begin_reductions();
  void reset_accumulators();
  void accumulate(std::int32_t id);
  void spill_accumulators();
  llvm::Constant* empty_result(const Reduction& reduction) const;
  void define_result(const Reduction& reduction, int copy);
  Value* arg_result(const Reduction& reduction);
  Value* combine_lanes(const Reduction& reduction);
  Value* combine_in_vector(Prim prim, ScalarType dtype, Value* value);
  void merge_results(AllocaInst* depth, Value* end, std::int64_t chunk_length, Value* is_last);
  Value* lane_slot(const Reduction& reduction, Value* vector);

  // Pieces of control flow and of state.
  AllocaInst* variable(llvm::Type* type, Value* start = nullptr);
  Value* get(AllocaInst* variable) { return b.CreateLoad(variable->getAllocatedType(), variable); }
  void set(AllocaInst* variable, Value* value) { b.CreateStore(value, variable); }
  void add_to(AllocaInst* variable, Value* step) {
    set(variable, b.CreateAdd(get(variable), step));
  }
  void add_to(AllocaInst* variable, int step) { add_to(variable, integer(step)); }
  Value* integer(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  Value* offset(Value* base, Value* bytes) { return b.CreateGEP(b.getInt8Ty(), base, bytes); }
  Value* field(std::size_t at, llvm::Type* type);
  Value* position() { return b.CreateAdd(get(i_), integer(copy_ * lanes_)); }
  Value* minimum(Value* x, Value* y) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
  }
  Value* make_tail(Value* count);
  llvm::BasicBlock* new_block() { return llvm::BasicBlock::Create(b.getContext(), "", function_); }
  /// Runs `body` while it gives true, for the first time when `enter` is true.
  template <typename Body>
  void loop(Value* enter, const Body& body) {
    llvm::BasicBlock* const inside = new_block();
    llvm::BasicBlock* const after = new_block();
    if (enter == b.getTrue()) {
      b.CreateBr(inside);
    } else {
      b.CreateCondBr(enter, inside, after);
    }
    b.SetInsertPoint(inside);
    Value* const again = body();
    if (again == b.getFalse()) {
      b.CreateBr(after);
    } else {
      b.CreateCondBr(again, inside, after);
    }
    b.SetInsertPoint(after);
  }
  template <typename Body>
  void when(Value* condition, const Body& body) {
    loop(condition, [&]() -> Value* {
      body();
      return b.getFalse();
    });
  }

  llvm::Module& module_;
  const Kernel& kernel_;
  llvm::IRBuilder<> b;
  const int lanes_;
  const bool is_wide_;
  Values v_;
  const std::vector<Level> levels_;
  const std::vector<std::int32_t> match_;
  const kernels::Lookahead lookahead_;
  std::vector<Value*> next_row_;         // for each that the phase asks for: where it begins
  llvm::Function* function_ = nullptr;
  std::vector<AllocaInst*> variables_;
  std::vector<Value*> values_;           // by instruction
  std::vector<Region> regions_;          // open if_any
  std::vector<AllocaInst*> pointers_;    // of the current row
  std::vector<Value*> bases_, inner_strides_, row_strides_;
  // Of many accesses a copy of NestArguments::accesses instead, whose pointers rows move.
  AllocaInst* table_ = nullptr;
  std::vector<Value*> taken_;            // pointers of the current row that the phase has loaded
  std::vector<Value*> lane_offsets_;     // strided accesses
  Value* length_ = nullptr;              // elements along axis 0
  Value* row_count_ = nullptr;           // along axis 1
  std::vector<Value*> first_index_;      // of the first point, by axis
  Value* scalars_ = nullptr;
  Value* streamed_ = nullptr;            // NestArguments::streamed, of the current row
  struct Streaming {
    std::uint64_t access;
    Value *value, *place;
  };
  std::vector<Streaming> streaming_;     // whole vectors that wait for store_streams()
  AllocaInst* i_ = nullptr;              // position along axis 0
  AllocaInst* index1_ = nullptr;         // index along axis 1
  int copy_ = 0;                         // which unrolled copy of a body is being emitted
  Value* tail_ = nullptr;                // lanes that are there; null: all
  Value* tail_count_ = nullptr;
  enum class Accumulate { kRegisters, kTurning, kLanes, kDirect } accumulate_{};
  std::vector<Reduction> reductions_;
};

}  // namespace groove::llvm_tier
