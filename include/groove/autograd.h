// Gradients: recording modes, backward and grad over several tensors, functions written by users.
#pragma once

#include <optional>

#include "groove/tensor.h"

namespace groove {

/// Whether this thread records a tape.
struct GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

/// Sets the recording mode until the end of the scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(previous_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};

struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

/// No recording; with `false`, recording again. What is made meanwhile is a tensor like any other:
/// LibTorch's restrictions of inference tensors do not hold.
class InferenceMode : public AutoGradMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  /// Whether the innermost guard of this thread says so.
  static bool is_enabled();

 private:
  bool was_enabled_;
};

namespace autograd {

using Variable = Tensor;
using variable_list = std::vector<Tensor>;
using groove::AutoGradMode;
using groove::GradMode;
using groove::InferenceMode;

class Node;
/// Where a gradient goes on: the `input_nr`-th result of `function`, which is null where it ends.
struct Edge {
  std::shared_ptr<Node> function;
  std::uint32_t input_nr = 0;
  Tensor source;  // collect_next_edges(): the tensor whose gradient goes there
  bool is_valid() const noexcept { return function || source.defined(); }
};
using edge_list = std::vector<Edge>;

namespace detail {
struct FunctionNode;
}

/// A node of the tape, as Tensor::grad_fn() shows it; and the base of those that a program defines
/// by apply(), gives edges by set_next_edges(collect_next_edges(tensors)) and puts behind its
/// results by set_history() or create_gradient_edge().
class Node {
 public:
  explicit Node(edge_list&& next_edges = {});
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  variable_list operator()(variable_list&& gradients) { return apply(std::move(gradients)); }
  /// "AddBackward0": the operator, in LibTorch's spelling; of a program's own, its type.
  virtual std::string name() const;
  /// One for each input of the operator.
  virtual edge_list next_edges() const;
  Edge next_edge(std::size_t index) const { return next_edges().at(index); }
  std::uint32_t num_outputs() const { return static_cast<std::uint32_t>(next_edges().size()); }
  /// How many results the operator has.
  virtual std::uint32_t num_inputs() const;
  /// The position on the tape of its thread.
  virtual std::uint64_t sequence_nr() const;
  /// Before the node is on the tape; throws groove::Error afterwards.
  void set_next_edges(edge_list&& edges);
  void add_next_edge(Edge edge);
  /// Is the gradient wanted that apply() returns at this position?
  bool should_compute_output(std::size_t index) const;
  bool task_should_compute_output(std::size_t index) const { return should_compute_output(index); }
  /// Called when a backward that retains nothing has used the node up.
  virtual void release_variables() {}

 protected:
  /// The gradients of the edges from those of the results, which may be undefined.
  virtual variable_list apply(variable_list&& gradients) = 0;

 private:
  friend struct detail::FunctionNode;
  edge_list edges_;
  detail::FunctionNode* tape_ = nullptr;  // what stands for it on the tape
};

/// Makes the node the producer of the results, once, and lets go of the tensors of its edges. Does
/// nothing where no gradient flows into one of these. Throws groove::Error for edges that
/// collect_next_edges() did not make.
void set_history(const variable_list& results, const std::shared_ptr<Node>& node,
                 Site site = Site::current());
/// Undefined tensors stand for edges that lead nowhere.
edge_list edges_to(const variable_list& tensors);

/// Adds to `.grad` of every leaf the gradient of the sum of tensors[i] * grad_tensors[i].
/// `grad_tensors` may be empty for tensors of one element. With `inputs` only those accumulate.
/// Throws groove::Error when a tensor has no history, a saved tensor was overwritten, or the
/// graph was freed by an earlier call without retain_graph.
void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
              const variable_list& inputs = {}, Site site = Site::current());

/// The gradients of the outputs with respect to `inputs`, without touching `.grad`. An input the
/// outputs do not depend on throws, or gives an undefined tensor with allow_unused.
variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs = {},
                   std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                   bool allow_unused = false, Site site = Site::current());

}  // namespace autograd
}  // namespace groove

#include "groove/autograd_function.h"  // needs the above
