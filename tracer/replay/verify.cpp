// GROOVE_CHECK: a replay that has run compiled also runs eagerly, and everything it produced or
// wrote is compared bit for bit.
#include <cmath>
#include <cstring>

#include "src/core/check.h"
#include "src/core/host_value.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/replay/replay.h"

namespace groove::tracer {
namespace {

std::vector<unsigned char> content(const TensorImpl& impl) {
  const auto* from = static_cast<const unsigned char*>(impl.storage->data);
  return {from, from + impl.storage->bytes};
}

std::vector<unsigned char> elements(const TensorImpl& impl) {
  const auto* from = static_cast<const unsigned char*>(impl.data());
  return {from, from + span_bytes(impl)};
}

// Index of the first element that differs, or -1. NaN equals any NaN.
std::int64_t first_difference(const void* a, const void* b, std::int64_t count, ScalarType dtype) {
  const std::size_t size = element_size(dtype);
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (std::int64_t i = 0; i < count; ++i, x += size, y += size) {
    if (std::memcmp(x, y, size) == 0) continue;
    if (is_floating(dtype) && std::isnan(host_value(x, dtype).toDouble()) &&
        std::isnan(host_value(y, dtype).toDouble()))
      continue;
    return i;
  }
  return -1;
}

}  // namespace

void Replay::save_before_commit() {
  saved_.clear();
  is_to_be_compared_ = true;
  shows_results_.store(true, std::memory_order_release);
  for (const SlotId id : segment_->live_ins) {
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (segment_->storages[static_cast<std::size_t>(slot.storage)].writes == 0) continue;
    TensorImpl& impl = *live_[static_cast<std::size_t>(id)].object;
    const AutogradMeta* const meta = impl.autograd;
    saved_.push_back({&impl, content(impl), impl.storage->version, impl.storage->unnoticed,
                      meta ? meta->grad_fn : TapeNodePtr(), meta ? meta->output_index : 0,
                      impl.requires_grad});
  }
  saved_sequence_ = tape_hooks().sequence ? tape_hooks().sequence() : 0;
}

std::string Replay::compare_with_eager() {
  std::vector<std::vector<unsigned char>> compiled;
  for (Saved& saved : saved_) {
    compiled.push_back(content(*saved.impl));
    std::memcpy(saved.impl->storage->data, saved.content.data(), saved.content.size());
    saved.impl->storage->version = saved.version;
    saved.impl->storage->unnoticed = saved.unnoticed;
    // Another thread may read it, where nothing has changed it.
    if (saved.impl->requires_grad != saved.requires_grad)
      saved.impl->requires_grad = saved.requires_grad;
    if (AutogradMeta* const meta = saved.impl->autograd) {
      meta->grad_fn = saved.history;
      meta->output_index = saved.output;
    }
  }
  if (tape_hooks().set_sequence) tape_hooks().set_sequence(saved_sequence_);
  // Later calls may write a result in place, so all are compared when the last call has run.
  std::vector<std::pair<TensorImpl*, std::vector<unsigned char>>> results;
  for (const std::int32_t storage : outputs_) {
    const SlotId base = segment_->storages[static_cast<std::size_t>(storage)].base;
    const Live& live = live_[static_cast<std::size_t>(base)];
    if (live.run == run_ && live.is_filled)
      results.emplace_back(live.object, elements(*live.object));
  }
  is_comparing_ = true;
  run_eagerly(0);
  is_comparing_ = false;
  clear_owed();
  std::string difference;
  for (const auto& [impl, bytes] : results) {
    const std::int64_t at = first_difference(
        bytes.data(), impl->data(),
        static_cast<std::int64_t>(bytes.size() / element_size(impl->dtype)), impl->dtype);
    // Through a pointer the program may have written it since.
    const bool is_known = (impl->storage->flags & Storage::kExposed) == 0;
    if (at >= 0 && is_known && difference.empty())
      difference = fmt::format("a result of shape {} differs at element {}",
                               to_string(impl->geometry.sizes), at);
    if (!bytes.empty()) std::memcpy(impl->data(), bytes.data(), bytes.size());
  }
  for (std::size_t i = 0; i < saved_.size() && difference.empty(); ++i) {
    const TensorImpl& impl = *saved_[i].impl;
    const std::int64_t at = first_difference(
        compiled[i].data(), impl.storage->data,
        static_cast<std::int64_t>(impl.storage->bytes / element_size(impl.dtype)), impl.dtype);
    if (at >= 0)
      difference = fmt::format("an overwritten input of shape {} differs at element {}",
                               to_string(impl.geometry.sizes), at);
  }
  saved_.clear();
  return difference;
}

}  // namespace groove::tracer
