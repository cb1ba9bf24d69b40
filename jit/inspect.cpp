// A program as text, for explain() and inspect(): nothing of it is kept, groups and memory plan are
// made again from the graph.
#include <fmt/format.h>

#include <algorithm>

#include "groove/jit.h"
#include "jit/log.h"
#include "jit/pipeline.h"
#include "jit/program.h"

namespace groove::jit {

std::string Program::name_of(const Step& step) const {
  const LaunchPlan& plan = plans_[static_cast<std::size_t>(step.plan)];
  std::string name;
  const auto add = [&](const LaunchPlan& of) {
    for (const std::int32_t node : of.nodes)
      name += (name.empty() ? "" : " ") + graph_.nodes[static_cast<std::size_t>(node)].op->name;
  };
  if (plan.kind != LaunchPlan::Kind::kContraction || plan.parts.empty()) add(plan);
  if (!name.empty()) return name;
  for (const LaunchPlan& part : plan.parts) {
    if (&part != &plan.parts.front()) name += " |";
    add(part);
  }
  return name.empty() ? "copy" : name;
}

std::string Program::launch_text(const Step& step) const {
  return name_of(step) + " " + shape_text(step);
}

std::string Program::shape_text(const Step& step) const {
  if (step.kind == LaunchPlan::Kind::kContraction) {
    const auto& m = step.matrices.shape;
    return fmt::format("{}x{}x{}x{}", m.batch, m.m, m.n, m.k);
  }
  const kernels::Launch& launch = step.instances[0].launch;
  const LaunchPlan& plan = plans_[static_cast<std::size_t>(step.plan)];
  if (plan.part == LaunchPlan::Part::kFours) return fmt::format("{}x4", launch.count[0]);
  std::string text;
  for (int axis = launch.rank - 1; axis >= 0; --axis) {
    text += fmt::format("{}{}", text.empty() ? "" : "x", launch.count[axis]);
  }
  return text;
}

std::size_t Program::memory_bytes() const {
  constexpr std::size_t kCodeOfLaunch = 6 << 10;
  // Code for many sizes is shared by all programs of them.
  const std::size_t own = options_.is_for_many_sizes ? 0 : kCodeOfLaunch;
  std::size_t bytes = plans_.size() * (sizeof(LaunchPlan) + own) + steps_.size() * sizeof(Step) +
                      control_.size() + (fixed_.size() + moved_.size()) * sizeof(AddressSlot);
  for (const Step& step : steps_) bytes += step.instances.size() * sizeof(Instance);
  return bytes;
}

std::string Program::describe() const {
  static const char* const kinds[] = {"kernel", "contraction", "host", "relay"};
  static const char* const orders[] = {"map", "row", "column", "tree"};
  std::string text =
      fmt::format("program: {} launches, arena {} bytes\n", steps_.size(), arena_bytes_);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    text += fmt::format("stage {}{}\n", s, stages_[s].is_serial ? " (one thread)" : "");
    for (std::int32_t level = 0; level < stages_[s].levels(); ++level) {
      for (std::int32_t index = stages_[s].begin(level); index < stages_[s].end(level); ++index) {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        text += fmt::format(
            "  {:2} {:11} {:6} {:16} x{:<3} ~{:.2f} us  {}{}\n", level,
            kinds[static_cast<int>(step.kind)],
            step.kind == LaunchPlan::Kind::kKernel ? orders[static_cast<int>(step.order)] : "",
            shape_text(step), step.instances.size(), step.nanoseconds / 1000, name_of(step),
            step.tiered ? "  [" + step.tiered->tier() + "]" : "");
      }
    }
  }
  return text;
}

Lowered Program::lowered() const {
  Choices again = options_.choices.followed();
  Lowered lowered = lower_groups(graph_, fused(&again), lowering_options());
  const Schedule order = schedule(graph_, lowered, schedule_options(&again));
  plan_memory(lowered, order, control_bytes());
  return lowered;
}

void Program::inspect(const Graph& recorded, SegmentView& view) const {
  Graph graph = recorded;
  const auto show = [&](const std::string& name, const char* about, const Graph& after) {
    view.passes.push_back({name, about, print(after), after.nodes.size()});
  };
  if (options_.is_fast) {
    for (const Pass& pass : fast_passes()) {
      pass.run(graph);
      show(pass.name, pass.about, graph);
    }
  }
  observe_pipeline(graph, show);
  Choices again = options_.choices.followed();
  const Fusion fusion = fused(&again);
  Lowered lowered = lower_groups(graph_, fusion, lowering_options());
  const Schedule order = schedule(graph_, lowered, schedule_options(&again));
  plan_memory(lowered, order, control_bytes());
  view.groups = fusion_text(graph_, fusion);
  view.memory = memory_text(graph_, lowered, order);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    for (std::int32_t level = 0; level < stages_[s].levels(); ++level) {
      for (std::int32_t index = stages_[s].begin(level); index < stages_[s].end(level); ++index) {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        LaunchView launch;
        launch.operators = name_of(step);
        launch.shape = shape_text(step);
        launch.stage = static_cast<std::int32_t>(s);
        launch.level = level;
        if (step.kind != LaunchPlan::Kind::kOpaque) {
          const LaunchPlan& plan = plans_[static_cast<std::size_t>(step.plan)];
          if (plan.kernel) launch.kernel = kernels::print(*plan.kernel);
          for (const LaunchPlan& part : plan.parts) {
            if (!plan.kernel) launch.kernel += kernels::print(*part.kernel);
          }
        }
        if (step.callable) launch.assembly = step.callable->listing();
        if (step.contraction) launch.assembly = step.contraction->listing();
        const bool is_relay = step.kind == LaunchPlan::Kind::kRelay;
        for (const LaunchPlan& part : plans_[static_cast<std::size_t>(step.plan)].parts) {
          if (is_relay && part.contraction) launch.assembly += part.contraction->listing();
        }
        view.launches.push_back(std::move(launch));
      }
    }
  }
}

}  // namespace groove::jit
