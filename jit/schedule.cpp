// Dependencies between launches, where outputs land, and levels by longest path.
#include "jit/schedule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "jit/spread_levels.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::jit {
namespace {

constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();

class Scheduler {
 public:
  Scheduler(const Graph& graph, Lowered& lowered, const ScheduleOptions& options)
      : graph_(graph), lowered_(lowered), options_(options) {}

  Schedule run() {
    find_accesses();
    find_dependencies();
    overwrite_in_place();
    place_outputs();
    find_levels();
    fail_first();
    delay_growth();
    sink_updates();
    spread_levels(lowered_, options_.least_bytes, level_);
    delay_sources();
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

  // ---- slices written into their base ----

  // A base that nothing reads any more once a region of it is overwritten is not copied: the
  // overwritten value takes over its memory, and what reads the base runs before: other values that
  // overwrite a region of it, too, of which each has a copy.
  void overwrite_in_place() {
    for (std::size_t i = 0; i + 1 < lowered_.launches.size(); ++i) {
      if (!launch(static_cast<std::int32_t>(i)).copies_base) continue;
      const auto copy = static_cast<std::int32_t>(i), region = copy + 1;
      BufferId base = -1, target = -1;
      bool is_whole = true;
      for (const Operand& operand : launch(copy).operands) {
        (operand.is_store ? target : base) = operand.buffer;
        is_whole &= operand.offset == 0 && operand.starts.empty();
      }
      // A base that is a view or is computed by the copy is not memory to take over.
      is_whole &= launch(copy).operands.size() == 2 && base >= 0 && holds_base(copy, base);
      if (is_whole && may_take_over(base, target, copy, region))
        take_over(base, target, copy, region);
    }
  }
  bool holds_base(std::int32_t copy, BufferId base) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(launch(copy).nodes[0])];
    return buffer(base).value == node.inputs[0];
  }
  bool is_taken_over(BufferId base) const {
    return std::any_of(lowered_.buffers.begin(), lowered_.buffers.end(),
                       [base](const Buffer& other) { return other.same_as == base; });
  }
  bool may_take_over(BufferId base, BufferId target, std::int32_t copy, std::int32_t region) {
    if (is_taken_over(base)) return false;
    const std::int32_t stage = launch(region).stage;
    for (const std::int32_t reader : readers_[static_cast<std::size_t>(base)]) {
      if (reader == copy) continue;
      if (has_fault(Fault::kBaseTakenFromReader)) continue;
      if (reader == region || launch(reader).stage > stage || reaches(region, reader)) return false;
    }
    for (const GraphOutput& output : graph_.outputs) {
      if (output.value == buffer(base).value) return false;
    }
    const Buffer& root = buffer(root_of_memory(base));
    if (root.place != Buffer::Place::kInput) return true;
    // An input's memory: it must be overwritten in this stage anyway, with nothing else.
    const GraphInput& input = graph_.inputs[static_cast<std::size_t>(root.index)];
    if (!lies_plainly(input)) return false;
    bool is_overwritten = false;
    for (const GraphOutput& output : graph_.outputs) {
      if (output.writes == root.index) {
        if (is_overwritten || output.stage != stage) return false;
        is_overwritten = true;
      } else if (output.value == buffer(target).value) {
        return false;
      }
    }
    return is_overwritten;
  }
  void take_over(BufferId base, BufferId target, std::int32_t copy, std::int32_t region) {
    drop(copy, base, target);
    for (const std::int32_t reader : readers_[static_cast<std::size_t>(base)]) edge(reader, region);
    for (const std::int32_t writer : writers_[static_cast<std::size_t>(base)]) edge(writer, region);
    Buffer& taken = buffer(target);
    taken.same_as = base;
    taken.place = buffer(base).place;
    taken.index = buffer(base).index;
  }
  void drop(std::int32_t index, BufferId read, BufferId written) {
    const auto remove = [&](std::vector<std::int32_t>& list) {
      list.erase(std::remove(list.begin(), list.end(), index), list.end());
    };
    remove(readers_[static_cast<std::size_t>(read)]);
    remove(writers_[static_cast<std::size_t>(written)]);
    for (const std::int32_t other : after_[static_cast<std::size_t>(index)]) {
      remove(before_[static_cast<std::size_t>(other)]);
    }
    for (const std::int32_t other : before_[static_cast<std::size_t>(index)]) {
      remove(after_[static_cast<std::size_t>(other)]);
    }
    after_[static_cast<std::size_t>(index)].clear();
    before_[static_cast<std::size_t>(index)].clear();
    launch(index).is_dropped = true;
    launch(index).operands.clear();
  }
  BufferId root_of_memory(BufferId id) {
    while (buffer(id).same_as >= 0) id = buffer(id).same_as;
    return id;
  }
  static bool lies_plainly(const Shape& sizes, const Shape& strides) {
    const Shape plain = contiguous_strides(sizes);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (sizes[i] != 1 && strides[i] != plain[i]) return false;
    }
    return true;
  }
  bool lies_plainly(const GraphInput& input) const {
    return lies_plainly(graph_.type(input.value).sizes, input.strides);
  }
  // The buffers that hold a value's memory one after the other, up to it.
  std::vector<BufferId> line_of(BufferId id) {
    std::vector<BufferId> line{id};
    while (buffer(line.back()).same_as >= 0) line.push_back(buffer(line.back()).same_as);
    return line;
  }

  // ---- outputs ----

  void place_outputs() {
    std::vector<BufferId> current(graph_.inputs.size());  // what each input's memory holds
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      current[i] = lowered_.buffer_of[static_cast<std::size_t>(graph_.inputs[i].value)];
    }
    for (std::size_t id = 0; id < lowered_.buffers.size(); ++id) {  // in the order of writing
      const Buffer& taken = lowered_.buffers[id];
      if (taken.same_as < 0 || taken.place != Buffer::Place::kInput) continue;
      BufferId& now = current[static_cast<std::size_t>(taken.index)];
      if (line_of(static_cast<BufferId>(id)).size() > line_of(now).size()) {
        now = static_cast<BufferId>(id);
      }
    }
    std::vector<std::size_t> order(graph_.outputs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return graph_.outputs[a].stage < graph_.outputs[b].stage;
    });
    std::int32_t plain = 0;
    for (const GraphOutput& output : graph_.outputs) {
      if (output.writes >= 0) continue;
      const BufferId own = lowered_.buffer_of[static_cast<std::size_t>(output.value)];
      place(own, Buffer::Place::kOutput, plain++);
    }
    for (const std::size_t i : order) {
      const GraphOutput& output = graph_.outputs[i];
      if (output.writes < 0) continue;
      BufferId& now = current[static_cast<std::size_t>(output.writes)];
      if (lowered_.buffer_of[static_cast<std::size_t>(output.value)] != now) {
        keep_for_later(output, now);
      }
      now = overwrite(output, now);
    }
  }

  // An old value that a later stage reads is kept in the arena before its memory is overwritten.
  void keep_for_later(const GraphOutput& output, BufferId old) {
    const auto is_late = [&](std::int32_t reader) { return launch(reader).stage > output.stage; };
    const std::vector<std::int32_t> readers = readers_[static_cast<std::size_t>(old)];
    if (std::none_of(readers.begin(), readers.end(), is_late)) return;
    if (has_fault(Fault::kOldValueNotKept)) return;
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
    if (fresh == old) return old;  // region by region, already there
    if (can_write_in_place(output, old, fresh)) {
      for (const BufferId member : line_of(fresh)) {
        for (const std::int32_t writer : writers_[static_cast<std::size_t>(member)]) {
          for (const std::int32_t reader : readers_[static_cast<std::size_t>(old)]) {
            if (!writes(reader, member) && !has_fault(Fault::kMissingEdge)) edge(reader, writer);
          }
          for (const std::int32_t earlier : writers_[static_cast<std::size_t>(old)]) {
            edge(earlier, writer);
          }
        }
      }
      place(fresh, Buffer::Place::kInput, output.writes);
      return fresh;
    }
    const GraphInput& input = graph_.inputs[static_cast<std::size_t>(output.writes)];
    const Type& type = graph_.type(output.value);
    if (element_count(type.sizes) == 0) return old;
    Buffer target = buffer(old);
    target.place = Buffer::Place::kInput;
    target.index = output.writes;
    target.value = kNoValue;
    target.same_as = -1;
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

  // With all that shares its memory.
  void place(BufferId id, Buffer::Place place, std::int32_t index) {
    for (const BufferId member : line_of(id)) {
      buffer(member).place = place;
      buffer(member).index = index;
    }
  }

  // Parts of one group read at their own index only what they overwrite themselves.
  bool writes(std::int32_t index, BufferId id) const {
    const auto& writers = writers_[static_cast<std::size_t>(id)];
    return std::find(writers.begin(), writers.end(), index) != writers.end();
  }

  bool can_write_in_place(const GraphOutput& output, BufferId old, BufferId fresh) {
    if (!lies_plainly(graph_.inputs[static_cast<std::size_t>(output.writes)])) return false;
    if (buffer(fresh).place != Buffer::Place::kArena) return false;
    for (const BufferId member : line_of(fresh)) {
      for (const std::int32_t writer : writers_[static_cast<std::size_t>(member)]) {
        const LaunchPlan& plan = launch(writer);
        if (plan.stage != output.stage) return false;
        for (const std::int32_t reader : readers_[static_cast<std::size_t>(old)]) {
          if (reader != writer && reaches(writer, reader)) return false;
        }
        if (!reads_at_own_index(plan, old, member) && !has_fault(Fault::kInPlaceAtOtherIndex))
          return false;
      }
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

  // ---- levels ----

  bool overwrites_input(std::size_t index) {
    const LaunchPlan& plan = lowered_.launches[index];
    return std::any_of(plan.operands.begin(), plan.operands.end(), [&](const Operand& operand) {
      return operand.is_store && operand.buffer >= 0 &&
             buffer(operand.buffer).place == Buffer::Place::kInput;
    });
  }

  // A run that fails is left, and its calls run one by one: what they read must be what it was.
  // So what overwrites inputs waits for all of its stage that may fail, unless that waits for it.
  void fail_first() {
    const std::size_t count = lowered_.launches.size();
    fails_late_.assign(count, 0);
    last_failing_.assign(static_cast<std::size_t>(graph_.stages), -1);
    if (std::none_of(lowered_.launches.begin(), lowered_.launches.end(), may_fail)) return;
    std::vector<char> overwrites(count), is_behind(count);
    std::vector<std::int32_t> open;
    for (std::size_t i = 0; i < count; ++i) {
      overwrites[i] = overwrites_input(i);
      if (overwrites[i]) open.push_back(static_cast<std::int32_t>(i));
    }
    while (!open.empty()) {
      const std::int32_t at = open.back();
      open.pop_back();
      for (const std::int32_t next : after_[static_cast<std::size_t>(at)]) {
        if (launch(next).stage != launch(at).stage) continue;
        if (!std::exchange(is_behind[static_cast<std::size_t>(next)], char{1}))
          open.push_back(next);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const LaunchPlan& plan = lowered_.launches[i];
      if (plan.is_dropped || !may_fail(plan)) continue;
      fails_late_[i] = is_behind[i] || overwrites[i];
      if (fails_late_[i]) continue;
      std::int32_t& last = last_failing_[static_cast<std::size_t>(plan.stage)];
      last = std::max(last, level_[i]);
    }
    std::vector<std::int32_t> least(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (overwrites[i])
        least[i] = last_failing_[static_cast<std::size_t>(lowered_.launches[i].stage)] + 1;
    }
    find_levels(least);
  }

  // Longest path within each stage, from the least level of each launch on.
  void find_levels(const std::vector<std::int32_t>& least = {}) {
    const std::size_t count = lowered_.launches.size();
    level_ = least;
    level_.resize(count, 0);
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

  // A launch that makes more than it uses up, or runs a second time, runs just before its first
  // reader.
  void delay_growth() {
    std::vector<std::size_t> order(level_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return level_[a] > level_[b]; });
    for (const std::size_t i : order) {
      const LaunchPlan& plan = lowered_.launches[i];
      if (plan.is_dropped || plan.kind == LaunchPlan::Kind::kOpaque) continue;
      std::int32_t latest = last_level(i);
      if (may_fail(plan) && !fails_late_[i])
        latest = std::min(latest, last_failing_[static_cast<std::size_t>(plan.stage)]);
      if (latest == kNone || latest <= level_[i]) continue;
      if (runs_again(plan) || is_delayed(static_cast<std::int32_t>(i))) level_[i] = latest;
    }
  }
  // What reads nothing runs just before its first reader, to wherever that has been spread.
  void delay_sources() {
    for (std::size_t i = 0; i < level_.size(); ++i) {
      const LaunchPlan& plan = lowered_.launches[i];
      if (plan.is_dropped || plan.kind != LaunchPlan::Kind::kKernel) continue;
      const auto is_store = [](const Operand& operand) { return operand.is_store; };
      if (!std::all_of(plan.operands.begin(), plan.operands.end(), is_store)) continue;
      const std::int32_t latest = last_level(i);
      if (latest != kNone) level_[i] = std::max(level_[i], latest);
    }
  }
  // Before all of its stage that wait for the launch; kNone: nothing does.
  std::int32_t last_level(std::size_t index) {
    std::int32_t latest = kNone;
    for (const std::int32_t next : after_[index]) {
      if (launch(next).stage == lowered_.launches[index].stage)
        latest = std::min(latest, level_[static_cast<std::size_t>(next)] - 1);
    }
    return latest;
  }
  bool runs_again(const LaunchPlan& plan) const {
    return options_.is_again && !plan.nodes.empty() &&
           (*options_.is_again)[static_cast<std::size_t>(plan.nodes[0])];
  }
  bool is_delayed(std::int32_t index) {
    return chosen(options_.choices, Choices::Of::kDelay, {index},
                  [&] { return growth(index) > 0; }) != 0;
  }
  // Bytes of the arena that are alive after the launch and were not before.
  std::int64_t growth(std::int32_t index) {
    std::int64_t bytes = 0;
    std::vector<BufferId> seen;
    for (const Operand& operand : launch(index).operands) {
      const BufferId id = operand.buffer;
      if (id < 0 || buffer(id).place != Buffer::Place::kArena) continue;
      if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
      seen.push_back(id);
      const auto& readers = readers_[static_cast<std::size_t>(id)];
      if (operand.is_store) {
        bytes += buffer(id).bytes;
      } else if (std::none_of(readers.begin(), readers.end(),
                              [&](std::int32_t reader) { return is_after(reader, index); })) {
        bytes -= buffer(id).bytes;
      }
    }
    return bytes;
  }
  bool is_after(std::int32_t reader, std::int32_t index) {
    const auto at = [&](std::int32_t each) {
      return std::make_pair(launch(each).stage, level_[static_cast<std::size_t>(each)]);
    };
    return at(reader) > at(index);
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
      if (plan.is_dropped) continue;
      const bool is_map =
          plan.kind == LaunchPlan::Kind::kKernel && plan.order == kernels::Order::kMap;
      if (!is_map) continue;
      bool is_sink = true;
      for (const std::int32_t next : after_[i]) is_sink &= launch(next).stage != plan.stage;
      if (is_sink || has_fault(Fault::kSunkTooEarly))
        level_[i] = last[static_cast<std::size_t>(plan.stage)];
    }
  }

  Schedule lay_out() {
    Schedule result;
    result.level_of.resize(level_.size());
    for (std::int32_t stage = 0; stage < graph_.stages; ++stage) {
      const auto begin = static_cast<std::int32_t>(result.levels.size());
      result.stage_begin.push_back(begin);
      for (std::size_t i = 0; i < level_.size(); ++i) {
        if (lowered_.launches[i].stage != stage || lowered_.launches[i].is_dropped) continue;
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
    result.fails_late = fails_late_;
    return result;
  }

  const Graph& graph_;
  Lowered& lowered_;
  const ScheduleOptions& options_;
  std::vector<std::vector<std::int32_t>> readers_, writers_;  // per buffer
  std::vector<std::vector<std::int32_t>> after_, before_;     // per launch
  std::vector<std::int32_t> level_;                           // per launch, within its stage
  std::vector<char> fails_late_;                              // per launch: Schedule::fails_late
  // Per stage: the last level with one that may fail, but not late; -1: none.
  std::vector<std::int32_t> last_failing_;
};

}  // namespace

Schedule schedule(const Graph& graph, Lowered& lowered, const ScheduleOptions& options) {
  return Scheduler(graph, lowered, options).run();
}

}  // namespace groove::jit
