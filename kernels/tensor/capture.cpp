// Calls a function under a graph builder and sees to what it must not do.
#include "kernels/tensor/capture.h"

#include <algorithm>

#include "kernels/subgraph_run.h"
#include "src/core/autograd_meta.h"
#include "src/core/check.h"
#include "src/core/subgraph.h"

namespace groove {

using kernels::GraphBuilder;

struct FunctionCapture::Running {
  FunctionCapture& capture;
  const char* role;
  Function& function;
  GraphBuilder builder;
  bool was_grad_enabled = grad_enabled();
  // Values that another tensor shares the memory of, or that are the caller's.
  std::vector<char> is_shared = {};

  Running(FunctionCapture& of, const char* name, Function& called)
      : capture(of),
        role(name),
        function(called),
        builder(called.graph, GraphBuilder::Composites::kKeep) {
    builder.adopt = [this](const Tensor& tensor) { return adopted(tensor); };
    builder.entries = &capture.numbers_;
  }

  void share(const Tensor& tensor) {
    const auto id = static_cast<std::size_t>(builder.value(tensor));
    if (is_shared.size() <= id) is_shared.resize(id + 1);
    is_shared[id] = 1;
  }

  ValueId adopted(const Tensor& tensor) {
    std::size_t i = 0;
    while (i < capture.closed_over_.size() && !capture.closed_over_[i].is_same(tensor)) ++i;
    if (i == capture.closed_over_.size()) capture.closed_over_.push_back(tensor);
    if (function.closures.size() <= i) function.closures.resize(i + 1, kNoValue);
    ValueId& value = function.closures[i];
    if (value == kNoValue) {
      const TensorImpl& impl = *tensor.impl();
      const Shape& sizes = impl.geometry.sizes;
      value = function.graph.add_input(Type{impl.dtype, sizes}, contiguous_strides(sizes));
    }
    return value;
  }

  void check_write(const Call& call) {
    for (const int index : call.op->mutates) {
      const Tensor& target = call.inputs[static_cast<std::size_t>(index)];
      const auto id = static_cast<std::size_t>(builder.is_own(target) ? builder.value(target) : 0);
      const bool is_own = builder.is_own(target) && !(id < is_shared.size() && is_shared[id] != 0);
      GROOVE_CHECK(is_own,
                   "{}: {} writes in place ({}_) to a tensor that was given to it, or of which "
                   "there are views; make a new tensor instead (where, cat, index_copy, …)",
                   capture.op_, role, call.op->name);
    }
  }

  static void handle(void* self, const Call& call, Tensor* outputs) {
    static_cast<Running*>(self)->record(call, outputs);
  }
  void record(const Call& call, Tensor* outputs) {
    if (call.is_inplace) check_write(call);
    builder.set_context({call.site.file_name(), call.site.line()}, 0, nullptr);
    builder.add(call, outputs);
    if (call.op->kind == OpKind::kView) {
      share(call.inputs[0]);
      share(outputs[0]);
    }
    if (was_grad_enabled && !grad_enabled())
      cut_history(outputs, output_count(*call.op, *call.attrs));
  }

  // What was computed under NoGradGuard has no gradient.
  void cut_history(Tensor* outputs, std::size_t count) {
    static const Op* const detach = find_op("detach");
    GROOVE_ASSERT(detach != nullptr);
    for (std::size_t k = 0; k < count; ++k) {
      if (!is_floating(outputs[k].impl()->dtype)) continue;
      const Tensor input = outputs[k];
      static const Attrs& none = *new Attrs;
      Tensor cut;
      builder.add(Call{detach, input, &none, {}, Site::none()}, &cut);
      input.impl()->trace_id = cut.impl()->trace_id;
    }
  }
};

void FunctionCapture::add(const char* role, const std::function<Tensors(const Tensors&)>& function,
                          ArrayRef<Type> types, std::uint64_t first_draw) {
  Function& called = functions_.emplace_back();
  called.own_inputs = types.size();
  Running running(*this, role, called);
  Tensors inputs;
  for (const Type& type : types) {
    inputs.push_back(
        running.builder.tensor(called.graph.add_input(type, contiguous_strides(type.sizes))));
    running.share(inputs.back());
  }
  const DispatchOverride override_(&Running::handle, &running);
  const DrawScope scope(0, first_draw);
  const Tensors results = function(inputs);
  draws_ = std::max(draws_, scope.next());
  for (std::size_t k = 0; k < results.size(); ++k) {
    GROOVE_CHECK(results[k].defined(), "{}: result {} of {} is undefined", op_, k, role);
    called.graph.outputs.push_back({running.builder.value(results[k]), -1, 0});
  }
}

std::vector<Type> FunctionCapture::results(std::size_t function) const {
  const Graph& graph = functions_[function].graph;
  std::vector<Type> types;
  for (const GraphOutput& output : graph.outputs) types.push_back(graph.type(output.value));
  return types;
}

Graph FunctionCapture::take(std::size_t function) {
  Function& called = functions_[function];
  Graph graph = std::move(called.graph);
  called.closures.resize(closed_over_.size(), kNoValue);
  std::vector<GraphInput> inputs(
      graph.inputs.begin(), graph.inputs.begin() + static_cast<std::ptrdiff_t>(called.own_inputs));
  for (std::size_t i = 0; i < closed_over_.size(); ++i) {
    const TensorImpl& impl = *closed_over_[i].impl();
    const Shape strides = contiguous_strides(impl.geometry.sizes);
    ValueId value = called.closures[i];
    if (value == kNoValue) value = graph.add_input(Type{impl.dtype, impl.geometry.sizes}, strides);
    inputs.push_back({value, strides});
  }
  graph.inputs = std::move(inputs);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    graph.values[static_cast<std::size_t>(graph.inputs[i].value)].output =
        static_cast<std::int32_t>(i);
  return graph;
}

std::int64_t FunctionCapture::finish(std::size_t function) {
  finished_.push_back(intern(take(function)));
  return finished_.back();
}

void FunctionCapture::take_draws(std::uint64_t calls) {
  if (draws_ == 0) return;
  const Draw first = draw_many(draws_ * calls);
  std::size_t before = 0;
  for (const std::int64_t number : finished_) {
    const Graph& graph = interned_graph(number);
    for (const kernels::DrawEntry& pair : kernels::draws_of(graph)) {
      numbers_[before + static_cast<std::size_t>(pair.seed)] =
          static_cast<std::int64_t>(first.seed);
      Scalar& draw = numbers_[before + static_cast<std::size_t>(pair.draw)];
      draw = static_cast<std::int64_t>(first.number + static_cast<std::uint64_t>(draw.to_int()));
    }
    before += graph.numbers.size();
  }
}

}  // namespace groove
