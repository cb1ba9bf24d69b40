// Mixed precision, as Python's torch.amp: operators whose operands are converted to a shorter dtype
// by themselves, and losses that are scaled so that their gradients do not vanish in it.
#pragma once

#include <memory>

#include "groove/optim/optimizer.h"

namespace groove::amp {

/// While it lives, calls of this thread convert their floating operands, but for float64: products,
/// convolutions and attention to `dtype`; losses, normalizations, prod() and the cells of recurrent
/// networks to float32. Others compute in the dtypes that they are given. Calls in place,
/// backward() and optimizers convert nothing; a backward computes in the dtypes of its forward.
///   { const amp::Autocast autocast;  loss = mse_loss(net->forward(x), y); }
///   loss.backward();
/// Throws groove::Error unless the dtype is kBFloat16 or kHalf.
class Autocast {
 public:
  explicit Autocast(bool enabled = true, ScalarType dtype = kBFloat16, Site site = Site::current());
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool was_enabled_;
  ScalarType dtype_before_;
};

/// The same by hand, of this thread.
bool is_autocast_enabled();
void set_autocast_enabled(bool enabled);
ScalarType get_autocast_dtype();
void set_autocast_dtype(ScalarType dtype, Site site = Site::current());

struct GradScalerOptions {
  GROOVE_ARG(double, init_scale) = 65536;
  GROOVE_ARG(double, growth_factor) = 2;
  GROOVE_ARG(double, backoff_factor) = 0.5;
  GROOVE_ARG(std::int64_t, growth_interval) = 2000;  // steps
  GROOVE_ARG(bool, enabled) = true;
};

/// Scales losses, and takes the scale out of the gradients before the step; a step is left out
/// where one of them is not finite. The scale grows after growth_interval steps in a row that were
/// finite, and shrinks after one that was not.
///   scaler.scale(loss).backward();  scaler.step(optimizer);  scaler.update();
/// Throws groove::Error for factors that would not change the scale the right way, and for calls
/// in another order.
class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options = {}, Site site = Site::current());
  ~GradScaler();

  Tensor scale(const Tensor& loss, Site site = Site::current()) const;
  /// Takes the scale out of the gradients now, to clip them; step() does it otherwise.
  void unscale_(optim::Optimizer& optimizer, Site site = Site::current());
  /// Steps unless a gradient is not finite; was it done?
  bool step(optim::Optimizer& optimizer, Site site = Site::current());
  /// Once after the steps of all optimizers; `new_scale` sets it.
  void update(std::optional<double> new_scale = std::nullopt, Site site = Site::current());

  double get_scale() const;
  bool is_enabled() const;
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace groove::amp
