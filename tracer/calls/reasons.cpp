#include "tracer/calls/reasons.h"

namespace groove::tracer {
namespace {

struct Row {
  const char* name;
  const char* text;
  const char* advice;
};
constexpr Row kRows[] = {
#define REASON(name, text, advice) {#name, text, advice},
#include "tracer/calls/reasons.def"
#undef REASON
};

}  // namespace

const char* text(Reason reason) { return kRows[static_cast<int>(reason)].text; }
const char* advice(Reason reason) { return kRows[static_cast<int>(reason)].advice; }
const char* name(Reason reason) { return kRows[static_cast<int>(reason)].name; }

}  // namespace groove::tracer
