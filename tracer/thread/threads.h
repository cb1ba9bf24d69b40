// The contexts of all user threads. A session number says whose context it comes from, so that a
// thread that touches another's pending tensor finds the one that owes it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "groove/tensor.h"
#include "src/core/autograd_meta.h"
#include "src/core/tensor_impl.h"

namespace groove::tracer {

class Context;

namespace owned {
inline constinit thread_local Context* context = nullptr;
Context* make_context();
}  // namespace owned

/// This thread's context, made at its first use; null while the thread ends.
inline Context* own_context() {
  Context* const mine = owned::context;
  return mine ? mine : owned::make_context();
}
/// The same, but never made here.
inline Context* known_context() { return owned::context; }

inline constexpr std::uint64_t kContextBits = 16;
inline constexpr std::uint64_t kContexts = std::uint64_t{1} << kContextBits;
/// A new session of a context, for a recording or for runs: its index in the table of contexts lies
/// in the lower bits.
enum class SessionOf : std::uint8_t { kRecording, kRuns };
std::uint64_t new_session(const Context& context, SessionOf what);
inline bool is_of_runs(std::uint64_t session) { return (session & kContexts) != 0; }
inline bool have_one_owner(std::uint64_t session, std::uint64_t other) {
  return ((session ^ other) & (kContexts - 1)) == 0;
}

/// The session that owes what this tensor holds; 0: nobody does.
inline std::uint64_t owing_session(const TensorImpl& impl) {
  if (impl.is_pending) return impl.trace_session;
  const Storage* const storage = impl.storage.get();
  return storage && storage->flags & Storage::kNotThere ? storage->trace_session.get() : 0;
}
/// The session whose runs made the tensor, 0: none, or another thread has it to itself since. As
/// long as the run is not over, the tensor is the run's, also behind the stage that made its data:
/// its history and its versions come last, and what has matched may run again into its memory.
inline std::uint64_t making_session(const TensorImpl& impl) {
  const std::uint64_t session = impl.trace_session;
  return is_of_runs(session) ? session : 0;
}
/// The session whose run may take back what it has done to the flags of this leaf; 0: none.
inline std::uint64_t flagging_session(const TensorImpl& impl) {
  const AutogradMeta* const meta = impl.autograd;
  return meta && meta->has_changed_flags ? meta->changed_by.get() : 0;
}
/// All sessions that another thread must settle before it uses the tensor; 0: none.
inline std::array<std::uint64_t, 3> sessions_of(const TensorImpl& impl) {
  return {owing_session(impl), making_session(impl), flagging_session(impl)};
}
/// Is one of them of another thread than the one that this session is of?
inline bool is_owed_elsewhere(const TensorImpl& impl, std::uint64_t session) {
  for (const std::uint64_t other : sessions_of(impl))
    if (other != 0 && !have_one_owner(other, session)) return true;
  return false;
}

/// Makes real what another thread owes; nothing of this thread's own. For looking at the data.
void settle_data(TensorImpl& impl);
/// … and ends the run that the tensor is of: whatever else a thread does with a tensor of another
/// thread's run, it does with one that no run knows any more.
void settle(TensorImpl& impl);
/// The same of what may be null.
inline void settle(TensorImpl* impl) {
  if (!impl) return;
  const auto [owing, making, flagging] = sessions_of(*impl);
  if ((owing | making | flagging) != 0) [[unlikely]]
    settle(*impl);
}
inline void settle(ArrayRef<Tensor> tensors) {
  for (const Tensor& tensor : tensors) settle(tensor.impl());
}
/// Ends the run of another thread that has changed the gradient or a flag of this leaf.
void settle_changes(TensorImpl& leaf);
/// What that session has changed there stays.
inline void end_changes(TensorImpl& leaf, std::uint64_t session) {
  AutogradMeta& meta = *leaf.autograd;
  if (meta.changed_by != session) return;
  meta.has_changed_flags = false;
  meta.changed_by.set_if(session, 0);
}
/// What another thread has to write there yet.
void settle_writes(Storage& storage);

// Storage::readers: the bit of a context, by its index or by one of its sessions.
inline std::uint64_t reader_bit(std::uint64_t session) {
  return std::uint64_t{1} << (session & 63);
}
/// Are there so many contexts that some share one?
bool shares_reader_bit();
/// Runs of other threads compute what they have to read of it.
void settle_readers(Storage& storage);

/// No recording or replay knows it any more.
inline void forget_session(TensorImpl& impl) {
  impl.trace_id = -1;
  impl.trace_session = 0;
}

// Another thread's context, kept from going while this lives.
class Visit {
 public:
  explicit Visit(std::uint64_t session);
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  Context* context() const { return context_; }

 private:
  Context* context_ = nullptr;
};

}  // namespace groove::tracer
