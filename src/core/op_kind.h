#pragma once

#include "src/core/op.h"

namespace groove {

/// As users are told it.
const char* name(OpKind kind);

}  // namespace groove
