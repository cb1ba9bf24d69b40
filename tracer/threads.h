// The contexts of all user threads. A session number says whose context it comes from, so that a
// thread that touches another's pending tensor finds the one that owes it.
#pragma once

#include <cstdint>

#include "groove/tensor.h"
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

/// A new session of a context: its place in the table of contexts lies in the lower bits.
std::uint64_t new_session(const Context& context);

inline constexpr std::uint64_t kPlaceBits = 16;
inline constexpr std::uint64_t kPlaces = std::uint64_t{1} << kPlaceBits;
inline bool have_one_owner(std::uint64_t session, std::uint64_t other) {
  return ((session ^ other) & (kPlaces - 1)) == 0;
}

/// The session that owes what this tensor holds; 0: nobody does.
inline std::uint64_t owing_session(const TensorImpl& impl) {
  if (impl.is_pending) return impl.trace_session;
  const Storage* const storage = impl.storage.get();
  return storage && storage->flags & Storage::kOwed ? storage->trace_session.get() : 0;
}
/// Does another thread owe it than the one that this session is of?
inline bool is_owed_elsewhere(const TensorImpl& impl, std::uint64_t session) {
  const std::uint64_t owing = owing_session(impl);
  return owing != 0 && !have_one_owner(owing, session);
}

/// Makes real what another thread owes; nothing of this thread's own.
void settle(TensorImpl& impl);
inline void settle(ArrayRef<Tensor> tensors) {
  for (const Tensor& tensor : tensors)
    if (tensor.defined() && owing_session(*tensor.impl()) != 0) [[unlikely]]
      settle(*tensor.impl());
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
