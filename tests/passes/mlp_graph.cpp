// Records the step with ordinary tensor code under a GraphBuilder.
#include "tests/passes/mlp_graph.h"

#include <bit>

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/optimizer_ops.h"

namespace groove::jit {
namespace {

Tensor gradient(const char* name, const Attrs& attrs, const Tensors& inputs, const Tensor& output,
                const Tensor& cotangent, const std::vector<Type>& types, const Type& result) {
  const Op& op = *find_op(name);
  const Tensors outputs{output}, cotangents{cotangent};
  const std::vector<Type> output_types{result};
  const bool needs[] = {true, false};
  return op.gradient(Grad{op,
                          attrs,
                          {},
                          inputs,
                          outputs,
                          cotangents,
                          types,
                          output_types,
                          ArrayRef<bool>(needs, inputs.size())})[0];
}

}  // namespace

std::vector<std::uint64_t> mlp_numbers() {
  std::vector<std::uint64_t> bits;
  for (const Scalar& number : adam_numbers(1e-3, 0.9, 0.999, 1e-8, 0, false, 3)) {
    bits.push_back(std::bit_cast<std::uint64_t>(number.to_double()));
  }
  return bits;
}

Graph mlp_step(const std::vector<std::int64_t>& sizes, std::int64_t batch) {
  Graph graph;
  kernels::GraphBuilder builder(graph);
  const auto input = [&](Shape shape, ScalarType dtype = kFloat) {
    const Shape strides = contiguous_strides(shape);
    return builder.tensor(graph.add_input(Type{dtype, std::move(shape)}, strides));
  };
  struct Parameter {
    Tensor value, first, second;
    std::int32_t input;
  };
  const Tensor x = input({batch, sizes[0]});
  const Tensor target = input({batch}, kLong);
  std::vector<Parameter> parameters;
  for (std::size_t layer = 0; layer + 1 < sizes.size(); ++layer) {
    for (const Shape& shape : {Shape{sizes[layer + 1], sizes[layer]}, Shape{sizes[layer + 1]}}) {
      const auto at = static_cast<std::int32_t>(graph.inputs.size());
      parameters.push_back({input(shape), input(shape), input(shape), at});
    }
  }
  std::vector<NumberRef> origins;
  AdamNumbers numbers = adam_numbers(1e-3, 0.9, 0.999, 1e-8, 0, false, 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    graph.numbers.push_back(kDouble);
    origins.push_back({static_cast<std::int32_t>(i), numbers[i]});
    numbers[i] = numbers[i].with_origin(static_cast<int>(i));
  }
  builder.set_context({}, 0, &origins);
  builder.record([&] {
    Tensors hidden{x};
    const std::size_t layers = sizes.size() - 1;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const Tensor h =
          linear(hidden.back(), parameters[2 * layer].value, parameters[2 * layer + 1].value);
      hidden.push_back(layer + 1 < layers ? relu(h) : h);
    }
    const Tensor loss = cross_entropy_loss(hidden.back(), target);
    graph.outputs.push_back({builder.value(loss), -1, 0});
    const std::vector<Type> loss_types{graph.type(builder.value(hidden.back())),
                                       graph.type(builder.value(target))};
    const Tensor one = ones_like(loss);
    Tensor d = gradient("cross_entropy", Attrs().add(std::int64_t{1}).add(std::int64_t{-100}),
                        {hidden.back(), target}, loss, one, loss_types, Type{kFloat, {}});
    Tensors gradients(parameters.size());
    for (std::size_t layer = layers; layer-- > 0;) {
      gradients[2 * layer] = mm(t(d), hidden[layer]);
      gradients[2 * layer + 1] = sum(d, 0);
      if (layer == 0) break;
      const Tensor below = mm(d, parameters[2 * layer].value);
      const Type type = graph.type(builder.value(below));
      d = gradient("relu", {}, {hidden[layer]}, hidden[layer], below, {type}, type);
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      graph.outputs.push_back({builder.value(gradients[i]), -1, 0});
      Parameter& p = parameters[i];
      adam_step_(p.value, gradients[i], p.first, p.second, Tensor(), {},
                 ArrayRef<Scalar>(numbers.data(), numbers.size()));
      graph.outputs.push_back({builder.value(p.value), p.input, 0});
      graph.outputs.push_back({builder.value(p.first), p.input + 1, 0});
      graph.outputs.push_back({builder.value(p.second), p.input + 2, 0});
    }
  });
  return graph;
}

}  // namespace groove::jit
