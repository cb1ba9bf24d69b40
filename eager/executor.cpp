// The bottom of dispatch: runs one op now. Plans of recent call signatures are kept per thread.
#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "eager/plan.h"
#include "kernels/asmjit/isa.h"
#include "kernels/backend.h"
#include "kernels/ops/widen.h"
#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/clock.h"
#include "src/core/faults.h"
#include "src/core/fork.h"
#include "src/core/geometry.h"
#include "src/core/hash.h"
#include "src/core/stand_in.h"
#include "src/core/thread_end.h"

namespace groove::eager {
namespace {

void run_planned(const Call& call, Tensor* outputs);

class OpaquePlan : public Plan {
 public:
  TypeResult types;
  void run(const Call& call, Tensor* outputs) const override {
    const auto& how = std::get<kernels::OpaqueLowering>(call.op->lowering->how);
    const std::vector<Type> inputs = input_types(call);
    Tensors dense(call.inputs.begin(), call.inputs.end());
    for (Tensor& tensor : dense)
      if (tensor.defined()) tensor = contiguous_copy(tensor);
    for (std::size_t k = 0; k < types.outputs.size(); ++k)
      outputs[k] = make_empty(types.outputs[k].sizes, types.outputs[k].dtype);
    // Compiled code gives host code its numbers anew each time: reading them here makes them no
    // part of a recorded loop's structure.
    SmallVector<Scalar, 4> numbers;
    for (const Scalar& number : call.numbers) numbers.push_back(number.with_origin(-1));
    const Signature signature{*call.op, inputs, *call.attrs,
                              ArrayRef<Scalar>(numbers.data(), numbers.size())};
    const ArrayRef<Tensor> results(outputs, types.outputs.size());
    if (!how.run_part) return how.run(signature, dense, results);
    const bool is_small =
        kernels::host_nanoseconds(how, signature, types) < kernels::kSerialNanoseconds;
    run_parts(kernels::threads_for(is_small),
              [&](int part, int of) { how.run_part(signature, dense, results, part, of); });
  }

 private:
  // Host code may throw, the pool's bodies must not.
  template <typename Body>
  static void run_parts(int parts, const Body& body) {
    std::exception_ptr failure;
    std::atomic_flag has_failed;
    kernels::parallel(parts, [&](int part, int of) {
      try {
        body(part, of);
      } catch (...) {
        if (!has_failed.test_and_set()) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  }
};

// The same call on f32 copies of its 16-bit operands, the results rounded.
class WidenedPlan : public Plan {
 public:
  TypeResult types;
  void run(const Call& call, Tensor* outputs) const override {
    Tensors wide(call.inputs.begin(), call.inputs.end());
    for (Tensor& tensor : wide)
      if (tensor.defined() && kernels::is_half(tensor.impl()->dtype))
        tensor = converted(tensor, kFloat);
    Tensors results(types.outputs.size());
    Call inner = call;
    inner.inputs = wide;
    run_planned(inner, results.data());
    for (std::size_t k = 0; k < results.size(); ++k)
      outputs[k] = converted(results[k], types.outputs[k].dtype);
  }

 private:
  static Tensor converted(const Tensor& tensor, ScalarType dtype) {
    if (tensor.impl()->dtype == dtype) return tensor;
    const Tensor result = make_empty(tensor.impl()->geometry.sizes, dtype);
    copy_elements(tensor, result);
    return result;
  }
};

// An in-place call of an op without an in-place kernel, or one whose operands overlap its target:
// computed aside, then copied, which is what the functional meaning of the op says.
void run_aside(const Call& call, Tensor* outputs) {
  Call functional = call;
  functional.is_inplace = false;
  std::vector<Tensor> results(static_cast<std::size_t>(call.op->outputs));
  dispatch_below(DispatchLayer::kAutodiff, functional, results.data());
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Tensor& target = inplace_target(call, static_cast<int>(k));
    GROOVE_CHECK(target.impl()->geometry.sizes == results[k].impl()->geometry.sizes,
                 "{}_: the output shape {} does not match the broadcast shape {}", call.op->name,
                 to_string(target.impl()->geometry.sizes),
                 to_string(results[k].impl()->geometry.sizes));
    copy_elements(results[k], target);
    finish_write(call, static_cast<int>(k));
    outputs[k] = target;
  }
}

bool target_overlaps_operand(const Call& call) {
  for (std::size_t k = 0; k < call.op->mutates.size(); ++k) {
    const auto target = static_cast<std::size_t>(call.op->mutates[k]);
    const TensorImpl& written = *call.inputs[target].impl();
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (i == target || !call.inputs[i].defined()) continue;
      const TensorImpl& read = *call.inputs[i].impl();
      if (read.storage == written.storage && !(read.geometry == written.geometry))
        return !has_fault(Fault::kOverlappingOperandNotSeen);
    }
  }
  return false;
}

void check_result_category(const Call& call) {
  const std::vector<Type> inputs = input_types(call);
  const TypeResult types = call.op->type(Signature{*call.op, inputs, *call.attrs, call.numbers});
  for (std::size_t k = 0; k < types.outputs.size(); ++k) {
    const ScalarType from = types.outputs[k].dtype;
    const ScalarType to = inputs[static_cast<std::size_t>(call.op->mutates[k])].dtype;
    const bool fits = is_floating(to) || (!is_floating(from) && (to != kBool || from == kBool));
    GROOVE_CHECK(fits,
                 "{}_: result type {} cannot be cast to the tensor's type {}; convert it first",
                 call.op->name, name(from), name(to));
  }
}

// ---- the plan cache ----

using Key = SmallVector<std::int64_t, 48>;

void append_key(Key& key, const Call& call) {
  key.push_back(call.op->id * 2 + (call.is_inplace ? 1 : 0));
  key.push_back(
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&kernels::current_backend())) |
      static_cast<std::int64_t>(kernels::isa()));
  const auto& words = call.attrs->words();
  key.push_back(static_cast<std::int64_t>(words.size() << 16 | call.numbers.size() << 8 |
                                          call.inputs.size()));
  key.append(words.data(), words.size());
  for (const Scalar& number : call.numbers) key.push_back(static_cast<std::int64_t>(number.type()));
  for (const Tensor& input : call.inputs) {
    if (!input.defined()) {
      key.push_back(-1);
      continue;
    }
    const TensorImpl& impl = *input.impl();
    key.push_back(static_cast<std::int64_t>(impl.dtype) << 8 |
                  static_cast<std::int64_t>(impl.geometry.sizes.size()));
    key.append(impl.geometry.sizes.data(), impl.geometry.sizes.size());
    if (!has_fault(Fault::kPlanForOtherStrides))
      key.append(impl.geometry.strides.data(), impl.geometry.strides.size());
  }
}

std::uint64_t hash(const Key& key) {
  std::uint64_t h = key.size();
  for (const std::int64_t word : key) {
    h = mixed(h, static_cast<std::uint64_t>(word));
  }
  return h;
}

struct Slot {
  Key key;
  PlanPtr plan;
  int in_use = 0;  // a plan that is running (a composite) must not be replaced
};

// Sets of a few places, twice as many whenever one is full: two signatures that a program uses in
// turn must not put each other out, whatever their hashes.
class Plans {
 public:
  Slot* find(std::uint64_t hash, const Key& key) const {
    for (const Place& place : sets_[set_of(hash)].places)
      if (place.hash == hash && place.slot && place.slot->key == key) return place.slot.get();
    return nullptr;
  }
  /// Null, and the plan is the caller's yet, where all that could be replaced is running.
  Slot* put(std::uint64_t hash, const Key& key, PlanPtr& plan) {
    for (;;) {
      Set& set = sets_[set_of(hash)];
      Place* place = set.find_room();
      if (!place && sets_.size() < kMostSets) {
        grow();
        continue;
      }
      if (!place) place = set.find_idle();
      if (!place) return nullptr;
      place->hash = hash;
      if (!place->slot) place->slot = std::make_unique<Slot>();
      place->slot->key = key;
      place->slot->plan = std::move(plan);
      return place->slot.get();
    }
  }

 private:
  static constexpr std::size_t kFirstSets = 32, kMostSets = 1024;  // powers of two
  struct Place {
    std::uint64_t hash = 0;
    std::unique_ptr<Slot> slot;
  };
  struct alignas(64) Set {
    std::array<Place, 8> places;
    Place* find_room() {
      for (Place& place : places)
        if (!place.slot) return &place;
      return nullptr;
    }
    // Of those that are not running the one that came first; it is the last from now on.
    Place* find_idle() {
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].slot->in_use > 0) continue;
        std::rotate(places.begin() + static_cast<std::ptrdiff_t>(i),
                    places.begin() + static_cast<std::ptrdiff_t>(i) + 1, places.end());
        return &places.back();
      }
      return nullptr;
    }
  };
  static_assert(sizeof(Set) == 128);
  std::size_t set_of(std::uint64_t hash) const { return hash & (sets_.size() - 1); }
  void grow() {
    std::vector<Set> more(2 * sets_.size());
    std::swap(sets_, more);
    for (Set& set : more)
      for (Place& place : set.places)
        if (place.slot) *sets_[set_of(place.hash)].find_room() = std::move(place);
  }

  std::vector<Set> sets_ = std::vector<Set>(kFirstSets);
};

// Per thread, never destroyed: ops may run from other static destructors. A thread that ends leaves
// its table, and the plans in it, to the next one.
struct Table {
  Plans plans;
  std::int64_t planning_time = 0;  // of the thread that has it
};
constinit thread_local Table* own_table = nullptr;

struct LeftTables {
  std::mutex mutex;
  std::vector<Table*> tables;
};
LeftTables& left_tables() {
  static LeftTables& instance = *new LeftTables;
  return instance;
}

Table* take_table() {
  LeftTables& left = left_tables();
  const ForkGate gate;
  const std::lock_guard lock(left.mutex);
  if (left.tables.empty()) return new Table;
  Table* const table = left.tables.back();
  left.tables.pop_back();
  table->planning_time = 0;
  return table;
}

void leave_table() {
  LeftTables& left = left_tables();
  const ForkGate gate;
  const std::lock_guard lock(left.mutex);
  left.tables.push_back(std::exchange(own_table, nullptr));
}

Table& table() {
  if (!own_table) [[unlikely]] {
    at_thread_end(ThreadEndRank::kEagerTables, leave_table);
    own_table = take_table();
  }
  return *own_table;
}

void run_planned(const Call& call, Tensor* outputs) {
  Key key;
  append_key(key, call);
  const std::uint64_t hashed = hash(key);
  Table& own = table();
  Slot* slot = own.plans.find(hashed, key);
  if (!slot) [[unlikely]] {
    if (call.is_inplace) check_result_category(call);
    // What a plan is made of may need plans, whose time is in its own.
    const std::int64_t before = own.planning_time, start = thread_time();
    PlanPtr fresh = make_plan(call);
    own.planning_time = before + thread_time() - start;
    slot = own.plans.put(hashed, key, fresh);
    if (!slot) return fresh->run(call, outputs);
  }
  struct InUse {
    explicit InUse(int& count) : count_(count) { ++count_; }
    ~InUse() { --count_; }
    int& count_;
  } in_use(slot->in_use);
  slot->plan->run(call, outputs);
}

void check_operands_apart(const Call& call) {
  for (const int index : call.op->mutates) {
    const Tensor& target = call.inputs[static_cast<std::size_t>(index)];
    if (!target.defined()) continue;
    const TensorImpl& written = *target.impl();
    for (const Tensor& operand : call.inputs)
      GROOVE_CHECK(!operand.defined() || !overlap_partly(written, *operand.impl()),
                   "{}_: some elements of an operand of shape {} and of the written-to tensor of "
                   "shape {} refer to a single memory location; clone() the operand first",
                   call.op->name, to_string(operand.impl()->geometry.sizes),
                   to_string(written.geometry.sizes));
  }
}

void run_here(const Call& call, Tensor* outputs) {
  if (call.is_inplace) check_operands_apart(call);
  if (call.op->check) {
    const std::vector<Type> inputs = input_types(call);
    call.op->check(Signature{*call.op, inputs, *call.attrs, call.numbers}, call.inputs);
  }
  const kernels::FloatEnvironment environment;
  if (call.is_inplace && (call.op->kind != OpKind::kElementwise || target_overlaps_operand(call)))
    run_aside(call, outputs);
  else
    run_planned(call, outputs);
}

// A write to a stand-in counts as one to the tensor. Of a composite the parts come here.
void run_on_stand_ins(const Call& call, Tensor* outputs) {
  Tensors operands(call.inputs.begin(), call.inputs.end());
  for (Tensor& operand : operands) {
    Storage* const memory = operand.defined() ? stand_in_of(*operand.impl()->storage) : nullptr;
    if (!memory) continue;
    const TensorImpl& impl = *operand.impl();
    memory->version = impl.storage->version;
    memory->unnoticed = impl.storage->unnoticed;
    auto other = make_impl(StoragePtr(memory), impl.geometry, impl.dtype);
    other->counts_apart = impl.counts_apart;
    operand = Tensor(std::move(other));
  }
  Call inner = call;
  inner.inputs = operands;
  run_here(inner, outputs);
  if (!call.is_inplace) return;
  for (std::size_t k = 0; k < call.op->mutates.size(); ++k) {
    const auto target = static_cast<std::size_t>(call.op->mutates[k]);
    if (!call.inputs[target].defined()) continue;
    const Storage& written = *operands[target].impl()->storage;
    Storage& storage = *call.inputs[target].impl()->storage;
    if (&written == &storage) continue;
    storage.version = written.version;
    storage.unnoticed = written.unnoticed;
    outputs[k] = call.inputs[target];
  }
}

void run(const Call& call, Tensor* outputs) {
  for (const Tensor& input : call.inputs)
    if (input.defined()) materialize(*input.impl());
  if (call.op->kind == OpKind::kView)
    run_view(call, outputs);
  else if (has_stand_ins() && call.op->kind != OpKind::kComposite) [[unlikely]]
    run_on_stand_ins(call, outputs);
  else
    run_here(call, outputs);
}

const bool registered = (register_handler(DispatchLayer::kEager, run), true);

}  // namespace

std::vector<Type> input_types(const Call& call) {
  std::vector<Type> types;
  types.reserve(call.inputs.size());
  for (const Tensor& input : call.inputs)
    types.push_back(input.defined() ? Type{input.impl()->dtype, input.impl()->geometry.sizes}
                                    : Type{ScalarType::Undefined, {}});
  return types;
}

std::int64_t planning_time() { return own_table ? own_table->planning_time : 0; }

PlanPtr make_plan(const Call& call) {
  GROOVE_CHECK(call.op->lowering, "{}: this operator has no eager kernel", call.op->name);
  const auto& how = call.op->lowering->how;
  const bool is_composite = std::holds_alternative<kernels::CompositeLowering>(how);
  const std::vector<Type> inputs = input_types(call);
  if (!is_composite && kernels::needs_widening(*call.op, inputs)) {
    auto plan = std::make_unique<WidenedPlan>();
    plan->types = call.op->type(Signature{*call.op, inputs, *call.attrs, call.numbers});
    return plan;
  }
  if (std::holds_alternative<kernels::ElementwiseLowering>(how)) return plan_elementwise(call);
  if (std::holds_alternative<kernels::ReductionLowering>(how)) return plan_reduction(call);
  if (std::holds_alternative<kernels::GatherLowering>(how)) return plan_gather(call);
  if (std::holds_alternative<kernels::ConcatenateLowering>(how)) return plan_concatenate(call);
  if (std::holds_alternative<kernels::ContractionLowering>(how)) return plan_contraction(call);
  TypeResult types = call.op->type(Signature{*call.op, inputs, *call.attrs, call.numbers});
  if (is_composite) return plan_composite(call);
  GROOVE_CHECK(std::holds_alternative<kernels::OpaqueLowering>(how),
               "{}: only compiled programs have this operator", call.op->name);
  auto plan = std::make_unique<OpaquePlan>();
  plan->types = std::move(types);
  return plan;
}

void run_view(const Call& call, Tensor* outputs) {
  const std::vector<Type> inputs = input_types(call);
  // Where a view starts is an input, also while a loop is recorded.
  SmallVector<Scalar, 4> numbers;
  for (const Scalar& number : call.numbers) numbers.push_back(number.with_origin(-1));
  const Signature signature{*call.op, inputs, *call.attrs,
                            ArrayRef<Scalar>(numbers.data(), numbers.size())};
  call.op->type(signature);  // throws where sizes and dims do not fit
  outputs[0] = make_view(call.inputs[0], call.op->view(call.inputs[0].impl()->geometry, signature));
}

const Tensor& inplace_target(const Call& call, int output) {
  const Tensor& target =
      call.inputs[static_cast<std::size_t>(call.op->mutates[static_cast<std::size_t>(output)])];
  TensorImpl& impl = *target.impl();
  GROOVE_CHECK(impl.is_contiguous || !has_internal_overlap(impl.geometry),
               "{}_: more than one element of the written-to tensor refers to a single memory "
               "location (an expanded tensor?); clone() it first",
               call.op->name);
  before_write(*impl.storage);
  return target;
}

void finish_write(const Call& call, int output) {
  const auto target = static_cast<std::size_t>(call.op->mutates[static_cast<std::size_t>(output)]);
  TensorImpl& impl = *call.inputs[target].impl();
  if (!has_fault(Fault::kDroppedEagerVersion))
    ++(call.op->writes_unnoticed && output == 0 ? impl.storage->unnoticed : version_of(impl));
}

}  // namespace groove::eager
