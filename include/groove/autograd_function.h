// autograd::Function: an op whose gradient the user writes.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groove/autograd.h"
#include "groove/detail/owned.h"
#include "groove/ivalue.h"

namespace groove {

namespace autograd {

using tensor_list = variable_list;
using IndexRange = std::pair<std::size_t, std::size_t>;  // [first, second)

namespace detail {
struct FunctionNode;
}

/// What forward() leaves for backward().
class AutogradContext {
 public:
  AutogradContext();
  ~AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Inputs or outputs of forward(); other values belong in saved_data.
  void save_for_backward(variable_list to_save);
  /// Throws groove::Error when one was overwritten since.
  variable_list get_saved_variables() const;
  void mark_non_differentiable(const variable_list& outputs);
  /// The arguments that forward() changes in place; it must return them.
  void mark_dirty(const variable_list& inputs);
  /// Whether undefined gradients reach backward() as zeros (the default).
  void set_materialize_grads(bool value);
  /// Is the gradient of the `index`-th argument that is a tensor wanted?
  bool needs_input_grad(std::size_t index) const;
  /// … of any in the ranges [first, second)?
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

 private:
  friend struct detail::FunctionNode;
  struct Saved;
  groove::detail::Owned<Saved> saved_;

 public:
  std::unordered_map<std::string, IValue>& saved_data;  // values that are no tensors
};

namespace detail {

using BackwardFunction = variable_list (*)(AutogradContext* context, variable_list gradients);
// What forward() is called with: a place for each argument, one for each tensor of a TensorList.
struct FunctionArguments {
  variable_list tensors;
  std::vector<bool> are_tensors;

  void add(const Tensor& tensor) {
    tensors.push_back(tensor);
    are_tensors.push_back(true);
  }
  void add(const std::optional<Tensor>& tensor) { add(tensor ? *tensor : Tensor()); }
  void add(TensorList list) {
    for (const Tensor& tensor : list) add(tensor);
  }
  void add_other() {
    tensors.emplace_back();
    are_tensors.push_back(false);
  }
};

/// Runs `forward` without a tape and puts its outputs on it.
variable_list apply_function(const char* name, const FunctionArguments& arguments,
                             BackwardFunction backward,
                             const std::function<variable_list(AutogradContext*)>& forward);

}  // namespace detail

/// Derive as `struct F : Function<F>` with static forward(AutogradContext*, args...) and
/// static backward(AutogradContext*, tensor_list) giving one gradient per argument (Variable()
/// for those that are no tensors); call F::apply(args...). An argument that is a TensorList counts
/// as its tensors; in LibTorch, and so here, a std::vector of tensors is an argument like a number,
/// through which no gradient passes.
template <typename T>
struct Function {
  template <typename X = T, typename... Args>
  static auto apply(Args&&... args) {
    using Result =
        decltype(X::forward(static_cast<AutogradContext*>(nullptr), std::forward<Args>(args)...));
    detail::FunctionArguments arguments;
    (add_argument(arguments, args), ...);
    variable_list outputs = detail::apply_function(
        "Function", arguments,
        [](AutogradContext* context, variable_list gradients) {
          return variable_list(X::backward(context, std::move(gradients)));
        },
        [&](AutogradContext* context) {
          if constexpr (std::is_same_v<std::decay_t<Result>, Tensor>)
            return variable_list{X::forward(context, std::forward<Args>(args)...)};
          else
            return variable_list(X::forward(context, std::forward<Args>(args)...));
        });
    if constexpr (std::is_same_v<std::decay_t<Result>, Tensor>)
      return outputs[0];
    else
      return outputs;
  }

 private:
  template <typename Value>
  static void add_argument(detail::FunctionArguments& arguments, const Value& value) {
    if constexpr (std::is_same_v<Value, Tensor> || std::is_same_v<Value, TensorList> ||
                  std::is_same_v<Value, std::optional<Tensor>>)
      arguments.add(value);
    else
      arguments.add_other();
  }
};

}  // namespace autograd
}  // namespace groove
