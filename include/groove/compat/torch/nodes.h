// Nodes of the tape that programs define: edges from tensors, and what a node keeps of them.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "groove/compat/c10/util/Exception.h"
#include "groove/compat/names.h"

namespace torch::autograd {

namespace detail {
inline void collect(variable_list& found, const Variable& tensor) { found.push_back(tensor); }
inline void collect(variable_list& found, const std::optional<Variable>& tensor) {
  found.push_back(tensor.value_or(Variable()));
}
inline void collect(variable_list& found, groove::TensorList tensors) {
  found.insert(found.end(), tensors.begin(), tensors.end());
}
}  // namespace detail

/// An edge for each tensor, of lists too.
template <typename... Variables>
edge_list collect_next_edges(const Variables&... variables) {
  variable_list found;
  (detail::collect(found, variables), ...);
  return groove::autograd::edges_to(found);
}
inline void create_gradient_edge(Variable& variable, const std::shared_ptr<Node>& function,
                                 groove::Site site = groove::Site::current()) {
  groove::autograd::set_history({variable}, function, site);
}
inline bool any_variable_requires_grad(const variable_list& variables) {
  for (const Variable& variable : variables)
    if (variable.defined() && variable.requires_grad()) return true;
  return false;
}
/// Releases before 2.10 give a node to a std::shared_ptr with it.
inline void deleteNode(Node* node) { delete node; }

/// A tensor that a node needs in apply(). Throws groove::Error when it was overwritten since, or
/// let go of.
class SavedVariable {
 public:
  SavedVariable() = default;
  /// A result of the node itself is kept without its history, which would keep the node.
  SavedVariable(const Variable& variable, bool is_output, bool /*is_inplace_on_view*/ = false)
      : kept_(is_output && variable.defined() ? variable.detach() : variable),
        version_(variable.defined() ? variable._version() : 0),
        is_saved_(true) {}
  SavedVariable(const std::optional<Variable>& variable, bool is_output)
      : SavedVariable(variable.value_or(Variable()), is_output) {}
  Variable unpack(const std::shared_ptr<Node>& = nullptr) const {
    TORCH_CHECK(is_saved_,
                "Trying to backward through the graph a second time (or directly access saved "
                "tensors after they have already been freed)");
    TORCH_CHECK(!kept_.defined() || kept_._version() == version_,
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation");
    return kept_;
  }
  void reset_data() { *this = SavedVariable(); }

 private:
  Variable kept_;
  std::int64_t version_ = 0;
  bool is_saved_ = false;
};

}  // namespace torch::autograd
