// swa_utils: averages of a model's weights, as Python's torch has them. Its SWALR is one of the
// schedulers (epoch_schedulers.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "groove/nn/holder.h"
#include "groove/optim/epoch_schedulers.h"

namespace groove::optim::swa_utils {

using groove::optim::SWALR;

/// The new average, from the average so far, the model's tensor and how many models are in the
/// average (0-d, int64).
using AverageFunction =
    std::function<Tensor(const Tensor& averaged, const Tensor& current, const Tensor& count)>;

/// decay averaged + (1 - decay) current: the exponential moving average. Throws groove::Error where
/// the decay is not in [0, 1].
AverageFunction get_ema_avg_fn(double decay = 0.999);
/// averaged + (current - averaged) / (count + 1): the mean of all models (Izmailov et al.,
/// "Averaging Weights Leads to Wider Optima and Better Generalization", 2018).
AverageFunction get_swa_avg_fn();

namespace detail {

// What AveragedModel does that needs no knowledge of the class.
class Average : public nn::Module {
 public:
  /// The first call copies; each further one averages parameters, with use_buffers buffers too;
  /// without it these are copied. Throws groove::Error where the model is built otherwise.
  void update_parameters(const nn::Module& model, Site site = Site::current());
  template <typename T>
  void update_parameters(const nn::ModuleHolder<T>& model, Site site = Site::current()) {
    update_parameters(static_cast<const nn::Module&>(*model), site);
  }
  template <typename T>
  void update_parameters(const std::shared_ptr<T>& model, Site site = Site::current()) {
    update_parameters(static_cast<const nn::Module&>(*model), site);
  }
  /// How many models are in the average: 0-d, int64.
  Tensor n_averaged;

 protected:
  Average(const nn::Module& model, std::optional<Device> device, AverageFunction function,
          bool use_buffers, Site site);
  std::shared_ptr<nn::Module> module_;

 private:
  AverageFunction function_;
  bool use_buffers_;
};

}  // namespace detail

/// A copy of a model, made by its clone(), whose weights are to be an average of the model's. Is a
/// module itself: its tensors are those of the copy, "module.…", and the buffer "n_averaged".
///   optim::swa_utils::AveragedModel average(net, std::nullopt, get_ema_avg_fn(0.99));
///   …  optimizer.step();  average.update_parameters(net);
///   average.forward(input);
template <typename Net>
class AveragedModel : public detail::Average {
 public:
  explicit AveragedModel(const std::shared_ptr<Net>& model,
                         std::optional<Device> device = std::nullopt,
                         AverageFunction avg_fn = get_swa_avg_fn(), bool use_buffers = false,
                         Site site = Site::current())
      : Average(*model, device, std::move(avg_fn), use_buffers, site) {}
  explicit AveragedModel(const nn::ModuleHolder<Net>& model,
                         std::optional<Device> device = std::nullopt,
                         AverageFunction avg_fn = get_swa_avg_fn(), bool use_buffers = false,
                         Site site = Site::current())
      : AveragedModel(model.ptr(), device, std::move(avg_fn), use_buffers, site) {}
  Net& module() const { return static_cast<Net&>(*module_); }
  template <typename... Args>
  auto forward(Args&&... args) const {
    return module().forward(std::forward<Args>(args)...);
  }
};

}  // namespace groove::optim::swa_utils
