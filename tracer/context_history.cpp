// A backward that follows the history of something older than the recording runs through the ordinary
// engine, where compiled runs stand for their own part: the recording ends before it.
#include <algorithm>

#include "tracer/context.h"

namespace groove::tracer {

bool Context::follows_outside(const BigWord& word) const {
  const auto has_history = [](const Tensor& tensor) {
    return tensor.defined() && tensor.impl()->autograd && tensor.impl()->autograd->grad_fn;
  };
  if (std::none_of(word.inputs.begin(), word.inputs.end(), has_history)) return false;
  if (state_ != State::kRecording || recorder_->has_outside_history()) return true;
  return std::any_of(word.inputs.begin(), word.inputs.end(), [&](const Tensor& input) {
    return has_history(input) && !recorder_->knows(*input.impl());
  });
}

void Context::cut_recording() {
  if (recorder_->words() > 0) return finish_recording(true);
  side_of_.reset();
  recorder_.reset();
  move_to(State::kWatching);
}

void Context::run_outside(std::uint64_t hash, void (*expand)(void*), void* context) {
  {
    const Busy busy(busy_);
    expand(context);
  }
  discovery_.on_outside(hash);
}

}  // namespace groove::tracer
