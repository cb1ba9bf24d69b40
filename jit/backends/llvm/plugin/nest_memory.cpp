// Leaves and effects of loop nests: loads, stores, gathers, tables and indices. In a tail no lane
// that is not there touches memory; its values are zeros, never LLVM's poison.
#include "jit/backends/llvm/plugin/nest.h"

#include <algorithm>
#include <cstddef>

namespace groove::llvm_tier {
namespace {

using kernels::StrideClass;

// Pointers that a phase has in registers.
constexpr std::size_t kMostTaken = 10;

std::int64_t bytes(ScalarType dtype) { return static_cast<std::int64_t>(element_size(dtype)); }
llvm::Align alignment(ScalarType dtype) { return llvm::Align(element_size(dtype)); }
std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

// AVX2 masks elements of 32 and 64 bits only; shorter ones of a tail go one by one through memory.
bool Nest::masks_in_memory(ScalarType dtype) const { return is_wide_ || element_size(dtype) >= 4; }

Value* Nest::load_one(ScalarType dtype, Value* place) {
  Value* const x = b.CreateAlignedLoad(v_.memory_type(dtype), place, alignment(dtype));
  return v_.from_memory(dtype, x);
}

Value* Nest::load_vector(ScalarType dtype, Value* place) {
  llvm::FixedVectorType* const type = v_.in_memory(dtype);
  if (!tail_) return b.CreateAlignedLoad(type, place, alignment(dtype));
  llvm::Constant* const zeros = llvm::Constant::getNullValue(type);
  if (masks_in_memory(dtype)) {
    return b.CreateMaskedLoad(type, place, alignment(dtype), tail_, zeros);
  }
  AllocaInst* const copy = variable(type);
  set(copy, zeros);
  AllocaInst* const lane = variable(b.getInt64Ty(), integer(0));
  loop(b.getTrue(), [&] {
    Value* const at = b.CreateMul(get(lane), integer(bytes(dtype)));
    b.CreateStore(b.CreateLoad(v_.memory_type(dtype), offset(place, at)), offset(copy, at));
    add_to(lane, 1);
    return b.CreateICmpSLT(get(lane), tail_count_);
  });
  return get(copy);
}

void Nest::store_vector(ScalarType dtype, Value* value, Value* place) {
  if (!tail_) {
    b.CreateAlignedStore(value, place, alignment(dtype));
  } else if (masks_in_memory(dtype)) {
    b.CreateMaskedStore(value, place, alignment(dtype), tail_);
  } else {
    store_strided(dtype, value, place, integer(bytes(dtype)));
  }
}

// A row streams when all that it may stream begins at a whole vector: its other vectors do then.
void Nest::start_streams() {
  streamed_ = nullptr;
  Value* places = nullptr;
  for (std::size_t a = 0; a < kernel_.accesses.size(); ++a) {
    if (!kernels::streams(kernel_, a)) continue;
    Value* const place = b.CreatePtrToInt(row_pointer(a), b.getInt64Ty());
    places = places ? b.CreateOr(places, place) : place;
  }
  if (!places) return;
  const auto bytes_of_vector = static_cast<std::uint64_t>(lanes_) * sizeof(float);
  Value* const rest = b.CreateAnd(places, b.getInt64(bytes_of_vector - 1));
  Value* const asked = field(offsetof(kernels::NestArguments, streamed), b.getInt64Ty());
  streamed_ = b.CreateSelect(b.CreateIsNull(rest), asked, integer(0));
}

// One question for all copies of a body: blocks cost more to compile than instructions.
void Nest::store_streams() {
  const auto bytes_of_vector = static_cast<std::uint64_t>(lanes_) * sizeof(float);
  llvm::Metadata* const one = llvm::ConstantAsMetadata::get(b.getInt32(1));
  while (!streaming_.empty()) {
    const std::uint64_t access = streaming_.front().access;
    const auto others = std::stable_partition(
        streaming_.begin(), streaming_.end(),
        [&](const Streaming& each) { return each.access == access; });
    llvm::BasicBlock* const past = new_block();
    llvm::BasicBlock* const plain = new_block();
    llvm::BasicBlock* const after = new_block();
    Value* const bit = b.CreateAnd(streamed_, b.getInt64(std::uint64_t{1} << access));
    b.CreateCondBr(b.CreateIsNotNull(bit), past, plain);
    b.SetInsertPoint(past);
    for (auto each = streaming_.begin(); each != others; ++each) {
      b.CreateAlignedStore(each->value, each->place, llvm::Align(bytes_of_vector))
          ->setMetadata(llvm::LLVMContext::MD_nontemporal,
                        llvm::MDNode::get(b.getContext(), {one}));
    }
    b.CreateBr(after);
    b.SetInsertPoint(plain);
    for (auto each = streaming_.begin(); each != others; ++each) {
      b.CreateAlignedStore(each->value, each->place, alignment(kFloat));
    }
    b.CreateBr(after);
    b.SetInsertPoint(after);
    streaming_.erase(streaming_.begin(), others);
  }
}

void Nest::store_strided(ScalarType dtype, Value* value, Value* place, Value* stride) {
  if (!tail_ || (is_wide_ && element_size(dtype) >= 4)) {
    Value* const offsets = b.CreateMul(v_.splat(stride), v_.iota(b.getInt64Ty()));
    b.CreateMaskedScatter(value, offset(place, offsets), alignment(dtype), tail_);
    return;
  }
  AllocaInst* const copy = variable(value->getType());
  set(copy, value);
  AllocaInst* const lane = variable(b.getInt64Ty(), integer(0));
  loop(b.getTrue(), [&] {
    Value* const from = offset(copy, b.CreateMul(get(lane), integer(bytes(dtype))));
    b.CreateAlignedStore(b.CreateLoad(v_.memory_type(dtype), from),
                         offset(place, b.CreateMul(get(lane), stride)), alignment(dtype));
    add_to(lane, 1);
    return b.CreateICmpSLT(get(lane), tail_count_);
  });
}

Value* Nest::gather(ScalarType dtype, Value* base, Value* offsets) {
  return b.CreateMaskedGather(v_.in_memory(dtype), offset(base, offsets), alignment(dtype));
}

// Lanes that are not there use `otherwise`, which is safe.
Value* Nest::for_tail(Value* offsets, Value* otherwise) {
  return tail_ ? b.CreateSelect(tail_, offsets, otherwise) : offsets;
}

void Nest::keep_table() {
  const std::uint64_t bytes = kernel_.accesses.size() * sizeof(kernels::NestAccess);
  llvm::IRBuilder<> first(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  table_ = first.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes));
  table_->setAlignment(llvm::Align(64));
  const auto place = static_cast<std::int64_t>(offsetof(kernels::NestArguments, accesses));
  b.CreateMemCpyInline(table_, llvm::Align(64), offset(function_->getArg(0), integer(place)),
                       llvm::Align(8), integer(static_cast<std::int64_t>(bytes)));
  taken_.resize(kernel_.accesses.size());
}

// Of a phase of few accesses, out of its loops.
void Nest::take_pointers(const Phase& phase) {
  std::fill(taken_.begin(), taken_.end(), nullptr);
  if (!table_) return;
  std::vector<std::uint64_t> used;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[at(id)];
    if (instr.prim != Prim::kLoad && instr.prim != Prim::kLoadAt && instr.prim != Prim::kStore)
      continue;
    if (std::find(used.begin(), used.end(), instr.imm) == used.end()) used.push_back(instr.imm);
  }
  if (used.size() > kMostTaken) return;
  for (const std::uint64_t access : used) taken_[access] = row_pointer(access);
}

Value* Nest::row_pointer(std::uint64_t access) {
  if (!table_) return get(pointers_[access]);
  if (taken_[access]) return taken_[access];
  const std::size_t place = access * sizeof(kernels::NestAccess);
  return b.CreateLoad(b.getPtrTy(), offset(table_, integer(static_cast<std::int64_t>(place))));
}

Value* Nest::row_stride(std::uint64_t access) {
  if (!table_) return row_strides_[access];
  const std::size_t place =
      access * sizeof(kernels::NestAccess) + offsetof(kernels::NestAccess, stride) + 8;
  return b.CreateLoad(b.getInt64Ty(), offset(table_, integer(static_cast<std::int64_t>(place))));
}

void Nest::next_row() {
  add_to(index1_, 1);
  if (!table_) {
    for (std::size_t a = 0; a < pointers_.size(); ++a) {
      set(pointers_[a], offset(get(pointers_[a]), row_strides_[a]));
    }
    return;
  }
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(kernels::NestAccess));
  constexpr std::int64_t kStride = offsetof(kernels::NestAccess, stride) + 8;
  AllocaInst* const access = variable(b.getInt64Ty(), integer(0));
  loop(b.getTrue(), [&] {
    Value* const pointer = offset(table_, get(access));
    Value* const stride = b.CreateLoad(b.getInt64Ty(), offset(pointer, integer(kStride)));
    b.CreateStore(offset(b.CreateLoad(b.getPtrTy(), pointer), stride), pointer);
    add_to(access, static_cast<int>(kBytes));
    return b.CreateICmpNE(get(access),
                          integer(kBytes * static_cast<std::int64_t>(kernel_.accesses.size())));
  });
}

// Where the vector at the current position begins.
Value* Nest::element(std::uint64_t access) {
  const kernels::Access& what = kernel_.accesses[access];
  Value* const row = row_pointer(access);
  if (what.inner == StrideClass::kBroadcast) return row;
  if (what.inner == StrideClass::kStrided) {
    return offset(row, b.CreateMul(position(), inner_strides_[access]));
  }
  Value* const vector = b.CreateGEP(v_.memory_type(what.dtype), row, get(i_));
  return copy_ == 0 ? vector : offset(vector, integer(copy_ * lanes_ * bytes(what.dtype)));
}

Value* Nest::load(const Instr& instr) {
  switch (kernel_.accesses[instr.imm].inner) {
    case StrideClass::kContiguous:
      return v_.from_memory(instr.dtype, load_vector(instr.dtype, element(instr.imm)));
    case StrideClass::kBroadcast:
      return v_.splat(load_one(instr.dtype, element(instr.imm)));
    default: {
      Value* const lanes = lane_offsets_[instr.imm];
      Value* const offsets = for_tail(lanes, llvm::Constant::getNullValue(lanes->getType()));
      return v_.from_memory(instr.dtype, gather(instr.dtype, element(instr.imm), offsets));
    }
  }
}

Value* Nest::load_at(const Instr& instr) {
  const StrideClass inner = kernel_.accesses[instr.imm].inner;
  const Instr& from = kernel_.code[at(instr.args[0])];
  Value* const size = integer(bytes(instr.dtype));
  const auto is_uniform = [&](std::int32_t id) { return levels_[at(id)] != Level::kVector; };
  const auto scalar_bytes = [&](std::int32_t id) {
    return b.CreateMul(v_.lane(values_[at(id)], 0), size);
  };
  Value* const base = element(instr.imm);
  // A uniform offset moves the whole access; one that runs with the index along a broadcast axis 0
  // makes the elements contiguous.
  if (is_uniform(instr.args[0])) {
    Value* const moved = offset(base, scalar_bytes(instr.args[0]));
    if (inner == StrideClass::kBroadcast) return v_.splat(load_one(instr.dtype, moved));
    if (inner == StrideClass::kContiguous) {
      return v_.from_memory(instr.dtype, load_vector(instr.dtype, moved));
    }
    Value* const lanes = lane_offsets_[instr.imm];
    Value* const offsets = for_tail(lanes, llvm::Constant::getNullValue(lanes->getType()));
    return v_.from_memory(instr.dtype, gather(instr.dtype, moved, offsets));
  }
  const auto is_index0 = [&](std::int32_t id) {
    return kernel_.code[at(id)].prim == Prim::kIndex && kernel_.code[at(id)].imm == 0;
  };
  bool is_run = is_index0(instr.args[0]);
  if (from.prim == Prim::kAdd) {
    for (int i = 0; i < 2; ++i) {
      is_run |= is_index0(from.args[i]) && is_uniform(from.args[1 - i]);
    }
  }
  if (is_run && inner == StrideClass::kBroadcast) {
    Value* const moved = offset(base, scalar_bytes(instr.args[0]));
    return v_.from_memory(instr.dtype, load_vector(instr.dtype, moved));
  }
  Value* offsets = b.CreateMul(values_[at(instr.args[0])], v_.splat(size));
  if (inner == StrideClass::kContiguous) {
    offsets = b.CreateAdd(offsets, b.CreateMul(v_.iota(b.getInt64Ty()), v_.splat(size)));
  } else if (inner == StrideClass::kStrided) {
    offsets = b.CreateAdd(offsets, lane_offsets_[instr.imm]);
  }
  if (tail_) offsets = for_tail(offsets, v_.splat(v_.lane(offsets, 0)));
  return v_.from_memory(instr.dtype, gather(instr.dtype, base, offsets));
}

Value* Nest::lookup(const Instr& instr) {
  const kernels::Table& table = kernel_.tables[instr.imm];
  llvm::Type* const element = v_.memory_type(table.dtype);
  std::vector<llvm::Constant*> entries;
  for (const std::uint64_t bits : table.bits) {
    llvm::Type* const raw = b.getIntNTy(static_cast<unsigned>(8 * element_size(table.dtype)));
    llvm::Constant* const entry = llvm::ConstantInt::get(raw, bits);
    entries.push_back(raw == element ? entry : llvm::ConstantExpr::getBitCast(entry, element));
  }
  llvm::ArrayType* const type = llvm::ArrayType::get(element, entries.size());
  const std::string name = "table" + std::to_string(instr.imm);
  llvm::GlobalVariable* global = module_.getGlobalVariable(name, true);
  if (!global) {
    global = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                      llvm::ConstantArray::get(type, entries), name);
    global->setAlignment(llvm::Align(64));
  }
  llvm::FixedVectorType* const words = v_.vector_of(b.getInt64Ty());
  Value* const index = b.CreateSExtOrTrunc(values_[at(instr.args[0])], words);
  Value* const offsets = b.CreateMul(for_tail(index, llvm::Constant::getNullValue(words)),
                                     v_.splat(integer(bytes(table.dtype))));
  return v_.from_memory(table.dtype, gather(table.dtype, global, offsets));
}

Value* Nest::index(std::uint64_t axis) {
  if (axis == 1) return v_.splat(get(index1_));
  Value* const first = first_index_[axis];
  if (axis > 1) return v_.splat(first);
  return b.CreateAdd(v_.splat(b.CreateAdd(first, position())), v_.iota(b.getInt64Ty()));
}

void Nest::store(const Instr& instr) {
  Value* const value = v_.to_memory(instr.dtype, values_[at(instr.args[0])]);
  switch (kernel_.accesses[instr.imm].inner) {
    case StrideClass::kContiguous:
      if (!tail_ && kernels::streams(kernel_, instr.imm)) {
        streaming_.push_back({instr.imm, value, element(instr.imm)});
        return;
      }
      store_vector(instr.dtype, value, element(instr.imm));
      return;
    case StrideClass::kStrided:
      store_strided(instr.dtype, value, element(instr.imm), inner_strides_[instr.imm]);
      return;
    case StrideClass::kBroadcast: {
      // Rows store once, after their last vector; elsewhere the last element wins.
      if (kernel_.order == Order::kRow || kernel_.order == Order::kTree) return;
      Value* const last = tail_ ? b.CreateSub(tail_count_, integer(1)) : integer(lanes_ - 1);
      b.CreateAlignedStore(b.CreateExtractElement(value, last), element(instr.imm),
                           alignment(instr.dtype));
    }
  }
}

void Nest::store_once(const Instr& instr) {
  Value* const value = v_.lane(values_[at(instr.args[0])], 0);
  b.CreateAlignedStore(v_.to_memory(instr.dtype, value), row_pointer(instr.imm),
                       alignment(instr.dtype));
}

}  // namespace groove::llvm_tier
