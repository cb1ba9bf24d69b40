// A compiler for tests that compiles nothing: it runs a graph node by node through the eager
// executor. So the tracer is tested on its own, and the real compiler has an oracle.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/lowering.h"
#include "src/core/autograd_meta.h"
#include "src/core/dispatch.h"
#include "tracer/cache/compiler.h"

namespace groove::testing {

class GraphExecutable final : public Executable {
 public:
  explicit GraphExecutable(Graph graph) : graph_(std::move(graph)) {}
  std::size_t arena_bytes() const override { return 64; }

  std::int32_t run(void* const* buffers, const std::int64_t*, const std::uint64_t* scalars,
                   ProgramContext& context) const noexcept override {
    if (context.stage == 0) values_.assign(graph_.values.size(), Tensor());
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const GraphInput& input = graph_.inputs[i];
      Tensor& value = values_[static_cast<std::size_t>(input.value)];
      if (value.defined() || !buffers[i]) continue;
      // A private copy, so that writes of outputs cannot disturb later reads.
      StoragePtr storage = make_storage();
      storage->data = buffers[i];
      Tensor alias(make_impl(storage, Geometry{graph_.type(input.value).sizes, input.strides, 0},
                             graph_.type(input.value).dtype));
      value = make_empty(graph_.type(input.value).sizes, graph_.type(input.value).dtype);
      copy(alias, value);
    }
    for (const GraphOutput& output : graph_.outputs)
      if (output.stage == context.stage) evaluate(output.value, scalars);
    std::size_t buffer = graph_.inputs.size();
    for (const GraphOutput& output : graph_.outputs) {
      void* own = output.writes < 0 ? buffers[buffer++] : nullptr;
      if (output.stage != context.stage) continue;
      const Type& type = graph_.type(output.value);
      StoragePtr storage = make_storage();
      Geometry geometry{type.sizes, contiguous_strides(type.sizes), 0};
      storage->data = own;
      if (output.writes >= 0) {
        storage->data = buffers[output.writes];
        geometry.strides = graph_.inputs[static_cast<std::size_t>(output.writes)].strides;
      }
      copy(values_[static_cast<std::size_t>(output.value)],
           Tensor(make_impl(storage, geometry, type.dtype)));
    }
    return 0;
  }
  std::string describe() const override { return print(graph_); }

 private:
  // Element by element, independent of the library's own copies.
  static void copy(const Tensor& from, const Tensor& to) {
    const TensorImpl& a = *from.impl();
    const TensorImpl& b = *to.impl();
    const std::size_t size = element_size(a.dtype);
    for (std::int64_t i = 0; i < a.numel; ++i) {
      std::int64_t rest = i, at = 0, into = 0;
      for (std::size_t d = a.geometry.sizes.size(); d-- > 0;) {
        const std::int64_t index = rest % a.geometry.sizes[d];
        rest /= a.geometry.sizes[d];
        at += index * a.geometry.strides[d];
        into += index * b.geometry.strides[d];
      }
      std::memcpy(static_cast<char*>(b.data()) + into * static_cast<std::int64_t>(size),
                  static_cast<const char*>(a.data()) + at * static_cast<std::int64_t>(size), size);
    }
  }

  // Only the compiler knows this operator: a strided region of the first operand is replaced.
  static Tensor overwritten(const Node& node, const std::vector<Tensor>& inputs,
                            const std::vector<Scalar>& starts) {
    const AttrReader attr(*node.op, node.attrs);
    const TensorImpl& base = *inputs[0].impl();
    Tensor whole = make_empty(base.geometry.sizes, base.dtype);
    copy(inputs[0], whole);
    std::int64_t offset = attr.integer(2);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int64_t start = starts[i].to_int();
      offset += attr.integers(3)[i] * (start < 0 ? start + attr.integers(4)[i] : start);
    }
    copy(inputs[1],
         Tensor(make_impl(whole.impl()->storage,
                          Geometry{Shape(attr.integers(0)), Shape(attr.integers(1)), offset},
                          base.dtype)));
    return whole;
  }

  void evaluate(ValueId value, const std::uint64_t* scalars) const {
    if (value == kNoValue || values_[static_cast<std::size_t>(value)].defined()) return;
    const Node& node =
        graph_.nodes[static_cast<std::size_t>(graph_.values[static_cast<std::size_t>(value)].node)];
    std::vector<Tensor> inputs;
    for (const ValueId input : node.inputs) {
      evaluate(input, scalars);
      inputs.push_back(input == kNoValue ? Tensor() : values_[static_cast<std::size_t>(input)]);
    }
    std::vector<Scalar> numbers;
    for (const NumberRef& ref : node.numbers) {
      if (ref.entry < 0) {
        numbers.push_back(ref.constant);
        continue;
      }
      const std::uint64_t bits = scalars[ref.entry];
      double real;
      std::memcpy(&real, &bits, sizeof(real));
      if (graph_.numbers[static_cast<std::size_t>(ref.entry)] == kDouble)
        numbers.emplace_back(real);
      else
        numbers.emplace_back(static_cast<std::int64_t>(bits));
    }
    const auto* lowering = node.op->lowering.get();
    if (lowering && std::holds_alternative<kernels::OverwriteLowering>(lowering->how)) {
      values_[static_cast<std::size_t>(node.outputs[0])] = overwritten(node, inputs, numbers);
      return;
    }
    std::vector<Tensor> outputs(output_count(*node.op, node.attrs));
    const bool was_enabled = grad_enabled();
    set_grad_enabled(false);
    dispatch_below(DispatchLayer::kAutodiff,
                   Call{node.op, inputs, &node.attrs, numbers, Site::none()}, outputs.data());
    set_grad_enabled(was_enabled);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      Tensor whole = make_empty(outputs[k].impl()->geometry.sizes, outputs[k].impl()->dtype);
      copy(outputs[k], whole);
      values_[static_cast<std::size_t>(node.outputs[k])] = whole;
    }
  }

  Graph graph_;
  mutable std::vector<Tensor> values_;
};

class GraphCompiler final : public Compiler {
 public:
  std::shared_ptr<Executable> compile(Graph graph) override {
    return std::make_unique<GraphExecutable>(std::move(graph));
  }
};

}  // namespace groove::testing
