// Padding with a tensor's own elements, for the file that reads what users ask for.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

enum class Border : std::int64_t { kReflect, kReplicate, kCircular };

/// `around` holds (before, after) of each axis, the first axis first: numbers of elements that the
/// axis has, none negative.
Tensor border_pad(const Tensor& self, IntArrayRef around, Border kind, Site site = Site::current());

}  // namespace groove
