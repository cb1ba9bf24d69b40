// Names that LibTorch programs use for types of the standard library.
#pragma once

#include <optional>

#include "groove/tensor.h"

namespace groove {

using std::nullopt;
using std::optional;
using OptionalTensorRef = std::optional<Tensor>;
using OptionalIntArrayRef = std::optional<IntArrayRef>;

}  // namespace groove
