// A plain value that several threads may look at: loads acquire and stores release, which costs
// nothing on x86. The compiler's own atomics, as in RefCounted.
#pragma once

namespace groove {

// |=, &=, += and ++ are a load and a store: for fields that one thread at a time changes.
template <typename T>
class AtomicValue {
 public:
  explicit AtomicValue(T value = T()) : value_(value) {}
  AtomicValue(const AtomicValue& other) : value_(other.get()) {}
  AtomicValue& operator=(T value) {
    __atomic_store(&value_, &value, __ATOMIC_RELEASE);
    return *this;
  }
  AtomicValue& operator=(const AtomicValue& other) { return *this = other.get(); }
  T get() const {
    T value;
    __atomic_load(&value_, &value, __ATOMIC_ACQUIRE);
    return value;
  }
  operator T() const { return get(); }
  T operator->() const { return get(); }
  AtomicValue& operator|=(T bits) { return *this = static_cast<T>(get() | bits); }
  AtomicValue& operator&=(T bits) { return *this = static_cast<T>(get() & bits); }
  AtomicValue& operator+=(T change) { return *this = static_cast<T>(get() + change); }
  AtomicValue& operator++() { return *this += T(1); }
  /// The same for fields that several threads change at once.
  void set_bits(T bits) { __atomic_fetch_or(&value_, bits, __ATOMIC_ACQ_REL); }
  void clear_bits(T bits) { __atomic_fetch_and(&value_, static_cast<T>(~bits), __ATOMIC_ACQ_REL); }
  /// Stores `value` if `expected` is there; gives what is there then.
  T set_if(T expected, T value) {
    const bool is_set = __atomic_compare_exchange(&value_, &expected, &value, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return is_set ? value : expected;
  }

 private:
  T value_;
};

}  // namespace groove
