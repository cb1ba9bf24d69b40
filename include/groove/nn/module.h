// nn::Module: a tree of named parameters, buffers and submodules. Works on the stack as well as
// in a shared_ptr.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "groove/ordered_dict.h"
#include "groove/tensor.h"

namespace groove::serialize {
class InputArchive;  // groove/serialize.h
class OutputArchive;
}  // namespace groove::serialize

namespace groove::nn {

class Module;
template <typename Contained>
class ModuleHolder;
class AnyModule;
class AnyValue;
namespace detail {
class Resettable;
struct ErasedForward;
void complete_arguments(Module& module, const std::type_info& type, const ErasedForward& forward,
                        std::vector<AnyValue>& arguments);
}  // namespace detail

class Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction =
      std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  Module();
  explicit Module(std::string name);
  Module(const Module&);
  Module& operator=(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  /// The name given at construction, otherwise that of the class.
  const std::string& name() const noexcept;
  /// A deep copy; throws groove::Error unless the class defines it.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  /// Calls the function with every module of the tree, parents first.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = "");
  void apply(const ConstNamedModuleApplyFunction& function,
             const std::string& name_prefix = "") const;
  /// Throw groove::Error when no shared_ptr owns this module.
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function,
             const std::string& name_prefix = "") const;

  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  /// Throw groove::Error when they include this module and no shared_ptr owns it.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = "", bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  virtual void train(bool on = true);
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }

  /// Moves or casts all parameters and buffers in place; dtypes apply to floating ones only.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking);
  void to(Device device, Site site = Site::current());
  void to(DeviceType device, Site site = Site::current()) { to(Device(device), site); }
  void to(DeviceType device, bool non_blocking) { to(Device(device), non_blocking); }

  virtual void zero_grad(bool set_to_none = true, Site site = Site::current());

  virtual void pretty_print(std::ostream& stream) const;
  virtual bool is_serializable() const { return true; }
  /// Writes parameters and buffers under their names, submodules as nested archives.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Overwrites parameters and buffers once all of the tree is found and fits; otherwise throws
  /// groove::Error and nothing has changed. Entries that the module has not are left out.
  virtual void load(serialize::InputArchive& archive);

  template <typename ModuleType>
  typename ModuleType::ContainedType* as() noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType>
  const typename ModuleType::ContainedType* as() const noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType, typename = std::enable_if_t<std::is_base_of_v<Module, ModuleType>>,
            typename = void>
  ModuleType* as() noexcept {
    return dynamic_cast<ModuleType*>(this);
  }
  template <typename ModuleType, typename = std::enable_if_t<std::is_base_of_v<Module, ModuleType>>,
            typename = void>
  const ModuleType* as() const noexcept {
    return dynamic_cast<const ModuleType*>(this);
  }

  /// Returns the registered tensor. Names must be new, not empty and without a dot.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true,
                             Site site = Site::current());
  Tensor& register_buffer(std::string name, Tensor tensor, Site site = Site::current());
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module,
                                              Site site = Site::current()) {
    add_child(std::move(name), module, site);
    return module;
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> holder,
                                              Site site = Site::current()) {
    return register_module(std::move(name), holder.ptr(), site);
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name,
                                             std::shared_ptr<ModuleType> module) {
    replace_child(name, module);
    return module;
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name,
                                             ModuleHolder<ModuleType> holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name);

 protected:
  /// Made by FORWARD_HAS_DEFAULT_ARGS.
  virtual std::vector<std::pair<unsigned, AnyValue>> _forward_default_args() const;

  OrderedDict<std::string, Tensor> parameters_;
  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;

 private:
  friend std::ostream& operator<<(std::ostream& stream, const Module& module);
  friend class detail::Resettable;
  friend void detail::complete_arguments(Module&, const std::type_info&,
                                         const detail::ErasedForward&, std::vector<AnyValue>&);
  void forget_registrations();
  void copy_state(const Module& source, const std::optional<Device>& device);
  /// Becomes a deep copy of `source`, a module of the same registrations.
  virtual void copy_from(const Module& source, const std::optional<Device>& device);
  void add_child(std::string name, std::shared_ptr<Module> module, const Site& site);
  void replace_child(const std::string& name, std::shared_ptr<Module> module);
  void collect(bool recurse, const std::string& prefix, bool wants_buffers,
               OrderedDict<std::string, Tensor>& found) const;
  void walk(const std::string& prefix, const NamedModulePointerApplyFunction& function) const;
  void print(std::ostream& stream, const std::string& indentation) const;
  void convert(std::optional<Device> device, std::optional<ScalarType> dtype);
  template <typename Visit>
  void each_parameter(const Visit& visit) const;

  mutable std::string name_;
  bool is_training_ = true;
};

std::ostream& operator<<(std::ostream& stream, const Module& module);

}  // namespace groove::nn
