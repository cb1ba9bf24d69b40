// Walks the box strip by strip in the kernel's order. Values are addressed through an array of
// pointers, one a value: mostly slots of scratch memory, for contiguous loads the operand itself.
#include "kernels/interpreter/run.h"

#include <cstring>
#include <new>

#include "kernels/interpreter/memory_steps.h"
#include "src/core/thread_end.h"

namespace groove::kernels::interpreter {
namespace {

constexpr std::align_val_t kAlignment{64};

// Scratch memory of this thread, kept between launches. Kernels do not call kernels.
struct Scratch {
  std::byte* memory;
  std::size_t capacity;
};
constinit thread_local Scratch own_scratch{};

void free_scratch() {
  ::operator delete[](own_scratch.memory, kAlignment);
  own_scratch = {};
}

std::byte* scratch(std::size_t bytes) {
  if (bytes > own_scratch.capacity) {
    at_thread_end(ThreadEndRank::kInterpreter, free_scratch);
    const std::size_t capacity = bytes + bytes / 2;
    std::byte* const memory = new (kAlignment) std::byte[capacity];
    ::operator delete[](own_scratch.memory, kAlignment);
    own_scratch = {memory, capacity};
  }
  return own_scratch.memory;
}

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

class Run {
 public:
  Run(const Plan& plan, const Launch& launch) : plan_(plan), launch_(launch) {}

  void operator()() {
    const Order order = plan_.kernel.order;
    std::int64_t lines = 1;
    for (int axis = 1; axis < launch_.rank; ++axis) lines *= launch_.count[axis];
    const std::int64_t line = launch_.count[0];
    const bool walks_rows = order == Order::kRow || order == Order::kTree;
    if (walks_rows ? lines == 0 : line == 0 || (order == Order::kMap && lines == 0)) return;
    // Uniform values are written as arrays of this width, once.
    width_ = std::max<std::int64_t>(
        1, std::min(kStrip, walks_rows ? line : line * std::max<std::int64_t>(lines, 1)));
    allocate();
    for (const Step& step : plan_.launch_steps) run_step(step, width_);
    switch (order) {
      case Order::kMap:
        return run_map();
      case Order::kColumn:
        return run_columns();
      default:
        return run_rows();
    }
  }

 private:
  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }
  void* value(std::int32_t id) const { return values_[at(id)]; }
  const void* argument(const Step& step, int i) const {
    return step.args[i] < 0 ? nullptr : values_[at(step.args[i])];
  }

  void* slot(std::size_t id) const {
    const std::int32_t index = plan_.slots[id];
    return index < 0 ? nullptr : slots_ + static_cast<std::size_t>(index) * plan_.slot_bytes;
  }

  void allocate() {
    const std::size_t values = plan_.kernel.code.size();
    const std::size_t lines = static_cast<std::size_t>(kStrip);
    std::size_t states = 0;
    for (const PhasePlan& phase : plan_.phases) {
      std::size_t bytes = 0;
      for (const Reduction& reduction : phase.reductions) bytes += state_bytes(reduction);
      states = std::max(states, bytes);
    }
    const std::size_t values_bytes = aligned(values * sizeof(void*));
    const std::size_t points_bytes = aligned(lines * sizeof(Point));
    const std::size_t slots_bytes = static_cast<std::size_t>(plan_.slot_count) * plan_.slot_bytes;
    std::byte* memory = scratch(values_bytes + points_bytes + slots_bytes + states);
    values_ = reinterpret_cast<void**>(memory);
    memory += values_bytes;
    strip_.first = reinterpret_cast<Point*>(memory);
    memory += points_bytes;
    slots_ = memory;
    for (std::size_t id = 0; id < values; ++id) values_[id] = slot(id);
    states_ = memory + slots_bytes;
  }

  std::size_t state_bytes(const Reduction& reduction) const {
    if (plan_.kernel.order != Order::kColumn) return aligned(reduction.row.state_bytes);
    const std::int64_t columns = std::min(kStrip, launch_.count[0]);
    return aligned(reduction.column.state_bytes(launch_.count[1], columns));
  }

  Memory memory(const Step& step) const {
    return {plan_.kernel.accesses[step.imm], launch_.pointers[step.imm], launch_.strides[step.imm],
            launch_.rank};
  }

  void run_step(const Step& step, std::int64_t count) {
    void* const out = value(step.id);
    if (step.function != nullptr) {
      step.function(out, argument(step, 0), argument(step, 1), argument(step, 2), count);
      return;
    }
    const auto size = static_cast<std::size_t>(step.size);
    switch (step.prim) {
      case Prim::kConstant:
        fill(out, &step.imm, size, count);
        break;
      case Prim::kParam:
        fill(out, &launch_.scalars[step.imm], size, count);
        break;
      case Prim::kIndex:
        write_index(strip_, static_cast<int>(step.imm), static_cast<std::int64_t*>(out));
        break;
      case Prim::kLoad: {
        const Memory from = memory(step);
        if (step.in_place && strip_.lines == 1 && from.access.inner == StrideClass::kContiguous) {
          values_[at(step.id)] = from.line(strip_.first[0]);
        } else {
          values_[at(step.id)] = slot(at(step.id));  // may point into memory since an earlier strip
          load(from, strip_, value(step.id));
        }
        break;
      }
      case Prim::kLoadAt:
        load_at(memory(step), strip_, static_cast<const std::int64_t*>(argument(step, 0)), out);
        break;
      case Prim::kLookup: {
        const bool wide = plan_.kernel.code[at(step.args[0])].dtype == kLong;
        lookup(plan_.tables[step.imm].data(), size, argument(step, 0), wide, count, out);
        break;
      }
      default:
        break;
    }
  }

  static bool any(const void* mask, std::int64_t count) {
    const auto* const bytes = static_cast<const std::uint8_t*>(mask);
    std::uint8_t found = 0;
    for (std::int64_t i = 0; i < count; ++i) found |= bytes[i];
    return found != 0;
  }

  void run_strip(const PhasePlan& phase) {
    const std::vector<Step>& steps = phase.strip_steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.prim != Prim::kIfAnyBegin) {
        run_step(step, strip_.count);
      } else if (!any(argument(step, 0), strip_.count)) {
        i = at(step.end);
        const Step& end = steps[i];
        std::memcpy(value(end.id), argument(end, 2),
                    static_cast<std::size_t>(strip_.count) * static_cast<std::size_t>(end.size));
      }
    }
  }

  void run_stores(const std::vector<Step>& stores) {
    for (const Step& step : stores) store(memory(step), strip_, argument(step, 0));
  }

  // A piece of the line that the walk stands at.
  void set_piece(const Point& line, std::int64_t offset, std::int64_t count) {
    strip_.count = strip_.line_length = count;
    strip_.lines = 1;
    strip_.first[0] = line;
    strip_.first[0].index[0] += offset;
  }

  // Do several lines store to the same place? Then each may read what the one before it stored.
  bool accumulates_lines() const {
    const std::vector<Access>& accesses = plan_.kernel.accesses;
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      if (!accesses[a].is_store) continue;
      for (int axis = 1; axis < launch_.rank; ++axis)
        if (launch_.count[axis] > 1 && launch_.strides[a][axis] == 0) return true;
    }
    return false;
  }

  // As many whole lines as fit, at most so many.
  void take_lines(LineWalk& walk, std::int64_t length, std::int64_t most) {
    strip_.line_length = length;
    strip_.lines = std::min({walk.left(), kStrip / length, most});
    strip_.count = strip_.lines * length;
    for (std::int64_t l = 0; l < strip_.lines; ++l, walk.next()) strip_.first[l] = walk.point();
  }

  void run_map() {
    const PhasePlan& phase = plan_.phases[0];
    const std::int64_t length = launch_.count[0];
    const std::int64_t most = accumulates_lines() ? 1 : kStrip;
    LineWalk walk(launch_, 1, launch_.rank);
    while (walk.left() > 0) {
      if (length <= kStrip) {
        take_lines(walk, length, most);
        run_strip(phase);
        run_stores(phase.strip_stores);
        continue;
      }
      for (std::int64_t offset = 0; offset < length; offset += kStrip) {
        set_piece(walk.point(), offset, std::min(kStrip, length - offset));
        run_strip(phase);
        run_stores(phase.strip_stores);
      }
      walk.next();
    }
  }

  void run_rows() {
    for (LineWalk walk(launch_, 1, launch_.rank); walk.left() > 0; walk.next()) {
      for (const PhasePlan& phase : plan_.phases) run_row_phase(phase, walk.point());
    }
  }

  void run_row_phase(const PhasePlan& phase, const Point& line) {
    const std::int64_t length = launch_.count[0];
    set_piece(line, 0, width_);
    for (const Step& step : phase.row_steps) run_step(step, width_);
    std::byte* state = states_;
    for (const Reduction& reduction : phase.reductions) {
      reduction.row.begin(state);
      state += state_bytes(reduction);
    }
    if (!phase.strip_stores.empty() || !phase.reductions.empty()) {
      for (std::int64_t offset = 0; offset < length; offset += kStrip) {
        set_piece(line, offset, std::min(kStrip, length - offset));
        run_strip(phase);
        state = states_;
        for (const Reduction& reduction : phase.reductions) {
          reduction.row.add(state, argument(reduction.step, 0), offset, strip_.count);
          state += state_bytes(reduction);
        }
        run_stores(phase.strip_stores);
      }
    }
    state = states_;
    for (const Reduction& reduction : phase.reductions) {
      std::uint64_t result = 0;
      reduction.row.finish(state, length, launch_.begin[0], &result);
      fill(value(reduction.step.id), &result, static_cast<std::size_t>(reduction.step.size),
           width_);
      state += state_bytes(reduction);
    }
    set_piece(line, 0, 1);
    run_stores(phase.row_stores);
  }

  void run_columns() {
    const std::int64_t length = launch_.count[0];
    for (LineWalk walk(launch_, 2, launch_.rank); walk.left() > 0; walk.next()) {
      for (std::int64_t offset = 0; offset < length; offset += kStrip) {
        reduce_columns(walk.point(), offset, std::min(kStrip, length - offset));
        set_piece(walk.point(), offset, std::min(kStrip, length - offset));
        run_strip(plan_.phases[1]);
        run_stores(plan_.phases[1].strip_stores);
      }
    }
  }

  // Narrow strips take several rows at once; the reducers still see one row after the other.
  void reduce_columns(const Point& origin, std::int64_t offset, std::int64_t columns) {
    const PhasePlan& phase = plan_.phases[0];
    const std::int64_t rows = launch_.count[1];
    std::byte* state = states_;
    for (const Reduction& reduction : phase.reductions) {
      reduction.column.begin(state, columns);
      state += state_bytes(reduction);
    }
    for (std::int64_t row = 0; row < rows; row += strip_.lines) {
      strip_.line_length = columns;
      strip_.lines = std::min(rows - row, kStrip / columns);
      strip_.count = strip_.lines * columns;
      for (std::int64_t l = 0; l < strip_.lines; ++l) {
        strip_.first[l] = origin;
        strip_.first[l].index[0] += offset;
        strip_.first[l].index[1] += row + l;
      }
      run_strip(phase);
      state = states_;
      for (const Reduction& reduction : phase.reductions) {
        const auto* values = static_cast<const std::byte*>(argument(reduction.step, 0));
        const ScalarType dtype = plan_.kernel.code[at(reduction.step.args[0])].dtype;
        const auto line_bytes = static_cast<std::size_t>(columns) * element_size(dtype);
        for (std::int64_t l = 0; l < strip_.lines; ++l, values += line_bytes) {
          reduction.column.add(state, values, row + l, columns);
        }
        state += state_bytes(reduction);
      }
    }
    state = states_;
    for (const Reduction& reduction : phase.reductions) {
      reduction.column.finish(state, rows, launch_.begin[1], columns, value(reduction.step.id));
      state += state_bytes(reduction);
    }
  }

  const Plan& plan_;
  const Launch& launch_;
  std::int64_t width_ = 0;
  void** values_ = nullptr;
  std::byte* slots_ = nullptr;
  std::byte* states_ = nullptr;
  Strip strip_;
};

}  // namespace

void run(const Plan& plan, const Launch& launch) noexcept { Run(plan, launch)(); }

}  // namespace groove::kernels::interpreter
