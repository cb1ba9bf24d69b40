// Calls with operands converted, as amp::Autocast asks for: ordinary conversions before the call,
// so the tape, the tracer and the compiler know nothing of it.
#include <utility>

#include "groove/amp.h"
#include "kernels/ops/rules.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"

namespace groove {
namespace {

void handle(const Call& call, Tensor* outputs) {
  const SiteScope scope(call.site, call.name);
  Tensors inputs(call.inputs.begin(), call.inputs.end());
  for (Tensor& input : inputs)
    if (input.defined()) input = input.to(autocast_dtype(*call.op, input), false, false, call.site);
  Call converted = call;
  converted.inputs = inputs;
  dispatch(converted, outputs);
}

[[maybe_unused]] const bool registered = [] {
  register_autocast_handler(handle);
  return true;
}();

}  // namespace

namespace amp {

bool is_autocast_enabled() { return autocast.is_enabled; }
void set_autocast_enabled(bool enabled) {
  if (enabled) autocast_is_used.store(true, std::memory_order_relaxed);
  autocast.is_enabled = enabled;
}
ScalarType get_autocast_dtype() { return autocast.dtype; }
void set_autocast_dtype(ScalarType dtype, Site site) {
  GROOVE_CHECK_AT(site, dtype == kBFloat16 || dtype == kHalf,
                  "autocast: {} is no short dtype; use BFloat16 or Half", name(dtype));
  autocast.dtype = dtype;
}

Autocast::Autocast(bool enabled, ScalarType dtype, Site site)
    : was_enabled_(is_autocast_enabled()), dtype_before_(get_autocast_dtype()) {
  set_autocast_dtype(dtype, site);
  set_autocast_enabled(enabled);
}
Autocast::~Autocast() { groove::autocast = {was_enabled_, dtype_before_}; }

}  // namespace amp
}  // namespace groove
