// A tensor kept for the gradient. An input is owned; an output is only known as long as somebody
// else holds it (it holds the node), and taken over when it dies.
#pragma once

#include <atomic>

#include "autodiff/tape.h"
#include "src/core/spin_lock.h"

namespace groove::autodiff {

class SavedValue {
 public:
  SavedValue() = default;
  SavedValue(const SavedValue&) = delete;
  SavedValue& operator=(const SavedValue&) = delete;
  ~SavedValue() { reset(); }

  void save(const Tensor& tensor) {
    own(tensor.impl());
    note_versions();
  }
  /// As it was at a version that may have passed. An output is taken to be adopted.
  void save_at(const Tensor& tensor, std::uint32_t version, bool is_output) {
    own(tensor.impl());
    note_versions();
    version_ = version;
    is_adopted_ = is_output;
  }
  void save_output(TensorImpl* output) {
    impl_ = output;
    is_owned_ = false;
    note_versions();
  }
  /// Keeps the values of a dying or re-used output under another impl.
  void adopt();
  void moved_to(TensorImpl& impl) {
    if (impl_ && !is_owned_) impl_ = &impl;
  }
  void reset();
  bool is_set() const { return impl_ != nullptr; }
  bool is_adopted() const { return is_adopted_; }
  /// For whoever knows that it is set and that its owner lives.
  const TensorImpl* impl() const { return impl_; }
  std::uint32_t version() const { return version_; }
  /// Undefined when an unowned output is dying on another thread: try again.
  Tensor get() const;
  /// Was the tensor written since save(), noticed or not?
  bool is_changed() const { return version_of(*impl_) != version_ || has_other_writes(); }
  /// Throws groove::Error when the tensor was written since save(). Gives true when it was written
  /// in a way that is not to be noticed.
  bool check(const char* op, const char* role, std::size_t index) const;

 private:
  void own(TensorImpl* impl) {
    impl->retain();
    impl->tape_references.fetch_add(1, std::memory_order_relaxed);
    impl_ = impl;
    is_owned_ = true;
  }
  bool has_other_writes() const {
    return other_writes_ != static_cast<std::uint16_t>(other_writes_of(*impl_));
  }
  void note_versions() {
    version_ = version_of(*impl_);
    other_writes_ = static_cast<std::uint16_t>(other_writes_of(*impl_));
  }
  TensorImpl* impl_ = nullptr;
  std::uint32_t version_ = 0;
  std::uint16_t other_writes_ = 0;
  bool is_owned_ = false;
  bool is_adopted_ = false;
};

/// For what check() gives.
void warn_of_change();

}  // namespace groove::autodiff
