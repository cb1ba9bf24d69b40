// The live-ins that a replay expects, laid out for checking: what the compiled code relies on, in
// one cache line each, since a step may have hundreds of them.
#pragma once

#include <cstdint>

#include "tracer/calls/segment.h"

namespace groove::tracer {

struct alignas(64) ExpectedLiveIn {
  ExpectedLiveIn(const Segment& segment, SlotId id);

  /// The ordinary case: false means that more is to be looked at.
  bool is_plainly(const TensorImpl& impl) const;

  static constexpr std::uint32_t kNear = 2;  // dimensions that are kept here
  std::int64_t sizes[kNear] = {}, strides[kNear] = {};
  const Slot* slot;
  std::uint32_t rank;
  ScalarType dtype;
  bool requires_grad, is_leaf;
  bool has_hooks;
  bool is_written;  // by the segment: its storage is
  bool is_kept;     // from run to run: mostly the next one has the same object
  bool counts_apart;
};
static_assert(sizeof(ExpectedLiveIn) == 64);

inline bool ExpectedLiveIn::is_plainly(const TensorImpl& impl) const {
  const AutogradMeta* const meta = impl.autograd;
  if (has_hooks || impl.is_pending || impl.requires_grad != requires_grad ||
      impl.counts_apart != counts_apart ||
      (meta && (meta->hooks != 0 || meta->view_base.defined())) ||
      impl.storage->flags & (Storage::kExposed | Storage::kNotThere))
    return false;
  if (impl.dtype != dtype || (!meta || !meta->grad_fn) != is_leaf ||
      impl.geometry.sizes.size() != rank)
    return false;
  const std::int64_t* const at = impl.geometry.sizes.data();
  const std::int64_t* const step = impl.geometry.strides.data();
  if (rank > kNear)
    return impl.geometry.sizes == slot->type.sizes && impl.geometry.strides == slot->strides;
  for (std::uint32_t i = 0; i < rank; ++i)
    if (at[i] != sizes[i] || step[i] != strides[i]) return false;
  return true;
}

}  // namespace groove::tracer
