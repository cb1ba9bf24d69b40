// Making a program: lowering, schedule, memory, and the tables that a run patches.
#include "jit/program.h"

#include <algorithm>
#include <cstring>

#include "jit/log.h"
#include "kernels/lowering.h"
#include "kernels/pool.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kLine = 64;
// A stage below this does not wake a second thread; a launch below the other stays on one.
constexpr double kSerialStage = 10'000;
constexpr double kSerialLaunch = 1'500;

}  // namespace

Program::Program(Graph graph, const ProgramOptions& options)
    : graph_(std::move(graph)), options_(options) {
  const Fusion fusion = fuse(graph_, {options.is_fused});
  Lowered lowered = lower_groups(graph_, fusion);
  const Schedule order = schedule(graph_, lowered);
  // The tables' size is known before anything is placed behind them.
  std::size_t pointers = 0, scalars = 0;
  for (const LaunchPlan& plan : lowered.launches) {
    pointers += plan.operands.size();
    scalars += plan.scalars.size();
  }
  control_bytes_ =
      (static_cast<std::int64_t>((pointers + scalars) * 8) + kLine - 1) / kLine * kLine;
  MemoryPlan memory = plan_memory(lowered, order, control_bytes_);
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
  log_program(graph_, fusion, lowered, order);
  plans_ = std::move(lowered.launches);
  steps_.reserve(plans_.size());
  for (std::int32_t stage = 0; stage < graph_.stages; ++stage) add_stage(lowered, order, stage);
  find_hot_kernels();
}

void Program::add_instance(Step& step, const LaunchPlan& plan, const Lowered& lowered) {
  Instance instance;
  kernels::describe(instance.launch, plan.box);
  instance.pointers = static_cast<std::int32_t>(pointers_.size());
  instance.scalars = static_cast<std::int32_t>(scalars_.size());
  instance.points = plan.box.points();
  instance.pointer_count = static_cast<std::int32_t>(plan.operands.size());
  for (const Operand& operand : plan.operands) {
    const auto slot = static_cast<std::int32_t>(pointers_.size());
    if (operand.is_row_buffer) step.row_buffers.push_back(slot - instance.pointers);
    if (operand.buffer < 0) {
      pointers_.push_back({-1, 0});
      continue;
    }
    const Buffer& buffer = lowered.buffers[static_cast<std::size_t>(operand.buffer)];
    const auto size = static_cast<std::int64_t>(element_size(operand.dtype));
    std::int64_t offset = operand.offset * size;
    std::int32_t base = -1;
    if (buffer.place == Buffer::Place::kArena) offset += buffer.offset;
    if (buffer.place == Buffer::Place::kInput) base = buffer.index;
    if (buffer.place == Buffer::Place::kOutput) {
      base = static_cast<std::int32_t>(graph_.inputs.size()) + buffer.index;
    }
    pointers_.push_back({base, offset});
    for (const Start& start : operand.starts) {
      moving_.push_back({slot, start.entry, start.stride * size, start.size});
    }
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
  stage.first_pointer = static_cast<std::int32_t>(pointers_.size());
  stage.first_moving = static_cast<std::int32_t>(moving_.size());
  stage.first_scalar = static_cast<std::int32_t>(scalars_.size());
  stage.first_entry = static_cast<std::int32_t>(entries_.size());
  stage.first_level = order.stage_begin[static_cast<std::size_t>(index)];
  const std::int32_t end = order.stage_begin[static_cast<std::size_t>(index) + 1];
  double total = 0;
  for (std::int32_t level = stage.first_level; level < end; ++level) {
    const std::vector<std::int32_t>& launches =
        order.levels[static_cast<std::size_t>(level)].launches;
    std::vector<char> is_done(launches.size());
    stage.levels.emplace_back();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (is_done[i]) continue;
      const LaunchPlan& plan = plans_[static_cast<std::size_t>(launches[i])];
      Step step;
      step.plan = launches[i];
      step.kind = plan.kind;
      step.order = plan.order;
      step.callable = plan.callable.get();
      step.contraction = plan.contraction.get();
      step.level = level;
      step.scratch_bytes = plan.scratch_bytes;
      if (plan.kind == LaunchPlan::Kind::kContraction) {
        step.matrices.shape = plan.shape;
        step.matrices.strides =
            reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(plan.box.strides.data());
        if (plan.scratch >= 0) {
          step.scratch = lowered.buffers[static_cast<std::size_t>(plan.scratch)].offset;
        }
      }
      if (plan.kind == LaunchPlan::Kind::kOpaque) {
        step.node = plan.nodes[0];
        stage.has_host_code = true;
        const Node& node = graph_.nodes[static_cast<std::size_t>(step.node)];
        const auto own = static_cast<std::int32_t>(stage.levels.size()) - 1;
        if (std::get<kernels::OpaqueLowering>(node.op->lowering->how).has_regions &&
            (stage.alone.empty() || stage.alone.back() != own))
          stage.alone.push_back(own);
      }
      add_instance(step, plan, lowered);
      // Equal code over other buffers, side by side: one table.
      const bool is_map =
          plan.kind == LaunchPlan::Kind::kKernel && plan.order == kernels::Order::kMap;
      for (std::size_t j = i + 1; is_map && j < launches.size(); ++j) {
        const LaunchPlan& other = plans_[static_cast<std::size_t>(launches[j])];
        if (is_done[j] || other.kind != plan.kind || other.callable != plan.callable) continue;
        add_instance(step, other, lowered);
        is_done[j] = 1;
      }
      const bool is_small = step.nanoseconds < kSerialLaunch && !options_.is_never_serial;
      step.max_parts = is_small || !plan.is_splittable ? 1 : most_threads();
      // Host code with regions of its own is no reason to open one around it.
      if (stage.alone.empty() || stage.alone.back() + 1 != static_cast<int>(stage.levels.size()) ||
          step.kind != LaunchPlan::Kind::kOpaque)
        total += step.nanoseconds;
      stage.levels.back().push_back(static_cast<std::int32_t>(steps_.size()));
      steps_.push_back(std::move(step));
    }
  }
  stage.is_serial = total < kSerialStage && !options_.is_never_serial;
  stage.last_pointer = static_cast<std::int32_t>(pointers_.size());
  stage.last_moving = static_cast<std::int32_t>(moving_.size());
  stage.last_scalar = static_cast<std::int32_t>(scalars_.size());
  stage.last_entry = static_cast<std::int32_t>(entries_.size());
  stages_.push_back(std::move(stage));
}

}  // namespace groove::jit
