// The calls that a replay expects, laid out for comparing: most calls are an operator on tensors
// that are known already, and for those one cache line says everything.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tracer/calls/segment.h"

namespace groove::tracer {

/// The compiler makes one record of a line for all calls there (of a template, or an inline
/// function, there may be several), so comparing its address is enough where it is equal.
inline const void* record_of(const Site& site) { return std::bit_cast<const void*>(site); }

struct alignas(64) ExpectedCall {
  const Op* op = nullptr;        // null: a call that is compared in full, or none
  const void* source = nullptr;  // record_of() the call that matched last
  const std::int64_t* attrs = nullptr;
  const ScalarType* number_kinds = nullptr;
  std::uint32_t ordinal = 0;
  std::uint16_t attr_count = 0;
  std::uint8_t inputs = 0, outputs = 0;
  std::uint32_t slots = 0;  // where its inputs, then its outputs, begin in ExpectedCalls::slots
  std::int32_t first_number = 0;
  std::uint32_t tape_nodes = 0;
  std::uint8_t numbers = 0;
  bool grad_enabled = false;
  bool meets_live_in = false;  // no call before it has used one of its operands
};
static_assert(sizeof(ExpectedCall) == 64);

struct ExpectedCalls {
  explicit ExpectedCalls(const Segment& segment);
  /// The segment's calls have other attributes now, and are the same otherwise.
  void renew_attributes(const Segment& segment);
  std::vector<ExpectedCall> calls;  // [call], and one more after the last
  std::vector<SlotId> slots;
};

}  // namespace groove::tracer
