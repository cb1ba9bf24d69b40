// Losses that are scaled, as Python's torch.amp.GradScaler does it.
#include <limits>
#include <unordered_map>

#include "groove/amp.h"
#include "groove/autograd.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"
#include "src/optim/fields.h"

namespace groove::amp {
namespace {

// What has been done to an optimizer's gradients since the last update().
struct Progress {
  Tensor is_finite;  // undefined: not unscaled yet
  bool has_stepped = false;
};

}  // namespace

struct GradScaler::State {
  GradScalerOptions options;
  double scale = 1;
  std::int64_t finite_steps = 0;  // in a row
  std::unordered_map<const optim::Optimizer*, Progress> progress;
};

GradScaler::GradScaler(const GradScalerOptions& options, Site site)
    : state_(std::make_unique<State>()) {
  GROOVE_CHECK_AT(site, options.init_scale() > 0,
                  "GradScaler: init_scale is {}; it must be above 0", options.init_scale());
  GROOVE_CHECK_AT(site, options.growth_factor() > 1,
                  "GradScaler: growth_factor is {}; it must be above 1", options.growth_factor());
  GROOVE_CHECK_AT(site, options.backoff_factor() > 0 && options.backoff_factor() < 1,
                  "GradScaler: backoff_factor is {}; it must be between 0 and 1",
                  options.backoff_factor());
  GROOVE_CHECK_AT(site, options.growth_interval() > 0,
                  "GradScaler: growth_interval is {}; it must be above 0",
                  options.growth_interval());
  state_->options = options;
  if (options.enabled()) state_->scale = options.init_scale();
}
GradScaler::~GradScaler() = default;

bool GradScaler::is_enabled() const { return state_->options.enabled(); }
double GradScaler::get_scale() const { return state_->scale; }

Tensor GradScaler::scale(const Tensor& loss, Site site) const {
  return is_enabled() ? loss.mul(state_->scale, site) : loss;
}

void GradScaler::unscale_(optim::Optimizer& optimizer, Site site) {
  if (!is_enabled()) return;
  Progress& progress = state_->progress[&optimizer];
  GROOVE_CHECK_AT(site, !progress.has_stepped,
                  "unscale_: step() has been called since the last update()");
  GROOVE_CHECK_AT(site, !progress.is_finite.defined(),
                  "unscale_: it has been called for this optimizer since the last update()");
  const SiteScope scope(site);
  const NoGradGuard no_grad;
  Tensor is_finite;
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
    for (const Tensor& parameter : group.params()) {
      const Tensor& gradient = parameter.grad();
      if (!gradient.defined()) continue;
      gradient.mul_(1 / state_->scale);
      const Tensor all_finite = gradient.isfinite().all();
      is_finite = is_finite.defined() ? is_finite.logical_and(all_finite) : all_finite;
    }
  GROOVE_CHECK_AT(site, is_finite.defined(),
                  "GradScaler: none of the optimizer's parameters has a gradient; call backward() "
                  "before");
  progress.is_finite = is_finite;
}

bool GradScaler::step(optim::Optimizer& optimizer, Site site) {
  if (!is_enabled()) {
    optimizer.step(site);
    return true;
  }
  Progress& progress = state_->progress[&optimizer];
  GROOVE_CHECK_AT(site, !progress.has_stepped,
                  "step: it has been called for this optimizer since the last update()");
  if (!progress.is_finite.defined()) unscale_(optimizer, site);
  progress.has_stepped = true;
  const bool is_finite = progress.is_finite.item<bool>(site);
  if (is_finite) optimizer.step(site);
  return is_finite;
}

void GradScaler::update(std::optional<double> new_scale, Site site) {
  if (!is_enabled()) return;
  GROOVE_CHECK_AT(site, !new_scale || *new_scale > 0,
                  "GradScaler: a scale of {}; it must be above 0", new_scale.value_or(0));
  bool has_checked = false, is_finite = true;
  for (const auto& [optimizer, progress] : state_->progress) {
    if (!progress.is_finite.defined()) continue;
    has_checked = true;
    is_finite = is_finite && progress.is_finite.item<bool>(site);
  }
  GROOVE_CHECK_AT(site, new_scale || has_checked,
                  "update: no gradients were looked at since the last one; call step() before");
  const GradScalerOptions& options = state_->options;
  state_->progress.clear();
  if (new_scale) {
    state_->scale = *new_scale;
  } else if (!is_finite) {
    state_->scale *= options.backoff_factor();
    state_->finite_steps = 0;
  } else if (++state_->finite_steps == options.growth_interval()) {
    // Not beyond what float32 can hold.
    const double grown = state_->scale * options.growth_factor();
    if (grown <= std::numeric_limits<float>::max()) state_->scale = grown;
    state_->finite_steps = 0;
  }
}

void GradScaler::save(serialize::OutputArchive& archive) const {
  const optim::detail::Writer write{archive};
  write("scale", IValue(state_->scale));
  write("_growth_tracker", IValue(state_->finite_steps));
}
void GradScaler::load(serialize::InputArchive& archive) {
  double scale = 0;
  std::int64_t finite_steps = 0;
  const optim::detail::Reader read{archive};
  read("scale", scale);
  read("_growth_tracker", finite_steps);
  GROOVE_CHECK(scale > 0 && finite_steps >= 0,
               "load: the archive of a GradScaler has scale {} and {} steps", scale, finite_steps);
  state_->scale = scale;
  state_->finite_steps = finite_steps;
}

}  // namespace groove::amp
