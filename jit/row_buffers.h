// Where the rows of scratch memory lie in which phases of a row keep what they computed.
#pragma once

#include "jit/launch_plan.h"

namespace groove::jit {

/// Bytes that the row buffers of a launch may be shifted by; `row_bytes` is the length of one.
std::int64_t room_to_shift(std::int64_t row_bytes);
/// Once buffers have their offsets: moves row buffers that have room away from the beginnings of
/// pages.
void shift_row_buffers(Lowered& lowered);

}  // namespace groove::jit
