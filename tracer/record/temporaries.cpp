// Which results are temporaries: of the references to them, those of recordings and replays do not
// count, so that a program is told the same as in eager mode.
#include "src/core/temporary.h"

#include <algorithm>

#include "tracer/thread/context.h"

namespace groove::tracer {

bool Recorder::is_temporary(const TensorImpl& impl) const {
  const auto is_it = [&](const Tensor& known) { return known.impl() == &impl; };
  const auto is_its_memory = [&](const StoragePtr& known) {
    return known.get() == impl.storage.get();
  };
  const auto own = std::count_if(objects_.begin(), objects_.end(), is_it) +
                   std::count_if(kept_.begin(), kept_.end(), is_it);
  auto own_of_memory =
      std::count_if(storage_objects_.begin(), storage_objects_.end(), is_its_memory) +
      std::count_if(replaced_storages_.begin(), replaced_storages_.end(), is_its_memory);
  for (const Tensor& other : objects_) {
    if (!other.defined() || is_it(other) || !is_its_memory(other.impl()->storage)) continue;
    if (other.use_count() > 1) return false;
    ++own_of_memory;
  }
  return is_alone(impl, own, own_of_memory);
}

// While it is pending it has no memory yet; its slot says what will lie there.
bool Replay::is_temporary(const TensorImpl& impl) const {
  const auto id = static_cast<std::size_t>(impl.trace_id);
  if (id >= live_.size() || live_[id].impl.get() != &impl) return is_alone(impl);
  const Slot& slot = segment_->slots[id];
  const auto storage = static_cast<std::size_t>(slot.storage);
  if (impl.use_count() > 2 || slot.holds_base || segment_->storages[storage].is_live_in)
    return false;
  std::int64_t own_of_memory = 0;
  for (const SlotId user : storage_users_[storage]) {
    const Live& other = live_[static_cast<std::size_t>(user)];
    if (!other.impl || other.impl.get() == &impl) continue;
    if (impl.is_pending ? other.run != run_ : other.impl->storage.get() != impl.storage.get())
      continue;
    if (other.impl->use_count() > 1) return false;
    ++own_of_memory;
  }
  return impl.is_pending || is_alone(impl, 1, own_of_memory);
}

bool Context::is_temporary(const TensorImpl& impl) {
  const Lock lock(*this);
  if (recorder_ && recorder_->session() == impl.trace_session) return recorder_->is_temporary(impl);
  for (const auto& [segment, replay] : replays_)
    if (replay->session() == impl.trace_session) return replay->is_temporary(impl);
  return is_alone(impl);
}

namespace {

[[maybe_unused]] const bool is_registered = [] {
  temporary_hook = [](const TensorImpl& impl) {
    Context* const context = known_context();
    return context ? context->is_temporary(impl) : is_alone(impl);
  };
  return true;
}();

}  // namespace
}  // namespace groove::tracer
