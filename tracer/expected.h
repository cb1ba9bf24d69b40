// The calls that a replay expects, laid out for comparing: most words are an operator on tensors
// that are known already, and for those one cache line says everything.
#pragma once

#include <cstdint>
#include <vector>

#include "tracer/segment.h"

namespace groove::tracer {

struct alignas(64) ExpectedCall {
  const Op* op = nullptr;  // null: a word that is compared in full
  const char* file = nullptr;
  const std::int64_t* attrs = nullptr;
  const ScalarType* number_kinds = nullptr;
  std::uint32_t line = 0, column = 0, ordinal = 0;
  std::uint16_t attr_count = 0;
  std::uint8_t inputs = 0, outputs = 0;
  std::uint32_t slots = 0;  // where its inputs, then its outputs, begin in ExpectedCalls::slots
  std::int32_t first_number = 0;
  std::uint32_t tape_nodes = 0;
  std::uint8_t numbers = 0;
  bool grad_enabled = false;
};
static_assert(sizeof(ExpectedCall) == 64);

struct ExpectedCalls {
  explicit ExpectedCalls(const Segment& segment);
  std::vector<ExpectedCall> calls;  // [word]
  std::vector<SlotId> slots;
};

}  // namespace groove::tracer
