#include "groove/nn/containers.h"

#include <ostream>

#include "src/core/check.h"

namespace groove::nn {

void SequentialImpl::push_back(std::string name, AnyModule module) {
  GROOVE_CHECK(!module.is_empty(), "Sequential: push_back of an empty module");
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

std::any SequentialImpl::run(std::vector<std::any>&& inputs) {
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
void FunctionalImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Functional()";
}

}  // namespace groove::nn
