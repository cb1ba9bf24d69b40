// Order of elements for sort, topk and their like: 64-bit keys whose unsigned order is that of the
// values, NaN greatest, -0.0 equal to 0.0 (numerics.md §3). A position beside each key makes the
// order total, so every way of sorting gives the same result.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "groove/half.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

struct Ranked {
  std::uint64_t key;
  std::int64_t position;
  bool operator<(const Ranked& other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

/// The key of an element: as many bits as it has, or those of f32 for the 16-bit floats.
template <typename T>
std::uint64_t key_of(T value) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ std::uint64_t{1} << 63;
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
    const auto bits = std::bit_cast<Bits>(value + T(0));  // -0.0 becomes 0.0
    const Bits key = bits & sign ? ~bits : bits | sign;
    return value == value ? key : ~Bits{0};
  } else {
    return key_of(static_cast<float>(value));
  }
}

/// Calls `visit` with an element of the dtype's C++ type; bool is a byte.
template <typename Visit>
auto with_element(ScalarType dtype, const Visit& visit) {
  switch (dtype) {
    case kFloat:
      return visit(float());
    case kDouble:
      return visit(double());
    case kHalf:
      return visit(Half());
    case kBFloat16:
      return visit(BFloat16());
    case kLong:
      return visit(std::int64_t());
    case kInt:
      return visit(std::int32_t());
    case kShort:
      return visit(std::int16_t());
    case kChar:
      return visit(std::int8_t());
    default:
      return visit(std::uint8_t());
  }
}

/// A tensor as lines along one axis.
struct Lines {
  std::int64_t count, length, stride;
  Lines(const Shape& sizes, std::int64_t dim);
  /// Of the first element of a line.
  std::int64_t offset(std::int64_t line) const {
    return line / stride * length * stride + line % stride;
  }
};

/// The elements of one line; `descending` turns the order of values, not that of equal ones.
void rank_line(ScalarType dtype, const void* data, std::int64_t offset, const Lines& lines,
               bool descending, std::vector<Ranked>& ranked);
/// Element `from` of source becomes element `to` of target, whatever the dtype.
void move_element(std::size_t size, void* target, std::int64_t to, const void* source,
                  std::int64_t from);

/// The share of `count` lines of one of `parts` threads: [begin, end). A single line is that of the
/// first, which is the caller.
inline std::pair<std::int64_t, std::int64_t> line_share(std::int64_t count, int part, int parts) {
  const std::int64_t up = parts - 1;
  return {(count * part + up) / parts, (count * (part + 1) + up) / parts};
}

/// Ranks the lines of a share along the axis of attribute 0 and writes values and positions to the
/// outputs. `keep(ranked, count)` puts first, in order, the `count` elements that the outputs hold.
template <typename Keep>
void write_ranked(const Signature& s, const Tensor& input, ArrayRef<Tensor> outputs,
                  bool descending, int part, int parts, const Keep& keep) {
  const Type& type = s.inputs[0];
  const Lines lines(type.sizes, s.attr().integer(0));
  const Lines kept(s.op.type(s).outputs[0].sizes, s.attr().integer(0));
  const std::size_t size = element_size(type.dtype);
  const void* source = input.impl()->data();
  void* const values = outputs[0].impl()->data();
  auto* const positions = static_cast<std::int64_t*>(outputs[1].impl()->data());
  std::vector<Ranked> ranked;
  const auto [begin, end] = line_share(lines.count, part, parts);
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t offset = lines.offset(line);
    rank_line(type.dtype, source, offset, lines, descending, ranked);
    keep(ranked, kept.length);
    std::int64_t to = kept.offset(line);
    for (std::int64_t i = 0; i < kept.length; ++i, to += kept.stride) {
      const std::int64_t position = ranked[static_cast<std::size_t>(i)].position;
      move_element(size, values, to, source, offset + position * lines.stride);
      positions[to] = position;
    }
  }
}

/// Calls an op that gives values and positions.
std::tuple<Tensor, Tensor> call_ranked(const Op& op, Arg self, const Attrs& attrs);
/// Positions along the axis that an attribute names.
inline ValueRange positions_of(const Signature& s, std::size_t dim) {
  const Shape& sizes = s.inputs[0].sizes;
  if (sizes.empty()) return positions_below(1);
  return positions_below(sizes[static_cast<std::size_t>(s.attr().integer(dim))]);
}
/// The rule of an op that gives elements along the axis of attribute 0, and their positions.
inline ValueRange range_of_picked(const Signature& s, ArrayRef<ValueRange> inputs, int output) {
  return output == 0 ? inputs[0] : positions_of(s, 0);
}
/// The input's sizes with `count` along the axis of attribute 0; of a 0-d tensor its own.
Shape picked_shape(const Signature& s, std::int64_t count);
/// The rule of an op that gives one element along that axis, and where it stands.
ReferenceRule picked_reference(
    std::function<std::size_t(const Signature&, const std::vector<double>& line)> pick);
/// Throws for bool, which LibTorch does not rank here.
void check_ranked(const char* op, const Tensor& self);
/// The axis of an op that takes 0-d tensors as one element.
std::int64_t ranked_axis(const char* op, const Tensor& self, std::int64_t dim);
/// The gradient of picked elements, at their positions among zeros.
Tensors picked_gradient(const Grad& g);

}  // namespace groove
