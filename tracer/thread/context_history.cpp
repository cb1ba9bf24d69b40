// A backward that follows the history of something older than the recording runs through the
// ordinary engine, where compiled runs stand for their own part: the recording ends before it.
#include <algorithm>

#include "tracer/calls/tape_hooks.h"
#include "tracer/thread/context.h"

namespace groove::tracer {

bool Context::follows_outside(const LibraryCall& call) const {
  const bool is_recording = state_ == State::kRecording;
  return std::any_of(call.inputs.begin(), call.inputs.end(), [&](const Tensor& input) {
    if (!input.defined() || !input.impl()->autograd || !input.impl()->autograd->grad_fn)
      return false;
    return !is_recording || tape_hooks().reaches_before(*input.impl(), recorder_->first_position());
  });
}

void Context::end_recording() {
  if (recorder_->calls() > 0) return finish_recording(true);
  side_of_.reset();
  stop_recording();
}

void Context::run_outside(std::uint64_t hash, void (*expand)(void*), void* context) {
  {
    const Busy busy(busy_);
    expand(context);
  }
  if (!trial_ || !follow_trial(hash)) discovery_.on_outside(hash);
}

}  // namespace groove::tracer
