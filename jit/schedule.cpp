// Dependencies between launches, where outputs land, and levels by longest path.
#include "jit/schedule.h"

#include <algorithm>
#include <limits>

#include "src/core/check.h"

namespace groove::jit {
namespace {

class Scheduler {
 public:
  Scheduler(const Graph& graph, Lowered& lowered) : graph_(graph), lowered_(lowered) {}

  Schedule run() {
    find_accesses();
    find_dependencies();
    place_outputs();
    find_levels();
    sink_updates();
    return lay_out();
  }

 private:
  LaunchPlan& launch(std::int32_t index) {
    return lowered_.launches[static_cast<std::size_t>(index)];
  }
  Buffer& buffer(BufferId id) { return lowered_.buffers[static_cast<std::size_t>(id)]; }

  void find_accesses() {
    const std::size_t count = lowered_.buffers.size();
    readers_.assign(count, {});
    writers_.assign(count, {});
    for (std::size_t i = 0; i < lowered_.launches.size(); ++i) note(static_cast<std::int32_t>(i));
  }
  void note(std::int32_t index) {
    after_.resize(lowered_.launches.size());
    before_.resize(lowered_.launches.size());
    for (const Operand& operand : launch(index).operands) {
      if (operand.buffer < 0) continue;
      auto& list =
          (operand.is_store ? writers_ : readers_)[static_cast<std::size_t>(operand.buffer)];
      if (list.empty() || list.back() != index) list.push_back(index);
    }
  }

  void edge(std::int32_t from, std::int32_t to) {
    auto& list = after_[static_cast<std::size_t>(from)];
    if (from == to || std::find(list.begin(), list.end(), to) != list.end()) return;
    list.push_back(to);
    before_[static_cast<std::size_t>(to)].push_back(from);
  }

  void find_dependencies() {
    for (std::size_t id = 0; id < lowered_.buffers.size(); ++id) {
      for (const std::int32_t writer : writers_[id]) {
        for (const std::int32_t reader : readers_[id]) edge(writer, reader);
        for (const std::int32_t other : writers_[id]) {
          if (launch(other).overwrites && other > writer) edge(writer, other);
        }
      }
    }
  }

  bool reaches(std::int32_t from, std::int32_t to) const {
    if (after_[static_cast<std::size_t>(from)].empty()) return false;
    std::vector<char> seen(after_.size());
    std::vector<std::int32_t> open{from};
    while (!open.empty()) {
      const std::int32_t at = open.back();
      open.pop_back();
      if (at == to) return true;
      if (seen[static_cast<std::size_t>(at)]) continue;
      seen[static_cast<std::size_t>(at)] = 1;
      const auto& next = after_[static_cast<std::size_t>(at)];
      open.insert(open.end(), next.begin(), next.end());
    }
    return false;
  }

  void place_outputs() {
    std::vector<BufferId> current(graph_.inputs.size());  // what each input's memory holds
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      current[i] = lowered_.buffer_of[static_cast<std::size_t>(graph_.inputs[i].value)];
    }
    std::vector<std::size_t> order(graph_.outputs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return graph_.outputs[a].stage < graph_.outputs[b].stage;
    });
    std::int32_t plain = 0;
    for (const GraphOutput& output : graph_.outputs) {
      if (output.writes >= 0) continue;
      Buffer& own = buffer(lowered_.buffer_of[static_cast<std::size_t>(output.value)]);
      own.place = Buffer::Place::kOutput;
      own.index = plain++;
    }
    for (const std::size_t i : order) {
      const GraphOutput& output = graph_.outputs[i];
      if (output.writes < 0) continue;
      BufferId& now = current[static_cast<std::size_t>(output.writes)];
      keep_for_later(output, now);
      now = overwrite(output, now);
    }
  }

  // An old value that a later stage reads is kept in the arena before its memory is overwritten.
  void keep_for_later(const GraphOutput& output, BufferId old) {
    const auto is_late = [&](std::int32_t reader) { return launch(reader).stage > output.stage; };
    const std::vector<std::int32_t> readers = readers_[static_cast<std::size_t>(old)];
    if (std::none_of(readers.begin(), readers.end(), is_late)) return;
    const GraphInput& input = graph_.inputs[static_cast<std::size_t>(output.writes)];
    const Type& type = graph_.type(input.value);
    // The copy lies as the input does, so that its readers walk it as they would have walked that.
    Geometry memory{type.sizes, input.strides, 0};
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < type.sizes.size(); ++i) {
      elements += (type.sizes[i] - 1) * input.strides[i];
    }
    Buffer kept;
    kept.bytes = elements * static_cast<std::int64_t>(element_size(type.dtype));
    const BufferId id = add_buffer(kept);
    LaunchPlan copy = copy_launch(type.dtype, memory, old, memory, id);
    copy.stage = output.stage;
    const std::int32_t index = add_launch(std::move(copy));
    for (const std::int32_t writer : writers_[static_cast<std::size_t>(old)]) edge(writer, index);
    auto& still = readers_[static_cast<std::size_t>(old)];
    still.erase(std::remove_if(still.begin(), still.end(), is_late), still.end());
    for (const std::int32_t reader : readers) {
      if (!is_late(reader)) continue;
      for (Operand& operand : launch(reader).operands) {
        if (operand.buffer == old) operand.buffer = id;
      }
      readers_[static_cast<std::size_t>(id)].push_back(reader);
      edge(index, reader);
    }
  }

  BufferId add_buffer(const Buffer& fresh) {
    lowered_.buffers.push_back(fresh);
    readers_.emplace_back();
    writers_.emplace_back();
    return static_cast<BufferId>(lowered_.buffers.size() - 1);
  }
  std::int32_t add_launch(LaunchPlan plan) {
    lowered_.launches.push_back(std::move(plan));
    const auto index = static_cast<std::int32_t>(lowered_.launches.size() - 1);
    note(index);
    return index;
  }

  // Makes the output land in its input's memory; gives the buffer that is there from then on.
  BufferId overwrite(const GraphOutput& output, BufferId old) {
    const BufferId fresh = lowered_.buffer_of[static_cast<std::size_t>(output.value)];
    if (can_write_in_place(output, old, fresh)) {
      for (const std::int32_t writer : writers_[static_cast<std::size_t>(fresh)]) {
        for (const std::int32_t reader : readers_[static_cast<std::size_t>(old)]) {
          edge(reader, writer);
        }
        for (const std::int32_t earlier : writers_[static_cast<std::size_t>(old)]) {
          edge(earlier, writer);
        }
      }
      buffer(fresh).place = Buffer::Place::kInput;
      buffer(fresh).index = output.writes;
      return fresh;
    }
    const GraphInput& input = graph_.inputs[static_cast<std::size_t>(output.writes)];
    const Type& type = graph_.type(output.value);
    if (element_count(type.sizes) == 0) return old;
    Buffer target = buffer(old);
    target.place = Buffer::Place::kInput;
    target.index = output.writes;
    target.value = kNoValue;
    const BufferId id = add_buffer(target);
    LaunchPlan copy = copy_launch(type.dtype, {type.sizes, contiguous_strides(type.sizes), 0},
                                  fresh, {type.sizes, input.strides, 0}, id);
    copy.stage = output.stage;
    const std::int32_t index = add_launch(std::move(copy));
    for (const std::int32_t writer : writers_[static_cast<std::size_t>(fresh)]) edge(writer, index);
    for (const std::int32_t reader : readers_[static_cast<std::size_t>(old)]) edge(reader, index);
    for (const std::int32_t earlier : writers_[static_cast<std::size_t>(old)]) edge(earlier, index);
    return id;
  }

  bool can_write_in_place(const GraphOutput& output, BufferId old, BufferId fresh) {
    const GraphInput& input = graph_.inputs[static_cast<std::size_t>(output.writes)];
    const Type& type = graph_.type(input.value);
    const Shape plain = contiguous_strides(type.sizes);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (type.sizes[i] != 1 && input.strides[i] != plain[i]) return false;
    }
    if (buffer(fresh).place != Buffer::Place::kArena) return false;
    for (const std::int32_t writer : writers_[static_cast<std::size_t>(fresh)]) {
      const LaunchPlan& plan = launch(writer);
      if (plan.stage != output.stage) return false;
      for (const std::int32_t reader : readers_[static_cast<std::size_t>(old)]) {
        if (reader != writer && reaches(writer, reader)) return false;
      }
      if (!reads_at_own_index(plan, old, fresh)) return false;
    }
    return !writers_[static_cast<std::size_t>(fresh)].empty();
  }
  static bool reads_at_own_index(const LaunchPlan& plan, BufferId old, BufferId fresh) {
    bool reads = false,
         is_identity = plan.kind == LaunchPlan::Kind::kKernel && plan.order == kernels::Order::kMap;
    for (const Operand& operand : plan.operands) {
      if (operand.buffer == old) reads = true;
      if (operand.buffer == old || operand.buffer == fresh) is_identity &= operand.is_identity;
    }
    return !reads || is_identity;
  }

  // Longest path within each stage.
  void find_levels() {
    const std::size_t count = lowered_.launches.size();
    level_.assign(count, 0);
    std::vector<std::int32_t> missing(count, 0), ready;
    for (std::size_t i = 0; i < count; ++i) {
      missing[i] = static_cast<std::int32_t>(before_[i].size());
      if (missing[i] == 0) ready.push_back(static_cast<std::int32_t>(i));
    }
    std::size_t done = 0;
    while (!ready.empty()) {
      const std::int32_t at = ready.back();
      ready.pop_back();
      ++done;
      for (const std::int32_t next : after_[static_cast<std::size_t>(at)]) {
        GROOVE_ASSERT(launch(at).stage <= launch(next).stage, "a launch needs a later stage");
        if (launch(at).stage == launch(next).stage) {
          auto& level = level_[static_cast<std::size_t>(next)];
          level = std::max(level, level_[static_cast<std::size_t>(at)] + 1);
        }
        if (--missing[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
      }
    }
    GROOVE_ASSERT(done == count, "launches depend on each other in a circle");
  }

  // Map launches that nothing waits for go last, so that equal ones of different parameters meet
  // in one level and become one loop.
  void sink_updates() {
    std::vector<std::int32_t> last(static_cast<std::size_t>(graph_.stages), 0);
    for (std::size_t i = 0; i < level_.size(); ++i) {
      auto& most = last[static_cast<std::size_t>(lowered_.launches[i].stage)];
      most = std::max(most, level_[i]);
    }
    for (std::size_t i = 0; i < level_.size(); ++i) {
      const LaunchPlan& plan = lowered_.launches[i];
      const bool is_map =
          plan.kind == LaunchPlan::Kind::kKernel && plan.order == kernels::Order::kMap;
      if (!is_map) continue;
      bool is_sink = true;
      for (const std::int32_t next : after_[i]) is_sink &= launch(next).stage != plan.stage;
      if (is_sink) level_[i] = last[static_cast<std::size_t>(plan.stage)];
    }
  }

  Schedule lay_out() {
    Schedule result;
    result.level_of.resize(level_.size());
    for (std::int32_t stage = 0; stage < graph_.stages; ++stage) {
      const auto begin = static_cast<std::int32_t>(result.levels.size());
      result.stage_begin.push_back(begin);
      for (std::size_t i = 0; i < level_.size(); ++i) {
        if (lowered_.launches[i].stage != stage) continue;
        const std::int32_t level = begin + level_[i];
        if (static_cast<std::size_t>(level) >= result.levels.size()) {
          result.levels.resize(static_cast<std::size_t>(level) + 1);
        }
        result.levels[static_cast<std::size_t>(level)].launches.push_back(
            static_cast<std::int32_t>(i));
        result.level_of[i] = level;
      }
    }
    result.stage_begin.push_back(static_cast<std::int32_t>(result.levels.size()));
    return result;
  }

  const Graph& graph_;
  Lowered& lowered_;
  std::vector<std::vector<std::int32_t>> readers_, writers_;  // per buffer
  std::vector<std::vector<std::int32_t>> after_, before_;     // per launch
  std::vector<std::int32_t> level_;                           // per launch, within its stage
};

}  // namespace

Schedule schedule(const Graph& graph, Lowered& lowered) { return Scheduler(graph, lowered).run(); }

}  // namespace groove::jit
