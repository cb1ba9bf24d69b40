#include "groove/autograd_function.h"

#include <algorithm>

#include "autodiff/arithmetic.h"
#include "autodiff/saved.h"
#include "autodiff/views.h"
#include "src/core/check.h"

namespace groove {

IValue::IValue() = default;
IValue::IValue(Tensor value) : kind_(kTensor), tensor_(std::move(value)) {}
IValue::IValue(std::string value) : kind_(kText), text_(std::move(value)) {}
IValue::IValue(const char* value) : kind_(kText), text_(value) {}
IValue::IValue(std::vector<std::int64_t> value) : kind_(kIntegers), integers_(std::move(value)) {}
IValue::IValue(std::vector<double> value) : kind_(kReals), reals_(std::move(value)) {}
IValue::IValue(const Scalar& number, Kind kind) : kind_(kind), number_(number) {}
IValue::IValue(const IValue&) = default;
IValue::IValue(IValue&&) noexcept = default;
IValue& IValue::operator=(const IValue&) = default;
IValue& IValue::operator=(IValue&&) noexcept = default;
IValue::~IValue() = default;

void IValue::check(Kind kind) const {
  static const char* const names[] = {"nothing",  "an integer", "a double", "a bool",
                                      "a tensor", "a string",   "integers", "doubles"};
  GROOVE_CHECK(kind_ == kind, "IValue: the value is {}, but {} is asked for", names[kind_],
               names[kind]);
}
bool IValue::isNone() const { return kind_ == kNothing; }
std::int64_t IValue::toInt() const {
  check(kInteger);
  return number_.to_int();
}
double IValue::toDouble() const {
  check(kReal);
  return number_.to_double();
}
bool IValue::toBool() const {
  check(kTruth);
  return number_.toBool();
}
const Tensor& IValue::toTensor() const {
  check(kTensor);
  return tensor_;
}
const std::string& IValue::toStringRef() const {
  check(kText);
  return text_;
}
const std::vector<std::int64_t>& IValue::toIntVector() const {
  check(kIntegers);
  return integers_;
}
const std::vector<double>& IValue::toDoubleVector() const {
  check(kReals);
  return reals_;
}

namespace autograd {

using autodiff::SavedValue;

struct AutogradContext::Saved {
  std::unordered_map<std::string, IValue> data;
  variable_list to_save;  // between forward() and the node
  variable_list non_differentiable;
  // Empty places stand for undefined tensors; `output` is where a saved output came from.
  struct Place {
    std::unique_ptr<SavedValue> value;
    int output = -1;
  };
  std::vector<Place> places;
  std::vector<bool> needs;  // per tensor argument
  bool materialize_grads = true;
  TapeNode* node = nullptr;
};

namespace detail {

struct FunctionNode final : autodiff::Node {
  AutogradContext context;
  BackwardFunction backward = nullptr;
  std::vector<autodiff::Edge> own_edges;
  std::vector<Type> types;
  std::vector<Type> output_types;

  const char* name() const override { return "Function"; }
  const Type* edge_type(std::uint32_t edge) const override { return &types[edge]; }
  void release_saved() override {
    is_released = true;
    context.saved_->places.clear();
  }
  bool is_spent() const override { return is_released; }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override {
    if (is_spent()) autodiff::throw_spent();
    variable_list given(cotangents.begin(), cotangents.end());
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!given[i].defined() && context.saved_->materialize_grads)
        given[i] = autodiff::zeros_of(output_types[i]);
    variable_list result = backward(&context, std::move(given));
    GROOVE_CHECK(result.size() >= edge_count || result.size() == 1,
                 "Function: backward() returned {} gradients for {} arguments of forward(); return "
                 "one for each, Variable() where there is none",
                 result.size(), edge_count);
    for (std::size_t i = 0; i < std::min<std::size_t>(result.size(), edge_count); ++i)
      if (needs[i]) gradients[i] = std::move(result[i]);
  }

  // Outputs are kept under other impls: they hold this node.
  void save(const variable_list& outputs) {
    auto& saved = *context.saved_;
    saved.node = this;
    for (const Tensor& tensor : saved.to_save) {
      AutogradContext::Saved::Place place;
      if (tensor.defined()) {
        place.value = std::make_unique<SavedValue>();
        for (std::size_t k = 0; k < outputs.size(); ++k)
          if (outputs[k].is_same(tensor)) place.output = static_cast<int>(k);
        if (place.output >= 0) {
          place.value->save_output(tensor.impl());
          place.value->adopt();
        } else {
          place.value->save(tensor);
        }
      }
      saved.places.push_back(std::move(place));
    }
    saved.to_save.clear();
  }
  bool is_differentiable(const Tensor& output) const {
    const auto& excluded = context.saved_->non_differentiable;
    return is_floating(output.scalar_type()) &&
           std::none_of(excluded.begin(), excluded.end(),
                        [&](const Tensor& t) { return t.is_same(output); });
  }
  void finish() { context.saved_->non_differentiable.clear(); }
  void set_needs(const variable_list& arguments) {
    for (const Tensor& argument : arguments)
      if (argument.defined())
        context.saved_->needs.push_back(autodiff::needs_gradient(*argument.impl()));
  }
};

variable_list apply_function(const char*, const variable_list& arguments, BackwardFunction backward,
                             const std::function<variable_list(AutogradContext*)>& forward) {
  auto* node = new FunctionNode;
  const TapeNodePtr owner(node);
  node->backward = backward;
  node->set_needs(arguments);
  const bool is_recorded =
      grad_enabled() && std::any_of(arguments.begin(), arguments.end(), [](const Tensor& t) {
        return t.defined() && autodiff::needs_gradient(*t.impl());
      });
  if (is_recorded) node->sequence = autodiff::advance_tape_sequence();
  variable_list outputs;
  {
    const NoGradGuard no_grad;
    outputs = forward(&node->context);
  }
  if (!is_recorded) return outputs;
  for (const Tensor& argument : arguments) {
    const bool is_tensor = argument.defined();
    node->own_edges.push_back(is_tensor ? autodiff::gradient_edge(argument) : autodiff::Edge());
    node->types.push_back(is_tensor ? Type{argument.scalar_type(), argument.impl()->geometry.sizes}
                                    : Type());
  }
  node->edges = node->own_edges.data();
  node->edge_count = static_cast<std::uint32_t>(node->own_edges.size());
  node->output_count = static_cast<std::uint32_t>(outputs.size());
  node->save(outputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    Tensor& output = outputs[k];
    node->output_types.push_back(
        output.defined() ? Type{output.scalar_type(), output.impl()->geometry.sizes} : Type());
    if (!output.defined() || !node->is_differentiable(output)) continue;
    const bool is_argument =
        std::any_of(arguments.begin(), arguments.end(),
                    [&](const Tensor& argument) { return argument.is_same(output); });
    if (is_argument) output = output.detach();
    autodiff::set_history(*output.impl(), owner, static_cast<std::uint32_t>(k));
  }
  node->finish();
  return outputs;
}

}  // namespace detail

AutogradContext::AutogradContext() : saved_(std::make_unique<Saved>()), saved_data(saved_->data) {}
AutogradContext::~AutogradContext() = default;

void AutogradContext::save_for_backward(variable_list to_save) {
  saved_->to_save = std::move(to_save);
}

variable_list AutogradContext::get_saved_variables() const {
  variable_list result;
  for (std::size_t i = 0; i < saved_->places.size(); ++i) {
    const Saved::Place& place = saved_->places[i];
    if (!place.value) {
      result.emplace_back();
      continue;
    }
    place.value->check("Function", "saved variable", i);
    Tensor value = place.value->get();
    if (place.output >= 0 && grad_enabled()) {
      const TensorImpl& impl = *value.impl();
      value = Tensor(make_impl(impl.storage, impl.geometry, impl.dtype));
      autodiff::set_history(*value.impl(), TapeNodePtr(saved_->node),
                            static_cast<std::uint32_t>(place.output));
    }
    result.push_back(std::move(value));
  }
  return result;
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  saved_->non_differentiable = outputs;
}

void AutogradContext::set_materialize_grads(bool value) { saved_->materialize_grads = value; }

bool AutogradContext::needs_input_grad(std::size_t index) const {
  return index < saved_->needs.size() && saved_->needs[index];
}

}  // namespace autograd
}  // namespace groove
