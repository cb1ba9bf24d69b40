// Two passes over a group: what memory it walks and how, then its instructions phase by phase.
#include "jit/kernel_writer.h"

#include <algorithm>

#include "kernels/build.h"
#include "kernels/order.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::jit {

using kernels::Builder;
using kernels::ElementwiseLowering;
using kernels::Expr;
using kernels::Exprs;
using kernels::GatherLowering;
using kernels::Order;
using kernels::ReductionLowering;
using kernels::StrideClass;

KernelWriter::KernelWriter(const Graph& graph, const Fusion& fusion,
                           const std::vector<BufferId>& buffer_of, const Group& group,
                           std::int32_t group_id)
    : graph_(graph),
      fusion_(fusion),
      buffer_of_(buffer_of),
      group_(group),
      group_id_(group_id),
      chains_(graph, group.loop) {}

bool KernelWriter::is_reduction(std::int32_t index) const {
  return lowering_as<ReductionLowering>(node(index)) != nullptr;
}

// A member read at the loop's own index is one value whatever views lie in between; so is one that
// is the same along the row that a gather picks from.
const Chain* KernelWriter::member_chain(std::int32_t index, const Chain* chain) const {
  const bool is_uniform = group_.kind == GroupKind::kRow && span_of(index) == Span::kKept;
  return chain->has_pick && !is_uniform ? chain : chains_.end(span_of(index));
}

std::int64_t KernelWriter::row_length() const {
  std::int64_t length = 1;
  for (std::size_t i = 0; i < group_.loop.sizes.size(); ++i) {
    if (!group_.loop.is_reduced.empty() && group_.loop.is_reduced[i])
      length *= group_.loop.sizes[i];
  }
  return length;
}
std::int64_t KernelWriter::row_count() const {
  const std::int64_t length = row_length();
  return length == 0 ? 0 : group_.loop.points() / length;
}

// ---- first pass: what memory is walked how ----

std::size_t KernelWriter::remember(Memory memory) {
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    const Memory& known = memories_[i];
    if (known.use == memory.use && known.use == Memory::Use::kLoad &&
        known.buffer == memory.buffer && known.dtype == memory.dtype &&
        (known.walk == memory.walk || has_fault(Fault::kMergedMemories))) {
      return i;
    }
  }
  memories_.push_back(std::move(memory));
  return memories_.size() - 1;
}

void KernelWriter::collect(ValueId value, const Chain* chain) {
  const ValueId root = resolve(graph_, chains_, value, chain);
  const std::int32_t producer = graph_.values[static_cast<std::size_t>(root)].node;
  if (producer >= 0 && is_splat(node(producer))) return;
  if (is_member(producer)) return collect_member(producer, chain);
  const Key key{root, chain};
  if (memory_of_.count(key)) return;
  const Geometry geometry = memory_geometry(graph_, root);
  Walk walk = chains_.walk(geometry, chain);
  for (const Picked& picked : walk.picked) collect(picked.index, picked.chain);
  // Element i of the memory at point i of the loop, and nowhere else: memory of another layout, or
  // a view that shows it in another order, does not count.
  const bool is_identity = walk.offset == 0 && walk.starts.empty() && walk.picked.empty() &&
                           element_count(graph_.type(root).sizes) == group_.loop.points() &&
                           walk.strides == identity_strides(group_.loop, Span::kFull);
  const BufferId buffer = buffer_of_[static_cast<std::size_t>(root)];
  GROOVE_ASSERT(buffer >= 0, "value {} has no memory", root);
  memory_of_[key] = remember({Memory::Use::kLoad, buffer, graph_.type(root).dtype, std::move(walk),
                              is_identity, false, -1});
}

void KernelWriter::collect_member(std::int32_t index, const Chain* chain) {
  chain = member_chain(index, chain);
  if (!visited_.emplace(Key{index, chain}, true).second) return;
  const Node& n = node(index);
  if (is_product(graph_, n)) {
    if (lowering_as<kernels::ContractionLowering>(n) && n.inputs.size() > 2 && n.inputs[2] != kNoValue) {
      collect(n.inputs[2], operand_chain(graph_, chains_, index, 2, chain));
    }
    return;
  }
  if (is_reduction(index)) {
    const bool is_combined = mode_ == Mode::kTree || mode_ == Mode::kColumns;
    if (!is_combined) collect(n.inputs[0], chains_.end(Span::kFull));
    return;
  }
  if (lowering_as<GatherLowering>(n)) {
    return collect(n.inputs[0], operand_chain(graph_, chains_, index, 0, chain));
  }
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] != kNoValue) {
      collect(n.inputs[i], operand_chain(graph_, chains_, index, i, chain));
    }
  }
  const auto* how = lowering_as<ElementwiseLowering>(n);
  if (how && how->uses_flat_index) {
    const Shape& sizes = graph_.type(n.outputs[0]).sizes;
    Walk walk = chains_.walk({sizes, contiguous_strides(sizes), 0}, chain);
    memory_of_[Key{~static_cast<std::int64_t>(index), chain}] =
        remember({Memory::Use::kCount, -1, kLong, std::move(walk), false, false, -1});
  }
}

void KernelWriter::add_store(ValueId value, Span span, Walk walk, BufferId buffer) {
  const Memory memory{
      Memory::Use::kStore, buffer, graph_.type(value).dtype, std::move(walk), false, false, -1};
  stores_.push_back({value, chains_.end(span), remember(memory),
                     span == Span::kKept && group_.kind != GroupKind::kMap});
}

void KernelWriter::collect_stores() {
  for (const std::int32_t index : group_.nodes) {
    for (const ValueId id : node(index).outputs) {
      if (!is_member(index) || !fusion_.is_stored[static_cast<std::size_t>(id)]) continue;
      const Span span = span_of(index);
      const Placement& placement = fusion_.placements[static_cast<std::size_t>(id)];
      const bool is_placed = placement.whole != kNoValue;
      Walk walk = chains_.walk(is_placed ? placement.region : memory_geometry(graph_, id),
                               chains_.end(span));
      const bool is_identity = !is_placed && span == Span::kFull &&
                               walk.strides == identity_strides(group_.loop, Span::kFull);
      Memory memory{Memory::Use::kStore,
                    buffer_of_[static_cast<std::size_t>(is_placed ? placement.whole : id)],
                    graph_.type(id).dtype,
                    std::move(walk),
                    is_identity,
                    false,
                    -1};
      stores_.push_back({id, chains_.end(span), remember(std::move(memory)), span == Span::kKept});
    }
  }
  for (const Store& store : stores_) collect(store.value, store.chain);
}

int KernelWriter::phase_of_operand(ValueId value) const {
  const ValueId root = root_of(graph_, value);
  const std::int32_t producer = graph_.values[static_cast<std::size_t>(root)].node;
  if (!is_member(producer)) return 0;
  const auto found = phase_of_.find(producer);
  return found == phase_of_.end() ? 0 : found->second;
}

// The phase in which a member's results can be used: after the reductions they depend on.
void KernelWriter::find_phases() {
  for (const std::int32_t index : group_.nodes) {
    if (!is_member(index)) continue;
    int phase = 0;
    for (const ValueId id : node(index).inputs) {
      if (id != kNoValue) phase = std::max(phase, phase_of_operand(id));
    }
    phase_of_[index] = is_reduction(index) ? phase + 1 : phase;
  }
}

// ---- axes ----

// Groups of loop axes that become one axis of the launch, outermost first.
std::vector<std::vector<std::size_t>> KernelWriter::arrangement() const {
  std::vector<std::vector<std::size_t>> axes;
  const std::size_t rank = group_.loop.sizes.size();
  if (group_.kind == GroupKind::kContraction) {
    axes.resize(3);
    for (std::size_t i = 0; i < rank; ++i) axes[2u - group_.matrix_axis[i]].push_back(i);
    return axes;
  }
  if (mode_ == Mode::kRows) {
    axes.resize(1);
    for (std::size_t i = 0; i < rank; ++i) {
      if (i < part_.leading) {
        axes[0].push_back(i);
      } else if (group_.kind == GroupKind::kRow && i > part_.leading) {
        axes[1].push_back(i);
      } else {
        axes.push_back({i});
      }
    }
    return axes;
  }
  std::vector<std::size_t> reduced;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!group_.loop.is_reduced.empty() && group_.loop.is_reduced[i]) {
      reduced.push_back(i);
    } else {
      axes.push_back({i});
    }
  }
  if (group_.kind == GroupKind::kRow) axes.push_back(reduced);
  if (group_.kind == GroupKind::kColumn && mode_ != Mode::kColumns) {
    if (axes.empty()) axes.push_back({});
    axes.insert(axes.end() - 1, reduced);
  }
  return axes;
}

std::int64_t KernelWriter::memory_stride(const Memory& memory,
                                         const std::vector<std::size_t>& axes) const {
  return axes.empty() ? 0 : memory.walk.strides[axes.back()];
}

void KernelWriter::lay_out(LaunchPlan& plan, int keep_inner) {
  const std::vector<std::vector<std::size_t>> axes = arrangement();
  Shape sizes;
  std::vector<Shape> strides(memories_.size());
  for (std::size_t at = 0; at < axes.size(); ++at) {
    const bool is_cut = mode_ == Mode::kRows ? at == 0 : at + 1 == axes.size();
    if (mode_ != Mode::kWhole && mode_ != Mode::kColumns && is_cut) {
      lay_out_cut_axis(axes[at], sizes, strides);
      continue;
    }
    std::int64_t size = 1;
    for (const std::size_t axis : axes[at]) size *= group_.loop.sizes[axis];
    sizes.push_back(size);
    for (std::size_t i = 0; i < memories_.size(); ++i) {
      strides[i].push_back(memory_stride(memories_[i], axes[at]));
    }
  }
  box_ = kernels::collapse(sizes, strides, keep_inner);
  if (plan.order == Order::kColumn) box_.rank = std::max(box_.rank, 2);
  plan.box.rank = box_.rank;
  std::copy(std::begin(box_.count), std::end(box_.count), std::begin(plan.box.count));
}

// Operands of the plan, in the order of the kernel's accesses; counted indices have none.
void KernelWriter::make_accesses(Builder& builder, LaunchPlan& plan) {
  const bool has_rows = plan.order == Order::kRow || plan.order == Order::kTree;
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    Memory& memory = memories_[i];
    if (memory.use == Memory::Use::kCount) continue;
    const bool is_store = memory.use == Memory::Use::kStore;
    auto& strides = box_.strides[i];
    StrideClass inner = kernels::stride_class(strides[0], box_.count[0]);
    // A store to one element of an axis of size 1 is a contiguous store, except once per row.
    const bool is_kept_store =
        is_store && std::any_of(stores_.begin(), stores_.end(), [&](const Store& store) {
          return store.memory == i && store.is_kept;
        });
    if (is_store && inner == StrideClass::kBroadcast &&
        !(has_rows && (is_kept_store || memory.is_partial)) && box_.count[0] <= 1 && !has_rows) {
      inner = StrideClass::kContiguous;
      strides[0] = 1;
    }
    memory.access = builder.access(memory.dtype, is_store, inner);
    plan.box.strides.push_back(strides);
    plan.operands.push_back({memory.dtype, is_store, memory.buffer, memory.walk.offset,
                             memory.walk.starts, memory.is_identity, memory.is_row_buffer,
                             memory.is_partial && mode_ == Mode::kRows});
  }
}

// ---- second pass: instructions ----

Expr KernelWriter::parameter(const ScalarSlot& slot) {
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    if (scalars_[i] == slot) return parameters_[i];
  }
  scalars_.push_back(slot);
  parameters_.push_back(builder_->param(slot.dtype));
  return parameters_.back();
}

Expr KernelWriter::load(std::size_t index) {
  const Memory& memory = memories_[index];
  if (memory.walk.picked.empty()) return builder_->load(memory.access);
  Expr offset;
  for (const Picked& picked : memory.walk.picked) {
    Expr at = kernels::convert(value(picked.index, picked.chain), kLong);
    if (picked.stride != 1) {
      at = at * parameter({-1, kLong, static_cast<std::uint64_t>(picked.stride)});
    }
    offset = offset.defined() ? offset + at : at;
  }
  return builder_->load_at(memory.access, offset);
}

Expr KernelWriter::value(ValueId id, const Chain* chain) {
  const ValueId root = resolve(graph_, chains_, id, chain);
  const Value& v = graph_.values[static_cast<std::size_t>(root)];
  if (v.node >= 0 && is_splat(node(v.node))) {
    return emit_node(v.node, chains_.end(Span::kFull))[0];
  }
  if (is_member(v.node)) return member(v.node, chain)[static_cast<std::size_t>(v.output)];
  return load(memory_of_.at(Key{root, chain}));
}

// Values of an earlier phase are made again, unless they are uniform over the row or kept.
const Exprs& KernelWriter::member(std::int32_t index, const Chain* chain) {
  chain = member_chain(index, chain);
  const Key key{index, chain};
  const auto found = made_.find(key);
  const bool is_uniform = group_.kind == GroupKind::kRow && !chain->has_pick &&
                          span_of(index) == Span::kKept && group_.loop.reduced_axes() > 0;
  if (found != made_.end() &&
      (found->second.phase == phase_ || is_uniform || is_reduction(index))) {
    return found->second.exprs;
  }
  const Kept* const row = kept(index, chain);
  if (row && found != made_.end()) {
    return (made_[key] = {phase_, {builder_->load(memories_[row->load].access)}}).exprs;
  }
  if (found != made_.end() && !chain->has_pick && is_dear(body_instructions(graph_, node(index))) &&
      std::find(again_.begin(), again_.end(), index) == again_.end()) {
    again_.push_back(index);
  }
  Exprs exprs = emit_node(index, chain);
  if (row) builder_->store(memories_[row->store].access, exprs[0]);
  return (made_[key] = {phase_, std::move(exprs)}).exprs;
}

Exprs KernelWriter::emit_node(std::int32_t index, const Chain* chain) {
  const Node& n = node(index);
  if (is_product(graph_, n)) return contraction_result(index);
  GROOVE_ASSERT(!is_reduction(index), "{} is read before it is reduced", n.op->name);
  if (lowering_as<GatherLowering>(n)) {
    return {value(n.inputs[0], operand_chain(graph_, chains_, index, 0, chain))};
  }
  const NodeSignature own(graph_, n);
  const auto& how = *lowering_as<ElementwiseLowering>(n);
  Exprs inputs;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    inputs.push_back(n.inputs[i] == kNoValue
                         ? Expr()
                         : value(n.inputs[i], operand_chain(graph_, chains_, index, i, chain)));
  }
  const Exprs numbers = numbers_of(index, own);
  const auto flat =
      how.uses_flat_index ? [&] { return flat_index(index, chain); } : std::function<Expr()>();
  return kernels::emit_elementwise(*builder_, own.signature, own.result, inputs, numbers, flat);
}

// Of a call: parameters of the kernel.
Exprs KernelWriter::numbers_of(std::int32_t index, const NodeSignature& own) {
  const Node& n = node(index);
  const auto& how = *lowering_as<ElementwiseLowering>(n);
  Exprs numbers;
  for (std::size_t i = 0; i < n.numbers.size(); ++i) {
    const ScalarType dtype = kernels::number_dtype(own.signature, how, own.result.compute, i);
    const bool is_entry = n.numbers[i].entry >= 0;
    numbers.push_back(parameter(
        {is_entry ? n.numbers[i].entry : -1, dtype, is_entry ? 0 : own.numbers[i].bits_as(dtype)}));
  }
  return numbers;
}

// The row-major position in the node's output, from the indices of the launch's axes.
Expr KernelWriter::flat_index(std::int32_t index, const Chain* chain) {
  const std::size_t at = memory_of_.at(Key{~static_cast<std::int64_t>(index), chain});
  Expr flat;
  for (int axis = 0; axis < box_.rank; ++axis) {
    const std::int64_t stride = box_.strides[at][axis];
    if (stride == 0) continue;
    Expr term = builder_->index(axis);
    if (stride != 1) term = term * parameter({-1, kLong, static_cast<std::uint64_t>(stride)});
    flat = flat.defined() ? flat + term : term;
  }
  const std::int64_t offset = memories_[at].walk.offset;
  if (!flat.defined()) return builder_->constant_int(kLong, offset);
  return offset == 0 ? flat : flat + builder_->constant_int(kLong, offset);
}

Exprs KernelWriter::contraction_result(std::int32_t index) {
  const Node& n = node(index);
  if (!lowering_as<kernels::ContractionLowering>(n) || n.inputs.size() < 3 ||
      n.inputs[2] == kNoValue)
    return {sums_};
  const Expr bias =
      value(n.inputs[2], operand_chain(graph_, chains_, index, 2, chains_.end(Span::kFull)));
  return {sums_ + kernels::convert(bias, sums_.dtype())};
}

void KernelWriter::reduce(std::int32_t index) {
  const Node& n = node(index);
  const NodeSignature own(graph_, n);
  const Expr input = value(n.inputs[0], chains_.end(Span::kFull));
  const Exprs before = kernels::emit_before_reduction(*builder_, own.signature, own.result, input);
  const auto& how = std::get<ReductionLowering>(n.op->lowering->how);
  Exprs& results = reduced_[index];
  for (std::size_t i = 0; i < before.size(); ++i) {
    results.push_back(builder_->reduce(how.reductions[i], before[i]));
  }
}

void KernelWriter::finish_reduction(std::int32_t index) {
  const NodeSignature own(graph_, node(index));
  const ScalarType compute = own.result.compute;
  const Expr count = parameter({-1, compute, Scalar(row_length()).bits_as(compute)});
  Exprs results = kernels::emit_after_reduction(*builder_, own.signature, own.result,
                                                reduced_.at(index), count);
  made_[Key{index, chains_.end(Span::kKept)}] = {phase_, std::move(results)};
}

void KernelWriter::next_phase() {
  builder_->next_phase();
  ++phase_;
}

void KernelWriter::emit_stores(int phase) {
  for (const Store& store : stores_) {
    if (phase >= 0 && phase_of_operand(store.value) != phase) continue;
    builder_->store(memories_[store.memory].access, value(store.value, store.chain));
  }
}

void KernelWriter::finish(LaunchPlan& plan, Builder& builder, kernels::Kernel& kernel) {
  plan.scalars = scalars_;
  kernel = builder.take();
  plan.nodes = group_.nodes;
  plan.stage = group_.stage;
  // A few hundredths of a nanosecond a vectorised instruction and element.
  plan.nanoseconds =
      20.0 + 0.03 * static_cast<double>(plan.points()) * static_cast<double>(kernel.code.size());
}

void KernelWriter::write(LaunchPlan& plan, kernels::Kernel& kernel) {
  find_phases();
  collect_stores();
  for (const ColumnSum& sum : sums_of_columns_) collect_sum(sum);
  plan.order = group_.kind == GroupKind::kRow      ? Order::kRow
               : group_.kind == GroupKind::kColumn ? Order::kColumn
                                                   : Order::kMap;
  int keep_inner = group_.kind == GroupKind::kContraction ? 3
                   : group_.kind == GroupKind::kColumn    ? 2
                   : group_.kind == GroupKind::kRow       ? 1
                                                          : 0;
  for (const std::int32_t index : group_.nodes) {
    const auto* how = lowering_as<ElementwiseLowering>(node(index));
    if (is_member(index) && how && how->uses_last_index) keep_inner = std::max(keep_inner, 1);
  }
  lay_out(plan, keep_inner);
  Builder builder(plan.order);
  builder_ = &builder;
  if (group_.kind == GroupKind::kContraction) {
    const Node& product = node(group_.seed);
    sums_ = builder.load(graph_.type(product.outputs[0]).dtype, StrideClass::kContiguous);
  }
  make_accesses(builder, plan);
  int last = 0;
  for (const auto& [index, phase] : phase_of_) last = std::max(last, phase);
  for (int phase = 0; phase <= last; ++phase) {
    if (phase > 0) next_phase();
    for (const std::int32_t index : group_.nodes) {
      if (!is_member(index) || !is_reduction(index)) continue;
      if (phase_of_[index] == phase) finish_reduction(index);
      if (phase_of_[index] == phase + 1) reduce(index);
    }
    emit_stores(phase);
    for (const ColumnSum& sum : sums_of_columns_) {
      if (phase_of_operand(node(sum.reduction).inputs[0]) == phase) add_to_sum(sum);
    }
  }
  finish(plan, builder, kernel);
}

}  // namespace groove::jit
