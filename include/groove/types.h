// Names that LibTorch programs use for types of the standard library.
#pragma once

#include <optional>

#include "groove/optional_array_ref.h"
#include "groove/tensor.h"

namespace groove {

using std::nullopt;
using std::optional;
using OptionalTensorRef = std::optional<Tensor>;

}  // namespace groove
