// Iterator: one pass over a loader's batches.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>

namespace groove::data {

namespace detail {
[[noreturn]] void throw_iterator_at_end(const char* action);
[[noreturn]] void throw_sentinel(const char* acting);
}  // namespace detail

/// Copies share the pass. The first batch is fetched when it is asked for, or when the iterator is
/// compared with end().
template <typename Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;
  /// Gives the next batch; null at the end.
  using Source = std::function<std::shared_ptr<Batch>()>;

  Iterator() = default;
  explicit Iterator(Source source)
      : pass_(std::make_shared<Pass>(Pass{std::move(source), {}, false})) {}

  /// Throw groove::Error at the end.
  Iterator& operator++() {
    current("increment", "Incrementing");
    pass_->batch = pass_->source();
    return *this;
  }
  Batch& operator*() { return *current("dereference", "Dereferencing"); }
  Batch* operator->() { return current("dereference", "Dereferencing").get(); }
  bool operator==(const Iterator& other) const {
    return pass_ == other.pass_ || (!pass_ && other.is_at_end()) || (!other.pass_ && is_at_end());
  }

 private:
  struct Pass {
    Source source;
    std::shared_ptr<Batch> batch;
    bool is_begun;
  };
  bool is_at_end() const {
    if (!pass_->is_begun) {
      pass_->batch = pass_->source();
      pass_->is_begun = true;
    }
    return !pass_->batch;
  }
  std::shared_ptr<Batch>& current(const char* action, const char* acting) {
    if (!pass_) detail::throw_sentinel(acting);
    if (is_at_end()) detail::throw_iterator_at_end(action);
    return pass_->batch;
  }
  std::shared_ptr<Pass> pass_;  // null: end()
};

}  // namespace groove::data
