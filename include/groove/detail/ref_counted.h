// Intrusive reference counting: what makes a Tensor one pointer. The compiler's own atomics, since
// <atomic> would cost every file of a user 30 ms.
#pragma once

#include <cstdint>
#include <utility>

namespace groove::detail {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void retain() const noexcept { __atomic_fetch_add(&references_, 1, __ATOMIC_RELAXED); }
  /// A second reference, where the caller has the only one and nobody else can come by another.
  void retain_from_only_owner() const noexcept {
    __atomic_store_n(&references_, 2, __ATOMIC_RELAXED);
  }
  /// Takes a reference unless the object is already being destroyed (weak references).
  bool try_retain() const noexcept {
    std::int32_t seen = __atomic_load_n(&references_, __ATOMIC_RELAXED);
    while (seen > 0)
      if (__atomic_compare_exchange_n(&references_, &seen, seen + 1, true, __ATOMIC_ACQUIRE,
                                      __ATOMIC_ACQUIRE))
        return true;
    return false;
  }
  /// True when the last reference has gone and the owner must destroy the object.
  bool release() const noexcept {
    return __atomic_fetch_sub(&references_, 1, __ATOMIC_ACQ_REL) == 1;
  }
  std::int64_t use_count() const noexcept {
    return __atomic_load_n(&references_, __ATOMIC_ACQUIRE);
  }

 protected:
  ~RefCounted() = default;

 private:
  mutable std::int32_t references_ = 0;
};

// The count inside an object; overloaded for types that are incomplete where pointers to them are
// copied, found by argument lookup.
template <typename T>
const RefCounted& reference_counter(const T* object) {
  return *object;
}

// Owns one reference. `destroy(T*)`, found by argument lookup, ends the object.
template <typename T>
class RefPtr {
 public:
  RefPtr() = default;
  explicit RefPtr(T* object) : object_(object) {
    if (object_) reference_counter(object_).retain();
  }
  RefPtr(const RefPtr& other) : RefPtr(other.object_) {}
  RefPtr(RefPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  RefPtr& operator=(const RefPtr& other) {
    RefPtr(other).swap(*this);
    return *this;
  }
  RefPtr& operator=(RefPtr&& other) noexcept {
    RefPtr(std::move(other)).swap(*this);
    return *this;
  }
  ~RefPtr() {
    if (object_ && reference_counter(object_).release()) destroy(object_);
  }
  /// The object with the reference this pointer owned, for adopt().
  T* release_ownership() { return std::exchange(object_, nullptr); }
  static RefPtr adopt(T* object) {
    RefPtr result;
    result.object_ = object;
    return result;
  }
  void swap(RefPtr& other) noexcept { std::swap(object_, other.object_); }
  void reset() { RefPtr().swap(*this); }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const RefPtr& other) const { return object_ == other.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace groove::detail
