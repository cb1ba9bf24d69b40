// Cloneable: the base of a module class that can be copied deeply.
#pragma once

#include "groove/nn/module.h"

namespace groove::nn {

/// A class derived from it registers everything in reset(), which its constructor calls. clone()
/// copies the object, registers anew, and copies parameters, buffers and modes of the whole tree.
template <typename Derived>
class Cloneable : public Module {
 public:
  using Module::Module;
  virtual void reset() = 0;

  /// Throws groove::Error when reset() does not register what the original has.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    Module& base = *copy;
    base.forget_registrations();
    copy->reset();
    base.copy_state(*this);
    if (device) base.to(*device);
    return copy;
  }
};

}  // namespace groove::nn
