// Ordinary tensor code as a graph.
//
//   auto graph = jit::capture([&](const Tensor& x) { return relu(net(x)).sum(); }, {x});
//
// The function is called once, with tensors that stand for values and have none: what it does to
// them is recorded. Tensors that it closes over become weights of the graph, under the names of the
// parameters and buffers of a module where the function is one. It must not look at values (item,
// data_ptr, printing) nor depend on them: groove::Error says where. It must not write to tensors
// that it was given, nor call what changes state (backward, zero_grad, an optimizer's step): for
// gradients give the graph to autodiff::differentiate(). if and for run while it is recorded; cond,
// while_loop and scan stay in the graph. What it draws is drawn anew by each run.
#pragma once

#include <functional>

#include "groove/detail/structure.h"
#include "groove/jit/graph.h"

namespace groove::jit {

namespace detail {
using CapturedNames = std::vector<std::pair<std::string, Tensor>>;
Graph capture(const std::function<Tensors(const Tensors&)>& function, const Tensors& inputs,
              const CapturedNames& names, Site site);

// Functions of several tensors are called with them one by one.
template <typename F>
Tensors call_captured(F&& function, const Tensors& inputs) {
  const auto give = [](const auto& result) { return groove::detail::packed(result); };
  const auto expect = [&](std::size_t count) {
    if (inputs.size() != count)
      throw Error("capture: the function takes " + std::to_string(count) + " tensors, not " +
                  std::to_string(inputs.size()));
  };
  if constexpr (std::is_invocable_v<F&, const Tensor&>) {
    expect(1);
    return give(function(inputs[0]));
  } else if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&>) {
    expect(2);
    return give(function(inputs[0], inputs[1]));
  } else if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&, const Tensor&>) {
    expect(3);
    return give(function(inputs[0], inputs[1], inputs[2]));
  } else if constexpr (std::is_invocable_v<F&, const Tensors&>) {
    return give(function(inputs));
  } else {
    static_assert(std::is_invocable_v<F&>,
                  "capture: a function of up to 3 tensors, or of a list of tensors (Tensors)");
    expect(0);
    return give(function());
  }
}

}  // namespace detail

/// `function` is a function object, or a module (what is called is its forward): of up to three
/// tensors or a list of them, giving tensors, lists, tuples or structs of them. Only the types of
/// `inputs` matter.
template <typename F>
Graph capture(F&& function, const Tensors& inputs, Site site = Site::current()) {
  const auto call = [&](const auto& callee, const detail::CapturedNames& names) {
    return detail::capture(
        [&](const Tensors& given) { return detail::call_captured(callee, given); }, inputs, names,
        site);
  };
  if constexpr (requires { function->named_parameters(); }) {
    detail::CapturedNames names;
    for (const auto& item : function->named_parameters())
      names.emplace_back(item.key(), item.value());
    for (const auto& item : function->named_buffers()) names.emplace_back(item.key(), item.value());
    return call(
        [&](const auto&... tensors) -> decltype(function->forward(tensors...)) {
          return function->forward(tensors...);
        },
        names);
  } else {
    return call(function, {});
  }
}

}  // namespace groove::jit
