#include "autodiff/backward.h"

#include "autodiff/arithmetic.h"
#include "groove/autograd.h"
#include "src/core/check.h"

namespace groove {
namespace autodiff {
namespace {

const Op& backward_op() {
  static const Op& op = define({.name = "backward",
                                .kind = OpKind::kBig,
                                .inputs = -1,
                                .outputs = 0,
                                .attributes = {{"retain_graph", AttrType::kBool},
                                               {"create_graph", AttrType::kBool},
                                               {"tensors", AttrType::kInt},
                                               {"gradients", AttrType::kInt}},
                                .mutates = {},
                                .has_inplace = false});
  return op;
}

std::string shape_of(const Tensor& tensor) { return to_string(tensor.impl()->geometry.sizes); }

void check_roots(const char* what, ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients) {
  GROOVE_CHECK(gradients.empty() || gradients.size() == tensors.size(),
               "{}: {} tensors but {} gradients; give one for each", what, tensors.size(),
               gradients.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    GROOVE_CHECK(tensors[i].defined(), "{}: tensor {} is undefined", what, i);
    const TensorImpl& impl = *tensors[i].impl();
    GROOVE_CHECK(needs_gradient(impl),
                 "{}: element {} of tensors does not require grad and does not have a grad_fn; "
                 "call requires_grad_() on what it is computed from, outside NoGradGuard",
                 what, i);
    const Tensor gradient = i < gradients.size() ? gradients[i] : Tensor();
    if (gradient.defined()) {
      GROOVE_CHECK(gradient.impl()->geometry.sizes == impl.geometry.sizes,
                   "{}: gradient {} has shape {}, its tensor {}; they must agree", what, i,
                   shape_of(gradient), shape_of(tensors[i]));
    } else {
      GROOVE_CHECK(impl.numel == 1,
                   "{}: grad can be implicitly created only for scalar outputs, not for shape {}; "
                   "pass a gradient, or reduce with sum() or mean()",
                   what, shape_of(tensors[i]));
    }
  }
}

void add_roots(BackwardRun& run, ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients) {
  const AutoGradMode mode(run.create_graph);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    run.roots.push_back(gradient_edge(tensors[i]));
    run.root_cotangents.push_back(
        i < gradients.size() && gradients[i].defined() ? gradients[i] : ones_like_root(tensors[i]));
  }
}

void add_targets(const char* what, BackwardRun& run, ArrayRef<Tensor> inputs) {
  for (const Tensor& input : inputs) {
    GROOVE_CHECK(input.defined() && needs_gradient(*input.impl()),
                 "{}: one of the inputs does not require grad", what);
    run.targets.push_back(gradient_edge(input));
    resolve(run.targets.back());
  }
}

}  // namespace

void backward_word(ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients, bool retain_graph,
                   bool create_graph, ArrayRef<Tensor> inputs, Site site) {
  check_roots("backward", tensors, gradients);
  Tensors operands(tensors.begin(), tensors.end());
  operands.insert(operands.end(), gradients.begin(), gradients.end());
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  const Attrs attrs = Attrs()
                          .add(std::int64_t{retain_graph})
                          .add(std::int64_t{create_graph})
                          .add(static_cast<std::int64_t>(tensors.size()))
                          .add(static_cast<std::int64_t>(gradients.size()));
  const BigWord word{&backward_op(), operands, &attrs, {}, site};
  run_big_word(word, [&] {
    BackwardRun run;
    run.retain_graph = retain_graph;
    run.create_graph = create_graph;
    add_targets("backward", run, inputs);
    add_roots(run, tensors, gradients);
    autodiff::run(run);
  });
}

}  // namespace autodiff

bool GradMode::is_enabled() { return grad_enabled(); }
void GradMode::set_enabled(bool enabled) { set_grad_enabled(enabled); }

namespace autograd {

void backward(const variable_list& tensors, const variable_list& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const variable_list& inputs,
              Site site) {
  autodiff::backward_word(tensors, grad_tensors, retain_graph.value_or(create_graph), create_graph,
                          inputs, site);
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs, std::optional<bool> retain_graph,
                   bool create_graph, bool allow_unused, Site site) {
  const SiteScope scope(site);
  // The result is used by the host program's tape: pending work must be real first.
  if (auto hook = state_hooks().on_host_access) {
    for (const Tensor& tensor : outputs)
      if (tensor.defined()) hook(*tensor.impl());
    for (const Tensor& tensor : inputs)
      if (tensor.defined()) hook(*tensor.impl());
  }
  autodiff::check_roots("grad", outputs, grad_outputs);
  autodiff::BackwardRun run;
  run.retain_graph = retain_graph.value_or(create_graph);
  run.create_graph = create_graph;
  run.accumulate = false;
  autodiff::add_targets("grad", run, inputs);
  autodiff::add_roots(run, outputs, grad_outputs);
  autodiff::run(run);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    GROOVE_CHECK(allow_unused || run.captured[i].defined(),
                 "grad: input {} appears to not have been used in the graph; pass "
                 "allow_unused=true if this is meant",
                 i);
  return std::move(run.captured);
}

}  // namespace autograd
}  // namespace groove
