#include "groove/nn/containers.h"

#include <ostream>

#include "src/core/check.h"

namespace groove::nn {

void ModuleHolderIndicator::throw_empty() {
  throw_error("Accessing empty ModuleHolder: it was made from nullptr; assign a module first");
}

AnyModule::AnyModule() = default;
std::any AnyModule::any_forward(std::vector<std::any> arguments) const {
  GROOVE_CHECK(module_, "AnyModule: forward() of an empty AnyModule; give it a module first");
  return call_(*module_, std::move(arguments));
}

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}

SequentialImpl::SequentialImpl() = default;
SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  for (const NamedAnyModule& named : modules) push_back(named.name(), named.module());
}
SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
  for (auto& item : modules) push_back(item.key(), item.value());
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

std::any SequentialImpl::run(std::vector<std::any>&& inputs) {
  GROOVE_CHECK(!modules_.empty(),
               "Sequential: forward() of an empty Sequential; push_back a module first");
  std::any value = modules_.front().any_forward(std::move(inputs));
  for (std::size_t i = 1; i < modules_.size(); ++i) {
    std::vector<std::any> next;
    next.push_back(std::move(value));
    value = modules_[i].any_forward(std::move(next));
  }
  return value;
}

const AnyModule& SequentialImpl::checked(std::size_t index) const {
  GROOVE_CHECK(index < modules_.size(), "Sequential: index {} is out of range for {} modules",
               index, modules_.size());
  return modules_[index];
}

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

ModuleListImpl::ModuleListImpl() = default;
ModuleListImpl::Iterator ModuleListImpl::begin() { return modules_.begin(); }
ModuleListImpl::Iterator ModuleListImpl::end() { return modules_.end(); }
ModuleListImpl::ConstIterator ModuleListImpl::begin() const { return modules_.begin(); }
ModuleListImpl::ConstIterator ModuleListImpl::end() const { return modules_.end(); }
std::size_t ModuleListImpl::size() const noexcept { return modules_.size(); }
std::shared_ptr<Module> ModuleListImpl::operator[](std::size_t index) const { return ptr(index); }

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(modules_.size()), module);
  modules_.push_back(std::move(module));
}

std::shared_ptr<Module> ModuleListImpl::ptr(std::size_t index) const {
  GROOVE_CHECK(index < modules_.size(), "ModuleList: index {} is out of range for {} modules",
               index, modules_.size());
  return modules_[index];
}

void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {}
FunctionalImpl::FunctionalImpl(Tensor (*function)(Arg))
    : function_([function](const Tensor& x) { return function(x); }) {}
Tensor FunctionalImpl::forward(Tensor input) { return function_(input); }
Tensor FunctionalImpl::operator()(const Tensor& input) { return function_(input); }
void FunctionalImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Functional()";
}

}  // namespace groove::nn
