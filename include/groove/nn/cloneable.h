// Cloneable: the base of a module class that can be copied deeply.
#pragma once

#include "groove/nn/module.h"

namespace groove::nn {

namespace detail {

// What Cloneable does that needs no knowledge of the class.
class Resettable : public Module {
 public:
  using Module::Module;
  /// Registers anew everything that the module consists of, with initial values.
  virtual void reset() = 0;

 protected:
  /// Makes `copy`, a copy of this object that still shares everything with it, a deep one.
  std::shared_ptr<Module> finish_clone(Resettable* copy, const std::optional<Device>& device) const;
  /// A deep copy of `source`, of the same class as this module; throws groove::Error otherwise.
  std::shared_ptr<Module> clone_like_this(const Module& source,
                                          const std::optional<Device>& device) const;
  void copy_registered(const Module& source, const std::optional<Device>& device) {
    copy_state(source, device);
  }
};

}  // namespace detail

/// A class derived from it registers everything in reset(), which its constructor calls. clone()
/// copies the object, registers anew, and copies parameters, buffers and modes of the whole tree;
/// a submodule that is itself Cloneable is copied by its own clone(), with all its members.
template <typename Derived, typename Base = detail::Resettable>
class Cloneable : public Base {
 public:
  using Base::Base;

  /// Throws groove::Error when reset() does not register what the original has.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return this->finish_clone(new Derived(static_cast<const Derived&>(*this)), device);
  }

 private:
  void copy_from(const Module& source, const std::optional<Device>& device) override {
    if constexpr (std::is_copy_assignable_v<Derived>)
      static_cast<Derived&>(*this) =
          static_cast<const Derived&>(*this->clone_like_this(source, device));
    else
      this->copy_registered(source, device);
  }
};

}  // namespace groove::nn
