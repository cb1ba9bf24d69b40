// ModuleHolder: a shared_ptr to a module that is called like a function. GROOVE_MODULE(Net) makes
// the holder `Net` of the class `NetImpl`.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "groove/detail/call_scope.h"
#include "groove/nn/module.h"

namespace groove::nn {

struct ModuleHolderIndicator {
 protected:
  [[noreturn]] static void throw_empty(const groove::Site& site = groove::Site::none());
};

template <typename T>
constexpr bool is_module_holder = std::is_base_of_v<ModuleHolderIndicator, std::decay_t<T>>;

namespace detail {

// What a holder points to. A shared_ptr of each module's own class would be the dearest part of the
// header; what is held may be no module, but a data set.
template <typename Contained>
class Held {
  using Base = std::conditional_t<std::is_base_of_v<Module, Contained>, Module, Contained>;

 public:
  Held() = default;
  Held(std::nullptr_t) {}
  explicit Held(Contained* module) : module_(module) {}
  template <typename T>
  requires(std::is_convertible_v<T*, Contained*>) Held(std::shared_ptr<T> module)
      : module_(std::move(module)) {}

  Contained* get() const noexcept { return static_cast<Contained*>(module_.get()); }
  Contained* operator->() const noexcept { return get(); }
  Contained& operator*() const noexcept { return *get(); }
  explicit operator bool() const noexcept { return module_ != nullptr; }
  operator std::shared_ptr<Contained>() const {
    return std::static_pointer_cast<Contained>(module_);
  }
  friend bool operator==(const Held&, const Held&) = default;

 private:
  std::shared_ptr<Base> module_;
};

}  // namespace detail

template <typename Contained>
class ModuleHolder : ModuleHolderIndicator {
 public:
  using ContainedType = Contained;

  /// Default-constructs the module where that is possible; otherwise the holder is empty.
  ModuleHolder() {
    if constexpr (std::is_default_constructible_v<Contained>)
      impl_ = detail::Held<Contained>(new Contained());
  }
  ModuleHolder(std::nullptr_t) {}
  // The arguments of a constructor of the module; errors in it name the place of the call.
  // Asked one after the other: a copy of a holder needs no shared_ptr of its class.
  template <typename A>
  requires(!std::is_base_of_v<ModuleHolder, std::decay_t<A>>) &&
      (!std::is_convertible_v<A, std::shared_ptr<Contained>>)explicit ModuleHolder(
          A&& a, Site site = Site::current())
      : impl_(make(site, std::forward<A>(a))) {}
  template <typename A, typename B>
  explicit ModuleHolder(A&& a, B&& b, Site site = Site::current())
      : impl_(make(site, std::forward<A>(a), std::forward<B>(b))) {}
  template <typename A, typename B, typename C>
  explicit ModuleHolder(A&& a, B&& b, C&& c, Site site = Site::current())
      : impl_(make(site, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c))) {}
  template <typename A, typename B, typename C, typename D, typename... More>
  explicit ModuleHolder(A&& a, B&& b, C&& c, D&& d, More&&... more)
      : impl_(new Contained(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
                            std::forward<D>(d), std::forward<More>(more)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept { return impl_ != nullptr; }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  std::shared_ptr<Contained> ptr() const {
    if (!impl_) throw_empty();
    return impl_;
  }
  template <typename Base, typename = std::enable_if_t<std::is_base_of_v<Base, Contained>>>
  operator std::shared_ptr<Base>() const {
    return std::shared_ptr<Contained>(impl_);
  }
  Contained* get() {
    if (!impl_) throw_empty();
    return impl_.get();
  }
  const Contained* get() const {
    if (!impl_) throw_empty();
    return impl_.get();
  }
  bool is_empty() const noexcept { return impl_ == nullptr; }
  /// The module's own subscript: an element of a container.
  template <typename Index>
  decltype(auto) operator[](Index&& index) {
    return (*get())[std::forward<Index>(index)];
  }
  template <typename Index>
  decltype(auto) operator[](Index&& index) const {
    return (*get())[std::forward<Index>(index)];
  }

  // forward() of the module. The user's place in the source goes along where the module takes it
  // (the library's own do); code that users wrote has places of its own.
  decltype(auto) operator()(Site site = Site::current()) { return run(site); }
  template <typename A>
  decltype(auto) operator()(A&& a, Site site = Site::current()) {
    return run(site, std::forward<A>(a));
  }
  template <typename A, typename B>
  decltype(auto) operator()(A&& a, B&& b, Site site = Site::current()) {
    return run(site, std::forward<A>(a), std::forward<B>(b));
  }
  template <typename A, typename B, typename C>
  decltype(auto) operator()(A&& a, B&& b, C&& c, Site site = Site::current()) {
    return run(site, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
  }
  template <typename A, typename B, typename C, typename D>
  decltype(auto) operator()(A&& a, B&& b, C&& c, D&& d, Site site = Site::current()) {
    return run(site, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
               std::forward<D>(d));
  }
  // No module of the library takes more.
  template <typename A, typename B, typename C, typename D, typename E, typename... More>
  requires(!std::is_same_v<std::decay_t<E>, Site>) decltype(auto) operator()(A&& a, B&& b, C&& c,
                                                                             D&& d, E&& e,
                                                                             More&&... more) {
    return get()->forward(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
                          std::forward<D>(d), std::forward<E>(e), std::forward<More>(more)...);
  }

 protected:
  template <typename... Args>
  static Contained* make(const Site& site, Args&&... args) {
    const groove::detail::CallPlace place(site);
    return new Contained(std::forward<Args>(args)...);
  }
  template <typename... Args>
  decltype(auto) run(const Site& site, Args&&... args) {
    if (!impl_) throw_empty(site);
    Contained& module = *get();
    if constexpr (requires { typename Contained::OpensCallScope; }) {
      const groove::detail::CallScope scope(site);
      return module.forward(std::forward<Args>(args)...);
    } else if constexpr (requires { module.forward(std::forward<Args>(args)..., site); }) {
      return module.forward(std::forward<Args>(args)..., site);
    } else {
      return module.forward(std::forward<Args>(args)...);
    }
  }
  detail::Held<Contained> impl_;
};

template <typename Contained>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<Contained>& holder) {
  return stream << static_cast<const Module&>(*holder);
}

}  // namespace groove::nn

#define GROOVE_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::groove::nn::ModuleHolder<ImplType> {  \
   public:                                                    \
    using ::groove::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                   \
  }
#define GROOVE_MODULE(Name) GROOVE_MODULE_IMPL(Name, Name##Impl)
