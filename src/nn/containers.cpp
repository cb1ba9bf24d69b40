#include "groove/nn/containers.h"

#include <algorithm>
#include <ostream>

#include "groove/autograd.h"
#include "src/core/check.h"
#include "src/core/type_name.h"

namespace groove::nn {
namespace {

void check_index(const char* container, std::size_t index, std::size_t size) {
  GROOVE_CHECK(index < size, "{}: Index out of range: {} of {} elements", container, index, size);
}

Tensor copied(const Tensor& parameter, const std::optional<Device>& device) {
  const NoGradGuard no_grad;
  Tensor copy = parameter.clone();
  if (device) copy = copy.to(*device);
  return copy.set_requires_grad(parameter.requires_grad());
}

void print_parameters(std::ostream& stream, const char* kind,
                      const OrderedDict<std::string, Tensor>& parameters) {
  stream << "torch::nn::" << kind << "(\n";
  for (const auto& item : parameters)
    stream << "(" << item.key() << "): Parameter containing: [" << item.value().scalar_type()
           << " of size " << item.value().sizes() << "]\n";
  stream << ")";
}

}  // namespace

void ModuleHolderIndicator::throw_empty(const Site& site) {
  const CallFrame frame(site, nullptr);
  throw_error("Accessing empty ModuleHolder: it was made from nullptr; assign a module first");
}

std::string detail::type_name(const std::type_info& type) { return groove::type_name(type); }

void AnyValue::throw_cast(const std::type_info& wanted) const {
  throw_error(fmt::format("Attempted to cast AnyValue to {}, but its actual type is {}",
                          detail::type_name(wanted), detail::type_name(type_info())));
}

// ---- AnyModule ----

void detail::complete_arguments(Module& module, const std::type_info& type,
                                const ErasedForward& forward, std::vector<AnyValue>& arguments) {
  const std::size_t given = arguments.size();
  if (given == forward.arguments) return;
  ForwardDefaults defaults = module._forward_default_args();
  const std::size_t required = defaults.empty() ? forward.required : defaults.front().first;
  if (required == forward.arguments) {
    const char* const hint =
        given > required ? ""
                         : " If {0}'s forward() method has default arguments, please make sure the "
                           "forward() method is declared with a corresponding "
                           "`FORWARD_HAS_DEFAULT_ARGS` macro.";
    throw_error(fmt::format(
        fmt::runtime(std::string("{0}'s forward() method expects {1} argument(s), but received "
                                 "{2}.") +
                     hint),
        type_name(type), required, given));
  }
  GROOVE_CHECK(given >= required && given <= forward.arguments,
               "{}'s forward() method expects at least {} argument(s) and at most {} argument(s), "
               "but received {}.",
               type_name(type), required, forward.arguments, given);
  for (auto& [position, value] : defaults)
    if (position >= given) arguments.push_back(std::move(value));
}

void detail::throw_argument(std::size_t index, const std::type_info& wanted,
                            const std::type_info& given) {
  throw_error(fmt::format(
      "forward(): Expected argument #{} to be of type {}, but received value of type {}", index,
      type_name(wanted), type_name(given)));
}

AnyModule::AnyModule() = default;

AnyModule AnyModule::clone(std::optional<Device> device) const {
  AnyModule copy(*this);
  if (module_) copy.module_ = module_->clone(device);
  return copy;
}

void AnyModule::check(const char* method, const std::type_info* wanted) const {
  GROOVE_CHECK(module_, "Cannot call {}() on an empty AnyModule; give it a module first", method);
  GROOVE_CHECK(!wanted || *wanted == *type_, "Attempted to cast module of type {} to type {}",
               detail::type_name(*type_), detail::type_name(*wanted));
}

AnyValue AnyModule::run(std::vector<AnyValue>&& arguments) const {
  check("forward");
  detail::complete_arguments(*module_, *type_, forward_, arguments);
  return forward_.call(*module_, std::move(arguments));
}

// ---- Sequential ----

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}

SequentialImpl::SequentialImpl() = default;
SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  for (const NamedAnyModule& named : modules) push_back(named.name(), named.module());
}
SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
  for (auto& item : modules) push_back(item.key(), std::move(item.value()));
}

void SequentialImpl::reset() {}
std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  for (std::size_t i = 0; i < modules_.size(); ++i)
    copy->push_back(children_[i].key(), modules_[i].clone(device));
  copy->train(is_training());
  return copy;
}

SequentialImpl::Iterator SequentialImpl::begin() { return modules_.begin(); }
SequentialImpl::Iterator SequentialImpl::end() { return modules_.end(); }
SequentialImpl::ConstIterator SequentialImpl::begin() const { return modules_.begin(); }
SequentialImpl::ConstIterator SequentialImpl::end() const { return modules_.end(); }
std::size_t SequentialImpl::size() const noexcept { return modules_.size(); }
std::shared_ptr<Module> SequentialImpl::ptr(std::size_t index) const {
  return checked(index).ptr();
}
std::shared_ptr<Module> SequentialImpl::operator[](std::size_t index) const { return ptr(index); }

void SequentialImpl::push_back(std::string name, AnyModule module) {
  GROOVE_CHECK(!module.is_empty(), "Sequential: push_back of an empty module");
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

const AnyModule& SequentialImpl::first() const {
  GROOVE_CHECK(!modules_.empty(),
               "Cannot call forward() on an empty Sequential; push_back a module first");
  return modules_.front();
}

AnyValue SequentialImpl::run(AnyValue value) const {
  for (std::size_t i = 1; i < modules_.size(); ++i)
    value = modules_[i].any_forward(std::move(value));
  return value;
}

void SequentialImpl::throw_result(const std::type_info& type, const std::type_info& wanted) {
  throw_error(fmt::format(
      "Sequential: The type of the return value is {}, but you asked for type {}; name it: "
      "forward<T>(…)",
      detail::type_name(type), detail::type_name(wanted)));
}

const AnyModule& SequentialImpl::checked(std::size_t index) const {
  check_index("Sequential", index, modules_.size());
  return modules_[index];
}

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

// ---- ModuleList ----

ModuleListImpl::ModuleListImpl() = default;
void ModuleListImpl::reset() {}
std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  copy->train(is_training());
  return copy;
}

ModuleListImpl::Iterator ModuleListImpl::begin() { return modules_.begin(); }
ModuleListImpl::Iterator ModuleListImpl::end() { return modules_.end(); }
ModuleListImpl::ConstIterator ModuleListImpl::begin() const { return modules_.begin(); }
ModuleListImpl::ConstIterator ModuleListImpl::end() const { return modules_.end(); }
std::size_t ModuleListImpl::size() const noexcept { return modules_.size(); }
std::shared_ptr<Module> ModuleListImpl::ptr(std::size_t index) const { return checked(index); }
std::shared_ptr<Module> ModuleListImpl::operator[](std::size_t index) const { return ptr(index); }

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(modules_.size()), module);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::insert(std::size_t index, std::shared_ptr<Module> module) {
  GROOVE_CHECK(index <= modules_.size(), "ModuleList: Index out of range: {} of {} modules", index,
               modules_.size());
  push_back(std::move(module));
  std::rotate(modules_.begin() + static_cast<std::ptrdiff_t>(index), modules_.end() - 1,
              modules_.end());
  for (std::size_t i = index; i < modules_.size(); ++i)
    replace_module(std::to_string(i), modules_[i]);
}

const std::shared_ptr<Module>& ModuleListImpl::checked(std::size_t index) const {
  check_index("ModuleList", index, modules_.size());
  return modules_[index];
}

void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

void detail::throw_cast(const std::string& key, const Module& module,
                        const std::type_info& wanted) {
  throw_error(
      fmt::format("Unable to cast module[{}], a {}, to {}", key, module.name(), type_name(wanted)));
}

// ---- ModuleDict ----

ModuleDictImpl::ModuleDictImpl() = default;
ModuleDictImpl::ModuleDictImpl(const Pairs& modules) { update(modules); }
ModuleDictImpl::ModuleDictImpl(const Modules& modules) { update(modules); }
void ModuleDictImpl::reset() {}
std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& child : children_) copy->set(child.key(), child.value()->clone(device));
  copy->train(is_training());
  return copy;
}

ModuleDictImpl::Pairs ModuleDictImpl::items() const {
  Pairs pairs;
  for (const auto& child : children_) pairs.push_back(child.pair());
  return pairs;
}
std::vector<std::string> ModuleDictImpl::keys() const { return children_.keys(); }
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return children_.values(); }
ModuleDictImpl::Iterator ModuleDictImpl::begin() { return children_.begin(); }
ModuleDictImpl::Iterator ModuleDictImpl::end() { return children_.end(); }
ModuleDictImpl::ConstIterator ModuleDictImpl::begin() const { return children_.begin(); }
ModuleDictImpl::ConstIterator ModuleDictImpl::end() const { return children_.end(); }
std::size_t ModuleDictImpl::size() const noexcept { return children_.size(); }
bool ModuleDictImpl::contains(const std::string& key) const noexcept {
  return children_.contains(key);
}
std::shared_ptr<Module> ModuleDictImpl::operator[](const std::string& key) const {
  return children_[key];
}

void ModuleDictImpl::clear() {
  for (const std::string& key : keys()) unregister_module(key);
}
std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = (*this)[key];
  unregister_module(key);
  return module;
}
void ModuleDictImpl::update(const Pairs& modules) {
  for (const auto& [key, module] : modules) set(key, module);
}
void ModuleDictImpl::set(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key))
    replace_module(key, std::move(module));
  else
    register_module(key, std::move(module));
}
void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleDict"; }

// ---- ParameterList ----

ParameterListImpl::ParameterListImpl() = default;
void ParameterListImpl::reset() {}
std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  for (const Item& item : parameters_) copy->append(copied(item.value(), device));
  copy->train(is_training());
  return copy;
}

void ParameterListImpl::append(const Tensor& parameter) {
  register_parameter(std::to_string(size()), parameter, parameter.requires_grad());
}
ParameterListImpl::Iterator ParameterListImpl::begin() { return parameters_.begin(); }
ParameterListImpl::Iterator ParameterListImpl::end() { return parameters_.end(); }
ParameterListImpl::ConstIterator ParameterListImpl::begin() const { return parameters_.begin(); }
ParameterListImpl::ConstIterator ParameterListImpl::end() const { return parameters_.end(); }
std::size_t ParameterListImpl::size() const noexcept { return parameters_.size(); }
const Tensor& ParameterListImpl::at(std::size_t index) const {
  check_index("ParameterList", index, size());
  return parameters_[index].value();
}
Tensor& ParameterListImpl::at(std::size_t index) {
  return const_cast<Tensor&>(std::as_const(*this).at(index));
}
void ParameterListImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "ParameterList", parameters_);
}

// ---- ParameterDict ----

ParameterDictImpl::ParameterDictImpl() = default;
ParameterDictImpl::ParameterDictImpl(const Parameters& parameters) {
  for (const auto& item : parameters) insert(item.key(), item.value());
}
void ParameterDictImpl::reset() {}
std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>();
  for (const auto& item : parameters_) copy->insert(item.key(), copied(item.value(), device));
  copy->train(is_training());
  return copy;
}

Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& parameter) {
  return register_parameter(key, parameter, parameter.requires_grad());
}
Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor parameter = get(key);
  parameters_.erase(key);
  return parameter;
}
void ParameterDictImpl::set(const std::string& key, const Tensor& parameter) {
  get(key) = parameter;
}
void ParameterDictImpl::clear() { parameters_.clear(); }
std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }
std::vector<Tensor> ParameterDictImpl::values() const { return parameters_.values(); }
ParameterDictImpl::Iterator ParameterDictImpl::begin() { return parameters_.begin(); }
ParameterDictImpl::Iterator ParameterDictImpl::end() { return parameters_.end(); }
ParameterDictImpl::ConstIterator ParameterDictImpl::begin() const { return parameters_.begin(); }
ParameterDictImpl::ConstIterator ParameterDictImpl::end() const { return parameters_.end(); }
std::size_t ParameterDictImpl::size() const noexcept { return parameters_.size(); }
bool ParameterDictImpl::contains(const std::string& key) const noexcept {
  return parameters_.contains(key);
}
Tensor& ParameterDictImpl::get(const std::string& key) { return parameters_[key]; }
const Tensor& ParameterDictImpl::get(const std::string& key) const { return parameters_[key]; }
void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "ParameterDict", parameters_);
}

// ---- Functional ----

void FunctionalImpl::reset() {}
FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {}
FunctionalImpl::FunctionalImpl(Tensor (*function)(Arg))
    : function_([function](const Tensor& x) { return function(x); }) {}
Tensor FunctionalImpl::forward(Tensor input) { return function_(input); }
Tensor FunctionalImpl::operator()(const Tensor& input) { return function_(input); }
void FunctionalImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Functional()";
}

template class Cloneable<SequentialImpl>;
template class Cloneable<ModuleListImpl>;
template class Cloneable<ModuleDictImpl>;
template class Cloneable<ParameterListImpl>;
template class Cloneable<ParameterDictImpl>;
template class Cloneable<FunctionalImpl>;

}  // namespace groove::nn
