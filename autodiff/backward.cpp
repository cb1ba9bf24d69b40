#include "autodiff/backward.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "autodiff/arithmetic.h"
#include "groove/autograd.h"
#include "groove/ops/complex.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "tracer/calls/tape_hooks.h"

namespace groove {
namespace autodiff {
namespace {

Op big(const char* name) {
  return {.name = name,
          .kind = OpKind::kBig,
          .inputs = -1,
          .outputs = 0,
          .attributes = {{"retain_graph", AttrType::kBool},
                         {"create_graph", AttrType::kBool},
                         {"tensors", AttrType::kInt},
                         {"gradients", AttrType::kInt}},
          .mutates = {},
          .has_inplace = false};
}

const Op& backward_op() {
  static const Op& op = define(big("backward"));
  return op;
}

const Op& grad_op() {
  static const Op& op = define(big("autograd_grad"));
  return op;
}

// The rest of a backward, given what user code in its middle gave.
const Op& resume_op() {
  static const Op& op = define({.name = "backward_resume",
                                .kind = OpKind::kBig,
                                .inputs = -1,
                                .outputs = 0,
                                .mutates = {},
                                .has_inplace = false});
  return op;
}

// There is none: user code threw.
const Op& abandon_op() {
  static const Op& op = define({.name = "backward_abandoned",
                                .kind = OpKind::kBig,
                                .inputs = 0,
                                .outputs = 0,
                                .mutates = {},
                                .has_inplace = false});
  return op;
}

// On the tape; what requires a gradient by its base alone has none.
bool has_place(const TensorImpl& impl) {
  return impl.requires_grad || tracer::has_stale_history(impl);
}

std::string shape_of(const Tensor& tensor) { return to_string(tensor.impl()->geometry.sizes); }

void check_roots(const char* what, ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients) {
  GROOVE_CHECK(gradients.empty() || gradients.size() == tensors.size(),
               "{}: {} tensors but {} gradients; give one for each", what, tensors.size(),
               gradients.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    GROOVE_CHECK(tensors[i].defined(), "{}: tensor {} is undefined", what, i);
    TensorImpl& impl = *tensors[i].impl();
    tracer::settle_flags(impl);
    GROOVE_CHECK(has_place(impl),
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
    GROOVE_CHECK(input.defined() && has_place(*input.impl()),
                 "{}: one of the inputs does not require grad", what);
    run.targets.push_back(gradient_edge(input));
    resolve(run.targets.back());
  }
}

std::shared_ptr<Walk> begin(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs) {
  const AttrReader attr(op, attrs);
  const auto tensors = static_cast<std::size_t>(attr.integer(2));
  const auto gradients = static_cast<std::size_t>(attr.integer(3));
  const char* const what = &op == &grad_op() ? "grad" : "backward";
  BackwardRun run;
  run.retain_graph = attr.boolean(0);
  run.create_graph = attr.boolean(1);
  run.accumulate = &op != &grad_op();
  add_targets(what, run, inputs.slice(tensors + gradients, inputs.size() - tensors - gradients));
  add_roots(run, inputs.slice(0, tensors), inputs.slice(tensors, gradients));
  return std::make_shared<Walk>(std::move(run));
}

PooledVector<Tensor> operands_of(ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients,
                                 ArrayRef<Tensor> inputs) {
  PooledVector<Tensor> operands;
  operands.reserve(tensors.size() + gradients.size() + inputs.size());
  operands.assign(tensors.begin(), tensors.end());
  operands.insert(operands.end(), gradients.begin(), gradients.end());
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  return operands;
}

// An error goes on its way to the program whatever this call meets.
void tell_abandoned(const Site& site) noexcept {
  const Attrs none{};
  LibraryCall call{&abandon_op(), {}, &none, {}, site};
  call.code_role = CodeRole::kAbandons;
  try {
    run_library_call(call, [] {});
  } catch (...) {
  }
}

// Functions and hooks of programs may call backward() themselves, as deep as the stack goes.
class UserCode {
 public:
  UserCode() { ++depth_; }
  ~UserCode() { --depth_; }
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  static void check_stack(const Op& op) {
    constexpr int kDeep = 100;
    constexpr std::ptrdiff_t kLeast = 256 << 10;
    if (depth_ < kDeep) return;
    if (!lowest_) lowest_ = lowest_of_thread();
    const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
    GROOVE_CHECK(!lowest_ || here - lowest_ > kLeast,
                 "{}: called by functions or hooks of calls of its own, {} deep; the stack has no "
                 "room for more",
                 op.name, depth_);
  }

 private:
  static const char* lowest_of_thread() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
    void* lowest = nullptr;
    std::size_t size = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return static_cast<const char*>(lowest);
  }
  static constinit thread_local int depth_;
  static constinit thread_local const char* lowest_;
};
constinit thread_local int UserCode::depth_ = 0;
constinit thread_local const char* UserCode::lowest_ = nullptr;

// One call, or several where user code runs between them.
void drive(const Op& op, ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients, bool retain_graph,
           bool create_graph, ArrayRef<Tensor> inputs, Site site, Tensors* results) {
  UserCode::check_stack(op);
  const PooledVector<Tensor> operands = operands_of(tensors, gradients, inputs);
  const Attrs attrs = Attrs()
                          .add(std::int64_t{retain_graph})
                          .add(std::int64_t{create_graph})
                          .add(static_cast<std::int64_t>(tensors.size()))
                          .add(static_cast<std::int64_t>(gradients.size()));
  std::shared_ptr<Script> script;
  LibraryCall call{&op, operands, &attrs, {}, site};
  call.results = results;
  call.code_role = CodeRole::kWalks;
  call.script = &script;
  run_library_call(call, [&] { run_part(op, attrs, operands, script, results); });
  while (script) {
    std::shared_ptr<Script> stop = std::move(script);
    Tensors given;
    try {
      const AutoGradMode mode(create_graph);
      const UserCode deeper;
      given = call_user_code(*stop->user_code, stop->arguments);
    } catch (...) {
      tell_abandoned(site);
      throw;
    }
    const Attrs none{};
    LibraryCall next{&resume_op(), given, &none, {}, site};
    next.results = results;
    next.code_role = CodeRole::kResumes;
    const TapeNodePtr code = stop->user_code;  // which may have taken itself off
    next.user_code = code.get();
    next.script = &script;
    run_library_call(next, [&] {
      script = std::move(stop);
      run_part(resume_op(), none, given, script, results);
    });
  }
}

}  // namespace

bool run_part(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs,
              std::shared_ptr<Script>& script, Tensors* results) {
  std::shared_ptr<Walk> walk;
  if (&op == &resume_op()) {
    walk = std::static_pointer_cast<Walk>(std::exchange(script->walk, nullptr));
    walk->give(std::move(script->arguments), Tensors(inputs.begin(), inputs.end()));
  } else if (&op == &backward_op() || &op == &grad_op()) {
    walk = begin(op, attrs, inputs);
  } else {
    return false;
  }
  script.reset();
  if (walk->advance()) {
    if (results && !walk->backward().accumulate) *results = walk->backward().captured;
    return true;
  }
  script = std::make_shared<Script>();
  script->user_code = walk->user_code();
  script->arguments = walk->arguments();
  script->walk = walk;
  return true;
}

namespace {

// The tape knows complex tensors by the real ones behind them.
bool any_complex(ArrayRef<Tensor> tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& tensor) { return is_complex_tensor(tensor); });
}
Tensors all_taped(ArrayRef<Tensor> tensors) {
  Tensors result;
  for (const Tensor& tensor : tensors) result.push_back(taped(tensor));
  return result;
}

void check_complex_roots(ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_complex_tensor(tensors[i])) continue;
    GROOVE_CHECK(
        i < gradients.size() && gradients[i].defined(),
        "grad can be computed only for real scalar outputs but got {}; pass a gradient, or "
        "take abs() or real()",
        name(tensors[i].scalar_type()));
    GROOVE_CHECK(is_complex_tensor(gradients[i]),
                 "the gradient of a {} tensor is {}; it must be complex, too",
                 name(tensors[i].scalar_type()), name(gradients[i].scalar_type()));
  }
}

}  // namespace

void record_backward(ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients, bool retain_graph,
                     bool create_graph, ArrayRef<Tensor> inputs, Site site) {
  if (any_complex(tensors) || any_complex(inputs)) {
    check_complex_roots(tensors, gradients);
    return record_backward(all_taped(tensors), all_taped(gradients), retain_graph, create_graph,
                           all_taped(inputs), site);
  }
  check_roots("backward", tensors, gradients);
  const bool has_result = std::any_of(inputs.begin(), inputs.end(), [](const Tensor& input) {
    return input.defined() && !input.is_leaf();
  });
  if (!has_result) {
    drive(backward_op(), tensors, gradients, retain_graph, create_graph, inputs, site, nullptr);
    return;
  }
  // Results among the inputs have no place on the tape that adds up: their gradients are taken, and
  // added here.
  Tensors taken(inputs.size());
  drive(grad_op(), tensors, gradients, retain_graph, create_graph, inputs, site, &taken);
  const AutoGradMode mode(create_graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!taken[i].defined()) continue;
    TensorImpl& impl = *inputs[i].impl();
    use_grad(impl);
    const Tensor before = impl.autograd ? impl.autograd->grad : Tensor();
    set_grad(impl, before.defined() ? before.add(taken[i], 1, site) : taken[i]);
  }
}

}  // namespace autodiff

bool GradMode::is_enabled() { return grad_enabled(); }
void GradMode::set_enabled(bool enabled) { set_grad_enabled(enabled); }

namespace {
constinit thread_local bool is_inference = false;
}
InferenceMode::InferenceMode(bool enabled)
    : AutoGradMode(!enabled), was_enabled_(std::exchange(is_inference, enabled)) {}
InferenceMode::~InferenceMode() { is_inference = was_enabled_; }
bool InferenceMode::is_enabled() { return is_inference; }

namespace autograd {

void backward(const variable_list& tensors, const variable_list& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const variable_list& inputs,
              Site site) {
  const CallFrame frame(site);
  autodiff::record_backward(tensors, grad_tensors, retain_graph.value_or(create_graph),
                            create_graph, inputs, site);
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs, std::optional<bool> retain_graph,
                   bool create_graph, bool allow_unused, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(!inputs.empty(),
               "grad: no inputs; give the tensors whose gradients are wanted, or call backward()");
  if (autodiff::any_complex(outputs) || autodiff::any_complex(inputs)) {
    autodiff::check_complex_roots(outputs, grad_outputs);
    variable_list gradients =
        grad(autodiff::all_taped(outputs), autodiff::all_taped(inputs),
             autodiff::all_taped(grad_outputs), retain_graph, create_graph, allow_unused, site);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_complex_tensor(inputs[i]) && gradients[i].defined())
        gradients[i] = view_as_complex(gradients[i].contiguous(site));
    return gradients;
  }
  autodiff::check_roots("grad", outputs, grad_outputs);
  Tensors gradients(inputs.size());
  autodiff::drive(autodiff::grad_op(), outputs, grad_outputs, retain_graph.value_or(create_graph),
                  create_graph, inputs, site, &gradients);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    GROOVE_CHECK(allow_unused || gradients[i].defined(),
                 "grad: input {} appears to not have been used in the graph; pass "
                 "allow_unused=true if this is meant",
                 i);
  return gradients;
}

}  // namespace autograd
}  // namespace groove
