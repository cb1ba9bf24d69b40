// AnyModule: a module of any class whose forward() has one signature, called with erased types.
#pragma once

#include <any>
#include <optional>
#include <typeinfo>
#include <vector>

#include "groove/nn/holder.h"

namespace groove::nn {

namespace detail {

template <typename T>
struct IsOptional : std::is_same<T, Tensor> {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
struct ForwardOf;
template <typename R, typename C, typename... Args>
struct ForwardOf<R (C::*)(Args...)> {
  // One call with erased arguments. A trailing Site is not the caller's to give, and a trailing
  // std::optional or Tensor may be left out.
  static std::any call(Module& module, std::vector<std::any>&& given) {
    return unpack(static_cast<C&>(module), given, std::index_sequence_for<Args...>());
  }

 private:
  template <typename Arg>
  static std::decay_t<Arg> take(std::vector<std::any>& given, std::size_t i) {
    using Value = std::decay_t<Arg>;
    if constexpr (std::is_same_v<Value, Site>) {
      return Site::current();
    } else {
      if (i >= given.size()) {
        if constexpr (IsOptional<Value>::value)
          if (i > 0) return Value();
        throw Error("AnyModule: forward() is given too few arguments");
      }
      if (Value* value = std::any_cast<Value>(&given[i])) return std::move(*value);
      throw Error(std::string("AnyModule: argument ") + std::to_string(i) + " of forward() is a " +
                  given[i].type().name() + ", not a " + typeid(Value).name());
    }
  }
  template <std::size_t... I>
  static std::any unpack(C& module, std::vector<std::any>& given, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      module.forward(take<Args>(given, I)...);
      return {};
    } else {
      return std::any(std::decay_t<R>(module.forward(take<Args>(given, I)...)));
    }
  }
};
template <typename R, typename C, typename... Args>
struct ForwardOf<R (C::*)(Args...) const> : ForwardOf<R (C::*)(Args...)> {};

}  // namespace detail

class AnyModule {
 public:
  AnyModule();
  template <typename ModuleType>
  AnyModule(std::shared_ptr<ModuleType> module)
      : module_(module),
        type_(&typeid(ModuleType)),
        call_(&detail::ForwardOf<decltype(&ModuleType::forward)>::call) {
    static_assert(std::is_base_of_v<Module, ModuleType>);
  }
  template <typename ModuleType>
  AnyModule(const ModuleHolder<ModuleType>& holder) : AnyModule(holder.ptr()) {}
  template <typename ModuleType,
            typename = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<ModuleType>>>>
  AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}

  /// Throws groove::Error when empty, or when the types are not those of the module's forward().
  std::any any_forward(std::vector<std::any> arguments) const;
  template <typename ReturnType = Tensor, typename... Args>
  ReturnType forward(Args&&... args) const {
    std::vector<std::any> erased;
    (erased.emplace_back(std::decay_t<Args>(std::forward<Args>(args))), ...);
    std::any result = any_forward(std::move(erased));
    if (ReturnType* value = std::any_cast<ReturnType>(&result)) return std::move(*value);
    throw Error("AnyModule: forward() does not return the type that is asked for");
  }
  /// The module as the class it is; throws groove::Error when it is another.
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Module, T>>>
  T& get() const {
    if (!module_ || typeid(T) != *type_) throw Error("AnyModule: get() of another class");
    return static_cast<T&>(*module_);
  }
  template <typename Holder, typename Contained = typename Holder::ContainedType>
  Holder get() const {
    return Holder(std::static_pointer_cast<Contained>(get<Contained>().shared_from_this()));
  }
  const std::shared_ptr<Module>& ptr() const { return module_; }
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Module, T>>>
  std::shared_ptr<T> ptr() const {
    get<T>();
    return std::static_pointer_cast<T>(module_);
  }
  const std::type_info& type_info() const { return *type_; }
  bool is_empty() const noexcept { return !module_; }

 private:
  std::shared_ptr<Module> module_;
  const std::type_info* type_ = &typeid(void);
  std::any (*call_)(Module&, std::vector<std::any>&&) = nullptr;
};

/// {"name", module}: an element of a named Sequential.
class NamedAnyModule {
 public:
  template <typename M>
  NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(std::forward<M>(module)) {}
  const std::string& name() const { return name_; }
  const AnyModule& module() const { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace groove::nn
