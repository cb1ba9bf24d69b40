// Containers of modules (Sequential, ModuleList, ModuleDict) and parameters (ParameterList,
// ParameterDict), and Functional.
#pragma once

#include "groove/nn/any_module.h"
#include "groove/nn/cloneable.h"

namespace groove::nn {

namespace detail {
[[noreturn]] void throw_cast(const std::string& key, const Module& module,
                             const std::type_info& wanted);
template <typename T, typename M>
auto& module_as(M& module, const std::string& key) {
  if (auto* found = module.template as<T>()) return *found;
  throw_cast(key, module, typeid(T));
}
template <typename T, typename M>
auto& module_as(M& module, std::size_t index) {
  return module_as<T>(module, std::to_string(index));
}
}  // namespace detail

/// Modules in a row.
class SequentialImpl : public Cloneable<SequentialImpl> {
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
  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  /// The output of each module is the input of the next; the first takes all `inputs`.
  template <typename ReturnType = Tensor>
  ReturnType forward(Site site = Site::current()) {
    const groove::detail::CallScope scope(site);
    return forward_all<ReturnType>();
  }
  template <typename ReturnType = Tensor, typename A>
  ReturnType forward(A&& a, Site site = Site::current()) {
    const groove::detail::CallScope scope(site);
    return forward_all<ReturnType>(std::forward<A>(a));
  }
  template <typename ReturnType = Tensor, typename A, typename B>
  ReturnType forward(A&& a, B&& b, Site site = Site::current()) {
    const groove::detail::CallScope scope(site);
    return forward_all<ReturnType>(std::forward<A>(a), std::forward<B>(b));
  }
  template <typename ReturnType = Tensor, typename A, typename B, typename C, typename... More>
  ReturnType forward(A&& a, B&& b, C&& c, More&&... more) {
    return forward_all<ReturnType>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
                                   std::forward<More>(more)...);
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
  /// As their class; throw groove::Error when the index is out of range or the class another.
  template <typename T>
  T& at(std::size_t index, Site site = Site::current()) {
    const groove::detail::CallPlace place(site, "at");
    return checked(index).template get<T>();
  }
  template <typename T>
  const T& at(std::size_t index, Site site = Site::current()) const {
    const groove::detail::CallPlace place(site, "at");
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
  template <typename ReturnType, typename... Inputs>
  ReturnType forward_all(Inputs&&... inputs) {
    AnyValue value = run(first().any_forward(std::forward<Inputs>(inputs)...));
    if (ReturnType* result = value.template try_get<ReturnType>()) return std::move(*result);
    throw_result(value.type_info(), typeid(ReturnType));
  }
  const AnyModule& first() const;
  AnyValue run(AnyValue value) const;
  const AnyModule& checked(std::size_t index) const;
  [[noreturn]] static void throw_result(const std::type_info& type, const std::type_info& wanted);
  std::vector<AnyModule> modules_;
};
extern template class Cloneable<SequentialImpl>;

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl = SequentialImpl;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> modules);
};

/// Modules by index, without a forward() of its own.
class ModuleListImpl : public Cloneable<ModuleListImpl> {
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
  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

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
  /// Before the module at `index`, which may be size(); the later ones move up.
  void insert(std::size_t index, std::shared_ptr<Module> module);
  template <typename M>
  void insert(std::size_t index, const ModuleHolder<M>& holder) {
    insert(index, std::shared_ptr<Module>(holder.ptr()));
  }
  template <typename M, typename = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>>
  void insert(std::size_t index, M&& module) {
    insert(index,
           std::shared_ptr<Module>(std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }
  Iterator begin();
  Iterator end();
  ConstIterator begin() const;
  ConstIterator end() const;
  /// As their class; throw groove::Error when the index is out of range or the class another.
  template <typename T>
  T& at(std::size_t index, Site site = Site::current()) {
    const groove::detail::CallPlace place(site, "at");
    return detail::module_as<T>(*checked(index), index);
  }
  template <typename T>
  const T& at(std::size_t index, Site site = Site::current()) const {
    const groove::detail::CallPlace place(site, "at");
    return detail::module_as<T>(*checked(index), index);
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
  const std::shared_ptr<Module>& checked(std::size_t index) const;
  std::vector<std::shared_ptr<Module>> modules_;
};
GROOVE_MODULE(ModuleList);
extern template class Cloneable<ModuleListImpl>;

/// Modules by name, in the order of their insertion.
class ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Modules = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Pairs = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
  using Iterator = Modules::Iterator;
  using ConstIterator = Modules::ConstIterator;

  ModuleDictImpl();
  explicit ModuleDictImpl(const Pairs& modules);
  explicit ModuleDictImpl(const Modules& modules);
  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  Pairs items() const;
  std::vector<std::string> keys() const;
  std::vector<std::shared_ptr<Module>> values() const;
  Iterator begin();
  Iterator end();
  ConstIterator begin() const;
  ConstIterator end() const;
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  bool contains(const std::string& key) const noexcept;
  /// Throw groove::Error when the key is not there; at() also when the class is another.
  std::shared_ptr<Module> operator[](const std::string& key) const;
  template <typename T>
  T& at(const std::string& key, Site site = Site::current()) {
    const groove::detail::CallPlace place(site, "at");
    return detail::module_as<T>(*(*this)[key], key);
  }
  template <typename T>
  const T& at(const std::string& key, Site site = Site::current()) const {
    const groove::detail::CallPlace place(site, "at");
    return detail::module_as<T>(*(*this)[key], key);
  }

  void clear();
  /// Takes the module out.
  std::shared_ptr<Module> pop(const std::string& key);
  /// Adds modules, in place of those whose names are there already.
  void update(const Pairs& modules);
  template <typename Container>
  void update(const Container& container) {
    for (const auto& item : container) set(item.key(), item.value());
  }
  void pretty_print(std::ostream& stream) const override;

 private:
  void set(const std::string& key, std::shared_ptr<Module> module);
};
GROOVE_MODULE(ModuleDict);
extern template class Cloneable<ModuleDictImpl>;

/// Parameters by index; each keeps its requires_grad.
class ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Item = OrderedDict<std::string, Tensor>::Item;
  using Iterator = std::vector<Item>::iterator;
  using ConstIterator = std::vector<Item>::const_iterator;

  ParameterListImpl();
  template <typename... Tensors,
            typename = std::enable_if_t<
                (sizeof...(Tensors) > 0) &&
                !(std::is_base_of_v<ParameterListImpl, std::decay_t<Tensors>> && ...)>>
  explicit ParameterListImpl(Tensors&&... parameters) : ParameterListImpl() {
    (append(std::forward<Tensors>(parameters)), ...);
  }
  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  void append(const Tensor& parameter);
  void append(const Item& item) { append(item.value()); }
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  template <typename Container>
  ParameterListImpl& operator+=(const Container& other) {
    extend(other);
    return *this;
  }
  Iterator begin();
  Iterator end();
  ConstIterator begin() const;
  ConstIterator end() const;
  /// Throw groove::Error when the index is out of range.
  Tensor& at(std::size_t index);
  const Tensor& at(std::size_t index) const;
  Tensor& operator[](std::size_t index) { return at(index); }
  const Tensor& operator[](std::size_t index) const { return at(index); }
  std::size_t size() const noexcept;
  bool is_empty() const noexcept { return size() == 0; }
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(ParameterList);
extern template class Cloneable<ParameterListImpl>;

/// Parameters by name; each keeps its requires_grad.
class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Parameters = OrderedDict<std::string, Tensor>;
  using Iterator = Parameters::Iterator;
  using ConstIterator = Parameters::ConstIterator;

  ParameterDictImpl();
  explicit ParameterDictImpl(const Parameters& parameters);
  void reset() override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  /// Throws groove::Error when the key is there already.
  Tensor& insert(const std::string& key, const Tensor& parameter);
  /// Takes the parameter out; throws groove::Error when the key is not there.
  Tensor pop(const std::string& key);
  /// Replaces the parameters of these keys; throws groove::Error when one is not there.
  template <typename Container>
  void update(const Container& container) {
    for (const auto& item : container) get(item.key());
    for (const auto& item : container) set(item.key(), item.value());
  }
  void clear();
  std::vector<std::string> keys() const;
  std::vector<Tensor> values() const;
  Iterator begin();
  Iterator end();
  ConstIterator begin() const;
  ConstIterator end() const;
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  bool contains(const std::string& key) const noexcept;
  /// Throw groove::Error when the key is not there.
  Tensor& get(const std::string& key);
  const Tensor& get(const std::string& key) const;
  Tensor& operator[](const std::string& key) { return get(key); }
  const Tensor& operator[](const std::string& key) const { return get(key); }
  void pretty_print(std::ostream& stream) const override;

 private:
  void set(const std::string& key, const Tensor& parameter);
};
GROOVE_MODULE(ParameterDict);
extern template class Cloneable<ParameterDictImpl>;

/// A function of one tensor as a module; further arguments are kept for every call.
class FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(const Tensor&)>;
  explicit FunctionalImpl(Function function);
  FunctionalImpl(Tensor (*function)(Arg));
  template <typename F, typename... Args, typename = std::enable_if_t<(sizeof...(Args) > 0)>>
  explicit FunctionalImpl(F function, Args&&... args)
      : FunctionalImpl(Function([function, ... kept = std::decay_t<Args>(std::forward<Args>(args))](
                                    const Tensor& input) {
          if constexpr (std::is_invocable_v<const F&, const Tensor&, const std::decay_t<Args>&...>)
            return function(input, kept...);
          else
            return function(input, kept..., Site::current());
        })) {}
  void reset() override;
  Tensor forward(Tensor input);
  Tensor operator()(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
GROOVE_MODULE(Functional);
extern template class Cloneable<FunctionalImpl>;

}  // namespace groove::nn
