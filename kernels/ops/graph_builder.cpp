// Records dispatched calls as nodes; tensors carry the number of the value they stand for.
#include "kernels/ops/graph_builder.h"

#include <algorithm>
#include <atomic>

#include "kernels/moving_view.h"
#include "kernels/ops/widen.h"
#include "src/core/check.h"
#include "src/core/number_watch.h"
#include "src/core/tensor_impl.h"

namespace groove::kernels {
namespace {

// Above every number a tracer context gives itself, so that the two cannot meet.
constexpr std::uint64_t kFirstSession = std::uint64_t{1} << 63;
std::uint64_t next_session() {
  static std::atomic<std::uint64_t> next{kFirstSession};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

bool stands_for_value(const TensorImpl& impl) { return impl.trace_session >= kFirstSession; }

GraphBuilder::GraphBuilder(Graph& graph, Composites composites)
    : graph_(graph), composites_(composites), session_(next_session()) {}

void GraphBuilder::set_context(Source source, std::int32_t stage,
                               const std::vector<NumberRef>* origins) {
  source_ = source;
  stage_ = stage;
  origins_ = origins;
}

Tensor GraphBuilder::tensor(ValueId value) const {
  if (value == kNoValue) return Tensor();
  const Type& type = graph_.type(value);
  // A storage without memory: the tape looks at its version.
  auto impl =
      make_impl(make_storage(), Geometry{type.sizes, contiguous_strides(type.sizes), 0}, type.dtype);
  impl->is_pending = true;
  impl->trace_session = session_;
  impl->trace_id = value;
  views_.erase(impl.get());  // of a tensor that lived at this address
  return Tensor(std::move(impl));
}

ValueId GraphBuilder::value(const Tensor& tensor) const {
  if (!tensor.defined()) return kNoValue;
  if (is_own(tensor)) {
    if (const auto view = views_.find(tensor.impl()); view != views_.end())
      refresh(tensor, view->second);
    return tensor.impl()->trace_id;
  }
  GROOVE_CHECK(adopt,
               "a composite reads a tensor that is not one of its inputs; pass it as an input");
  return adopt(tensor);
}

bool GraphBuilder::is_own(const Tensor& tensor) const {
  return tensor.impl()->trace_session == session_;
}

void GraphBuilder::handle(void* self, const Call& call, Tensor* outputs) {
  static_cast<GraphBuilder*>(self)->add(call, outputs);
}

void GraphBuilder::add(const Call& call, Tensor* outputs) {
  if (call.op->kind == OpKind::kComposite && composites_ == Composites::kExpand) {
    std::vector<Type> types;
    for (const Tensor& input : call.inputs) {
      types.push_back(input.defined() ? graph_.type(value(input))
                                      : Type{ScalarType::Undefined, {}});
    }
    const Tensors results =
        kernels::compose(Signature{*call.op, types, *call.attrs, call.numbers}, call.inputs);
    for (std::size_t i = 0; i < results.size(); ++i) outputs[i] = results[i];
    return;
  }
  std::vector<ValueId> operands;
  for (const Tensor& input : call.inputs) operands.push_back(value(input));
  std::vector<NumberRef> numbers = number_refs(call, operands);
  const std::int32_t node = graph_.add_node(*call.op, std::move(operands), *call.attrs,
                                            std::move(numbers), source_, stage_);
  const std::vector<ValueId> results = graph_.nodes[static_cast<std::size_t>(node)].outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (call.is_inplace) {
      // The tensor stands for its new value from here on.
      const Tensor& target = call.inputs[static_cast<std::size_t>(call.op->mutates[i])];
      target.impl()->trace_id = results[i];
      ++version_of(*target.impl());
      outputs[i] = target;
      if (views_.contains(target.impl())) write_base(target);
    } else {
      outputs[i] = tensor(results[i]);
    }
  }
  if (call.op->kind == OpKind::kView && !call.is_inplace && is_own(call.inputs[0]))
    note_view(call, graph_.nodes[static_cast<std::size_t>(node)], outputs[0]);
}

void GraphBuilder::note_view(const Call& call, const Node& made, const Tensor& view) {
  const Tensor& parent = call.inputs[0];
  View known;
  known.parent = parent;
  known.view = view;
  known.made = made;
  const auto outer = views_.find(parent.impl());
  known.base = outer == views_.end() ? parent : outer->second.base;
  known.base_value = known.base.impl()->trace_id;
  views_[view.impl()] = std::move(known);
}

// Throws where memory would have had to be copied on the way.
GraphBuilder::Region GraphBuilder::place_in_base(const Tensor& tensor) const {
  const Shape& sizes = tensor.impl()->geometry.sizes;
  const auto found = views_.find(tensor.impl());
  if (found == views_.end()) return {{sizes, contiguous_strides(sizes), 0}, {}, {}, {}};
  const View& known = found->second;
  std::vector<Scalar> numbers;
  std::vector<bool> moving;
  for (const NumberRef& number : known.made.numbers) {
    numbers.push_back(number.constant);
    moving.push_back(number.entry >= 0);
  }
  const TensorImpl& parent = *known.parent.impl();
  const std::vector<Type> types{{parent.dtype, parent.geometry.sizes}};
  Region region = place_in_base(known.parent);
  std::vector<MovingStart> starts;
  region.geometry = view_at_zero(*known.made.op, region.geometry, types, known.made.attrs,
                                 numbers, moving, starts);
  for (const MovingStart& start : starts) {
    region.starts.push_back(known.made.numbers[start.number]);
    region.steps.push_back(start.stride);
    region.extents.push_back(start.size);
  }
  return region;
}

void GraphBuilder::write_base(const Tensor& view) {
  static const Op* const write_strided = find_op("write_strided");
  static const Op* const write_moving = find_op("write_moving");
  View& known = views_.at(view.impl());
  const Region place = place_in_base(view);
  const bool moves = !place.starts.empty();
  Attrs attrs;
  attrs.add(IntArrayRef(place.geometry.sizes)).add(IntArrayRef(place.geometry.strides));
  attrs.add(place.geometry.offset);
  if (moves) attrs.add(IntArrayRef(place.steps)).add(IntArrayRef(place.extents));
  const std::int32_t node = graph_.add_node(moves ? *write_moving : *write_strided,
                                            {known.base.impl()->trace_id, view.impl()->trace_id},
                                            attrs, place.starts, source_, stage_);
  known.base_value = graph_.nodes[static_cast<std::size_t>(node)].outputs[0];
  known.base.impl()->trace_id = known.base_value;
  ++version_of(view.impl()->counts_apart ? *view.impl() : *known.base.impl());
}

void GraphBuilder::refresh(const Tensor& view, View& known) const {
  if (known.base_value == known.base.impl()->trace_id) return;
  const ValueId parent = value(known.parent);
  const std::int32_t node = graph_.add_node(*known.made.op, {parent}, known.made.attrs,
                                            known.made.numbers, known.made.source, stage_);
  view.impl()->trace_id = graph_.nodes[static_cast<std::size_t>(node)].outputs[0];
  known.base_value = known.base.impl()->trace_id;
}

// Where a view begins, and what a type rule or the code of a composite looks at, is structure.
std::vector<NumberRef> GraphBuilder::number_refs(const Call& call, ArrayRef<ValueId> operands) {
  std::vector<NumberRef> numbers;
  for (const Scalar& number : call.numbers) {
    const int origin = number.origin();
    const bool is_known =
        origins_ && origin >= 0 && static_cast<std::size_t>(origin) < origins_->size();
    numbers.push_back(is_known ? (*origins_)[static_cast<std::size_t>(origin)]
                               : NumberRef{-1, number});
  }
  const OpKind kind = call.op->kind;
  // What a random composite draws with is for its kernels alone.
  const bool is_for_code = kind == OpKind::kComposite && !call.op->is_random;
  if (!entries || numbers.empty() || kind == OpKind::kView || is_for_code) return numbers;
  std::vector<Scalar> tagged;
  for (const Scalar& number : call.numbers)
    tagged.push_back(number.with_origin(static_cast<int>(tagged.size())));
  std::vector<Type> types;
  for (const ValueId id : operands)
    types.push_back(id == kNoValue ? Type{ScalarType::Undefined, {}} : graph_.type(id));
  const NumberWatch watch;
  call.op->type(Signature{*call.op, types, *call.attrs, tagged});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool is_structure =
        std::find(watch.read().begin(), watch.read().end(), static_cast<int>(i)) !=
        watch.read().end();
    if (is_structure || call.numbers[i].isBoolean()) continue;
    numbers[i].entry = static_cast<std::int32_t>(graph_.numbers.size());
    graph_.numbers.push_back(call.numbers[i].isFloatingPoint() ? kDouble : kLong);
    entries->push_back(call.numbers[i]);
  }
  return numbers;
}

}  // namespace groove::kernels
