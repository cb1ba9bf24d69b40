#include "groove/optim/swa_utils.h"

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"

namespace groove::optim::swa_utils {

AverageFunction get_ema_avg_fn(double decay) {
  GROOVE_CHECK(decay >= 0 && decay <= 1, "get_ema_avg_fn: decay is {}; it must lie in [0, 1]",
               decay);
  return [decay](const Tensor& averaged, const Tensor& current, const Tensor&) {
    return averaged * decay + current * (1 - decay);
  };
}
AverageFunction get_swa_avg_fn() {
  return [](const Tensor& averaged, const Tensor& current, const Tensor& count) {
    return averaged + (current - averaged) / (count + 1);
  };
}

namespace detail {
namespace {

void check_alike(const char* kind, const std::vector<Tensor>& own,
                 const std::vector<Tensor>& others) {
  GROOVE_CHECK(own.size() == others.size(),
               "update_parameters: the model has {} {}, the average {}", others.size(), kind,
               own.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    GROOVE_CHECK(own[i].sizes() == others[i].sizes(),
                 "update_parameters: number {} of the model's {} has shape {}, the average's {}", i,
                 kind, to_string(others[i].sizes()), to_string(own[i].sizes()));
}

}  // namespace

Average::Average(const nn::Module& model, std::optional<Device> device, AverageFunction function,
                 bool use_buffers, Site site)
    : Module("AveragedModel"), function_(std::move(function)), use_buffers_(use_buffers) {
  const CallFrame frame(site);
  GROOVE_CHECK(function_, "AveragedModel: avg_fn is an empty function");
  module_ = register_module("module", model.clone(device));
  n_averaged = register_buffer("n_averaged", zeros({}, kLong));
  if (device) to(*device);
}

// Without a look at the count: reading it would make the program wait in every step.
void Average::update_parameters(const nn::Module& model, Site site) {
  const SiteScope scope(site, nullptr);
  const NoGradGuard no_grad;
  const std::vector<Tensor> own = module_->parameters(), others = model.parameters();
  const std::vector<Tensor> own_buffers = module_->buffers(), other_buffers = model.buffers();
  check_alike("parameters", own, others);
  check_alike("buffers", own_buffers, other_buffers);
  const Tensor is_first = n_averaged == 0;
  const auto average = [&](const Tensor& averaged, const Tensor& current) {
    const Tensor now = current.detach().to(averaged.device());
    const Tensor next = function_(averaged.detach(), now, n_averaged).to(averaged.scalar_type());
    averaged.detach().copy_(where(is_first, now, next));
  };
  for (std::size_t i = 0; i < own.size(); ++i) average(own[i], others[i]);
  for (std::size_t i = 0; i < own_buffers.size(); ++i)
    if (use_buffers_)
      average(own_buffers[i], other_buffers[i]);
    else
      own_buffers[i].detach().copy_(other_buffers[i].detach());
  n_averaged.add_(1);
}

}  // namespace detail
}  // namespace groove::optim::swa_utils
