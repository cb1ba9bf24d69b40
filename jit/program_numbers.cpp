// A program at other sizes: what in it follows from sizes are numbers of its launches, buffers and
// host calls; everything else is its structure. The memory of whatever is smaller or larger now is
// planned anew, rooms for buffers staying as they are.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "jit/program.h"
#include "kernels/lowering.h"
#include "src/core/attribute_words.h"
#include "src/core/faults.h"
#include "src/core/hash.h"

namespace groove {

std::int64_t ProgramNumber::value() const {
  if (kind_ != Kind::kFloat) return *at_;
  const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(*at_));
  return std::bit_cast<std::int64_t>(static_cast<double>(number));
}

bool ProgramNumber::set(std::int64_t value) const {
  if (kind_ == Kind::kFloat)
    value = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
  if (*at_ == value) return false;
  *at_ = value;
  return *is_stale_ = true;
}

namespace jit {
namespace {

using Kind = ProgramNumber::Kind;

class List {
 public:
  explicit List(ProgramNumbers& into) : into_(into) { into_ = {}; }

  void mix(auto word) {
    into_.structure = mixed(into_.structure, static_cast<std::uint64_t>(word));
  }
  template <typename T>
  void mix(const T* pointer) {
    mix(reinterpret_cast<std::uintptr_t>(pointer));
  }
  void mix_all(const auto& words) {
    mix(words.size());
    for (const auto word : words) mix(word);
  }
  /// Of what is added from now on, as are the stage and what tells that numbers were set.
  void begin(std::int32_t stage, bool& is_stale) {
    stage_ = stage;
    is_stale_ = &is_stale;
    mix(stage);
  }
  void add(std::int64_t& number, Kind kind = Kind::kInteger) {
    into_.numbers.emplace_back(kind, number, stage_, *is_stale_);
  }
  void add(std::uint64_t& bits, ScalarType dtype) {
    mix(dtype);
    if (dtype == kFloat || dtype == kDouble)
      into_.numbers.emplace_back(dtype == kFloat ? Kind::kFloat : Kind::kDouble, bits, stage_,
                                 *is_stale_);
    else if (dtype == kLong)
      into_.numbers.emplace_back(Kind::kInteger, bits, stage_, *is_stale_);
    else
      mix(bits);
  }
  void add(Shape& shape) {
    mix(shape.size());
    for (std::int64_t& size : shape) add(size);
  }

 private:
  ProgramNumbers& into_;
  std::int32_t stage_ = 0;
  bool* is_stale_ = nullptr;
};

void add_shape(List& list, kernels::ContractionShape& shape) {
  for (std::int64_t* const number :
       {&shape.batch, &shape.m, &shape.n, &shape.k, &shape.a_batch, &shape.a_row, &shape.a_col,
        &shape.b_batch, &shape.b_row, &shape.b_col})
    list.add(*number);
}

void add_launch(List& list, LaunchPlan& plan) {
  list.mix(plan.kind);
  list.mix(plan.part);
  list.begin(plan.stage, plan.is_stale);
  list.mix_all(plan.nodes);
  list.mix(plan.order);
  if (plan.kernel) list.mix(kernels::hash(*plan.kernel));
  if (plan.product)
    list.mix(kernels::hash(*plan.product));
  else
    list.mix(plan.contraction ? plan.contraction->structure() : 0);
  if (plan.kind == LaunchPlan::Kind::kContraction) add_shape(list, plan.shape);
  list.mix(plan.box.rank);
  for (int axis = 0; axis < plan.box.rank; ++axis) list.add(plan.box.count[axis]);
  list.mix(plan.box.strides.size());
  for (auto& strides : plan.box.strides)
    for (std::int64_t& stride : strides) list.add(stride);
  list.mix(plan.operands.size());
  for (Operand& operand : plan.operands) {
    list.mix(operand.dtype);
    list.mix(operand.is_store | operand.is_row_buffer << 1);
    list.mix(operand.buffer);
    list.add(operand.offset, operand.is_row_buffer ? Kind::kRoom : Kind::kPlace);
    list.mix(operand.starts.size());
    for (Start& start : operand.starts) {
      list.mix(start.entry);
      list.add(start.stride, Kind::kPlace);
      list.add(start.size, Kind::kPlace);
    }
  }
  list.mix(plan.scalars.size());
  for (ScalarSlot& scalar : plan.scalars) {
    list.mix(scalar.entry);
    if (scalar.entry < 0)
      list.add(scalar.bits, scalar.dtype);
    else
      list.mix(scalar.dtype);
  }
  list.mix(plan.scratch);
  list.mix(plan.most_parts);
  list.add(plan.scratch_bytes, Kind::kRoom);
}

void mix_graph(List& list, const Graph& graph) {
  list.mix(graph.stages);
  list.mix_all(graph.numbers);
  list.mix(graph.inputs.size());
  list.mix(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    list.mix(node.op);
    list.mix_all(node.inputs);
    list.mix_all(node.outputs);
    list.mix(node.numbers.size());
    for (const NumberRef& number : node.numbers) list.mix(number.entry);
  }
  for (const Value& value : graph.values) list.mix(value.type.dtype);
  for (const GraphOutput& output : graph.outputs) {
    list.mix(output.value);
    list.mix(output.writes);
    list.mix(output.stage);
  }
}

}  // namespace

bool Program::list_numbers(ProgramNumbers& numbers) {
  if (!options_.takes_numbers) return false;
  List list(numbers);
  mix_graph(list, graph_);
  for (LaunchPlan& plan : plans_) {
    if (plan.relay || !plan.parts.empty()) return false;
    add_launch(list, plan);
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    list.begin(first_stage_of_[i], are_bytes_stale_);
    list.mix(buffer.place);
    list.mix(buffer.index);
    list.add(buffer.bytes, buffer.value == kNoValue ? Kind::kRoom : Kind::kInteger);
  }
  for (const MemoryPlan::Home& home : homes_) {
    list.mix(home.slot);
    list.mix(home.first);
    list.mix(home.last);
  }
  for (Step& step : steps_) {
    list.mix(step.plan);
    list.mix(step.level);
    list.mix(step.instances.size());
    for (const Instance& instance : step.instances) list.mix(instance.plan);
    if (step.kind != LaunchPlan::Kind::kOpaque) continue;
    list.begin(plans_[static_cast<std::size_t>(step.plan)].stage, step.host.is_stale);
    const Node& node = graph_.nodes[static_cast<std::size_t>(step.node)];
    step.host.words.assign(node.attrs.words().begin(), node.attrs.words().end());
    each_attribute_word(
        *node.op, node.attrs, [&](std::size_t i) { list.add(step.host.words[i]); },
        [&](std::int64_t word) { list.mix(word); });
    for (Type& type : step.host.types) {
      list.mix(type.dtype);
      list.add(type.sizes);
    }
    for (Geometry& geometry : step.host.geometries) {
      list.add(geometry.sizes);
      list.add(geometry.strides);
    }
    step.host.bits.clear();
    for (const Scalar& number : step.host.numbers)
      step.host.bits.push_back(number.bits_as(number.type()));
    for (std::size_t i = 0; i < step.host.numbers.size(); ++i)
      if (node.numbers[i].entry < 0) list.add(step.host.bits[i], step.host.numbers[i].type());
  }
  for (const Stage& stage : stages_) list.mix_all(stage.first_steps);
  return true;
}

std::int32_t Program::settle(const NumbersSet& set) {
  std::int32_t kept = set.first_stage;
  bool has_moved = set.has_places;
  const auto moved = [&](std::size_t buffer) {
    kept = std::min(kept, first_stage_of_[buffer]);
    has_moved = true;
  };
  if (std::exchange(are_bytes_stale_, false))
    arena_bytes_ = std::max<std::int64_t>(rooms_.place(buffers_, control_bytes(), moved), 64);
  if (kept >= static_cast<std::int32_t>(stages_.size())) return kept;
  const auto first = static_cast<std::size_t>(std::max(kept, 0));
  for (auto at = static_cast<std::size_t>(stages_[first].begin(0)); at < steps_.size(); ++at) {
    Step& step = steps_[at];
    const LaunchPlan& own = plans_[static_cast<std::size_t>(step.plan)];
    step.scratch_bytes = own.scratch_bytes;
    if (step.kind == LaunchPlan::Kind::kContraction) step.matrices.shape = own.shape;
    for (Instance& instance : step.instances) {
      LaunchPlan& plan = plans_[static_cast<std::size_t>(instance.plan)];
      if (!std::exchange(plan.is_stale, false)) continue;
      instance.launch = plan.launch();
      step.points -= instance.points;
      instance.points = plan.points();
      step.points += instance.points;
      auto scalar = static_cast<std::size_t>(instance.scalars);
      for (const ScalarSlot& slot : plan.scalars) scalars_[scalar++] = slot.bits;
    }
    if (step.kind != LaunchPlan::Kind::kOpaque || !std::exchange(step.host.is_stale, false))
      continue;
    Node& node = graph_.nodes[static_cast<std::size_t>(step.node)];
    for (std::size_t i = 0; i < step.host.words.size(); ++i)
      if (step.host.words[i] != node.attrs.words()[i])
        node.attrs = with_word(node.attrs, i, step.host.words[i]);
    for (std::size_t i = 0; i < step.host.numbers.size(); ++i) {
      Scalar& number = step.host.numbers[i];
      const ScalarType kind = number.type();
      if (node.numbers[i].entry >= 0 || step.host.bits[i] == number.bits_as(kind)) continue;
      if (kind == kDouble)
        number = Scalar(std::bit_cast<double>(step.host.bits[i]));
      else if (kind == kLong)
        number = Scalar(static_cast<std::int64_t>(step.host.bits[i]));
    }
  }
  char* const scalars = control_.data() + scalars_at_;
  const std::size_t bytes = scalars_.size() * 8;
  if (bytes > 0 && std::memcmp(scalars, scalars_.data(), bytes) != 0) {
    std::memcpy(scalars, scalars_.data(), bytes);
    mark_ = new_mark();
  }
  if (!has_moved) return kept;
  const Stage& from = stages_[first];
  fixed_.resize(static_cast<std::size_t>(from.first_fixed));
  moved_.resize(static_cast<std::size_t>(from.first_moved));
  moving_.resize(static_cast<std::size_t>(from.first_moving));
  place_addresses(buffers_, first);
  mark_ = new_mark();
  return kept;
}

}  // namespace jit
}  // namespace groove
