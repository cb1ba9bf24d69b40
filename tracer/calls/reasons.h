// The table of reasons as an enum with texts.
#pragma once

#include <cstdint>

namespace groove::tracer {

enum class Reason : std::uint8_t {
#define REASON(name, text, advice) name,
#include "tracer/calls/reasons.def"
#undef REASON
  kCount
};

const char* text(Reason reason);
const char* advice(Reason reason);
const char* name(Reason reason);

}  // namespace groove::tracer
