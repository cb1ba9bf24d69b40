// AnyModule: a module of any class whose forward() has one signature, called with erased types.
#pragma once

#include <optional>
#include <typeinfo>
#include <vector>

#include "groove/nn/any_value.h"
#include "groove/nn/holder.h"

namespace groove::nn {

namespace detail {

// What an erased call of one class's forward() consists of: the number of its arguments, which of
// them a call may leave out, and the call itself.
struct ErasedForward {
  std::size_t arguments;
  std::size_t required;
  AnyValue (*call)(Module&, std::vector<AnyValue>&&);
};

/// Throws groove::Error unless there are as many arguments as forward() takes; adds those that the
/// module's FORWARD_HAS_DEFAULT_ARGS gives.
void complete_arguments(Module& module, const std::type_info& type, const ErasedForward& forward,
                        std::vector<AnyValue>& arguments);
[[noreturn]] void throw_argument(std::size_t index, const std::type_info& wanted,
                                 const std::type_info& given);

template <typename T>
struct IsOptional : std::is_same<T, Tensor> {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
struct ForwardOf;
template <typename R, typename C, typename... Args>
struct ForwardOf<R (C::*)(Args...)> {
  static_assert(!std::is_void_v<R>, "AnyModule: forward() must return something");

  // A trailing Site is not the caller's to give.
  static constexpr std::size_t count() {
    return (std::size_t{0} + ... + std::size_t{!std::is_same_v<std::decay_t<Args>, Site>});
  }
  // Trailing arguments behind the first one that are a std::optional or a Tensor may be left out.
  static constexpr std::size_t required() {
    constexpr bool kOptional[] = {IsOptional<std::decay_t<Args>>::value..., true};
    std::size_t needed = count();
    while (needed > 1 && kOptional[needed - 1]) --needed;
    return needed;
  }
  static constexpr ErasedForward erased() { return {count(), required(), &call}; }

 private:
  static AnyValue call(Module& module, std::vector<AnyValue>&& given) {
    return unpack(static_cast<C&>(module), given, std::index_sequence_for<Args...>());
  }
  template <typename Arg>
  static std::decay_t<Arg> take(std::vector<AnyValue>& given, std::size_t i) {
    using Value = std::decay_t<Arg>;
    if constexpr (std::is_same_v<Value, Site>) {
      return Site::current();
    } else {
      if constexpr (IsOptional<Value>::value)
        if (i >= given.size()) return Value();
      if (Value* value = given[i].template try_get<Value>()) return std::move(*value);
      throw_argument(i, typeid(Value), given[i].type_info());
    }
  }
  template <std::size_t... I>
  static AnyValue unpack(C& module, std::vector<AnyValue>& given, std::index_sequence<I...>) {
    return AnyValue(module.forward(take<Args>(given, I)...));
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
      : module_(std::move(module)),
        type_(&typeid(ModuleType)),
        forward_(detail::ForwardOf<decltype(&ModuleType::forward)>::erased()) {
    static_assert(std::is_base_of_v<Module, ModuleType>);
  }
  template <typename ModuleType>
  AnyModule(const ModuleHolder<ModuleType>& holder) : AnyModule(holder.ptr()) {}
  template <typename ModuleType,
            typename = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<ModuleType>>>>
  AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}

  /// With a deep copy of the module; empty where this one is.
  AnyModule clone(std::optional<Device> device = std::nullopt) const;

  /// Throws groove::Error when empty, or when the types are not those of the module's forward().
  template <typename... Args>
  AnyValue any_forward(Args&&... args) const {
    std::vector<AnyValue> erased;
    erased.reserve(sizeof...(Args));
    (add(erased, std::forward<Args>(args)), ...);
    return run(std::move(erased));
  }
  template <typename ReturnType = Tensor, typename... Args>
  ReturnType forward(Args&&... args) const {
    return any_forward(std::forward<Args>(args)...).template get<ReturnType>();
  }
  /// The module as the class it is; throws groove::Error when empty or of another class.
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Module, T>>>
  T& get() const {
    check("get", &typeid(T));
    return static_cast<T&>(*module_);
  }
  template <typename Holder, typename Contained = typename Holder::ContainedType>
  Holder get() const {
    return Holder(ptr<Contained>());
  }
  /// Throws groove::Error when empty.
  const std::shared_ptr<Module>& ptr() const {
    check("ptr");
    return module_;
  }
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Module, T>>>
  std::shared_ptr<T> ptr() const {
    check("ptr", &typeid(T));
    return std::static_pointer_cast<T>(module_);
  }
  const std::type_info& type_info() const {
    check("type_info");
    return *type_;
  }
  bool is_empty() const noexcept { return !module_; }

 private:
  template <typename Arg>
  static void add(std::vector<AnyValue>& values, Arg&& arg) {
    if constexpr (std::is_same_v<std::decay_t<Arg>, AnyValue>)
      values.push_back(std::forward<Arg>(arg));
    else
      values.emplace_back(std::forward<Arg>(arg));
  }
  AnyValue run(std::vector<AnyValue>&& arguments) const;
  void check(const char* method, const std::type_info* wanted = nullptr) const;

  std::shared_ptr<Module> module_;
  const std::type_info* type_ = &typeid(void);
  detail::ErasedForward forward_{};
};

/// {"name", module}: an element of a named Sequential.
class NamedAnyModule {
 public:
  template <typename M>
  NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(std::forward<M>(module)) {}
  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace groove::nn

/// In a module class: the values that forward() takes for arguments that a call through AnyModule
/// or Sequential leaves out, as {position, AnyValue(value)} in ascending order.
#define GROOVE_FORWARD_HAS_DEFAULT_ARGS(...) \
  ::groove::nn::ForwardDefaults _forward_default_args() const override { return {__VA_ARGS__}; }
