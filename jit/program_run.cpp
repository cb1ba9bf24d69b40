// Running a program. Nothing here allocates, throws or takes a lock, host code aside.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "jit/program.h"
#include "kernels/asmjit/isa.h"
#include "kernels/lowering.h"
#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/faults.h"
#include "src/core/pooled.h"
#include "src/core/trace.h"

namespace groove::jit {

struct Program::Run {
  void* const* buffers;
  const std::uint64_t* numbers;
  char* arena;   // its start, with what stays
  char* values;  // the rest, counted from the same start
  void** pointers;
  std::uint64_t* scalars;
  std::size_t isa;
  bool is_replay;
  std::atomic<bool>* has_failed;  // and nothing more is to run
};

namespace {

Scalar entry_number(const Graph& graph, const std::uint64_t* numbers, std::int32_t entry) {
  const std::uint64_t bits = numbers[entry];
  if (graph.numbers[static_cast<std::size_t>(entry)] == kDouble) {
    return Scalar(std::bit_cast<double>(bits));
  }
  return Scalar(static_cast<std::int64_t>(bits));
}

}  // namespace

// What a stage leaves for the next one lies among the values.
std::size_t Program::kept_bytes() const {
  return graph_.stages > 1 ? arena_bytes() : static_cast<std::size_t>(control_bytes());
}

char* Program::values_of(const ProgramContext& context) const noexcept {
  return context.work ? static_cast<char*>(context.work) - control_bytes()
                      : static_cast<char*>(context.arena);
}

// A fresh arena gets all that no run changes.
void Program::prepare(ProgramContext& context) const noexcept {
  char* const arena = static_cast<char*>(context.arena);
  char* const values = values_of(context);
  if (!control_.empty()) std::memcpy(arena, control_.data(), control_.size());
  for (const AddressSlot& slot : fixed_) {
    void* const address = (slot.base == AddressSlot::kControl ? arena : values) + slot.offset;
    std::memcpy(arena + slot.at, &address, sizeof address);
  }
  context.mark = mark_;
}

void Program::patch(const Stage& stage, const Run& run) const noexcept {
  for (std::int32_t i = stage.first_moved; i < stage.last_moved; ++i) {
    const AddressSlot& slot = moved_[static_cast<std::size_t>(i)];
    char* const base = slot.base < 0 ? run.values : static_cast<char*>(run.buffers[slot.base]);
    char* const address = base + slot.offset;
    std::memcpy(run.arena + slot.at, &address, sizeof address);
  }
  for (std::int32_t i = stage.first_moving; i < stage.last_moving; ++i) {
    const MovingAddress& moving = moving_[static_cast<std::size_t>(i)];
    std::int64_t start = entry_number(graph_, run.numbers, moving.entry).to_int();
    if (start < 0) start += moving.size;
    if (has_fault(Fault::kNegativeStart)) start = -start;
    char* address = nullptr;
    std::memcpy(&address, run.arena + moving.at, sizeof address);
    address += start * moving.stride;
    std::memcpy(run.arena + moving.at, &address, sizeof address);
  }
  for (std::int32_t i = stage.first_entry; i < stage.last_entry; ++i) {
    const EntryScalar& entry = entries_[static_cast<std::size_t>(i)];
    run.scalars[entry.slot] = entry_number(graph_, run.numbers, entry.entry).bits_as(entry.dtype);
  }
}

std::int32_t Program::run(void* const* buffers, const std::int64_t*, const std::uint64_t* scalars,
                          ProgramContext& context) const noexcept {
  const kernels::FloatEnvironment environment;
  const Stage& stage = stages_[static_cast<std::size_t>(context.stage)];
  if (context.mark != mark_) prepare(context);
  std::atomic<bool> has_failed{false};
  Run run;
  run.buffers = buffers;
  run.numbers = scalars;
  run.arena = static_cast<char*>(context.arena);
  run.values = values_of(context);
  run.pointers = reinterpret_cast<void**>(run.arena);
  run.scalars = reinterpret_cast<std::uint64_t*>(run.arena + scalars_at_);
  run.isa = static_cast<std::size_t>(kernels::isa());
  run.is_replay = context.is_replay;
  run.has_failed = &has_failed;
  if (options_.fills_freed_memory && context.stage == 0) [[unlikely]]
    fill_arena(run);
  patch(stage, run);
  const int threads =
      stage.is_serial ? 1 : std::min(kernels::num_threads(), options_.machine.threads);
  if (threads <= 1) {
    run_levels_alone(stage, run, 0, stage.levels());
  } else if (!stage.pace) {
    run_shared(stage, run, threads);
  } else {
    const Pace::Turn turn(*stage.pace);
    if (turn.is_alone())
      run_levels_alone(stage, run, 0, stage.levels());
    else
      run_shared(stage, run, threads);
  }
  return has_failed ? 1 : 0;
}

void Program::run_shared(const Stage& stage, const Run& run, int threads) const noexcept {
  const std::vector<Turn>& turns = stage.turns;
  for (std::size_t first = 0; first < turns.size();) {
    if (turns[first].is_outside) {
      run_levels_alone(stage, run, turns[first].first, turns[first].last);
      ++first;
      continue;
    }
    std::size_t last = first;
    while (last < turns.size() && !turns[last].is_outside) ++last;
    run_turns(stage, run, first, last, threads);
    first = last;
  }
}

void Program::run_levels_alone(const Stage& stage, const Run& run, int first,
                               int last) const noexcept {
  if (!options_.fills_freed_memory) [[likely]] {
    const std::int32_t end = stage.begin(last);
    for (std::int32_t step = stage.begin(first); step < end; ++step) run_alone(step, run);
    return;
  }
  for (int level = first; level < last; ++level) {
    for (std::int32_t step = stage.begin(level); step < stage.end(level); ++step)
      run_alone(step, run);
    fill_freed(stage.first_level + level, run);
  }
}

// One parallel region.
void Program::run_turns(const Stage& stage, const Run& run, std::size_t first, std::size_t last,
                        int threads) const noexcept {
  struct Context {
    const Program* program;
    const Stage* stage;
    const Run* run;
    std::size_t first;
    int fills;  // 1: a level that fills freed memory follows each level
  } in{this, &stage, &run, first, options_.fills_freed_memory ? 1 : 0};
  kernels::parallel_levels(
      static_cast<int>(last - first) << in.fills, threads,
      [](void* given, int level, int part, int parts) {
        const Context& from = *static_cast<Context*>(given);
        const Turn& turn =
            from.stage->turns[from.first + static_cast<std::size_t>(level >> from.fills)];
        if (turn.is_alone) {
          if (part == 0 && (level & from.fills) == 0)
            from.program->run_levels_alone(*from.stage, *from.run, turn.first, turn.last);
        } else if ((level & from.fills) == 0) {
          for (int shared = turn.first; shared < turn.last; ++shared)
            from.program->run_level(*from.stage, *from.run, shared, part, parts);
        } else if (part == 0) {
          from.program->fill_freed(from.stage->first_level + turn.first, *from.run);
        }
      },
      &in);
}

// One thread's share of a level: launches of a level do not depend on each other.
void Program::run_level(const Stage& stage, const Run& run, int level, int part,
                        int parts) const noexcept {
  int turn = 0;  // small launches of a level go round
  for (std::int32_t index = stage.begin(level); index < stage.end(level); ++index) {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    if (run.has_failed->load(std::memory_order_relaxed)) [[unlikely]]
      return;
    if (step.max_parts > 1) {
      const TraceSpan span([&] { return launch_text(step); });
      run_step(step, run, part, parts);
    } else if (turn++ % parts == part) {
      run_alone(index, run);
    }
  }
}

// The calls of a step, or its driver.
void Program::run_alone(std::int32_t index, const Run& run) const noexcept {
  if (run.has_failed->load(std::memory_order_relaxed)) [[unlikely]]
    return;
  const TraceSpan span([&] { return launch_text(steps_[static_cast<std::size_t>(index)]); });
  const Ready& ready = ready_[static_cast<std::size_t>(index)];
  if (ready.code == nullptr) {
    if (ready.first == ready.last)
      return run_step(steps_[static_cast<std::size_t>(index)], run, 0, 1);
    for (std::int32_t c = ready.first; c < ready.last; ++c) {
      const Call& call = calls_[static_cast<std::size_t>(c)];
      call.function(run.arena + call.at);
    }
    return;
  }
  const kernels::NestCode* const code = ready.tiered ? ready.tiered->nest() : ready.code;
  const kernels::NestFunction function =
      code ? code->functions[run.isa].load(std::memory_order_acquire) : nullptr;
  if (function == nullptr) {
    return run_step(steps_[static_cast<std::size_t>(index)], run, 0, 1);
  }
  for (std::int32_t c = ready.first; c < ready.last; ++c) {
    const char* const arguments = run.arena + calls_[static_cast<std::size_t>(c)].at;
    function(reinterpret_cast<const kernels::NestArguments*>(arguments));
  }
}

// Of a step whose calls were told, the addresses lie in the arguments of the first.
void* const* Program::pointers_of(const Instance& instance, const Run& run,
                                  void** own) const noexcept {
  if (instance.pointers >= 0) return run.pointers + instance.pointers;
  const auto* const arguments = reinterpret_cast<const kernels::NestArguments*>(
      run.arena + calls_[static_cast<std::size_t>(instance.first_call)].at);
  const std::size_t count = plans_[static_cast<std::size_t>(instance.plan)].operands.size();
  for (std::size_t i = 0; i < count; ++i) own[i] = arguments->accesses[i].pointer;
  return own;
}

void Program::fail(const Step& step, const Run& run) const noexcept {
  if (run.is_replay && step.fails_late)
    assertion_failed(
        "host code of a compiled loop has the memory that it needs", __FILE__, __LINE__,
        launch_text(step) + " failed after tensors of the program had been overwritten");
  run.has_failed->store(true, std::memory_order_relaxed);
}

void Program::run_step(const Step& step, const Run& run, int part, int parts) const noexcept {
  if (part >= step.max_parts) return;
  parts = std::min(parts, step.max_parts);
  switch (step.kind) {
    case LaunchPlan::Kind::kKernel: {
      if (step.instances.size() > 1) return run_table(step, run, part, parts);
      const Instance& instance = step.instances[0];
      kernels::Launch launch;
      if (!kernels::split(step.order, instance.launch, part, parts, launch)) return;
      void* own[kernels::kMaxAccesses];
      launch.pointers = pointers_of(instance, run, own);
      launch.scalars = run.scalars + instance.scalars;
      if (part > 0 && !step.row_buffers.empty()) {
        return run_with_row_buffers(step, launch, part);
      }
      return step.callable->run(launch);
    }
    case LaunchPlan::Kind::kContraction: {
      const Instance& instance = step.instances[0];
      kernels::ContractionLaunch launch = step.matrices;
      void** const pointers = run.pointers + instance.pointers;
      launch.a = pointers[0];
      launch.b = pointers[1];
      launch.pointers = pointers + 2;
      launch.scalars = run.scalars + instance.scalars;
      char* const scratch = run.values + step.scratch;
      const int own = has_fault(Fault::kSharedScratch) ? 0 : part;
      // What computes blocks of a product by host code may lack memory.
      try {
        step.contraction->run(launch, part, parts, scratch + own * step.scratch_bytes);
      } catch (...) {
        fail(step, run);
      }
      return;
    }
    case LaunchPlan::Kind::kRelay: {
      const Instance& instance = step.instances[0];
      return step.relay->run(run.pointers + instance.pointers, run.scalars + instance.scalars,
                             *step.callable, part, parts,
                             run.values + step.scratch + part * step.scratch_bytes);
    }
    case LaunchPlan::Kind::kOpaque:
      try {
        run_host_code(step, run, part, parts);
      } catch (const Error& error) {
        const Node& node = graph_.nodes[static_cast<std::size_t>(step.node)];
        const auto& how = std::get<kernels::OpaqueLowering>(node.op->lowering->how);
        if (run.is_replay && how.never_throws)
          assertion_failed("host code of a compiled loop does not throw", __FILE__, __LINE__,
                           error.msg() + "; refuse values in check");
        fail(step, run);
      } catch (...) {
        fail(step, run);
      }
  }
}

// Threads after the first have rows of their own.
void Program::run_with_row_buffers(const Step& step, kernels::Launch& launch,
                                   int part) const noexcept {
  void* own[kernels::kMaxAccesses];
  const std::size_t count = plans_[static_cast<std::size_t>(step.plan)].operands.size();
  std::copy_n(launch.pointers, std::min<std::size_t>(count, kernels::kMaxAccesses), own);
  for (const std::int32_t slot : step.row_buffers) {
    own[slot] = static_cast<char*>(own[slot]) +
                (has_fault(Fault::kSharedRowBuffer) ? 0 : part) * step.scratch_bytes;
  }
  launch.pointers = own;
  step.callable->run(launch);
}

// Every thread takes an equal share of all elements, cut at cache lines.
void Program::run_table(const Step& step, const Run& run, int part, int parts) const noexcept {
  const std::int64_t begin = step.points * part / parts, end = step.points * (part + 1) / parts;
  std::int64_t at = 0;
  for (const Instance& instance : step.instances) {
    const std::int64_t first = at;
    at += instance.points;
    if (at <= begin || first >= end) continue;
    kernels::Launch launch = instance.launch;
    void* own[kernels::kMaxAccesses];
    launch.pointers = pointers_of(instance, run, own);
    launch.scalars = run.scalars + instance.scalars;
    if (first < begin || at > end) {
      if (launch.rank == 1) {
        const auto cut = [&](std::int64_t point) {
          const std::int64_t own = point - first;
          return own >= instance.points ? instance.points
                                        : std::max<std::int64_t>(own, 0) / 64 * 64;
        };
        launch.begin[0] += cut(begin);
        launch.count[0] = cut(end) - cut(begin) - (has_fault(Fault::kTableCutShort) ? 64 : 0);
        if (launch.count[0] <= 0) continue;
      } else if (const std::int64_t middle = first + instance.points / 2;
                 middle < begin || middle >= end) {
        continue;
      }
    }
    step.callable->run(launch);
  }
}

void Program::run_host_code(const Step& step, const Run& run, int part, int parts) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(step.node)];
  const auto& how = std::get<kernels::OpaqueLowering>(node.op->lowering->how);
  void* const* data = run.pointers + step.instances[0].pointers;
  const Geometry* geometry = step.host.geometries.data();
  const auto tensor = [&](ValueId value) {
    void* const at = *data++;
    const Geometry& own = *geometry++;
    if (value == kNoValue) return Tensor();
    const ScalarType dtype = graph_.type(value).dtype;
    StoragePtr storage = make_storage();
    storage->data = at;
    storage->bytes = static_cast<std::size_t>(element_count(own.sizes)) * element_size(dtype);
    return Tensor(make_impl(std::move(storage), own, dtype));
  };
  PooledVector<Tensor> inputs, outputs;
  inputs.reserve(node.inputs.size());
  outputs.reserve(node.outputs.size());
  for (const ValueId id : node.inputs) inputs.push_back(tensor(id));
  for (const ValueId id : node.outputs) outputs.push_back(tensor(id));
  SmallVector<Scalar, 8> numbers(step.host.numbers.data(), step.host.numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (node.numbers[i].entry >= 0) {
      numbers[i] = entry_number(graph_, run.numbers, node.numbers[i].entry);
    }
  }
  const Signature signature{*node.op, step.host.types, node.attrs,
                            ArrayRef<Scalar>(numbers.data(), numbers.size())};
  if (how.run_part) {
    how.run_part(signature, inputs, outputs, part, parts);
  } else {
    how.run(signature, inputs, outputs);
  }
}

namespace {

// Every element a signalling NaN of the type; integers get all bits.
void fill_with_nan(char* at, std::size_t bytes, ScalarType dtype) {
  const auto fill = [&](auto pattern) {
    for (std::size_t done = 0; done + sizeof pattern <= bytes; done += sizeof pattern)
      std::memcpy(at + done, &pattern, sizeof pattern);
  };
  switch (dtype) {
    case kFloat:
      return fill(std::uint32_t{0x7fa00000});
    case kDouble:
      return fill(std::uint64_t{0x7ff4000000000000});
    case kHalf:
      return fill(std::uint16_t{0x7d00});
    case kBFloat16:
      return fill(std::uint16_t{0x7fa0});
    default:
      std::memset(at, 0xff, bytes);
  }
}

}  // namespace

void Program::fill_arena(const Run& run) const noexcept {
  const auto begin = static_cast<std::int64_t>(control_.size());
  fill_with_nan(run.values + begin, static_cast<std::size_t>(arena_bytes_ - begin), kFloat);
}

void Program::fill_freed(std::int32_t level, const Run& run) const noexcept {
  for (const MemoryPlan::Freed& freed : freed_) {
    if (freed.level == level) {
      fill_with_nan(run.values + freed.offset, static_cast<std::size_t>(freed.bytes), freed.dtype);
    }
  }
}

}  // namespace groove::jit
