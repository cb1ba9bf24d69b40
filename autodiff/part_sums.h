// Sums of cotangents of which some are those of parts: zeros but for a stretch of one axis. Such a
// cotangent need not be made, nor added where it is zero.
#pragma once

#include <optional>

#include "src/core/op.h"

namespace groove::autodiff {

// The elements from `start` to `end` along an axis; `is_select`: the one, and the axis is dropped.
struct AxisPart {
  std::size_t axis = 0;
  std::int64_t start = 0, end = 0;
  bool is_select = false;
};

/// What a view of an input of that type shows when it is such a part.
std::optional<AxisPart> part_of(const Op& view, const Attrs& attrs, ArrayRef<Scalar> numbers,
                                const Type& input, const Type& output);

/// Sums smaller than this are made as quickly whole.
constexpr std::int64_t kLeastPartSum = 8192;

// Adding +0.0 makes +0.0 of -0.0 and leaves everything else. So only the part that was added last
// may hold -0.0, and elsewhere zeros are added in vain.
class PartSum {
 public:
  /// Adds the cotangent of a part to the sum, as if zeros stood around it; false when that is not
  /// to be done in place. The bits are those of a sum with all of it.
  bool add(Tensor& sum, const Type& type, const AxisPart& part, const Tensor& cotangent);
  /// Of a sum to which this has been added otherwise (none: anything).
  void note(std::optional<AxisPart> part) { last_ = part; }

 private:
  std::optional<AxisPart> last_;
};

}  // namespace groove::autodiff
