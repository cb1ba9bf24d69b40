// Classes of c10 that hold objects, and others of its small types.
#pragma once

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "groove/compat/c10/util/Exception.h"
#include "groove/compat/names.h"

namespace c10 {

/// What intrusive_ptr, which is std::shared_ptr here, may point to; the count is the pointer's.
struct intrusive_ptr_target {
  virtual ~intrusive_ptr_target() = default;

 protected:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) = default;
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) = default;
  /// Is not called: what an object holds goes with it.
  virtual void release_resources() {}
};

/// An object of its own, or another one, which must live as long.
template <typename T>
class MaybeOwned {
 public:
  MaybeOwned() = default;
  static MaybeOwned borrowed(const T& object) {
    MaybeOwned result;
    result.other_ = &object;
    return result;
  }
  static MaybeOwned owned(T&& object) { return owned(std::in_place, std::move(object)); }
  template <typename... Args>
  static MaybeOwned owned(std::in_place_t, Args&&... args) {
    MaybeOwned result;
    result.own_.emplace(std::forward<Args>(args)...);
    return result;
  }
  const T& operator*() const& { return other_ ? *other_ : own_.value(); }
  /// A borrowed object stays as it is.
  T operator*() && { return other_ ? *other_ : std::move(own_).value(); }
  const T* operator->() const { return &**this; }
  bool unsafeIsBorrowed() const { return other_ != nullptr; }

 private:
  std::optional<T> own_;
  const T* other_ = nullptr;
};

/// Copies share the elements; copy() does not.
template <typename T>
class List {
 public:
  using value_type = T;
  List() : values_(std::make_shared<std::vector<T>>()) {}
  List(std::initializer_list<T> values) : values_(std::make_shared<std::vector<T>>(values)) {}
  explicit List(ArrayRef<T> values)
      : values_(std::make_shared<std::vector<T>>(values.begin(), values.end())) {}
  std::size_t size() const { return values_->size(); }
  bool empty() const { return values_->empty(); }
  T get(std::size_t i) const { return values_->at(i); }
  void set(std::size_t i, T value) const { values_->at(i) = std::move(value); }
  T operator[](std::size_t i) const { return get(i); }
  void push_back(T value) const { values_->push_back(std::move(value)); }
  template <typename... Args>
  void emplace_back(Args&&... args) const {
    values_->emplace_back(std::forward<Args>(args)...);
  }
  void reserve(std::size_t count) const { values_->reserve(count); }
  void clear() const { values_->clear(); }
  auto begin() const { return values_->begin(); }
  auto end() const { return values_->end(); }
  std::vector<T> vec() const { return *values_; }
  List copy() const { return List(ArrayRef<T>(*values_)); }

 private:
  std::shared_ptr<std::vector<T>> values_;
};

using groove::set_default_dtype;

}  // namespace c10

namespace at {
using c10::intrusive_ptr_target;

/// As nn::utils::rnn::pad_sequence; padding_side is "right" or "left".
inline Tensor pad_sequence(TensorList sequences, bool batch_first = false, double padding_value = 0,
                           std::string_view padding_side = "right",
                           groove::Site site = groove::Site::current()) {
  std::int64_t longest = 0;
  for (const Tensor& sequence : sequences) longest = std::max(longest, sequence.size(0, site));
  const bool is_left = padding_side == "left";
  TORCH_CHECK_VALUE(is_left || padding_side == "right",
                    "padding_side should be one of 'left' or 'right' but got: ", padding_side);
  std::vector<Tensor> padded;
  for (const Tensor& sequence : sequences) {
    const std::int64_t rest = longest - sequence.size(0, site);
    std::vector<std::int64_t> ends(2 * static_cast<std::size_t>(sequence.dim()), 0);
    ends[ends.size() - (is_left ? 2 : 1)] = rest;
    padded.push_back(rest == 0 ? sequence
                               : groove::constant_pad_nd({sequence, site}, ends, padding_value));
  }
  return groove::stack(padded, batch_first ? 0 : 1, site);
}
/// Powers from 0 on of each element, along a last axis of length N.
inline Tensor linalg_vander(groove::Arg x, std::optional<std::int64_t> N = std::nullopt) {
  const Tensor& self = *x.tensor;
  const std::int64_t count = N.value_or(self.size(-1, x.site));
  TORCH_CHECK(count > 1, "N must be greater than 1.");
  const Tensor column = self.unsqueeze(-1, x.site);
  std::vector<std::int64_t> sizes = self.sizes().vec();
  sizes.push_back(count - 1);
  return groove::cumprod(
      {groove::cat({groove::ones_like(column), column.expand(sizes)}, -1, x.site), x.site}, -1);
}
template <std::same_as<Tensor> Chances>  // no nullopt, which stands for a generator
Tensor bernoulli(groove::Arg self, const Chances& p,
                 const std::optional<groove::Generator>& generator = std::nullopt) {
  return groove::empty_like(self).bernoulli_(p, generator, self.site);
}
}  // namespace at

namespace torch {
using at::bernoulli;
using at::linalg_vander;
using at::pad_sequence;
}  // namespace torch
