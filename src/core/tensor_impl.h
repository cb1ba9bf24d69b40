// What a Tensor points to. Storage is memory shared by views; TensorImpl is a geometry over it.
// A pending TensorImpl has metadata but no storage yet: the tracer fills it when a stage runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "groove/detail/tensor_base.h"
#include "src/core/atomic_value.h"
#include "src/core/small_vector.h"

namespace groove {

struct Storage : detail::RefCounted {
  void* data = nullptr;
  std::size_t bytes = 0;
  Device device;
  AtomicValue<std::uint32_t> version;  // counts in-place writes through any alias …
  // … but those the tape does not notice: through data(), and by an optimizer that writes so.
  AtomicValue<std::uint32_t> unnoticed;

  // Foreign code may read or write the memory at any time (a raw pointer was handed out).
  static constexpr std::uint32_t kExposed = 1;
  // A matched in-place op has not run yet: the memory is behind what the program has done.
  static constexpr std::uint32_t kOwed = 4;
  // Not Groove's memory (from_blob): it may be freed as soon as the call that reads it is over.
  static constexpr std::uint32_t kForeign = 8;
  // Owed until now: the run is being left, and its calls run one by one. Other threads wait.
  static constexpr std::uint32_t kBeingMade = 16;
  static constexpr std::uint32_t kNotThere = kOwed | kBeingMade;
  AtomicValue<std::uint32_t> flags;

  // Which replay owes it, and as which of its storages (kOwed).
  AtomicValue<std::int32_t> trace_index{-1};
  AtomicValue<std::uint64_t> trace_session;
  // The tracer contexts whose runs under way may have it to read yet, a bit for each (several may
  // share one): before_write() comes before any write.
  AtomicValue<std::uint64_t> readers;

  void (*free)(Storage&) = nullptr;  // how `data` goes back; null for nothing to free
  void* free_context = nullptr;
};
void destroy(Storage* storage);
using StoragePtr = detail::RefPtr<Storage>;

/// From the caching allocator: 64-byte aligned, `bytes` usable, contents undefined. Throws
/// groove::Error when memory cannot be had.
StoragePtr allocate_storage(std::size_t bytes, Device device = Device());

/// A storage without memory, for the caller to fill.
StoragePtr make_storage();

struct ComplexParts;  // src/core/complex.h
struct AutogradMeta;  // src/core/autograd_meta.h
void destroy_autograd_meta(AutogradMeta* meta);

struct Geometry {
  Shape sizes, strides;     // strides in elements
  std::int64_t offset = 0;  // in elements from the start of the storage
  bool operator==(const Geometry&) const = default;
  bool is_contiguous() const;
};

struct TensorImpl : detail::RefCounted {
  StoragePtr storage;  // null while pending
  Geometry geometry;
  std::int64_t numel = 0;
  ScalarType dtype = kFloat;
  Device device;
  // As the user set it on a leaf, or inherited by a result. Atomic for threads that look at a leaf
  // whose flag another thread's run is about to take back, and find that they must wait.
  AtomicValue<bool> requires_grad;
  bool is_contiguous = true;  // cached
  bool counts_apart = false;  // data() and views of it: their writes are `unnoticed` ones
  // The tracer owes the data: materialize() first. What the tracer fills in is there for every
  // thread that reads false here.
  AtomicValue<bool> is_pending;
  std::uint32_t metadata_epoch = 0;  // bumped by whatever changes what later ops mean
  // Of the references, those held by saved values of the tape, of any thread.
  std::atomic<std::int32_t> tape_references{0};
  AtomicValue<AutogradMeta*> autograd;  // owned; null for plain data
  ComplexParts* complex = nullptr;      // owned; of complex dtypes: the real tensor behind

  // Where the current recording or replay of a tracer context knows this tensor: owner is the
  // context's session number, id its value number there. A recording knows its inputs by a table of
  // its own, since other threads may be recording with them too.
  AtomicValue<std::uint64_t> trace_session;
  AtomicValue<std::int32_t> trace_id{-1};

  void* data() const {  // address of element 0; storage must be present
    return static_cast<char*>(storage->data) +
           geometry.offset * static_cast<std::int64_t>(element_size(dtype));
  }
  void set_geometry(Geometry value);  // updates numel and is_contiguous
};

/// How often what the tape saves of this tensor was written; its storage is present.
inline AtomicValue<std::uint32_t>& version_of(const TensorImpl& impl) {
  return impl.counts_apart ? impl.storage->unnoticed : impl.storage->version;
}
/// The writes to its storage that are not among these.
inline std::uint32_t other_writes_of(const TensorImpl& impl) {
  return impl.counts_apart ? impl.storage->version : impl.storage->unnoticed;
}

/// A new impl over `storage`.
detail::RefPtr<TensorImpl> make_impl(StoragePtr storage, Geometry geometry, ScalarType dtype);
/// A new contiguous tensor with undefined content.
Tensor make_empty(const Shape& sizes, ScalarType dtype, Device device = Device());
/// A tensor over the same storage with another geometry (no tape, no dispatch).
Tensor make_view(const Tensor& base, Geometry geometry);

// The tracer's side of pending tensors and observed storages; plain functions registered once.
struct PendingHooks {
  void (*materialize)(TensorImpl& impl) = nullptr;      // runs the stage that owes the data
  void (*before_write)(Storage& storage) = nullptr;     // it has readers
  void (*settle_gradient)(TensorImpl& leaf) = nullptr;  // a run has changed it
  void (*expose)(TensorImpl& impl) = nullptr;           // a raw pointer is handed out
  void (*host_read)(TensorImpl& impl) = nullptr;        // the program looks at the data now
};
extern PendingHooks pending_hooks_;
inline PendingHooks& pending_hooks() { return pending_hooks_; }

/// As below, of what is not there, or of a complex tensor, which is never known to be.
void materialize_slowly(TensorImpl& impl);
/// Makes the data present. Every access by the library goes through here; every access that the
/// program asked for (item, data_ptr, printing) through host_read(), which the tracer counts.
inline void materialize(TensorImpl& impl) {
  if (impl.is_pending || (impl.storage && impl.storage->flags & Storage::kNotThere)) [[unlikely]]
    materialize_slowly(impl);
}
void host_read(TensorImpl& impl);
/// Call before the content or the memory of the storage changes in any way: what other threads owe
/// and compute from it is computed first.
inline void before_write(Storage& storage) {
  if (storage.readers != 0) [[unlikely]]
    pending_hooks().before_write(storage);
}

}  // namespace groove
