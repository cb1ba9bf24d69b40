// Sorts instructions into launch, row and strip steps and gives values their slots: those that
// outlive a strip keep one for good, the others share by a linear scan over their last uses.
#include "kernels/interpreter/plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace groove::kernels::interpreter {
namespace {

enum class Level : std::uint8_t { kLaunch, kRow, kStrip };

class Planner {
 public:
  explicit Planner(const Kernel& kernel) { plan_.kernel = kernel; }

  Plan run() {
    find_levels();
    plan_.slots.assign(code().size(), -1);
    plan_.phases.resize(plan_.kernel.phases.size());
    for (std::size_t p = 0; p < plan_.phases.size(); ++p) sort_phase(p);
    for (PhasePlan& phase : plan_.phases) {
      link_if_any(phase.strip_steps);
      allow_in_place_loads(phase);
    }
    assign_slots();
    pack_tables();
    return std::move(plan_);
  }

 private:
  const std::vector<Instr>& code() const { return plan_.kernel.code; }
  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }
  bool walks_rows() const {
    return plan_.kernel.order == Order::kRow || plan_.kernel.order == Order::kTree;
  }

  void find_levels() {
    const std::vector<bool> uniform = uniform_values(plan_.kernel);
    levels_.resize(code().size(), Level::kStrip);
    for (std::size_t id = 0; id < code().size(); ++id) {
      const Instr& instr = code()[id];
      bool is_launch = (is_pure(instr.prim) || instr.prim == Prim::kIfAnyEnd) &&
                       instr.prim != Prim::kLoad && instr.prim != Prim::kLoadAt &&
                       instr.prim != Prim::kIndex;
      for (int i = 0; i < arg_count(instr.prim); ++i) {
        is_launch = is_launch && levels_[at(instr.args[i])] == Level::kLaunch;
      }
      if (is_launch) {
        levels_[id] = Level::kLaunch;
      } else if (walks_rows() && uniform[id] && instr.prim != Prim::kStore) {
        levels_[id] = Level::kRow;
      }
    }
  }

  Step make_step(std::size_t id) const {
    const Instr& instr = code()[id];
    Step step;
    step.prim = instr.prim;
    step.id = static_cast<std::int32_t>(id);
    std::copy_n(instr.args, 3, step.args);
    step.imm = instr.imm;
    step.size = static_cast<std::int32_t>(element_size(instr.dtype));
    // An if_any whose region runs is the select that it means: slow where the mask is set.
    if (instr.prim == Prim::kIfAnyEnd) std::swap(step.args[1], step.args[2]);
    const Prim prim = instr.prim == Prim::kIfAnyEnd ? Prim::kSelect : instr.prim;
    const int args = arg_count(prim);
    const ScalarType operand = args > 0 ? code()[at(instr.args[args - 1])].dtype : instr.dtype;
    step.function = step_function(prim, instr.dtype, operand);
    return step;
  }

  void sort_phase(std::size_t p) {
    PhasePlan& phase = plan_.phases[p];
    const std::vector<std::int32_t> match = match_if_any(plan_.kernel);
    const Phase range = plan_.kernel.phases[p];
    for (auto id = at(range.begin); id < at(range.end); ++id) {
      const Instr& instr = code()[id];
      const Step step = make_step(id);
      if (is_reduction(instr.prim)) {
        add_reduction(phase, step);
      } else if (instr.prim == Prim::kStore) {
        const bool once =
            walks_rows() && plan_.kernel.accesses[instr.imm].inner == StrideClass::kBroadcast;
        (once ? phase.row_stores : phase.strip_stores).push_back(step);
      } else {
        const Level level = levels_[instr.prim == Prim::kIfAnyBegin ? at(match[id]) : id];
        if (level == Level::kStrip) {
          phase.strip_steps.push_back(step);
        } else if (instr.prim != Prim::kIfAnyBegin) {
          (level == Level::kLaunch ? plan_.launch_steps : phase.row_steps).push_back(step);
        }
      }
    }
  }

  void add_reduction(PhasePlan& phase, const Step& step) {
    const ScalarType dtype = code()[at(step.args[0])].dtype;
    Reduction reduction;
    reduction.step = step;
    switch (plan_.kernel.order) {
      case Order::kColumn:
        reduction.column = column_reducer(step.prim, dtype);
        break;
      case Order::kTree:
        reduction.row = tree_reducer(step.prim, dtype);
        break;
      default:
        reduction.row = row_reducer(step.prim, dtype);
    }
    phase.reductions.push_back(reduction);
  }

  static void link_if_any(std::vector<Step>& steps) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].prim == Prim::kIfAnyBegin) open.push_back(i);
      if (steps[i].prim != Prim::kIfAnyEnd) continue;
      steps[open.back()].end = static_cast<std::int32_t>(i);
      open.pop_back();
    }
  }

  // A loaded value that is stored as it is must be a copy: an earlier store of the same strip may
  // overwrite the memory that it came from.
  static void allow_in_place_loads(PhasePlan& phase) {
    for (Step& step : phase.strip_steps) {
      step.in_place = step.prim == Prim::kLoad &&
                      std::none_of(phase.strip_stores.begin(), phase.strip_stores.end(),
                                   [&](const Step& store) { return store.args[0] == step.id; });
    }
  }

  void assign_slots() {
    std::size_t widest = 1;
    for (std::size_t id = 0; id < code().size(); ++id) {
      widest = std::max(widest, element_size(code()[id].dtype));
      const bool lasts = levels_[id] != Level::kStrip || is_reduction(code()[id].prim);
      if (lasts && code()[id].prim != Prim::kIfAnyBegin) plan_.slots[id] = plan_.slot_count++;
    }
    // A line of padding keeps equal elements of two values out of one cache set.
    plan_.slot_bytes = static_cast<std::size_t>(kStrip) * widest + 64;
    const std::int32_t first_shared = plan_.slot_count;
    for (const PhasePlan& phase : plan_.phases) share_slots(phase, first_shared);
  }

  void share_slots(const PhasePlan& phase, std::int32_t first_shared) {
    constexpr std::size_t kAlways = ~std::size_t{0};
    const std::vector<Step>& steps = phase.strip_steps;
    std::vector<std::size_t> last_use(code().size(), 0);
    const auto use = [&](const Step& step, std::size_t when) {
      for (std::int32_t arg : step.args) {
        if (arg >= 0) last_use[at(arg)] = std::max(last_use[at(arg)], when);
      }
    };
    for (std::size_t i = 0; i < steps.size(); ++i) use(steps[i], i);
    for (const Step& store : phase.strip_stores) use(store, kAlways);
    for (const Step& store : phase.row_stores) use(store, kAlways);
    for (const Reduction& reduction : phase.reductions) use(reduction.step, kAlways);

    std::vector<std::int32_t> free;
    std::int32_t next = first_shared;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.prim != Prim::kIfAnyBegin) {
        std::int32_t& slot = plan_.slots[at(step.id)];
        if (free.empty()) {
          slot = next++;
        } else {
          slot = free.back();
          free.pop_back();
        }
        // Nothing reads it (the kernel was not cleaned): free for the next step.
        if (last_use[at(step.id)] < i) free.push_back(slot);
      }
      release(step, i, last_use, free);
    }
    plan_.slot_count = std::max(plan_.slot_count, next);
  }

  void release(const Step& step, std::size_t when, const std::vector<std::size_t>& last_use,
               std::vector<std::int32_t>& free) const {
    for (int i = 0; i < 3; ++i) {
      const std::int32_t arg = step.args[i];
      const bool repeated = std::find(step.args, step.args + i, arg) != step.args + i;
      if (arg < 0 || repeated || last_use[at(arg)] != when) continue;
      if (levels_[at(arg)] == Level::kStrip && !is_reduction(code()[at(arg)].prim)) {
        free.push_back(plan_.slots[at(arg)]);
      }
    }
  }

  void pack_tables() {
    for (const Table& table : plan_.kernel.tables) {
      const std::size_t size = element_size(table.dtype);
      std::vector<std::uint64_t> packed((table.bits.size() * size + 7) / 8);
      auto* const bytes = reinterpret_cast<std::byte*>(packed.data());
      for (std::size_t i = 0; i < table.bits.size(); ++i) {
        std::memcpy(bytes + i * size, &table.bits[i], size);
      }
      plan_.tables.push_back(std::move(packed));
    }
  }

  Plan plan_;
  std::vector<Level> levels_;
};

}  // namespace

Plan make_plan(const Kernel& kernel) { return Planner(kernel).run(); }

}  // namespace groove::kernels::interpreter
