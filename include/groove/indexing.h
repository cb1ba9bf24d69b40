// The index values of `x.index({Slice(0, 2), None, Ellipsis, 1, true, tensor})`.
#pragma once

#include <concepts>
#include <iosfwd>
#include <limits>
#include <optional>

#include "groove/tensor.h"

namespace groove {
namespace indexing {

inline constexpr std::nullopt_t None = std::nullopt;  // a new axis of size 1
enum class EllipsisIndexType { Ellipsis };
inline constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;  // also "..."

/// What start() and stop() of a slice are that leaves them open.
inline constexpr std::int64_t INDEX_MAX = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t INDEX_MIN = std::numeric_limits<std::int64_t>::min();

/// start:stop:step with Python's meaning; step must be positive where the slice is used.
class Slice {
 public:
  Slice(std::optional<std::int64_t> start = std::nullopt,
        std::optional<std::int64_t> stop = std::nullopt,
        std::optional<std::int64_t> step = std::nullopt)
      : first_(start), last_(stop), step_(step.value_or(1)) {}
  std::int64_t start() const { return first_.value_or(step_ < 0 ? INDEX_MAX : 0); }
  std::int64_t stop() const { return last_.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX); }
  std::int64_t step() const { return step_; }
  /// As they were given.
  std::optional<std::int64_t> given_start() const { return first_; }
  std::optional<std::int64_t> given_stop() const { return last_; }
  bool is_whole() const { return start() == 0 && stop() == INDEX_MAX && step_ == 1; }

 private:
  std::optional<std::int64_t> first_, last_;
  std::int64_t step_;
};
/// "1:5:2"
std::ostream& operator<<(std::ostream& out, const Slice& slice);

}  // namespace indexing

struct TensorIndex {
  enum class Kind : std::uint8_t { kNone, kEllipsis, kInteger, kBoolean, kSlice, kTensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::kNone) {}
  TensorIndex(indexing::EllipsisIndexType) : kind_(Kind::kEllipsis) {}
  /// Only "..."; throws groove::Error on other texts.
  TensorIndex(const char* text);
  template <std::integral T>
  TensorIndex(T value)
      : kind_(std::is_same_v<T, bool> ? Kind::kBoolean : Kind::kInteger),
        integer_(static_cast<std::int64_t>(value)) {}
  TensorIndex(indexing::Slice value) : kind_(Kind::kSlice), slice_(value) {}
  TensorIndex(Tensor value) : kind_(Kind::kTensor), tensor_(std::move(value)) {}

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_ellipsis() const { return kind_ == Kind::kEllipsis; }
  bool is_integer() const { return kind_ == Kind::kInteger; }
  bool is_boolean() const { return kind_ == Kind::kBoolean; }
  bool is_slice() const { return kind_ == Kind::kSlice; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  std::int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const indexing::Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  std::int64_t integer_ = 0;
  indexing::Slice slice_;
  Tensor tensor_;
};
std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
/// "(1, 0:3:1, None)"
std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

namespace indexing {
using groove::TensorIndex;
}
}  // namespace groove
