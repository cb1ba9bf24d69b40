// Making a program: lowering, schedule, memory, and the tables that a run patches.
#include "jit/program.h"

#include <algorithm>
#include <atomic>

#include "jit/log.h"
#include "jit/partition.h"
#include "jit/passes/passes.h"
#include "jit/repeat_cheap.h"
#include "jit/row_buffers.h"
#include "kernels/lowering.h"
#include "kernels/pool.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kLine = 64;
// A stage below this does not wake a second thread; a launch below the other stays on one. What is
// worth it above depends on the day and is measured as the stage runs (pace.h).
constexpr double kSerialStage = 3'000;
constexpr double kSerialLaunch = 1'500;
// What a barrier and moving data between caches take from a level that threads share, and what a
// stage must gain by sharing.
constexpr double kBarrier = 1'000;
constexpr double kLeastGain = 2'000;
// Above this a second thread gains so much that there is nothing to find out.
constexpr double kSurelyShared = 400'000;

}  // namespace

std::uint64_t Program::new_mark() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Program::Program(Graph graph, const ProgramOptions& options)
    : graph_(std::move(graph)), options_(options), mark_(new_mark()) {
  if (!options.is_for_many_sizes) operators_to_unroll_ = operators_to_unroll(graph_);
  Choices* const choices = options_.takes_numbers ? &options_.choices : nullptr;
  Fusion fusion = fused(choices);
  if (options.is_fused) repeat_where_less_moves(fusion, choices);
  if (options.is_fused && rematerialise(graph_, fusion, is_again_, options.rematerialise)) {
    fusion = fused(choices);
  }
  Lowered lowered = lower_groups(graph_, fusion, lowering_options());
  const Schedule order = schedule(graph_, lowered, schedule_options(choices));
  steps_.reserve(lowered.launches.size());
  for (std::int32_t stage = 0; stage < graph_.stages; ++stage) add_stage(lowered, order, stage);
  // The size of the tables is known before anything is placed behind them.
  lay_out_control(lowered.launches);
  MemoryPlan memory = plan_memory(lowered, order, control_bytes());
  if (options_.takes_numbers) {
    rooms_ = Rooms(lowered.buffers, memory, order.stage_begin);
    memory.bytes = rooms_.place(lowered.buffers, control_bytes(), [](std::size_t) {});
    memory.outputs.clear();
    memory.freed.clear();
  } else {
    shift_row_buffers(lowered);
  }
#ifdef NDEBUG
  const bool checks = options_.fills_freed_memory;
#else
  const bool checks = true;
#endif
  std::string problem = checks ? check_memory(lowered, order) : std::string();
  if (checks && problem.empty()) problem = check_stages(graph_, lowered);
  GROOVE_ASSERT(problem.empty(), "memory plan: {}\n{}", problem, print(graph_));
  arena_bytes_ = std::max<std::int64_t>(memory.bytes, kLine);
  freed_ = std::move(memory.freed);
  output_places_ = std::move(memory.outputs);
  log_program(graph_, fusion, lowered, order);
  plans_ = std::move(lowered.launches);
  place_addresses(lowered.buffers);
  if (options_.takes_numbers) {
    buffers_ = std::move(lowered.buffers);
    homes_ = std::move(memory.homes);
    first_stage_of_.assign(buffers_.size(), graph_.stages);
    const auto uses = [&](BufferId id, std::int32_t stage) {
      if (id < 0) return;
      std::int32_t& first = first_stage_of_[static_cast<std::size_t>(id)];
      first = std::min(first, stage);
    };
    for (const LaunchPlan& plan : plans_) {
      uses(plan.scratch, plan.stage);
      for (const Operand& operand : plan.operands) uses(operand.buffer, plan.stage);
    }
    return;  // what one thread shares with which, and which kernels are hot, may be other at others
  }
  join_turns(lowered.buffers);
  find_hot_kernels();
}

void Program::repeat_where_less_moves(Fusion& fusion, Choices* choices) {
  std::optional<Graph> repeated = repeat_cheap(graph_, fusion);
  if (!repeated) return;
  Fusion other = fuse(*repeated, {.machine = options_.machine, .choices = choices});
  const auto moves_less = [&] {
    return moved_bytes(*repeated, other) < moved_bytes(graph_, fusion);
  };
  if (!chosen(choices, Choices::Of::kRepeat, {}, moves_less)) return;
  graph_ = *std::move(repeated);
  fusion = std::move(other);
}

Fusion Program::fused(Choices* choices) const {
  FusionOptions how;
  how.is_enabled = options_.is_fused;
  how.is_again = is_again_.empty() ? nullptr : &is_again_;
  how.machine = options_.machine;
  how.choices = choices;
  return fuse(graph_, how);
}

ScheduleOptions Program::schedule_options(Choices* choices) const {
  return {options_.rematerialise.least_bytes, is_again_.empty() ? nullptr : &is_again_, choices};
}

LoweringOptions Program::lowering_options() const {
  LoweringOptions how;
  how.has_many_sizes = options_.is_for_many_sizes;
  how.has_relays = how.has_siblings = options_.is_fused && !options_.takes_numbers;
  how.is_again = is_again_.empty() ? nullptr : &is_again_;
  how.machine = options_.machine;
  return how;
}

std::int64_t Program::control_bytes() const {
  return (static_cast<std::int64_t>(control_.size()) + kLine - 1) / kLine * kLine;
}

void Program::add_instance(Step& step, const LaunchPlan& plan, std::int32_t index) {
  Instance instance;
  instance.launch = plan.launch();
  instance.plan = index;
  instance.scalars = static_cast<std::int32_t>(scalars_.size());
  instance.points = plan.points();
  for (std::size_t i = 0; i < plan.operands.size(); ++i) {
    if (plan.operands[i].is_row_buffer) step.row_buffers.push_back(static_cast<std::int32_t>(i));
  }
  for (const ScalarSlot& scalar : plan.scalars) {
    if (scalar.entry >= 0) {
      entries_.push_back({static_cast<std::int32_t>(scalars_.size()), scalar.entry, scalar.dtype});
    }
    scalars_.push_back(scalar.bits);
  }
  step.points += instance.points;
  step.nanoseconds += plan.nanoseconds;
  step.instances.push_back(instance);
}

void Program::add_stage(const Lowered& lowered, const Schedule& order, std::int32_t index) {
  Stage stage;
  stage.first_entry = static_cast<std::int32_t>(entries_.size());
  stage.first_level = order.stage_begin[static_cast<std::size_t>(index)];
  const std::int32_t end = order.stage_begin[static_cast<std::size_t>(index) + 1];
  double total = 0;
  for (std::int32_t level = stage.first_level; level < end; ++level) {
    const std::vector<std::int32_t>& launches =
        order.levels[static_cast<std::size_t>(level)].launches;
    std::vector<char> is_done(launches.size());
    stage.first_steps.push_back(static_cast<std::int32_t>(steps_.size()));
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (is_done[i]) continue;
      const LaunchPlan& plan = lowered.launches[static_cast<std::size_t>(launches[i])];
      Step step;
      step.plan = launches[i];
      step.kind = plan.kind;
      step.order = plan.order;
      step.callable = plan.callable.get();
      step.contraction = plan.contraction.get();
      step.relay = plan.relay.get();
      step.level = level;
      step.fails_late = order.fails_late[static_cast<std::size_t>(launches[i])] != 0;
      step.scratch_bytes = plan.scratch_bytes;
      if (plan.kind == LaunchPlan::Kind::kContraction) {
        step.matrices.shape = plan.shape;
        step.matrices.strides =
            reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(plan.box.strides.data());
      }
      if (plan.kind == LaunchPlan::Kind::kOpaque) {
        step.node = plan.nodes[0];
        describe_host_call(step);
        stage.has_host_code = true;
        const Node& node = graph_.nodes[static_cast<std::size_t>(step.node)];
        const std::int32_t own = level - stage.first_level;
        if (std::get<kernels::OpaqueLowering>(node.op->lowering->how).has_regions &&
            (stage.alone.empty() || stage.alone.back() != own))
          stage.alone.push_back(own);
      }
      add_instance(step, plan, launches[i]);
      // Equal code over other buffers, side by side: one table.
      const bool is_map =
          plan.kind == LaunchPlan::Kind::kKernel && plan.order == kernels::Order::kMap;
      for (std::size_t j = i + 1; is_map && j < launches.size(); ++j) {
        const LaunchPlan& other = lowered.launches[static_cast<std::size_t>(launches[j])];
        if (is_done[j] || other.kind != plan.kind || other.callable != plan.callable) continue;
        add_instance(step, other, launches[j]);
        is_done[j] = 1;
      }
      const bool is_small = step.nanoseconds < kSerialLaunch && !options_.is_never_serial;
      const int most = plan.most_parts > 0 ? plan.most_parts : options_.machine.threads;
      step.max_parts = is_small || !plan.is_splittable ? 1 : most;
      // Host code with regions of its own is no reason to open one around it.
      if (stage.alone.empty() || stage.alone.back() != level - stage.first_level ||
          step.kind != LaunchPlan::Kind::kOpaque)
        total += step.nanoseconds;
      steps_.push_back(std::move(step));
    }
  }
  stage.is_serial = total < kSerialStage && !options_.is_never_serial;
  stage.last_entry = static_cast<std::int32_t>(entries_.size());
  stage.first_steps.push_back(static_cast<std::int32_t>(steps_.size()));
  if (!stage.is_serial) find_turns(stage);
  if (!stage.is_serial && total < kSurelyShared && !options_.is_never_serial)
    stage.pace = std::make_unique<Pace>();
  ready_.resize(steps_.size());
  // Calls would have to be told anew at each size.
  for (std::int32_t step = stage.begin(0);
       !options_.takes_numbers && step < stage.end(stage.levels() - 1); ++step)
    bind(step);
  stages_.push_back(std::move(stage));
}

void Program::describe_host_call(Step& step) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(step.node)];
  step.host.types = operand_types(graph_, node);
  step.host.numbers = recorded_numbers(graph_, node);
  for (const std::vector<ValueId>* values : {&node.inputs, &node.outputs}) {
    for (const ValueId id : *values) {
      const Shape sizes = id == kNoValue ? Shape() : graph_.type(id).sizes;
      step.host.geometries.push_back({sizes, contiguous_strides(sizes), 0});
    }
  }
}

// Levels that two threads would not get through faster, barrier included, stay on one.
void Program::find_turns(Stage& stage) {
  double gain = 0;
  auto outside = stage.alone.begin();
  for (std::int32_t level = 0; level < stage.levels(); ++level) {
    double all = 0, longest = 0;
    for (std::int32_t index = stage.begin(level); index < stage.end(level); ++index) {
      const Step& step = steps_[static_cast<std::size_t>(index)];
      all += step.nanoseconds;
      if (step.max_parts == 1) longest = std::max(longest, step.nanoseconds);
    }
    const double saved = all - std::max(all / 2, longest) - kBarrier;
    Turn turn{level, level + 1, saved <= 0 && !options_.is_never_serial, false};
    if (outside != stage.alone.end() && *outside == level) {
      turn.is_alone = turn.is_outside = true;
      ++outside;
    }
    if (!turn.is_alone) gain += saved;
    const bool continues = !stage.turns.empty() && turn.is_alone && stage.turns.back().is_alone &&
                           turn.is_outside == stage.turns.back().is_outside;
    if (continues) {
      stage.turns.back().last = turn.last;
    } else {
      stage.turns.push_back(turn);
    }
  }
  stage.is_serial = gain < kLeastGain && !options_.is_never_serial;
  if (stage.is_serial) return;
  for (const Turn& turn : stage.turns) {
    if (turn.is_alone) continue;
    for (std::int32_t index = stage.begin(turn.first); index < stage.begin(turn.last); ++index) {
      Step& step = steps_[static_cast<std::size_t>(index)];
      step.is_shared = step.max_parts > 1;
    }
  }
  // What one thread does before and after all that is shared needs no region around it.
  const auto leave = [](Turn& turn) { return turn.is_outside = turn.is_alone; };
  for (Turn& turn : stage.turns) {
    if (!leave(turn)) break;
  }
  for (std::size_t i = stage.turns.size(); i-- > 0;) {
    if (!leave(stage.turns[i])) break;
  }
}

// Once memory is planned: a later launch may have got the memory of an earlier one.
void Program::join_turns(const std::vector<Buffer>& buffers) {
  if (options_.fills_freed_memory) return;  // after each level
  const auto plan_of = [&](std::int32_t step) -> const LaunchPlan& {
    return plans_[static_cast<std::size_t>(steps_[static_cast<std::size_t>(step)].plan)];
  };
  for (Stage& stage : stages_) {
    const auto is_shared_by_all = [&](std::int32_t step) {
      const Step& what = steps_[static_cast<std::size_t>(step)];
      return what.max_parts > 1 && what.instances.size() == 1;
    };
    const auto needs_no_barrier = [&](const Turn& turn, std::int32_t level) {
      for (std::int32_t later = stage.begin(level); later < stage.end(level); ++later) {
        if (!is_shared_by_all(later)) return false;
        for (std::int32_t earlier = stage.begin(turn.first); earlier < stage.begin(turn.last);
             ++earlier) {
          if (!is_shared_by_all(earlier)) return false;
          if (!keeps_partition(buffers, plan_of(earlier), plan_of(later))) return false;
        }
      }
      return true;
    };
    std::vector<Turn> joined;
    for (const Turn& turn : stage.turns) {
      const bool joins = !joined.empty() && !turn.is_alone && !joined.back().is_alone &&
                         needs_no_barrier(joined.back(), turn.first);
      if (joins) {
        joined.back().last = turn.last;
      } else {
        joined.push_back(turn);
      }
    }
    stage.turns = std::move(joined);
  }
}

std::size_t Program::turn_count() const {
  std::size_t count = 0;
  for (const Stage& stage : stages_) count += stage.is_serial ? 1 : stage.turns.size();
  return count;
}

}  // namespace groove::jit
