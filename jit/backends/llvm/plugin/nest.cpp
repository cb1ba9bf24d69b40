// What all loop nests share: levels, bodies, if_any, the vector loop with its tail, maps.
#include "jit/backends/llvm/plugin/nest.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <cstddef>

#include "groove/error.h"

namespace groove::llvm_tier {
namespace {

using kernels::NestAccess;
using kernels::NestArguments;

// A body of fewer instructions than this waits for its loop's bookkeeping.
constexpr int kTinyBody = 6;
constexpr int kTinyCopies = 4;
// One of more instructions is emitted once, masked always, where masks are free: its compilation
// would take twice the time.
constexpr int kHeavyBody = 40;
// Accesses whose pointers move in registers, or where LLVM puts them. With more of them it searches
// long for registers that are not there: they move in a table, which short rows take longer for.
constexpr std::size_t kMostInRegisters = 16;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

// The elements of a tree are combined one by one.
Nest::Nest(llvm::Module& module, const Kernel& kernel, bool is_wide, std::int64_t first_cache)
    : module_(module),
      kernel_(kernel),
      b(module.getContext()),
      lanes_(kernel.order == Order::kTree ? 1
             : is_wide                    ? 16
                                          : 8),
      is_wide_(is_wide),
      v_(b, lanes_, is_wide),
      levels_(nest_levels(kernel)),
      match_(match_if_any(kernel)),
      lookahead_(find_lookahead(kernel, levels_, first_cache)),
      values_(kernel.code.size()) {
  if (kernel.accesses.size() > static_cast<std::size_t>(kernels::kMaxAccesses)) {
    throw Error("a kernel with more than 128 accesses");
  }
}

void Nest::emit(const std::string& name) {
  llvm::Type* const pointer = llvm::PointerType::get(b.getContext(), 0);
  function_ = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {pointer}, false),
                                     llvm::Function::ExternalLinkage, name, module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  const char* const width = is_wide_ ? "512" : "256";
  function_->addFnAttr("prefer-vector-width", width);
  function_->addFnAttr("min-legal-vector-width", width);
  b.SetInsertPoint(new_block());
  set_up();
  switch (kernel_.order) {
    case Order::kMap:
      map_rows();
      break;
    case Order::kColumn:
      columns();
      break;
    default:
      rows();
      break;
  }
  b.CreateRetVoid();
  promote_to_registers();
  remove_what_nothing_uses();
}

void Nest::promote_to_registers() {
  std::vector<AllocaInst*> promotable;
  for (AllocaInst* variable : variables_) {
    if (llvm::isAllocaPromotable(variable)) promotable.push_back(variable);
  }
  llvm::DominatorTree tree(*function_);
  llvm::PromoteMemToReg(promotable, tree);
}

// Pointers that rows move although nothing reads them, arguments that no access needs: the code
// generator takes time for each instruction, and keeps the loops of dead ones.
void Nest::remove_what_nothing_uses() {
  llvm::DenseSet<llvm::Instruction*> alive;
  llvm::SmallVector<llvm::Instruction*, 256> open;
  const auto use = [&](Value* value) {
    auto* const instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction && alive.insert(instruction).second) open.push_back(instruction);
  };
  for (llvm::Instruction& each : llvm::instructions(*function_)) {
    if (each.isTerminator() || each.mayHaveSideEffects()) use(&each);
  }
  while (!open.empty()) {
    for (Value* operand : open.pop_back_val()->operands()) use(operand);
  }
  llvm::SmallVector<llvm::Instruction*, 256> dead;
  for (llvm::Instruction& each : llvm::instructions(*function_)) {
    if (!alive.contains(&each)) dead.push_back(&each);
  }
  for (llvm::Instruction* each : dead) each->dropAllReferences();
  for (llvm::Instruction* each : dead) each->eraseFromParent();
}

AllocaInst* Nest::variable(llvm::Type* type, Value* start) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> first(&entry, entry.begin());
  AllocaInst* const made = first.CreateAlloca(type);
  made->setAlignment(llvm::Align(64));
  variables_.push_back(made);
  if (start) set(made, start);
  return made;
}

Value* Nest::field(std::size_t at, llvm::Type* type) {
  return b.CreateLoad(type, offset(function_->getArg(0), integer(static_cast<std::int64_t>(at))));
}

void Nest::set_up() {
  llvm::Type* const pointer = llvm::PointerType::get(b.getContext(), 0);
  llvm::Type* const word = b.getInt64Ty();
  if (kernel_.order != Order::kColumn && kernel_.accesses.size() > kMostInRegisters) keep_table();
  for (std::size_t a = 0; a < kernel_.accesses.size(); ++a) {
    const std::size_t place = offsetof(NestArguments, accesses) + a * sizeof(NestAccess);
    inner_strides_.push_back(field(place + offsetof(NestAccess, stride), word));
    if (!table_) {
      bases_.push_back(field(place + offsetof(NestAccess, pointer), pointer));
      row_strides_.push_back(field(place + offsetof(NestAccess, stride) + 8, word));
      pointers_.push_back(variable(pointer, bases_[a]));
    }
    const bool is_strided = kernel_.accesses[a].inner == kernels::StrideClass::kStrided;
    lane_offsets_.push_back(
        is_strided ? b.CreateMul(v_.splat(inner_strides_[a]), v_.iota(word)) : nullptr);
  }
  length_ = field(offsetof(NestArguments, count), word);
  row_count_ = field(offsetof(NestArguments, count) + 8, word);
  scalars_ = field(offsetof(NestArguments, scalars), pointer);
  for (std::size_t axis = 0; axis < kernels::kMaxAxes; ++axis) {
    first_index_.push_back(field(offsetof(NestArguments, index) + 8 * axis, word));
  }
  i_ = variable(word, integer(0));
  index1_ = variable(word, first_index_[1]);
  for (const Phase& phase : kernel_.phases) emit_level(Level::kLaunch, phase);
}

void Nest::emit_level(Level level, const Phase& phase) {
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Prim prim = kernel_.code[at(id)].prim;
    if (levels_[at(id)] != level || prim == Prim::kIfAnyBegin || is_reduction(prim)) continue;
    emit_one(id);
  }
}

// One vector. Stores come last: one that aliases a load must not overtake it.
void Nest::emit_body(const Phase& phase, int copy, Value* tail) {
  copy_ = copy;
  tail_ = tail;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Prim prim = kernel_.code[at(id)].prim;
    const bool is_vector = levels_[at(id)] == Level::kVector;
    if (is_reduction(prim)) {
      accumulate(id);
    } else if (is_vector && prim == Prim::kIfAnyBegin) {
      begin_region(id);
    } else if (is_vector && prim == Prim::kIfAnyEnd) {
      end_region(id);
    } else if (is_vector && prim != Prim::kStore) {
      emit_one(id);
    }
  }
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    if (kernel_.code[at(id)].prim == Prim::kStore) store(kernel_.code[at(id)]);
  }
  copy_ = 0;
  tail_ = nullptr;
}

void Nest::emit_one(std::int32_t id) {
  const Instr& instr = kernel_.code[at(id)];
  Value*& result = values_[at(id)];
  switch (instr.prim) {
    case Prim::kParam: {
      Value* const place = offset(scalars_, integer(static_cast<std::int64_t>(8 * instr.imm)));
      result = v_.splat(load_one(instr.dtype, place));
      return;
    }
    case Prim::kIndex:
      result = index(instr.imm);
      return;
    case Prim::kLoad:
      result = load(instr);
      return;
    case Prim::kLoadAt:
      result = load_at(instr);
      return;
    case Prim::kLookup:
      result = lookup(instr);
      return;
    default:
      break;
  }
  Value* args[3] = {};
  const int count = arg_count(instr.prim);
  for (int i = 0; i < count; ++i) args[i] = values_[at(instr.args[i])];
  if (instr.prim == Prim::kIfAnyEnd) std::swap(args[1], args[2]);  // mask, slow, fast
  const ScalarType operand =
      count > 0 ? kernel_.code[at(instr.args[count - 1])].dtype : instr.dtype;
  result = v_.pure(instr, operand, args);
}

void Nest::begin_region(std::int32_t id) {
  Value* mask = values_[at(kernel_.code[at(id)].args[0])];
  if (tail_) mask = b.CreateAnd(mask, tail_);
  llvm::BasicBlock* const slow = new_block();
  llvm::BasicBlock* const after = new_block();
  regions_.push_back({b.GetInsertBlock(), after});
  b.CreateCondBr(v_.any(mask), slow, after);
  b.SetInsertPoint(slow);
}

void Nest::end_region(std::int32_t id) {
  const Instr& instr = kernel_.code[at(id)];
  Value* const fast = values_[at(instr.args[1])];
  Value* const slow = b.CreateSelect(values_[at(instr.args[0])], values_[at(instr.args[2])], fast);
  const Region region = regions_.back();
  regions_.pop_back();
  llvm::BasicBlock* const end = b.GetInsertBlock();
  b.CreateBr(region.after);
  b.SetInsertPoint(region.after);
  llvm::PHINode* const result = b.CreatePHI(fast->getType(), 2);
  result->addIncoming(slow, end);
  result->addIncoming(fast, region.before);
  values_[at(id)] = result;
}

Value* Nest::make_tail(Value* count) {
  tail_count_ = count;
  llvm::Type* const word = b.getInt32Ty();
  if (is_wide_ && lanes_ == 16) {
    // Straight into a mask register.
    Value* const bits =
        b.CreateSub(b.CreateShl(b.getInt32(1), b.CreateTrunc(count, word)), b.getInt32(1));
    return b.CreateBitCast(b.CreateTrunc(bits, b.getInt16Ty()), v_.vector_of(b.getInt1Ty()));
  }
  return b.CreateICmpULT(v_.iota(word), v_.splat(b.CreateTrunc(count, word)));
}

// Whole vectors while `unrolled` of them fit before `end`, then single vectors cut to what is left.
void Nest::vectors_until(const Phase& phase, Value* end, int unrolled) {
  const int step = unrolled * lanes_;
  const bool is_heavy = !reductions_.empty() || weight(phase) > kHeavyBody;
  const bool is_masked_only = is_wide_ && lanes_ > 1 && unrolled == 1 && is_heavy;
  if (!is_masked_only) {
    Value* const limit = b.CreateSub(end, integer(step));
    loop(b.CreateICmpSLE(get(i_), limit), [&] {
      for (int copy = 0; copy < unrolled; ++copy) emit_body(phase, copy, nullptr);
      store_streams();
      look_ahead(phase, unrolled);
      add_to(i_, step);
      return b.CreateICmpSLE(get(i_), limit);
    });
  }
  if (!reductions_.empty() && accumulate_ == Accumulate::kRegisters) {
    if (is_wide_) {
      accumulate_ = Accumulate::kTurning;
    } else {
      spill_accumulators();
    }
  }
  if (lanes_ == 1) return;
  const bool may_repeat = unrolled > 1 || is_masked_only;
  loop(b.CreateICmpSLT(get(i_), end), [&]() -> Value* {
    Value* const left = b.CreateSub(end, get(i_));
    emit_body(phase, 0, make_tail(may_repeat ? minimum(left, integer(lanes_)) : left));
    if (is_masked_only) look_ahead(phase, 1);
    add_to(i_, lanes_);
    return may_repeat ? b.CreateICmpSLT(get(i_), end) : b.getFalse();
  });
}

bool Nest::has_vector_work(const Phase& phase) const {
  const bool walks_rows = kernel_.order == Order::kRow || kernel_.order == Order::kTree;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[at(id)];
    if (is_reduction(instr.prim)) return true;
    if (instr.prim != Prim::kStore) continue;
    if (!walks_rows || kernel_.accesses[instr.imm].inner != kernels::StrideClass::kBroadcast) {
      return true;
    }
  }
  return false;
}

// Instructions in the innermost loop.
int Nest::weight(const Phase& phase) const {
  int count = 0;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const bool is_wide_value = element_size(kernel_.code[at(id)].dtype) == 8;
    if (levels_[at(id)] == Level::kVector) count += is_wide_value ? 2 : 1;
  }
  return count;
}

void Nest::map_rows() {
  const Phase& phase = kernel_.phases[0];
  AllocaInst* const left = variable(b.getInt64Ty(), row_count_);
  loop(b.CreateIsNotNull(row_count_), [&] {
    take_pointers(phase);
    emit_level(Level::kRow, phase);
    start_streams();
    set(i_, integer(0));
    vectors_until(phase, length_, weight(phase) <= kTinyBody ? kTinyCopies : 1);
    next_row();
    add_to(left, -1);
    return b.CreateIsNotNull(get(left));
  });
}

}  // namespace groove::llvm_tier
