// Sequential, ModuleList and Functional.
#pragma once

#include "groove/nn/any_module.h"

namespace groove::nn {

class SequentialImpl : public Module {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;
  using OpensCallScope = void;  // its modules' ops take the place of the call

  SequentialImpl();
  SequentialImpl(std::initializer_list<NamedAnyModule> modules);
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules);
  template <typename... Modules,
            typename = std::enable_if_t<
                (sizeof...(Modules) > 0) &&
                (std::is_constructible_v<AnyModule, std::decay_t<Modules>> && ...) &&
                !(std::is_base_of_v<SequentialImpl, std::decay_t<Modules>> && ...)>>
  explicit SequentialImpl(Modules&&... modules) : SequentialImpl() {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  /// The output of each module is the input of the next; the first takes all `inputs`.
  template <typename ReturnType = Tensor, typename... Inputs>
  ReturnType forward(Inputs&&... inputs) {
    std::vector<std::any> erased;
    (erased.emplace_back(std::decay_t<Inputs>(std::forward<Inputs>(inputs))), ...);
    std::any value = run(std::move(erased));
    if (ReturnType* result = std::any_cast<ReturnType>(&value)) return std::move(*result);
    throw Error(
        "Sequential: the last module does not return the type that is asked for; name it: "
        "forward<T>(…)");
  }

  template <typename M, typename = std::enable_if_t<std::is_constructible_v<AnyModule, M&&>>>
  void push_back(M&& module) {
    push_back(std::to_string(modules_.size()), AnyModule(std::forward<M>(module)));
  }
  template <typename M>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), AnyModule(std::forward<M>(module)));
  }
  void push_back(std::string name, AnyModule module);
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin();
  Iterator end();
  ConstIterator begin() const;
  ConstIterator end() const;
  template <typename T>
  T& at(std::size_t index) {
    return checked(index).template get<T>();
  }
  std::shared_ptr<Module> ptr(std::size_t index) const;
  template <typename T>
  std::shared_ptr<T> ptr(std::size_t index) const {
    return checked(index).template ptr<T>();
  }
  std::shared_ptr<Module> operator[](std::size_t index) const;
  std::size_t size() const noexcept;
  bool is_empty() const noexcept { return size() == 0; }
  void pretty_print(std::ostream& stream) const override;

 private:
  std::any run(std::vector<std::any>&& inputs);
  const AnyModule& checked(std::size_t index) const;
  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl = SequentialImpl;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> modules);
};

class ModuleListImpl : public Module {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl();
  template <typename... Modules,
            typename = std::enable_if_t<
                (sizeof...(Modules) > 0) &&
                !(std::is_base_of_v<ModuleListImpl, std::decay_t<Modules>> && ...)>>
  explicit ModuleListImpl(Modules&&... modules) : ModuleListImpl() {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  void push_back(std::shared_ptr<Module> module);
  template <typename M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::shared_ptr<Module>(holder.ptr()));
  }
  template <typename M, typename = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>>
  void push_back(M&& module) {
    push_back(std::shared_ptr<Module>(std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  Iterator begin();
  Iterator end();
  ConstIterator begin() const;
  ConstIterator end() const;
  template <typename T>
  T& at(std::size_t index) {
    return dynamic_cast<T&>(*ptr(index));
  }
  std::shared_ptr<Module> ptr(std::size_t index) const;
  template <typename T>
  std::shared_ptr<T> ptr(std::size_t index) const {
    return std::dynamic_pointer_cast<T>(ptr(index));
  }
  std::shared_ptr<Module> operator[](std::size_t index) const;
  std::size_t size() const noexcept;
  bool is_empty() const noexcept { return size() == 0; }
  void pretty_print(std::ostream& stream) const override;

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};
GROOVE_MODULE(ModuleList);

/// A function of one tensor as a module; further arguments are kept for every call.
class FunctionalImpl : public Module {
 public:
  using Function = std::function<Tensor(const Tensor&)>;
  explicit FunctionalImpl(Function function);
  FunctionalImpl(Tensor (*function)(Arg));
  template <typename F, typename... Args, typename = std::enable_if_t<(sizeof...(Args) > 0)>>
  explicit FunctionalImpl(F function, Args&&... args)
      : FunctionalImpl(Function([function, ... kept = std::decay_t<Args>(std::forward<Args>(args))](
                                    const Tensor& input) { return function(input, kept...); })) {}
  Tensor forward(Tensor input);
  Tensor operator()(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
GROOVE_MODULE(Functional);

}  // namespace groove::nn
