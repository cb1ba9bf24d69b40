// The index values of `x.index({Slice(0, 2), None, Ellipsis, 1, true, tensor})`.
#pragma once

#include <concepts>
#include <optional>

#include "groove/tensor.h"

namespace groove {
namespace indexing {

inline constexpr std::nullopt_t None = std::nullopt;  // a new axis of size 1
enum class EllipsisIndexType { Ellipsis };
inline constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;  // also "..."

/// start:stop:step with Python's meaning; step must be positive.
class Slice {
 public:
  Slice(std::optional<std::int64_t> start = std::nullopt,
        std::optional<std::int64_t> stop = std::nullopt,
        std::optional<std::int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step.value_or(1)) {}
  std::optional<std::int64_t> start() const { return start_; }
  std::optional<std::int64_t> stop() const { return stop_; }
  std::int64_t step() const { return step_; }
  bool is_whole() const { return start_.value_or(0) == 0 && !stop_ && step_ == 1; }

 private:
  std::optional<std::int64_t> start_, stop_;
  std::int64_t step_;
};

}  // namespace indexing

struct TensorIndex {
  enum class Kind : std::uint8_t { kNone, kEllipsis, kInteger, kBoolean, kSlice, kTensor };

  TensorIndex(std::nullopt_t) : kind(Kind::kNone) {}
  TensorIndex(indexing::EllipsisIndexType) : kind(Kind::kEllipsis) {}
  /// Only "..."; throws groove::Error on other texts.
  TensorIndex(const char* text);
  template <std::integral T>
  TensorIndex(T value)
      : kind(std::is_same_v<T, bool> ? Kind::kBoolean : Kind::kInteger),
        integer(static_cast<std::int64_t>(value)) {}
  TensorIndex(indexing::Slice value) : kind(Kind::kSlice), slice(value) {}
  TensorIndex(Tensor value) : kind(Kind::kTensor), tensor(std::move(value)) {}

  Kind kind;
  std::int64_t integer = 0;
  indexing::Slice slice;
  Tensor tensor;
};

namespace indexing {
using groove::TensorIndex;
}
}  // namespace groove
