// What a recording says with numbers that may follow from sizes (sizes and strides of live-ins,
// integer attributes, constants), told apart from everything else. Recordings of one loop at other
// sizes have the same structure and differ in these numbers alone.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "src/core/dispatch.h"
#include "tracer/calls/segment.h"

namespace groove::tracer {

// One number, and where it stands in a segment.
class SizeNumber {
 public:
  static SizeNumber attribute(Attrs& attrs, std::size_t index);
  static SizeNumber size(std::int64_t& at);
  static SizeNumber fixed(std::uint64_t& bits, ScalarType kind);
  static SizeNumber constant(Scalar& number);

  bool is_real() const { return is_real_; }
  /// An integer, or the bits of a double.
  std::int64_t value() const;
  void set(std::int64_t value);

  bool may_be_anything = false;  // a run-time number, as it was when it was recorded

 private:
  enum class Kind : std::uint8_t { kAttribute, kSize, kFixed, kConstant };
  Kind kind_ = Kind::kSize;
  bool is_real_ = false;
  std::uint32_t index_ = 0;
  void* at_ = nullptr;
};

struct SizeNumbers {
  std::uint64_t structure = 0;  // names everything else
  std::uint64_t with_ones = 0;  // … where a size of 1 is like one of more
  // [call] the structure of all calls before it, and after the last.
  std::vector<std::uint64_t> structure_before;
  std::vector<SizeNumber> numbers;
  // Numbers that the program shows with call w are those from shown[w] to shown[w + 1]; the rest,
  // from shown.back() on, lies inside.
  std::vector<std::size_t> shown;
  std::size_t in_history = 0;  // from which on they are those of what a run leaves on the tape

  std::vector<std::int64_t> values() const { return values(numbers.size()); }
  /// The first `count` of them.
  std::vector<std::int64_t> values(std::size_t count) const;
};

/// Of a segment whose numbers may be set afterwards.
SizeNumbers size_numbers(Segment& segment);

/// What a call shows where call number `at` is expected, in the order of SizeNumbers: false when it
/// is another call than that call, whatever the sizes.
bool shown_by(const Segment& segment, std::size_t at, const Call& call, const SiteKey& site,
              std::vector<std::int64_t>& values);
bool shown_by(const Segment& segment, std::size_t at, const LibraryCall& recorded,
              const SiteKey& site, std::vector<std::int64_t>& values);

/// For people: what a call shows as its number `index`, "size 0 of input1".
std::string name_of_shown(const Segment& segment, std::size_t recorded, std::size_t index);

/// Orders and broadcasting depend on whether a size is 0, 1 or more.
inline int size_class(std::int64_t size) {
  return size < 0 ? -1 : size < 2 ? static_cast<int>(size) : 2;
}

// Structures change at powers of two, where they do.
inline std::int64_t floor_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
}
inline std::int64_t ceiling_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

}  // namespace groove::tracer
