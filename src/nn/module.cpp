#include "groove/nn/module.h"

#include <new>
#include <ostream>
#include <typeinfo>

#include "autodiff/clear_gradients.h"
#include "groove/autograd.h"
#include "groove/detail/call_scope.h"
#include "groove/nn/any_value.h"
#include "groove/nn/cloneable.h"
#include "src/core/autograd_meta.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/dispatch.h"
#include "src/core/pooled.h"

namespace groove {
namespace detail {

static_assert(sizeof(SiteScope) <= 32);
CallScope::CallScope(const Site& site, const char* name) { new (scope_) SiteScope(site, name); }
CallScope::~CallScope() { std::launder(reinterpret_cast<SiteScope*>(scope_))->~SiteScope(); }
static_assert(sizeof(CallFrame) <= 24);
CallPlace::CallPlace(const Site& site, const char* name) { new (frame_) CallFrame(site, name); }
CallPlace::~CallPlace() { std::launder(reinterpret_cast<CallFrame*>(frame_))->~CallFrame(); }

}  // namespace detail

namespace nn {
namespace {

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

// One object shared by several modules (tied weights) appears once in parameters().
bool is_known(const std::vector<Tensor>& list, const Tensor& tensor) {
  for (const Tensor& known : list)
    if (known.is_same(tensor)) return true;
  return false;
}

void check_name(const char* what, const std::string& name) {
  GROOVE_CHECK(!name.empty(), "{} name must not be empty", what);
  GROOVE_CHECK(name.find('.') == std::string::npos, "{} name must not contain a dot (got '{}')",
               what, name);
}

// As the user holds it.
std::shared_ptr<Module> owner_of(const Module& module) {
  auto owner = const_cast<Module&>(module).weak_from_this().lock();
  GROOVE_CHECK(owner,
               "{}: It looks like you attempted to retrieve your top-level module as a shared_ptr, "
               "but it is not stored in a shared_ptr. Use std::make_shared<{}> instead of creating "
               "your module on the stack, or pass include_self=false",
               module.name(), module.name());
  return owner;
}

const Op& zero_grad_op() {
  static const Op& op = autodiff::define_clearing("module_zero_grad");
  return op;
}

}  // namespace

Module::Module() : Module(std::string()) {}
Module::Module(std::string name)
    : parameters_("Parameter"),
      buffers_("Buffer"),
      children_("Submodule"),
      name_(std::move(name)) {}
Module::Module(const Module&) = default;
Module& Module::operator=(const Module&) = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

const std::string& Module::name() const noexcept {
  if (!name_.empty()) return name_;
  // The library's own have LibTorch's names, as everything that modules print.
  constexpr std::string_view kOwn = "groove::";
  name_ = detail::type_name(typeid(*this));
  if (name_.starts_with(kOwn)) name_.replace(0, kOwn.size(), "torch::");
  return name_;
}

ForwardDefaults Module::_forward_default_args() const { return {}; }

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  throw_error(fmt::format(
      "clone() has not been implemented for {}. Subclass nn::Cloneable<{}> instead of nn::Module "
      "to inherit the ability to clone, or make a new module and copy its parameters",
      name(), name()));
}

std::shared_ptr<Module> detail::Resettable::finish_clone(
    Resettable* copy, const std::optional<Device>& device) const {
  std::shared_ptr<Module> owner(copy);
  copy->forget_registrations();
  copy->reset();
  owner->copy_state(*this, device);
  return owner;
}

std::shared_ptr<Module> detail::Resettable::clone_like_this(
    const Module& source, const std::optional<Device>& device) const {
  std::shared_ptr<Module> copy = source.clone(device);
  const Module& made = *copy;
  GROOVE_CHECK(typeid(made) == typeid(*this),
               "clone: Attempted to clone submodule, but it is of a different type than the "
               "submodule it was to be cloned into: {} and {}",
               source.name(), name());
  return copy;
}

void Module::forget_registrations() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
}

// The data is new, so that neither writes to the other's.
void Module::copy_state(const Module& source, const std::optional<Device>& device) {
  const auto copy_all = [&](auto& mine, const auto& theirs, const char* what, const char* call) {
    GROOVE_CHECK(mine.keys() == theirs.keys(),
                 "clone: The cloned module {} does not have the same {} as the original module "
                 "after calling reset(): {} and {}. Are you sure you called {}() inside reset() "
                 "and not the constructor?",
                 name(), what, mine.size(), theirs.size(), call);
    for (auto& item : mine) {
      const Tensor& value = theirs[item.key()];
      GROOVE_CHECK(item.value().defined() == value.defined(),
                   "clone: {} '{}' is undefined in one of the two modules", what, item.key());
      if (!value.defined()) continue;
      const NoGradGuard no_grad;
      Tensor data = value.detach().clone();
      item.value().set_data(device ? data.to(*device) : data);
      item.value().set_requires_grad(value.requires_grad());
    }
  };
  copy_all(parameters_, source.parameters_, "number of parameters", "register_parameter");
  copy_all(buffers_, source.buffers_, "number of buffers", "register_buffer");
  is_training_ = source.is_training_;
  GROOVE_CHECK(children_.keys() == source.children_.keys(),
               "clone: The cloned module {} does not have the same number of child modules as the "
               "original module after calling reset(): {} and {}. Are you sure you called "
               "register_module() inside reset() and not the constructor?",
               name(), children_.size(), source.children_.size());
  for (auto& child : children_) child.value()->copy_from(*source.children_[child.key()], device);
}

void Module::copy_from(const Module& source, const std::optional<Device>& device) {
  copy_state(source, device);
}

void Module::walk(const std::string& prefix,
                  const NamedModulePointerApplyFunction& function) const {
  for (const auto& child : children_) {
    const std::string name = joined(prefix, child.key());
    function(name, child.value());
    child.value()->walk(name, function);
  }
}

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  walk("", [&](const std::string&, const auto& module) { function(*module); });
}

void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  walk("", [&](const std::string&, const auto& module) { function(*module); });
}

void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  walk(name_prefix, [&](const std::string& name, const auto& module) { function(name, *module); });
}

void Module::apply(const ConstNamedModuleApplyFunction& function,
                   const std::string& name_prefix) const {
  function(name_prefix, *this);
  walk(name_prefix, [&](const std::string& name, const auto& module) { function(name, *module); });
}

void Module::apply(const ModulePointerApplyFunction& function) const {
  function(owner_of(*this));
  walk("", [&](const std::string&, const auto& module) { function(module); });
}

void Module::apply(const NamedModulePointerApplyFunction& function,
                   const std::string& name_prefix) const {
  function(name_prefix, owner_of(*this));
  walk(name_prefix, function);
}

void Module::collect(bool recurse, const std::string& prefix, bool wants_buffers,
                     OrderedDict<std::string, Tensor>& found) const {
  for (const auto& item : wants_buffers ? buffers_ : parameters_)
    if (item.value().defined()) found.insert(joined(prefix, item.key()), item.value());
  if (!recurse) return;
  for (const auto& child : children_)
    child.value()->collect(recurse, joined(prefix, child.key()), wants_buffers, found);
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> found;
  collect(recurse, "", false, found);
  return found;
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> found;
  collect(recurse, "", true, found);
  return found;
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  std::vector<Tensor> result;
  for (const auto& item : named_parameters(recurse))
    if (!is_known(result, item.value())) result.push_back(item.value());
  return result;
}

std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(
    const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> found;
  if (include_self) found.insert(name_prefix, owner_of(*this));
  walk(name_prefix,
       [&](const std::string& name, const auto& module) { found.insert(name, module); });
  return found;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  return children_;
}

void Module::train(bool on) {
  for (auto& child : children_) child.value()->train(on);
  is_training_ = on;
}

void Module::convert(std::optional<Device> device, std::optional<ScalarType> dtype) {
  GROOVE_CHECK(!dtype || is_floating(*dtype),
               "Module::to: {} is not a floating dtype; parameters cannot become integers",
               groove::name(dtype.value_or(kFloat)));
  for (auto& child : children_) child.value()->convert(device, dtype);
  const auto convert_one = [&](Tensor& tensor) {
    if (!tensor.defined()) return;
    const bool casts = dtype && is_floating(tensor.scalar_type());
    const Device to_device = device.value_or(tensor.device());
    const ScalarType to_dtype = casts ? *dtype : tensor.scalar_type();
    if (to_device == tensor.device() && to_dtype == tensor.scalar_type()) return;
    const NoGradGuard no_grad;
    tensor.set_data(tensor.to(to_device, to_dtype));
  };
  for (auto& item : parameters_) convert_one(item.value());
  for (auto& item : buffers_) convert_one(item.value());
}

void Module::to(Device device, ScalarType dtype, bool) { convert(device, dtype); }
void Module::to(ScalarType dtype, bool) { convert(std::nullopt, dtype); }
void Module::to(Device device, bool) { convert(device, std::nullopt); }
void Module::to(Device device, Site site) {
  const CallFrame frame(site);
  to(device, false);
}

template <typename Visit>
void Module::each_parameter(const Visit& visit) const {
  for (const auto& item : parameters_) visit(item.value());
  for (const auto& child : children_) child.value()->each_parameter(visit);
}

void Module::zero_grad(bool set_to_none, Site site) {
  const CallFrame frame(site);
  PooledVector<TensorImpl*> leaves;
  each_parameter([&leaves](const Tensor& parameter) { leaves.push_back(taped(parameter).impl()); });
  autodiff::clear_gradients(zero_grad_op(), leaves, set_to_none, site);
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad, Site site) {
  const CallFrame frame(site);
  check_name("Parameter", name);
  GROOVE_CHECK(!tensor.defined() || is_floating(taped(tensor).scalar_type()) || !requires_grad,
               "register_parameter: '{}' is {}; only floating-point tensors can require a "
               "gradient, pass requires_grad=false",
               name, groove::name(tensor.scalar_type()));
  if (tensor.defined()) tensor.set_requires_grad(requires_grad);
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor, Site site) {
  const CallFrame frame(site);
  check_name("Buffer", name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module, const Site& site) {
  const CallFrame frame(site, "register_module");
  check_name("Submodule", name);
  GROOVE_CHECK(module, "register_module: '{}' is an empty pointer", name);
  children_.insert(std::move(name), std::move(module));
}

void Module::replace_child(const std::string& name, std::shared_ptr<Module> module) {
  children_[name] = std::move(module);
}

void Module::unregister_module(const std::string& name) {
  GROOVE_CHECK(children_.contains(name), "No Module with name `{}` is registered", name);
  children_.erase(name);
}

void Module::pretty_print(std::ostream& stream) const { stream << name(); }

void Module::print(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  stream << "(\n";
  const std::string inner = indentation + "  ";
  for (const auto& child : children_) {
    stream << inner << "(" << child.key() << "): ";
    child.value()->print(stream, inner);
    stream << "\n";
  }
  stream << indentation << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.print(stream, "");
  return stream;
}

}  // namespace nn
}  // namespace groove
