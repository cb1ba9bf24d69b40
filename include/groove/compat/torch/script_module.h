// torch::jit as programs name it. Groove runs no TorchScript: a module can be declared, and loading
// one throws.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groove/compat/names.h"

namespace torch::jit {

using groove::IValue;
using Stack = std::vector<IValue>;
using CompilationUnit = groove::serialize::CompilationUnit;

namespace detail {
[[noreturn]] inline void throw_no_script(const char* name) {
  throw groove::Error(std::string("torch::jit::") + name +
                      ": Groove runs no TorchScript; write the module in C++ and load its weights, "
                      "saved in Python by torch.save(model.state_dict(), path), with torch::load");
}
}  // namespace detail

/// A type's name with its namespaces, as module types tell it.
class QualifiedName {
 public:
  explicit QualifiedName(std::string name) : name_(std::move(name)) {}
  const std::string& qualifiedName() const { return name_; }
  std::string name() const { return name_.substr(name_.rfind('.') + 1); }

 private:
  std::string name_;
};
struct ClassType {
  std::optional<QualifiedName> name() const { return type_name; }
  std::optional<QualifiedName> type_name;
};

/// A scripted module: empty, as there is no way to make another one.
struct Module {
  Module() = default;
  explicit Module(const std::string& name) : name_(name) {}
  IValue forward(Stack, const std::unordered_map<std::string, IValue>& = {}) {
    detail::throw_no_script("Module::forward");
  }
  template <typename... Args>
  IValue operator()(Args&&...) {
    detail::throw_no_script("Module::forward");
  }
  template <typename... Args>
  IValue run_method(const std::string&, Args&&...) {
    detail::throw_no_script("Module::run_method");
  }
  struct Method {
    template <typename... Args>
    IValue operator()(Args&&...) const {
      detail::throw_no_script("Method");
    }
  };
  Method get_method(const std::string&) const { detail::throw_no_script("Module::get_method"); }
  struct Attribute;
  Attribute attr(const std::string&) const;
  bool hasattr(const std::string&) const { return false; }
  std::shared_ptr<ClassType> type() const {
    return std::make_shared<ClassType>(ClassType{QualifiedName(name_)});
  }
  void save(const std::string&) const { detail::throw_no_script("Module::save"); }
  void save(std::ostream&) const { detail::throw_no_script("Module::save"); }
  void eval() {}
  void train(bool = true) {}
  bool is_training() const { return false; }
  void to(Device, ScalarType, bool = false) {}
  void to(ScalarType, bool = false) {}
  void to(Device, bool = false) {}
  void to(DeviceType, bool = false) {}
  std::vector<Tensor> parameters(bool = true) const { return {}; }
  std::vector<Tensor> buffers(bool = true) const { return {}; }
  struct NamedTensor {
    std::string name;
    Tensor value;
  };
  std::vector<NamedTensor> named_parameters(bool = true) const { return {}; }
  std::vector<NamedTensor> named_buffers(bool = true) const { return {}; }
  struct NamedAttribute {
    std::string name;
    IValue value;
  };
  std::vector<NamedAttribute> named_attributes(bool = true) const { return {}; }
  struct NamedModule;
  std::vector<NamedModule> named_children() const;
  std::vector<NamedModule> named_modules() const;
  std::vector<Module> children() const { return {}; }
  std::vector<Module> modules() const { return {}; }
  Module clone() const { return *this; }
  Module copy() const { return *this; }
  Module deepcopy() const { return *this; }
  void dump(bool, bool, bool) const {}

 private:
  std::string name_;
};
struct Module::Attribute : IValue {
  Module toModule() const { detail::throw_no_script("IValue::toModule"); }
};
inline Module::Attribute Module::attr(const std::string&) const {
  detail::throw_no_script("Module::attr");
}
struct Module::NamedModule {
  std::string name;
  Module value;
};
inline std::vector<Module::NamedModule> Module::named_children() const { return {}; }
inline std::vector<Module::NamedModule> Module::named_modules() const { return {}; }

inline Module load(const std::string&, std::optional<Device> = std::nullopt, bool = true) {
  detail::throw_no_script("load");
}
inline Module load(std::istream&, std::optional<Device> = std::nullopt, bool = true) {
  detail::throw_no_script("load");
}
inline Module freeze(const Module&) { detail::throw_no_script("freeze"); }
inline Module optimize_for_inference(const Module&) {
  detail::throw_no_script("optimize_for_inference");
}
inline void setGraphExecutorOptimize(bool) {}
inline void getProfilingMode() {}

namespace script {
using Module = jit::Module;
}

}  // namespace torch::jit

namespace torch::script {
using Module = jit::Module;
}
