// c10::irange: counting loops.
#pragma once

#include <type_traits>

#include "groove/compat/torch/types.h"

namespace c10 {

template <typename T>
class IntegerRange {
 public:
  struct iterator {
    T value;
    T operator*() const { return value; }
    iterator& operator++() {
      ++value;
      return *this;
    }
    bool operator!=(const iterator& other) const { return value < other.value; }
  };
  IntegerRange(T begin, T end) : begin_(begin), end_(end) {}
  iterator begin() const { return {begin_}; }
  iterator end() const { return {end_}; }

 private:
  T begin_, end_;
};

template <typename T>
IntegerRange<T> irange(T end) {
  return {T(0), end};
}
template <typename T, typename U>
IntegerRange<U> irange(T begin, U end) {
  return {static_cast<U>(begin), end};
}

}  // namespace c10
