#include "tracer/calls/size_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/core/attribute_words.h"
#include "tracer/calls/numbers.h"
#include "tracer/tell/report.h"

namespace groove::tracer {

SizeNumber SizeNumber::attribute(Attrs& attrs, std::size_t index) {
  SizeNumber number;
  number.kind_ = Kind::kAttribute;
  number.index_ = static_cast<std::uint32_t>(index);
  number.at_ = &attrs;
  return number;
}
SizeNumber SizeNumber::size(std::int64_t& at) {
  SizeNumber number;
  number.at_ = &at;
  return number;
}
SizeNumber SizeNumber::fixed(std::uint64_t& bits, ScalarType kind) {
  SizeNumber number;
  number.kind_ = Kind::kFixed;
  number.is_real_ = kind == kDouble;
  number.at_ = &bits;
  return number;
}
SizeNumber SizeNumber::constant(Scalar& scalar) {
  SizeNumber number;
  number.kind_ = Kind::kConstant;
  number.is_real_ = scalar.isFloatingPoint();
  number.at_ = &scalar;
  return number;
}

std::int64_t SizeNumber::value() const {
  switch (kind_) {
    case Kind::kAttribute:
      return static_cast<const Attrs*>(at_)->words()[index_];
    case Kind::kFixed:
      return static_cast<std::int64_t>(*static_cast<const std::uint64_t*>(at_));
    case Kind::kConstant:
      return static_cast<std::int64_t>(number_bits(*static_cast<const Scalar*>(at_)));
    default:
      return *static_cast<const std::int64_t*>(at_);
  }
}

void SizeNumber::set(std::int64_t value) {
  switch (kind_) {
    case Kind::kAttribute: {
      auto& attrs = *static_cast<Attrs*>(at_);
      if (attrs.words()[index_] != value) attrs = with_word(attrs, index_, value);
      return;
    }
    case Kind::kFixed:
      *static_cast<std::uint64_t*>(at_) = static_cast<std::uint64_t>(value);
      return;
    case Kind::kConstant: {
      auto& scalar = *static_cast<Scalar*>(at_);
      scalar = number_in(static_cast<std::uint64_t>(value), scalar.type());
      return;
    }
    default:
      *static_cast<std::int64_t*>(at_) = value;
  }
}

std::vector<std::int64_t> SizeNumbers::values(std::size_t count) const {
  std::vector<std::int64_t> first;
  first.reserve(count);
  for (std::size_t i = 0; i < count; ++i) first.push_back(numbers[i].value());
  return first;
}

namespace {

class Walk {
 public:
  explicit Walk(Segment& segment) : segment_(segment) {}

  SizeNumbers run() {
    for (std::size_t w = 0; w < segment_.calls.size(); ++w) {
      result_.structure_before.push_back(hash_);
      result_.shown.push_back(result_.numbers.size());
      visit_call(w);
    }
    result_.structure_before.push_back(hash_);
    result_.shown.push_back(result_.numbers.size());
    visit_rest();
    result_.structure = hash_;
    result_.with_ones = with_ones_;
    return std::move(result_);
  }

 private:
  static void mix_into(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  void mix(std::uint64_t value) {
    mix_into(hash_, value);
    mix_into(with_ones_, value);
  }
  void mix_class(std::int64_t size) {
    mix_into(hash_, static_cast<std::uint64_t>(size_class(size)));
    mix_into(with_ones_, static_cast<std::uint64_t>(size_class(size == 1 ? 2 : size)));
  }
  template <typename T>
  void mix_pointer(const T* pointer) {
    mix(reinterpret_cast<std::uintptr_t>(pointer));
  }
  void mix_ids(const auto& ids) {
    mix(ids.size());
    for (const auto id : ids) mix(static_cast<std::uint64_t>(id));
  }
  void mix_grads(const std::vector<LeafGrad>& grads) {
    mix(grads.size());
    for (const LeafGrad& grad : grads) {
      mix(static_cast<std::uint64_t>(grad.leaf));
      mix(static_cast<std::uint64_t>(grad.grad));
    }
  }
  void add(SizeNumber number) { result_.numbers.push_back(number); }
  void add_attributes(const Op& op, Attrs& attrs) {
    each_attribute_word(
        op, attrs, [&](std::size_t index) { add(SizeNumber::attribute(attrs, index)); },
        [&](std::int64_t call) { mix(static_cast<std::uint64_t>(call)); });
  }
  void add_constants(std::vector<NumberRef>& numbers) {
    mix(numbers.size());
    for (NumberRef& number : numbers) {
      mix(static_cast<std::uint64_t>(number.entry));
      mix(static_cast<std::uint64_t>(number.constant.type()));
      add(SizeNumber::constant(number.constant));
      result_.numbers.back().may_be_anything = number.entry >= 0;
    }
  }
  void add_geometry(Slot& slot) {
    for (std::size_t i = 0; i < slot.type.sizes.size(); ++i) {
      mix_class(slot.type.sizes[i]);
      add(SizeNumber::size(slot.type.sizes[i]));
    }
    for (std::int64_t& stride : slot.strides) add(SizeNumber::size(stride));
  }

  void add_type(Type& type) {
    mix(static_cast<std::uint64_t>(type.dtype) << 8 | type.sizes.size());
    for (std::int64_t& size : type.sizes) {
      mix_class(size);
      add(SizeNumber::size(size));
    }
  }
  void add_call(const Op* op, Attrs& attrs, std::vector<NumberRef>& numbers) {
    mix_pointer(op);
    if (op) add_attributes(*op, attrs);
    add_constants(numbers);
  }
  void mix_edge(const HistoryPlan::Edge& edge) {
    mix(static_cast<std::uint64_t>(edge.node));
    mix(static_cast<std::uint64_t>(edge.outside));
    mix(edge.index);
  }

  std::size_t slots_after(std::size_t w) const {
    return w + 1 < segment_.calls.size()
               ? static_cast<std::size_t>(segment_.calls[w + 1].first_slot)
               : segment_.slots.size();
  }

  void visit_call(std::size_t w) {
    RecordedCall& call = segment_.calls[w];
    mix_pointer(call.op);
    mix_pointer(call.site.file);
    mix(static_cast<std::uint64_t>(call.site.line) << 32 | call.site.column);
    mix(call.site.ordinal);
    mix(static_cast<std::uint64_t>(call.is_library_call) | call.is_inplace << 1 |
        call.grad_enabled << 2 | call.ends_step << 3 | call.has_settled_position << 4 |
        call.releases_code << 5);
    mix(static_cast<std::uint64_t>(call.first_slot) << 32 |
        static_cast<std::uint32_t>(call.first_number));
    mix_ids(call.inputs);
    mix_ids(call.outputs);
    for (const bool is_new : call.output_is_new) mix(is_new);
    mix_ids(call.number_kinds);
    mix_ids(call.nested_live_ins);
    mix_ids(call.nested_places);
    mix(call.walked_results.size());
    for (const auto& [place, slot] : call.walked_results) {
      mix(static_cast<std::uint64_t>(place));
      mix(static_cast<std::uint64_t>(slot));
    }
    mix_ids(call.written_live_ins);
    mix_grads(call.grads_before);
    mix_grads(call.effects);
    mix(call.flags.size());
    for (const FlagEffect& flag : call.flags) {
      mix(static_cast<std::uint64_t>(flag.slot));
      mix(static_cast<std::uint64_t>(flag.before) | flag.after << 1 | flag.gets_history << 2);
    }
    mix(static_cast<std::uint64_t>(call.code_role));
    mix(static_cast<std::uint64_t>(call.stops_at));
    mix(static_cast<std::uint64_t>(call.stops_at_hook.leaf));
    mix(static_cast<std::uint64_t>(call.stops_at_hook.index));
    mix(call.tape_nodes);
    mix(call.walked);
    mix(call.structure);
    mix(call.twins.size());
    for (const auto& [later, earlier] : call.twins) {
      mix(static_cast<std::uint64_t>(later));
      mix(static_cast<std::uint64_t>(earlier));
    }
    add_attributes(*call.op, call.attrs);
    mix(call.fixed_numbers.size());
    for (auto& [index, bits] : call.fixed_numbers) {
      mix(static_cast<std::uint64_t>(index));
      add(SizeNumber::fixed(bits, call.number_kinds[static_cast<std::size_t>(index)]));
    }
    for (auto id = static_cast<std::size_t>(call.first_slot); id < slots_after(w); ++id) {
      Slot& slot = segment_.slots[id];
      mix(static_cast<std::uint64_t>(slot.is_live_in) | slot.requires_grad << 1 |
          slot.is_leaf << 2);
      mix(static_cast<std::uint64_t>(slot.type.dtype) << 8 | slot.type.sizes.size());
      mix(static_cast<std::uint64_t>(slot.parent));
      mix(static_cast<std::uint64_t>(slot.view_call));
      mix(static_cast<std::uint64_t>(slot.storage));
      const bool is_operand = std::find(call.inputs.begin(), call.inputs.end(),
                                        static_cast<SlotId>(id)) != call.inputs.end();
      if (slot.is_live_in && is_operand) add_geometry(slot);
    }
  }

  void visit_rest() {
    for (std::size_t w = 0; w < segment_.calls.size(); ++w) {
      RecordedCall& call = segment_.calls[w];
      for (auto id = static_cast<std::size_t>(call.first_slot); id < slots_after(w); ++id) {
        Slot& slot = segment_.slots[id];
        mix(slot.is_held);
        mix(slot.is_user_visible);
        mix(slot.hooks);
        mix(static_cast<std::uint64_t>(slot.grad_of));
        mix(static_cast<std::uint64_t>(slot.same_as));
        mix(static_cast<std::uint64_t>(slot.again));
        mix(slot.is_walked);
        const bool is_operand = std::find(call.inputs.begin(), call.inputs.end(),
                                          static_cast<SlotId>(id)) != call.inputs.end();
        if (slot.is_live_in && !is_operand) add_geometry(slot);
      }
      mix_ids(call.read_live_ins);
      mix(static_cast<std::uint64_t>(call.checked.value));
      mix(call.operators);
      mix(call.nested.size());
      for (NestedCall& nested : call.nested) {
        mix_pointer(nested.op);
        mix_ids(nested.inputs);
        mix_ids(nested.outputs);
        mix(nested.is_inplace);
        add_attributes(*nested.op, nested.attrs);
        add_constants(nested.numbers);
      }
    }
    for (const StorageInfo& storage : segment_.storages) {
      mix(static_cast<std::uint64_t>(storage.base));
      mix(static_cast<std::uint64_t>(storage.is_live_in) | storage.is_exposed << 1 |
          storage.is_used << 2);
      mix(storage.writes);
      mix(storage.unnoticed);
      mix(static_cast<std::uint64_t>(storage.output));
      mix(static_cast<std::uint64_t>(storage.early_output));
    }
    for (const StageEnd& end : segment_.stage_ends) {
      mix(static_cast<std::uint64_t>(end.after));
      mix(static_cast<std::uint64_t>(end.slot));
      mix(static_cast<std::uint64_t>(end.stage));
    }
    mix_ids(segment_.live_ins);
    mix_ids(segment_.number_kinds);
    mix(static_cast<std::uint64_t>(segment_.stages));
    Graph& graph = segment_.graph;
    for (Node& node : graph.nodes) {
      mix_pointer(node.op);
      mix_ids(node.inputs);
      mix_ids(node.outputs);
      mix(static_cast<std::uint64_t>(node.stage));
      add_attributes(*node.op, node.attrs);
      add_constants(node.numbers);
    }
    for (const Value& value : graph.values) {
      mix(static_cast<std::uint64_t>(value.type.dtype));
      mix(value.type.sizes.size());
      for (const std::int64_t size : value.type.sizes) mix_class(size);
    }
    for (const GraphOutput& output : graph.outputs) {
      mix(static_cast<std::uint64_t>(output.value));
      mix(static_cast<std::uint64_t>(output.writes));
      mix(static_cast<std::uint64_t>(output.stage));
    }
    result_.in_history = result_.numbers.size();
    mix(segment_.history != nullptr);
    if (segment_.history) visit_history(*segment_.history);
  }

  void visit_history(HistoryPlan& plan) {
    mix(plan.nodes.size());
    for (HistoryPlan::Node& node : plan.nodes) {
      mix(static_cast<std::uint64_t>(node.kind) | node.is_released << 8 | node.has_saved << 9);
      mix(node.position);
      mix(static_cast<std::uint64_t>(node.code));
      add_call(node.op, node.attrs, node.numbers);
      mix(node.types.size());
      for (Type& type : node.types) add_type(type);
      mix(node.steps.size());
      for (HistoryPlan::Step& step : node.steps) {
        add_call(step.op, step.attrs, step.numbers);
        add_type(step.input);
      }
      mix(node.edges.size());
      for (const HistoryPlan::Edge& edge : node.edges) mix_edge(edge);
      mix(node.saved.size());
      for (const HistoryPlan::Saved& saved : node.saved)
        mix(static_cast<std::uint64_t>(saved.value) << 32 | saved.version);
      mix_ids(node.saved_outputs);
      mix(node.hooks.size());
      for (const HistoryPlan::Node::Hook& hook : node.hooks)
        mix(static_cast<std::uint64_t>(hook.code) << 32 | hook.index);
    }
    mix_ids(plan.outside);
    for (const HistoryPlan::Value& value : plan.values) {
      mix(static_cast<std::uint64_t>(value.slot));
      mix_edge(value.made_by);
    }
    for (const HistoryPlan::Result& result : plan.results) {
      mix(static_cast<std::uint64_t>(result.slot));
      mix_edge(result.made_by);
    }
    mix_ids(plan.code);
    mix_ids(plan.number_kinds);
  }

  Segment& segment_;
  SizeNumbers result_;
  std::uint64_t hash_ = 0x243f6a8885a308d3u, with_ones_ = hash_;
};

template <typename Call>
bool shown_at(const Segment& segment, std::size_t at, const Call& call, const SiteKey& site,
              std::vector<std::int64_t>& values) {
  values.clear();
  const RecordedCall& recorded = segment.calls[at];
  if (recorded.op != call.op || !(recorded.site == site) ||
      recorded.inputs.size() != call.inputs.size() ||
      recorded.number_kinds.size() != call.numbers.size() ||
      recorded.attrs.words().size() != call.attrs->words().size())
    return false;
  each_attribute_word(
      *recorded.op, *call.attrs, [&](std::size_t i) { values.push_back(call.attrs->words()[i]); },
      [](std::int64_t) {});
  for (const auto& [index, bits] : recorded.fixed_numbers)
    values.push_back(
        static_cast<std::int64_t>(number_bits(call.numbers[static_cast<std::size_t>(index)])));
  const std::size_t end = at + 1 < segment.calls.size()
                              ? static_cast<std::size_t>(segment.calls[at + 1].first_slot)
                              : segment.slots.size();
  for (auto id = static_cast<std::size_t>(recorded.first_slot); id < end; ++id) {
    const Slot& slot = segment.slots[id];
    const auto found =
        std::find(recorded.inputs.begin(), recorded.inputs.end(), static_cast<SlotId>(id));
    if (!slot.is_live_in || found == recorded.inputs.end()) continue;
    const Tensor& operand = call.inputs[static_cast<std::size_t>(found - recorded.inputs.begin())];
    if (!operand.defined()) return false;
    const Geometry& geometry = operand.impl()->geometry;
    if (geometry.sizes.size() != slot.type.sizes.size()) return false;
    values.insert(values.end(), geometry.sizes.begin(), geometry.sizes.end());
    values.insert(values.end(), geometry.strides.begin(), geometry.strides.end());
  }
  return true;
}

}  // namespace

SizeNumbers size_numbers(Segment& segment) { return Walk(segment).run(); }

bool shown_by(const Segment& segment, std::size_t at, const Call& call, const SiteKey& site,
              std::vector<std::int64_t>& values) {
  return shown_at(segment, at, call, site, values);
}
bool shown_by(const Segment& segment, std::size_t at, const LibraryCall& call, const SiteKey& site,
              std::vector<std::int64_t>& values) {
  return shown_at(segment, at, call, site, values);
}

std::string name_of_shown(const Segment& segment, std::size_t at, std::size_t index) {
  const RecordedCall& call = segment.calls[at];
  std::size_t attributes = 0;
  each_attribute_word(
      *call.op, call.attrs, [&](std::size_t) { ++attributes; }, [](std::int64_t) {});
  if (index < attributes + call.fixed_numbers.size()) return "a number of " + describe(call);
  index -= attributes + call.fixed_numbers.size();
  for (std::size_t i = 0; i < segment.live_ins.size(); ++i) {
    const SlotId id = segment.live_ins[i];
    const bool is_shown = id >= call.first_slot && std::find(call.inputs.begin(), call.inputs.end(),
                                                             id) != call.inputs.end();
    if (!is_shown) continue;
    const std::size_t rank = segment.slots[static_cast<std::size_t>(id)].type.sizes.size();
    const std::string& name =
        segment.graph.values[static_cast<std::size_t>(segment.graph.inputs[i].value)].name;
    if (index < rank) return fmt::format("size {} of {}", index, name);
    if (index < 2 * rank) return fmt::format("stride {} of {}", index - rank, name);
    index -= 2 * rank;
  }
  return "a size";
}

}  // namespace groove::tracer
